@echo off
rem install_chainer.bat [EXTRA...]: add Chainer, which can run the network, and the named extras of pyproject.toml to .venv.
"%~dp0environment.bat" chainer %*
