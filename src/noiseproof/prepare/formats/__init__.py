"""Files of rows, one module a format."""
