#!/bin/sh
# A board in the browser: it prints the address and opens it.
exec sh "$(dirname -- "$(readlink -f -- "$0")")/start.sh" pydlshogi.web "$@"
