#!/bin/sh
# What a GUI registers: the engine that looks one move ahead as a USI process.
exec sh "$(dirname -- "$(readlink -f -- "$0")")/start.sh" pydlshogi.usi.usi_search1_player "$@"
