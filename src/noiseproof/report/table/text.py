"""Names and titles as they may stand in a table: one line, and nothing that a terminal obeys."""


def one_line(text: str) -> str:
    r"""Return a text without line breaks, its control characters spelled out.

    >>> one_line("two\nlines\x1b[31m")
    'two lines\\x1b[31m'
    """
    words = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in words)


def no_formula(text: str) -> str:
    """Return a text that no spreadsheet runs: an apostrophe before what could be a formula.

    >>> no_formula("=1+1"), no_formula("CE")
    ("'=1+1", 'CE')
    """
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r", "'")) else text
