@echo off
rem What a GUI registers: the engine that looks one move ahead as a USI process.
"%~dp0start.bat" pydlshogi.usi.usi_search1_player %*
