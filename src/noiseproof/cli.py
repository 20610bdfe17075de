"""The command line: parse, call, print. What it prints is made elsewhere."""

import json
import sys
from pathlib import Path
from typing import Annotated

import click
import typer

from noiseproof.errors import NoiseproofError, ParameterError, did_you_mean

app = typer.Typer(
    name="noiseproof",
    help="Train classifiers that stay right when the labels are wrong.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

ClassesOption = Annotated[int, typer.Option(help="How many classes.", min=2)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where the picture goes (.png, .svg, .pdf).")] = Path(
        "noiseproof-demo.png"
    ),
    seed: Annotated[int, typer.Option(help="Seed of noise, network and order.", min=0)] = 1,
) -> None:
    """Audit AGCE, then train it against CE on digits with 60 % of the labels wrong.

    Example: noiseproof demo --out demo.svg
    """
    from noiseproof.demo import run

    run(out, seed)


@app.command()
def audit(
    loss: Annotated[str, typer.Argument(help='Such as "AGCE(a=0.6, q=0.6)" or "NCE + RCE".')],
    classes: ClassesOption = 10,
    noise: Annotated[
        str | None, typer.Option(help="symmetric:0.8, pair-flip:0.2, matrix:T.csv ...")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw it (.png, .svg, .pdf).")] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what can be proved or measured of a loss, and what noise it tolerates.

    Example: noiseproof audit "AGCE(a=0.6, q=0.6)" --classes 10 --noise symmetric:0.8
    """
    from noiseproof.report.pictures import save
    from noiseproof.theory import audit as audit_loss

    result = audit_loss(loss, classes=classes, noise=noise)
    print(json.dumps(result.to_dict(), indent=2) if as_json else result)
    if plot is not None:
        save(result.plot(), plot)


@app.command()
def figure(
    name: Annotated[str, typer.Argument(help="curves, calibration, conditions or domination.")],
    out: Annotated[Path, typer.Option(help="The file: .svg, .png or .pdf.")],
) -> None:
    """Draw a figure of the paper.

    Example: noiseproof figure calibration --out calibration.svg
    """
    from noiseproof.report.figures import FIGURES
    from noiseproof.report.pictures import check, save

    if name not in FIGURES:
        raise ParameterError(f"unknown figure {name!r}{did_you_mean(name, FIGURES)}")
    check(out)
    save(FIGURES[name](), out)
    print(f"wrote {out}")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 on success, 2 for a user's mistake with one line of why."""
    try:
        app(arguments, standalone_mode=False)
    except click.ClickException as error:
        return _complain(error.format_message())
    except NoiseproofError as error:
        return _complain(str(error))
    except BrokenPipeError:  # the reader of our output has had enough
        sys.stderr.close()
        return 0
    except OSError as error:
        return _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (KeyboardInterrupt, click.Abort):
        print("noiseproof: interrupted", file=sys.stderr)
        return 130
    return 0


def _complain(message: str) -> int:
    print(f"noiseproof: {' '.join(message.split())}", file=sys.stderr)
    return 2
