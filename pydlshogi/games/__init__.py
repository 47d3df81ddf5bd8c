"""The games: each is one folder with all that is its own, rules, records, engines, books, training data."""
