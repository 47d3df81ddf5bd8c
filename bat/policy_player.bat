@echo off
rem What a GUI registers: the engine that plays the network's first choice as a USI process.
"%~dp0start.bat" pydlshogi.usi.usi_policy_player %*
