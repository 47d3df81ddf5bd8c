@echo off
rem What a GUI registers: the Othello engine that searches as AlphaZero does, or IaGo, in GTP or NBoard's protocol.
"%~dp0start.bat" pydlshogi.games.othello.protocols.serve mcts %*
