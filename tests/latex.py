"""LaTeX for tests of tables: what it complains of when it compiles them."""

import re
import shutil
import subprocess

import pytest

PDFLATEX = shutil.which("pdflatex")


def complaints(folder, *tables, options=""):
    """Compile tables into one document without any package; return what is wrong with it."""
    if PDFLATEX is None:
        pytest.skip("pdflatex is not installed: apt-get install texlive-latex-base")
    document = rf"\documentclass{options}{{article}}\begin{{document}}", *tables, r"\end{document}"
    (folder / "document.tex").write_text("\n".join(document), "utf-8")
    command = [PDFLATEX, "-interaction=nonstopmode", "-halt-on-error", "document.tex"]
    subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    log = (folder / "document.log").read_text("utf-8", "replace")
    wrong = re.findall(r"^(?:!|Overfull|Missing character|LaTeX \w*Warning).*", log, re.MULTILINE)
    return wrong or ([] if (folder / "document.pdf").exists() else ["no document"])
