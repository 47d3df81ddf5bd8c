#!/bin/sh
# Games on a CSA server such as floodgate: csa.sh HOST --user NAME --password-file FILE
exec sh "$(dirname -- "$(readlink -f -- "$0")")/start.sh" pydlshogi.csa "$@"
