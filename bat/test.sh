#!/bin/sh
# Install what the tests need into .venv and run every check of the project; arguments go to pytest.
here=$(dirname -- "$(readlink -f -- "$0")")
extras="test train chainer onnx openvino"
sh "$here/environment.sh" $extras cluster </dev/null || {
    echo "test: goes on without Ray, so the tests of a cluster are skipped" >&2
    sh "$here/environment.sh" $extras </dev/null || exit 1
}
exec "$here/../.venv/bin/python" "$here/checks.py" "$@"
