"""Games the search can play. Each file is one game behind the `Position` protocol."""
