@echo off
rem environment.bat [EXTRA...]: find a Python that is new enough and let environment.py make .venv with it.
setlocal
set "new_enough=import sys; sys.exit(sys.version_info < (3, 11))"

set "python=py -3"
%python% -c "%new_enough%" >nul 2>nul
if not errorlevel 1 goto found
set "python=python"
%python% -c "%new_enough%" >nul 2>nul
if not errorlevel 1 goto found

echo info string Error! Python 3.11 or newer is needed: https://www.python.org
echo pydlshogi: Python 3.11 or newer is needed: https://www.python.org >&2
exit /b 1

:found
%python% "%~dp0environment.py" %*
