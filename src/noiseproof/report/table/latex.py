"""LaTeX: a table environment that compiles without any package.

Letters that pdflatex has no font for by itself (Chinese ones, say) need xelatex or lualatex.
"""

import re

from noiseproof.report.table.content import Entry, Row, Table
from noiseproof.report.table.text import number, one_line, our_number

PLUS_MINUS = r"$\pm$"

#: A line that begins with [ or * would be read as an option of the line break before it.
_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": "$<$", ">": "$>$", "[": "{[}", "*": "{*}", "|": "$|$", '"': r"\texttt{\char34}",
}  # fmt: skip
_SIGNS = {
    "±": "pm", "×": "times", "·": "cdot", "≤": "leq", "≥": "geq", "≠": "neq", "≈": "approx",
    "→": "to", "∞": "infty", "√": "surd", "∑": "sum", "′": "prime", "−": "mathord-", "∈": "in",
    "ℓ": "ell", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi",
    "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega", "α": "alpha", "β": "beta", "γ": "gamma",
    "δ": "delta", "ε": "varepsilon", "ζ": "zeta", "η": "eta", "θ": "theta", "ι": "iota",
    "κ": "kappa", "λ": "lambda", "μ": "mu", "µ": "mu", "ν": "nu", "ξ": "xi", "π": "pi",
    "ρ": "rho", "σ": "sigma", "ς": "varsigma", "τ": "tau", "υ": "upsilon", "φ": "varphi",
    "χ": "chi", "ψ": "psi", "ω": "omega", "ϵ": "epsilon", "ϕ": "phi",
}  # fmt: skip


def as_latex(table: Table) -> str:
    """Return a ``table*``, with a second line for methods that the paper has too."""
    caption = " ".join([f"{_text(table.title)}.", *map(_text, table.caption)])
    heads = ["Method", *map(_text, table.columns)]
    lines = [
        r"\begin{table*}",
        r"\centering",
        r"\small",
        rf"\caption{{{caption}}}",
        r"\medskip",
        r"\setlength{\tabcolsep}{4pt}",
        # What is wider than the text stands out on both sides alike.
        rf"\makebox[\textwidth]{{\begin{{tabular}}{{l|{'c' * len(table.columns)}}}",
        r"\hline",
        _line(heads),
        r"\hline",
    ]
    for row in table.rows:
        lines.append(_line([_text(row.name), *_ours(table, row)]))
        if row.has_paper:
            paper = [r"\quad\footnotesize paper", *map(_papers, row.entries)]
            lines.append(_line(paper) + "[2pt]")
    return "\n".join([*lines, r"\hline", r"\end{tabular}}", r"\end{table*}"]) + "\n"


def _ours(table: Table, row: Row) -> list[str]:
    texts = (our_number(entry, PLUS_MINUS) for entry in row.entries)
    return [
        rf"\textbf{{{text}}}" if table.is_bold(row, column) else text
        for column, text in enumerate(texts)
    ]


def _papers(entry: Entry) -> str:
    if entry.paper is None:
        return ""
    text = number(entry.paper.mean, entry.paper.std, PLUS_MINUS)
    gap = f" (${entry.gap}$)" if entry.gap else ""
    return rf"\footnotesize {text}{gap}"


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _text(text: str) -> str:
    """Escape every sign that means something in LaTeX; an empty line would end a caption."""
    escaped = "".join(
        rf"$\{_SIGNS[sign]}$" if sign in _SIGNS else _ESCAPES.get(sign, sign)
        for sign in one_line(text)
    )
    return re.sub(r"([-`'])(?=\1)|[!?](?=`)", r"\g<0>{}", escaped)  # two would become one sign
