"""The USI protocol and the entry points a GUI starts."""
