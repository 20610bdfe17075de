"""Engines: how cells become records, here or on other machines."""
