#!/bin/sh
# Ten games of the MCTS engine against another, one second a move, a thread each:
#   utils/play_opponents.sh [fairy|gps|policy|search1] [MORE OPTIONS OF python -m utils.match ...]
# fairy and gps come from the distribution, policy and search1 are our own players without a tree. The same command goes
# on where it was interrupted. PYTHON and ENGINE may name another interpreter, another engine.
cd "$(dirname -- "$(readlink -f -- "$0")")/.." || exit 1

opponent=${1:-fairy}
[ $# -gt 0 ] && shift
case $opponent in
    fairy) program=/usr/games/fairy-stockfish options="B.Threads=1 B.Hash=64" ;;
    gps) program=/usr/games/gpsusi options="B.Thread=1" ;; # is late by up to 0.6 s, hence the tolerance
    policy | search1) program=bat/${opponent}_player.sh options= ;;
    *) echo "play_opponents.sh: no opponent $opponent; there are fairy, gps, policy and search1" >&2; exit 2 ;;
esac

if [ -z "$PYTHON" ]; then
    sh bat/environment.sh </dev/null >&2 || exit 1
    PYTHON=.venv/bin/python
fi
# Between two programs on one machine there is no network to allow for. $options is several words.
# shellcheck disable=SC2086
exec "$PYTHON" -m utils.match "${ENGINE:-bat/mcts_player.sh}" "$program" \
    A.Threads=1 A.Network_Delay=100 A.Random_Ply=0 $options \
    --games 10 --time 1000 --tolerance 2000 --random-plies 8 --out "matches/$opponent" "$@"
