"""What teaches and measures the engines of Othello: `python -m utils.othello.NAME`."""
