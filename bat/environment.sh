#!/bin/sh
# environment.sh [--dry-run] [EXTRA...]: find a Python that is new enough and let environment.py make .venv with it.
# For a Python that is newer than 3.14 the packages may not have been built yet: it is the last choice.
unset PYTHONHOME PYTHONPATH
for end in 15 99; do
    for python in python3 python3.14 python3.13 python3.12 python3.11 python; do
        if "$python" -c "import sys; sys.exit(not (3, 11) <= sys.version_info < (3, $end))" >/dev/null 2>&1; then
            exec "$python" "${0%.sh}.py" "$@"
        fi
    done
done
message="Python 3.11 or newer is needed, found: $( (python3 --version || python --version || echo none) 2>/dev/null)"
echo "info string Error! $message"
echo "pydlshogi: $message" >&2
exit 1
