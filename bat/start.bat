@echo off
rem start.bat PLAYER: be the USI engine pydlshogi.usi.usi_PLAYER. Once .venv is there this asks neither pip nor network.
setlocal
for %%I in ("%~dp0..") do set "root=%%~fI"
set "player=%~1"

set "python=%root%\.venv\Scripts\python.exe"
if not exist "%python%" goto install
fc /b "%root%\pyproject.toml" "%root%\.venv\pydlshogi\pyproject.toml" >nul 2>nul
if not errorlevel 1 goto start
:install
call "%~dp0environment.bat"
if errorlevel 1 exit /b 1

:start
rem A GUI may leave stderr unread, and an engine that fills the pipe stands still.
set "log=%root%\log\%player%.log"
if not exist "%root%\log" mkdir "%root%\log" 2>nul
(type nul >>"%log%") 2>nul || set "log=nul"

set "PYTHONHOME="
set "PYTHONPATH=%root%"
"%python%" -P -m "pydlshogi.usi.usi_%player%" 2>>"%log%"
