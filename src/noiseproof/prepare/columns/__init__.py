"""What the columns of a table are, and how their values are read."""
