"""A user's tables as they are written: text and Parquet files as frames, labels byte for byte."""
