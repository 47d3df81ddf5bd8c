@echo off
rem start.bat MODULE ...: be the program that is this module. Once .venv is there this asks neither pip nor network.
setlocal
set "mended="
for %%I in ("%~dp0..") do set "root=%%~fI"

set "python=%root%\.venv\Scripts\python.exe"
if not exist "%python%" goto install
fc /b "%root%\pyproject.toml" "%root%\.venv\pydlshogi\pyproject.toml" >nul 2>nul
if not errorlevel 1 goto start
:install
rem USI has lines for what is under way, other protocols have none.
set "module=%~1"
if "%module:~0,14%"=="pydlshogi.usi." (call "%~dp0environment.bat") else (call "%~dp0environment.bat" 1>&2)
if errorlevel 1 exit /b 1

:start
set "PYTHONHOME="
set "PYTHONPATH=%root%"
"%python%" -P -m %*
rem 103: the Python that .venv was made with is gone. Then it is made anew, once.
if not "%errorlevel%"=="103" exit /b %errorlevel%
if defined mended exit /b 103
set "mended=yes"
goto install
