@echo off
rem What a GUI registers: the engine of Dobutsu shogi as a USI process.
"%~dp0start.bat" pydlshogi.usi.usi_dobutsu_player %*
