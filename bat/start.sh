#!/bin/sh
# start.sh MODULE: become the program that is this module. Once .venv is there this asks neither pip nor network.
root=${0%/bat/start.sh}
module=$1
shift

python="$root/.venv/bin/python"
if ! [ -x "$python" ] || ! cmp -s "$root/pyproject.toml" "$root/.venv/pydlshogi/pyproject.toml"; then
    # USI has lines for what is under way, other protocols have none.
    case $module in
        pydlshogi.usi.*) sh "$root/bat/environment.sh" || exit 1 ;;
        *) sh "$root/bat/environment.sh" >&2 || exit 1 ;;
    esac
fi

unset PYTHONHOME
export PYTHONPATH="$root"
exec "$python" -P -m "$module" "$@"
