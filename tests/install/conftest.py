"""Files here that other Pythons run."""

collect_ignore = ["bare.py", "each_command.py", "only"]
