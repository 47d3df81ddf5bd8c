#!/bin/sh
# What a GUI registers: the Othello engine that searches as AlphaZero does, or IaGo, in GTP or NBoard's protocol.
exec sh "$(dirname -- "$(readlink -f -- "$0")")/start.sh" pydlshogi.games.othello.protocols.serve mcts "$@"
