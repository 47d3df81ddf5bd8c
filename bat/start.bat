@echo off
rem start.bat PLAYER: be the USI engine pydlshogi.usi.usi_PLAYER. Once .venv is there this asks neither pip nor network.
setlocal
set "root=%~dp0.."
set "player=%~1"

set "python=%root%\.venv\Scripts\python.exe"
if not exist "%python%" goto install
fc /b "%root%\pyproject.toml" "%root%\.venv\pydlshogi\pyproject.toml" >nul 2>nul && goto start
:install
call "%~dp0environment.bat" || exit /b 1

:start
rem A GUI may leave stderr unread, and an engine that fills the pipe stands still.
set "log=%root%\log\%player%.log"
if not exist "%root%\log" mkdir "%root%\log" 2>nul
2>nul (>>"%log%" rem) || set "log=nul"

set "PYTHONHOME="
set "PYTHONPATH=%root%"
"%python%" -P -m "pydlshogi.usi.usi_%player%" 2>>"%log%"
