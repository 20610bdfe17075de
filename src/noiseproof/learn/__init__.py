"""From features and noisy labels to a model; knows no files, no columns and no reports."""
