@echo off
rem Install what the tests need into .venv and run every check of the project; arguments go to pytest.
rem Without Ray: its clusters have not been tried on Windows, so their tests are skipped there.
call "%~dp0environment.bat" test train chainer onnx openvino <nul || exit /b 1
"%~dp0..\.venv\Scripts\python.exe" "%~dp0checks.py" %*
set "status=%errorlevel%"
rem The window of a double click stays until it has been read; where no keyboard is there, timeout does not wait.
timeout /t 600 2>nul
exit /b %status%
