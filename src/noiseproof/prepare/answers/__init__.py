"""Several answers a row: which columns they are in, and which item each is about."""
