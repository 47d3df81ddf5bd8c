@echo off
rem environment.bat [--dry-run] [EXTRA...]: find a Python that is new enough and let environment.py make .venv with it.
setlocal
set "PYTHONHOME="
rem For a Python that is newer than 3.14 the packages may not have been built yet: it is the last choice.
rem `call`, because pyenv's python is a batch file, which would not come back without.
for %%E in (15 99) do for %%P in ("py -3" "py -3.14" "py -3.13" "py -3.12" "py -3.11" "python") do (
    call %%~P -c "import sys; sys.exit(not (3, 11) <= sys.version_info < (3, %%E))" >nul 2>nul && (
        set "python=%%~P"
        goto found
    )
)

echo info string Error! Python 3.11 or newer is needed: https://www.python.org
echo pydlshogi: Python 3.11 or newer is needed: https://www.python.org >&2
exit /b 1

:found
%python% "%~dp0environment.py" %*
