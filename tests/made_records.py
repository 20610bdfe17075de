"""Records as runs would leave them, without the runs: the numbers follow from the cell."""

from dataclasses import replace

from noiseproof.known import KNOWN
from noiseproof.results import Record, Store
from noiseproof.results.valid import identity_of
from noiseproof.train import Epoch
from noiseproof.train.schedule import learning_rate

#: Of published data sets that nobody has recorded the fingerprint of.
UNKNOWN = "f" * 64
#: Of data that nobody has counted: so many that every share of six digits is one of samples.
SAMPLES = 1_000_000


def sizes(cell):
    """Return how many samples the cell trains and tests with."""
    known, recipe = KNOWN.get(cell.dataset), cell.recipe
    counted = known is not None and known.fingerprint and cell.place.data != cell.dataset
    totals = known.samples if counted else (SAMPLES, SAMPLES)
    held = recipe.held_out
    train = min(totals[0], recipe.train_size + held if recipe.train_size else totals[0]) - held
    return train, min(totals[1], recipe.test_size or totals[1])


def share(part, samples):
    """Return the nearest share that so many samples can have."""
    return round(part * samples) / samples


def made(cell, accuracy, memorised=0.1, status="done"):
    """Return the record of a cell whose last epoch has these shares."""
    epochs = cell.recipe.epochs if status == "done" else 2
    noisy = cell.noise != "none"
    train, test = sizes(cell)
    rate = share(float(cell.noise.split(":")[1]), train) if noisy else 0.0
    memorised = memorised if noisy else 0.0
    history = tuple(
        Epoch(
            number=n,
            lr=learning_rate(cell.recipe, n - 1),
            loss=1 / n,
            train_accuracy=((1 - rate) * 0.9 + rate * memorised) * n / epochs,
            clean_part=0.9 * n / epochs,
            corrupted_part=memorised * n / epochs if noisy else None,
            recovered=0.1 if noisy else None,
            test_accuracy=share(max(0, accuracy - 0.1 * (1 - n / epochs)), test),
            seconds=0.5,
        )
        for n in range(1, epochs + 1)
    )
    data = cell.place.data
    record = Record(
        identity="",
        dataset=cell.dataset,
        fingerprint=UNKNOWN if data == cell.dataset else data,
        recipe=cell.recipe,
        recipe_hash=cell.recipe.hash,
        loss=cell.loss,
        noise=cell.noise,
        noise_rate=rate,
        noise_hash="e" * 64,
        train_samples=train,
        test_samples=test,
        seed=cell.seed,
        status=status,
        failure="" if status == "done" else "the loss is nan in step 7",
        history=history,
        seconds=0.5 * epochs,
        machine={"device": "cpu", "threads": 1, "torch": "2.13.0", "python": "3.11.2"},
        noiseproof="0.1.0",
    )
    return identified(record)


def identified(record):
    """Return a record with the identity that its fields make."""
    return replace(record, identity=identity_of(record.to_dict()))


def fill(folder, grid, accuracy):
    """Write a record a cell for which ``accuracy(cell)`` is a share, and not None."""
    store = Store(folder)
    for cell in grid.cells():
        if (share := accuracy(cell)) is not None:
            store.put(made(cell, share, memorised=0.9 if cell.row == "CE" else 0.05))
    return store


class Made:
    """A store in memory."""

    path = "runs"
    damaged = ()
    disputes = {}  # noqa: RUF012

    def __init__(self, grid, accuracy, failed=lambda cell: False):
        self.found = {}
        for cell in grid.cells():
            if (share := accuracy(cell)) is not None:
                memorised = 0.9 if cell.row == "CE" else 0.05
                status = "failed" if failed(cell) else "done"
                self.found[cell.key] = made(cell, share, memorised, status)

    def records(self):
        return dict(self.found)
