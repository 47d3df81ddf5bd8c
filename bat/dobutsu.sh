#!/bin/sh
# What a GUI registers: the engine of Dobutsu shogi as a USI process.
exec sh "$(dirname -- "$(readlink -f -- "$0")")/start.sh" pydlshogi.usi.usi_dobutsu_player "$@"
