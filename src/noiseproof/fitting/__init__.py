"""From a user's noisy data to a model on disk, predictions and a report."""
