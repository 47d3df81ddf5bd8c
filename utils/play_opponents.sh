#!/bin/sh
# Ten games of the MCTS engine against a program from the distribution, one second a move:
#   utils/play_opponents.sh [fairy|gps] [MORE OPTIONS OF python -m utils.match ...]
# The same command goes on where it was interrupted. PYTHON and ENGINE may name another interpreter, another engine.
cd "$(dirname -- "$(readlink -f -- "$0")")/.." || exit 1

opponent=${1:-fairy}
[ $# -gt 0 ] && shift
case $opponent in
    fairy) program=/usr/games/fairy-stockfish option=B.Hash=64 ;;
    gps) program=/usr/games/gpsusi option=B.Thread=1 ;; # is late by up to 0.6 s, hence the tolerance
    *) echo "play_opponents.sh: $opponent is neither fairy (package fairy-stockfish) nor gps (gpsshogi)" >&2; exit 2 ;;
esac

if [ -z "$PYTHON" ]; then
    sh bat/environment.sh </dev/null >&2 || exit 1
    PYTHON=.venv/bin/python
fi
exec "$PYTHON" -m utils.match "${ENGINE:-bat/mcts_player.sh}" "$program" "$option" \
    --games 10 --time 1000 --tolerance 2000 --random-plies 8 --out "matches/$opponent" "$@"
