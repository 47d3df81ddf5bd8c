@echo off
rem What a GUI registers: the Othello engine that searches by alpha-beta, in GTP or NBoard's protocol.
"%~dp0start.bat" pydlshogi.games.othello.protocols.serve %*
