"""The page of a fit: the report, and the rows to look at."""
