@echo off
rem Games on a CSA server such as floodgate: csa.bat HOST --user NAME --password-file FILE
"%~dp0start.bat" pydlshogi.csa %*
