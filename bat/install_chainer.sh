#!/bin/sh
# install_chainer.sh [EXTRA...]: add Chainer, which can run the network, and the named extras of pyproject.toml to .venv.
exec sh "$(dirname -- "$(readlink -f -- "$0")")/environment.sh" chainer "$@"
