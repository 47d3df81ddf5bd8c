#!/bin/sh
# What a GUI registers: the MCTS engine as a USI process.
exec sh "$(dirname -- "$(readlink -f -- "$0")")/start.sh" pydlshogi.usi.usi_mcts_player "$@"
