"""Is everything in a store what it claims to be?"""

from collections.abc import Iterable
from dataclasses import dataclass

from noiseproof.results.key import fingerprint_of_pictures, is_as_published
from noiseproof.results.record import Record
from noiseproof.results.store import Store


@dataclass(frozen=True)
class Verification:
    """What was found in a store.

    Args:
        records: how many are valid and believed.
        problems: a line each: damaged files, disputed cells, data that only has a known name.
    """

    records: int
    problems: tuple[str, ...]


def verify_store(store: Store) -> Verification:
    """Check every record: its fields, hashes, data and labels, and that no two disagree."""
    records = store.records()
    problems = (
        *store.damaged,
        *map(str, store.disputes.values()),
        *_under_a_known_name(records.values()),
        *disagreements(records.values()),
    )
    return Verification(len(records), problems)


def _under_a_known_name(records: Iterable[Record]) -> Iterable[str]:
    counts: dict[tuple[str, str], int] = {}
    for record in records:
        content = fingerprint_of_pictures(record.encoded) or record.fingerprint
        if not is_as_published(record.dataset, content):
            found = record.dataset, content
            counts[found] = counts.get(found, 0) + 1
    for (dataset, fingerprint), count in counts.items():
        yield (
            f"{count} of {dataset} were run on other data than the published "
            f"(fingerprint {fingerprint[:12]}); no table shows them"
        )


def disagreements(records: Iterable[Record]) -> Iterable[str]:
    """Yield a line for what was not trained with the same noisy labels, or tested on as many."""
    trained: dict[tuple[object, ...], dict[object, Record]] = {}
    tested: dict[tuple[object, ...], dict[object, Record]] = {}
    for record in records:
        place, recipe = record.place, record.recipe
        sizes = recipe.train_size, recipe.held_out, recipe.exact
        labels = trained.setdefault((place.data, place.noise, record.seed, sizes), {})
        labels.setdefault((record.noise_hash, record.noise_rate, record.train_samples), record)
        counts = tested.setdefault((place.data, recipe.test_size), {})
        counts.setdefault(record.test_samples, record)
    for one, other in _first_two(trained):
        yield (
            f"{one.dataset} with noise {one.noise}, seed {one.seed}: {one.loss} and "
            f"{other.loss} were trained with different labels (shares of wrong ones "
            f"{one.noise_rate:.4f} of {one.train_samples:,} and {other.noise_rate:.4f} of "
            f"{other.train_samples:,})"
        )
    for one, other in _first_two(tested):
        yield (
            f"{one.dataset}: {one.loss} with noise {one.noise} was tested on "
            f"{one.test_samples:,} samples, {other.loss} with noise {other.noise} on "
            f"{other.test_samples:,}"
        )


def _first_two(
    groups: dict[tuple[object, ...], dict[object, Record]],
) -> Iterable[tuple[Record, Record]]:
    for found in groups.values():
        if len(found) > 1:
            one, other, *_ = found.values()
            yield one, other
