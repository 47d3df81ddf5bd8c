#!/bin/sh
# Install what the tests need into .venv and run every check of the project; arguments go to pytest.
here=$(dirname -- "$(readlink -f -- "$0")")
sh "$here/environment.sh" test train chainer </dev/null || exit 1
exec "$here/../.venv/bin/python" "$here/checks.py" "$@"
