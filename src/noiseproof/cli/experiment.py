"""Commands that need data: train, and data list, fetch, verify."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noiseproof.cli.app import app, new_group, print_json, show, show_text
from noiseproof.cli.options import JsonOption, SeedOption
from noiseproof.errors import DataError, NoiseproofError, ParameterError
from noiseproof.progress import counted, on_terminal

if TYPE_CHECKING:
    from noiseproof.train.progress import Watcher

DataOption = Annotated[
    Path | None,
    typer.Option("--data", help="Folder of the data sets (default: $NOISEPROOF_DATA)."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
NameArgument = Annotated[str, typer.Argument(help="Such as mnist; see `noiseproof data list`.")]


def _field(text: str) -> Any:
    return typer.Option(help=text, rich_help_panel="Any field of the recipe", show_default=False)


@app.command(short_help="Train one network under one noise.")
def train(
    dataset: Annotated[
        str, typer.Argument(help="digits, mnist, cifar10 ..., or your own .npz, .csv or folder.")
    ],
    loss: Annotated[
        str,
        typer.Option(
            help='Such as "AGCE(a=4, q=0.2)" or "NCE + RCE", or one of your own as '
            "path/to/file.py:Loss, whose code is run."
        ),
    ],
    noise: Annotated[
        str, typer.Option(help="symmetric:0.8, asymmetric:0.3, human:worst, matrix:T.csv ...")
    ] = "none",
    seed: SeedOption = 1,
    recipe: Annotated[str | None, typer.Option(help="paper or quick.")] = None,
    data: DataOption = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the record and the checkpoint of the run.")
    ] = Path("runs"),
    save: Annotated[bool, typer.Option("--save", help="Save the trained network too.")] = False,
    resume: Annotated[
        bool,
        typer.Option("--resume/--restart", help="Resume a run that was stopped, or start over."),
    ] = True,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    threads: Annotated[int, typer.Option(help="CPU threads (0: automatic).", min=0, max=256)] = 0,
    compiled: Annotated[
        bool, typer.Option("--compile", help="Run the network through torch.compile.")
    ] = False,
    label: Annotated[
        str | None, typer.Option(help="The label column of a table (default: label).")
    ] = None,
    tensorboard: Annotated[
        Path | None, typer.Option(help="Folder for TensorBoard event files.")
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Print the recipe and exit.")] = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
    network: Annotated[str | None, _field("cnn4, cnn8, resnet34, resnet50, mlp, linear.")] = None,
    epochs: Annotated[int | None, _field("Passes over the training set.")] = None,
    batch: Annotated[int | None, _field("Batch size.")] = None,
    lr: Annotated[float | None, _field("Initial learning rate.")] = None,
    momentum: Annotated[float | None, _field("Momentum of SGD.")] = None,
    nesterov: Annotated[bool | None, _field("Use Nesterov momentum.")] = None,
    weight_decay: Annotated[float | None, _field("Weight decay of SGD.")] = None,
    schedule: Annotated[str | None, _field("cosine, exponential or constant.")] = None,
    decay: Annotated[float | None, _field("Decay factor of the exponential schedule.")] = None,
    clip: Annotated[float | None, _field("Clip the gradient norm at this (0: never).")] = None,
    augment: Annotated[
        str | None, _field("Any of crop,shift,flip,rotation,colour, or none.")
    ] = None,
    mean: Annotated[str | None, _field("Channel means to subtract: 0.1307 or 0.5,0.5,0.5.")] = None,
    std: Annotated[str | None, _field("Standard deviations to divide by.")] = None,
    exact: Annotated[bool | None, _field("Flip the same number of labels in every class.")] = None,
    train_size: Annotated[int | None, _field("Train on this many samples (0: all).")] = None,
    test_size: Annotated[int | None, _field("Test on this many samples (0: all).")] = None,
    hidden: Annotated[str | None, _field("Hidden layer widths of an mlp, such as 256,256.")] = None,
    precision: Annotated[str | None, _field("float32, bfloat16 or float16.")] = None,
    method: Annotated[str | None, _field("loss, or nlnl for NLNL in three stages.")] = None,
) -> None:
    """Train one network with one loss under one noise: a cell of the paper's tables, one seed.

    Run the same command again to resume a run that was stopped. Under torchrun the processes
    share each batch.

    Example: noiseproof train mnist --loss "AUL(a=3, p=0.1)" --noise symmetric:0.8 --seed 1
    """
    from noiseproof import train as training
    from noiseproof.data import load_any
    from noiseproof.losses.own import errors_of_its_own, recorded_loss
    from noiseproof.results import complete

    given = {
        "network": network, "epochs": epochs, "batch": batch, "lr": lr, "momentum": momentum,
        "nesterov": nesterov, "weight_decay": weight_decay, "schedule": schedule, "decay": decay,
        "clip": clip, "augment": _words(augment), "mean": _numbers("mean", mean, float),
        "std": _numbers("std", std, float), "exact": exact, "train_size": train_size,
        "test_size": test_size, "hidden": _numbers("hidden", hidden, int),
        "precision": precision, "method": method,
    }  # fmt: skip
    with on_terminal(quiet or as_json) as reading:
        reading.step("loading")
        whole = load_any(dataset, data, label=_column(label, dataset), progress=reading)
    chosen = training.recipe(whole.train.name, recipe, whole.train.shape).override(**given)
    if show:
        show_text(training.describe(whole.train.name, chosen))
        return
    where = training.pick_device(device)
    text = str(recorded_loss(loss))
    experiment = training.prepare(whole, chosen, text, noise, seed, data)
    with training.joined(where) as world:
        threads = threads or training.default_threads(chosen.network)
        machine = training.Machine(where, threads, compiled, world)
        silent = quiet or as_json or not world.is_main
        watch = _watcher(silent, tensorboard if world.is_main else None)
        with errors_of_its_own(loss):
            record = complete(experiment, out, machine, watch, resume=resume, save=save)
    if world.is_main and as_json:
        print_json(record.to_dict())
    if record.status == "failed":
        raise NoiseproofError(str(record))
    if world.is_main and not as_json:
        show_text(record)


def _column(label: str | None, dataset: str) -> str:
    """Return the column of labels; raise where it is named, and the data set has no columns."""
    from noiseproof.known import KNOWN
    from noiseproof.tables.read import table_suffix

    path = Path(dataset)
    there = dataset in KNOWN or path.is_dir() or path.is_file()  # what is not is another mistake
    if label is not None and there and (dataset in KNOWN or table_suffix(path) is None):
        raise ParameterError(f"--label: {dataset} is not a table, and has no columns")
    return "label" if label is None else label


def _watcher(silent: bool, tensorboard: Path | None) -> "Watcher":
    from noiseproof.train.progress import Shown, TensorBoard, Watchers

    watchers: list[Watcher] = [Shown(on_terminal(silent))]
    if tensorboard is not None:
        watchers.append(TensorBoard(tensorboard))
    return Watchers(watchers)


def _words(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return () if text == "none" else tuple(word.strip() for word in text.split(","))


def _numbers(option: str, text: str | None, kind: type[int] | type[float]) -> Any:
    try:
        return None if text is None else tuple(kind(word) for word in text.split(","))
    except ValueError:
        raise ParameterError(f"--{option}: expected numbers and commas, got {text!r}") from None


group = new_group("data", "List, fetch and verify data sets.")


@group.command("list")
def list_data(data: DataOption = None, as_json: JsonOption = False) -> None:
    """List the known data sets and where they are.

    Example: noiseproof data list
    """
    from noiseproof.data import available

    found = available(data)
    if as_json:
        print_json([asdict(entry) for entry in found])
        return
    for entry in found:
        where = "built in" if entry.built_in else entry.where or "not here"
        show(f"{entry.name:<15} {where}", f"{'':<15} {entry.title}")


@group.command("fetch", short_help="Download a data set and check its files.")
def fetch_data(name: NameArgument, data: DataOption = None, quiet: QuietOption = False) -> None:
    """Download a data set, each file checked against its published checksum.

    Example: noiseproof data fetch mnist --data data
    """
    from noiseproof.data import fetch

    files = fetch(name, data, progress=not quiet)
    show(f"{name}: {counted(len(files), 'file')}, all there" if files else f"{name} needs no file")


@group.command("verify")
def verify_data(
    name: Annotated[
        str | None, typer.Argument(help="Such as mnist (default: every data set that is there).")
    ] = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check the files of data sets against their published checksums.

    Example: noiseproof data verify cifar10 --data data
    """
    from noiseproof.data import available, verify
    from noiseproof.data.places import places

    names = [name] if name else [found.name for found in available(data) if found.where]
    if not names:
        raise DataError(f"there is no data set in {' or '.join(map(str, places(data)))}")
    checks = {each: verify(each, data) for each in names}
    wrong = [c for found in checks.values() for c in found if c.state in ("wrong", "missing")]
    if as_json:
        every = [asdict(check) for found in checks.values() for check in found]
        print_json(every)
    elif not wrong:
        for each, found in checks.items():
            for check in found:
                show(f"{check.state:<10} {check.path}")
            unchecked = sum(check.state == "unchecked" for check in found)
            state = f"{unchecked} without a published checksum" if unchecked else "none wrong"
            show(
                f"{each}: {counted(len(found), 'file')}, {state}"
                if found
                else f"{each} needs no file"
            )
    if wrong:
        raise DataError("; ".join(check.problem for check in wrong))
