"""Games on a server of the CSA protocol, such as floodgate: `python -m pydlshogi.csa HOST --user NAME`."""
