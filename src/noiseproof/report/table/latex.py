"""LaTeX: a table environment that compiles without any package."""

from noiseproof.report.table.content import Entry, Row, Table

#: A line that begins with [ or * would be read as an option of the line break before it.
_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": "$<$", ">": "$>$", "±": r"$\pm$", "[": "{[}", "*": "{*}",
}  # fmt: skip


def as_latex(table: Table) -> str:
    """Return a ``table*``, two lines a method where the paper has it."""
    caption = " ".join([f"{_text(table.title)}.", *map(_text, table.caption)])
    heads = ["Method", *map(_text, table.columns)]
    lines = [
        r"\begin{table*}",
        r"\centering",
        r"\small",
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{l|{'c' * len(table.columns)}}}",
        r"\hline",
        _line(heads),
        r"\hline",
    ]
    for row in table.rows:
        lines.append(_line([_text(row.name), *_ours(table, row)]))
        if row.has_paper:
            lines.append(_line([r"\quad\footnotesize paper", *map(_papers, row.entries)]))
    return "\n".join([*lines, r"\hline", r"\end{tabular}", r"\end{table*}"]) + "\n"


def _ours(table: Table, row: Row) -> list[str]:
    return [
        rf"\textbf{{{text}}}" if table.is_bold(row, column) else text
        for column, text in enumerate(map(_own, row.entries))
    ]


def _own(entry: Entry) -> str:
    if entry.mean is None:
        return entry.state if entry.state == "failed" else ""
    remark = f" [{entry.remark}]" if entry.remark else ""
    return _number(entry.mean, entry.std) + remark


def _papers(entry: Entry) -> str:
    if entry.paper is None:
        return ""
    text = _number(entry.paper.mean, entry.paper.std)
    gap = f" (${entry.gap}$)" if entry.gap else ""
    return rf"\footnotesize {text}{gap}"


def _number(mean: float, std: float | None) -> str:
    return f"{mean:.2f}" if std is None else rf"{mean:.2f} $\pm$ {std:.2f}"


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _text(text: str) -> str:
    return "".join(_ESCAPES.get(sign, sign) for sign in text)
