"""A board in the browser: play, watch it think, look through games. Served to this machine alone."""
