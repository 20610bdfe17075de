"""What is said about grids: tables, figures, sentences, pages."""
