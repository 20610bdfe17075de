"""Write the folder of a fit, completely or not at all."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noiseproof import files
from noiseproof.errors import NoiseproofError
from noiseproof.files.spreadsheet import write_csv
from noiseproof.fitting.model import write_json
from noiseproof.tables.read import bare_name

if TYPE_CHECKING:
    from noiseproof.fitting.fitted import Fitted

SUMMARY, REPORT, SUSPECTS = "summary.json", "report.html", "suspect_rows.csv"
#: Only after a fit to the answers of a crowd.
ANNOTATORS, ASK_AGAIN = "annotators.csv", "ask_again.csv"


def default_folder(file: Path) -> Path:
    """Return the folder that ``noiseproof fit FILE`` writes if none is named."""
    return Path(f"{bare_name(file) or 'data'}-fit")


def write(fitted: "Fitted", folder: Path, force: bool = False) -> list[str]:
    """Write the model, the report, the suspect rows and the summary into one folder.

    Hours of training are not lost because something odd in the data cannot be told or drawn:
    the files that can be made are written, and a line for each of the others is returned.
    """
    parts: dict[str, Callable[[Path], Any]] = {
        SUMMARY: lambda file: write_json(file, fitted.summary),
        SUSPECTS: lambda file: write_csv(fitted.suspects_by_name, file),
        REPORT: lambda file: file.write_text(
            fitted.report, encoding="utf-8", errors="backslashreplace"
        ),
    }
    if fitted.crowd is not None:
        parts[ANNOTATORS] = lambda file: write_csv(fitted.annotators, file)
        parts[ASK_AGAIN] = lambda file: write_csv(fitted.ask_again, file)
    missing = []
    with files.replacing(folder, force) as made:
        (made / "model").mkdir()
        fitted.model.save(made / "model")
        for name, make in parts.items():
            try:
                make(made / name)
            except OSError:  # the disk is at fault, and has no room for the rest either
                raise
            except Exception as error:
                (made / name).unlink(missing_ok=True)
                missing.append(f"{name} could not be made: {_why(error)}")
    return missing


def _why(error: Exception) -> str:
    """Return why a part could not be made, in one line."""
    if isinstance(error, NoiseproofError):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory"
    return f"unexpected {type(error).__name__}: {error}; please report it"
