@echo off
rem environment.bat [--dry-run] [EXTRA...]: find a Python that is new enough and let environment.py make .venv with it.
setlocal
set "PYTHONHOME="
set "PYTHONPATH="
rem For a Python that is newer than 3.14 the packages may not have been built yet: it is the last choice.
rem `call`, because pyenv's python is a batch file, which would not come back without.
for %%E in (15 99) do for %%P in ("py -3" "py -3.14" "py -3.13" "py -3.12" "py -3.11" "python") do (
    call %%~P -c "import sys; sys.exit('AMD64' not in sys.version or not (3, 11) <= sys.version_info < (3, %%E))" >nul 2>nul && (
        set "python=%%~P"
        goto found
    )
)

echo info string Error! Python 3.11 to 3.14 (64-bit, x64) is needed: https://www.python.org/downloads/windows
echo pydlshogi: Python 3.11 to 3.14 (64-bit, x64) is needed: https://www.python.org/downloads/windows >&2
goto failed

:found
%python% "%~dp0environment.py" %* && exit /b
:failed
rem The window of a double click stays until it has been read; where no keyboard is there, timeout does not wait.
timeout /t 60 2>nul
exit /b 1
