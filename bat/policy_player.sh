#!/bin/sh
# What a GUI registers: the engine that plays the network's first choice as a USI process.
exec sh "$(dirname -- "$(readlink -f -- "$0")")/start.sh" pydlshogi.usi.usi_policy_player "$@"
