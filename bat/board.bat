@echo off
rem A board in the browser: it prints the address and opens it.
"%~dp0start.bat" pydlshogi.web %*
