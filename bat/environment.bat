@echo off
rem environment.bat [EXTRA...]: find a Python that is new enough and let environment.py make .venv with it.
setlocal
for %%P in ("py -3" "python" "python3") do (
    %%~P -c "import sys; sys.exit(sys.version_info < (3, 11))" >nul 2>nul && (
        %%~P "%~dp0environment.py" %*
        exit /b
    )
)
echo info string Error! Python 3.11 or newer is needed: https://www.python.org
echo pydlshogi: Python 3.11 or newer is needed: https://www.python.org >&2
exit /b 1
