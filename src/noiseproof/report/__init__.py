"""What we say: figures, and later tables and the page."""
