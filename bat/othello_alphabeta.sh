#!/bin/sh
# What a GUI registers: the Othello engine that searches by alpha-beta, in GTP or NBoard's protocol.
exec sh "$(dirname -- "$(readlink -f -- "$0")")/start.sh" pydlshogi.games.othello.protocols.serve "$@"
