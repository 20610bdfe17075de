"""A person in the loop: what was decided about rows, and what becomes of it."""
