@echo off
rem What a GUI registers: the MCTS engine as a USI process.
"%~dp0start.bat" pydlshogi.usi.usi_mcts_player %*
