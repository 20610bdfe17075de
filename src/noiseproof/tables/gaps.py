"""Words that stand for no value."""

#: What pandas takes for a gap in a text file, as it is written.
NO_VALUE = frozenset({
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
})  # fmt: skip
#: Words that mean that there is no number; among labels that are words they are classes.
GAPS = frozenset(word.lower() for word in NO_VALUE)
#: The same in a column of numbers or dates, where marks are gaps too.
NO_NUMBER = GAPS | {
    "?", "-", "--", "\u2013", "\u2014", ".", "..", "...", "missing", "unknown",
    "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!",
}  # fmt: skip
