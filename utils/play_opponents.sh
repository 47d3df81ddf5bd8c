#!/bin/sh
# Ten games of the MCTS engine against a program from the distribution, one second a move:
#   utils/play_opponents.sh [fairy|gps] [MORE OPTIONS OF python -m utils.match ...]
# The same command goes on where it was interrupted.
cd "$(dirname -- "$(readlink -f -- "$0")")/.." || exit 1

opponent=${1:-fairy}
[ $# -gt 0 ] && shift
case $opponent in
    fairy) engine=/usr/games/fairy-stockfish option=B.Hash=64 ;;
    gps) engine=/usr/games/gpsusi option=B.Thread=1 ;; # is late by up to 0.6 s, hence the tolerance
    *) echo "play_opponents.sh: $opponent is neither fairy (package fairy-stockfish) nor gps (gpsshogi)" >&2; exit 2 ;;
esac

python=.venv/bin/python
[ -x $python ] || python=python3
exec "$python" -m utils.match bat/mcts_player.sh "$engine" "$option" \
    --games 10 --time 1000 --tolerance 2000 --random-plies 8 --out "matches/$opponent" "$@"
