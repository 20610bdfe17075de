"""A user's own rows: read them, check them, turn them into features."""
