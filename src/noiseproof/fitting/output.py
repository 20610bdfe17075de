"""Write the folder of a fit, completely or not at all."""

from pathlib import Path
from typing import TYPE_CHECKING

from noiseproof import files
from noiseproof.data.table import bare_name
from noiseproof.files.spreadsheet import write_csv
from noiseproof.fitting.model import write_json

if TYPE_CHECKING:
    from noiseproof.fitting.fitted import Fitted

SUMMARY, REPORT, SUSPECTS = "summary.json", "report.html", "suspect_rows.csv"
#: Only after a fit to the answers of a crowd.
ANNOTATORS, ASK_AGAIN = "annotators.csv", "ask_again.csv"


def default_folder(file: Path) -> Path:
    """Return the folder that ``noiseproof fit FILE`` writes if none is named."""
    return Path(f"{bare_name(file) or 'data'}-fit")


def write(fitted: "Fitted", folder: Path, force: bool = False) -> Path:
    """Write the model, the report, the suspect rows and the summary into one folder."""
    with files.replacing(folder, force) as made:
        (made / "model").mkdir()
        fitted.model.save(made / "model")
        write_json(made / SUMMARY, fitted.summary)
        (made / REPORT).write_text(fitted.report, encoding="utf-8", errors="backslashreplace")
        if fitted.crowd is not None:
            write_csv(fitted.annotators, made / ANNOTATORS)
            write_csv(fitted.ask_again, made / ASK_AGAIN)
        write_csv(fitted.suspects_by_name, made / SUSPECTS)
    return folder
