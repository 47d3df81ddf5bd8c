#!/bin/sh
# environment.sh [EXTRA...]: find a Python that is new enough and let environment.py make .venv with it.
for python in python3 python3.14 python3.13 python3.12 python3.11 python; do
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        exec "$python" "${0%.sh}.py" "$@"
    fi
done
message="Python 3.11 or newer is needed, found: $( (python3 --version || python --version || echo none) 2>/dev/null)"
echo "info string Error! $message"
echo "pydlshogi: $message" >&2
exit 1
