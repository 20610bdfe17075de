"""Which items to ask about again, and how much further answers would improve the labels."""

from dataclasses import dataclass

import numpy as np

from noiseproof.crowd.annotators import Annotators
from noiseproof.crowd.answers import Codes, normalised
from noiseproof.crowd.with_features import Consensus
from noiseproof.noise import stream
from noiseproof.noise.matrix import Doubles

#: Further answers about an item to look ahead, at most.
MOST = 5
#: An item is settled once its label is this sure.
SURE = 0.95
#: Items that the look ahead samples, and how often they are imagined in all: chance is to change
#: the share of right labels by less than a fifth of a point.
SAMPLE, IMAGINED = 2000, 20_000
#: How often an item is imagined whose number of further answers is worked out.
TIMES = 64
#: Items whose number of further answers is worked out.
LISTED = 500


@dataclass(frozen=True, eq=False)
class Asking:
    """Items worth asking about, and what further answers would bring.

    Args:
        items: those that a further answer would help, the one it helps most first.
        gain: how much more likely right the label of each becomes by one more answer.
        needed: how many more answers make each 95 % sure, on average: 0 if it is now, -1
            for more than :data:`MOST`. Only the first :data:`LISTED` are worked out.
        right: the share of right labels now, and after 1, 2, ... more answers about every item.
        doubtful: (share of items, share of right labels) after one more answer about the items
            that it helps most.
    """

    items: Codes
    gain: Doubles
    needed: Codes
    right: tuple[float, ...]
    doubtful: tuple[tuple[float, float], ...]


def ask(consensus: Consensus, per_annotator: Doubles, seed: int = 0) -> Asking:
    """Work out which items to ask about again.

    Args:
        consensus: what has been agreed on so far.
        per_annotator: (W,) the answers of each annotator; who works much will be asked again.
        seed: seeds what is imagined.
    """
    q, found = consensus.soft, consensus.annotators
    gain = _gain(q, _typical(found, per_annotator))
    order = np.argsort(-gain, kind="stable")
    order = order[gain[order] > 1e-4]
    draws = stream(seed, "ask again")
    some = draws.permutation(len(q))[:SAMPLE]
    ahead = _imagine(q[some], found, per_annotator, -(-IMAGINED // len(some)), draws)
    listed = _imagine(q[order[:LISTED]], found, per_annotator, TIMES, draws)
    sure = listed >= SURE
    needed = np.where(sure.any(axis=1), sure.argmax(axis=1), -1)
    now = float(q.max(axis=1).mean())
    better = np.cumsum(np.sort(gain)[::-1]) / len(q)
    parts = [
        (share, now + float(better[max(1, int(share * len(q))) - 1]))
        for share in (0.05, 0.1, 0.25, 0.5)
    ]
    # The sample says how much better; where it starts is known exactly.
    mean = ahead.mean(axis=0) - ahead[:, 0].mean() + now
    return Asking(order, gain[order], needed, tuple(np.minimum(mean, 1).tolist()), tuple(parts))


def _typical(found: Annotators, per_annotator: Doubles) -> Doubles:
    """Return the answers of a typical annotator, (K, K): by class, then by answer."""
    accuracy = float(per_annotator @ found.accuracy / per_annotator.sum())
    return (1 - accuracy) * found.off + accuracy * np.eye(len(found.off))


def _gain(q: Doubles, typical: Doubles) -> Doubles:
    """Return (N,): how much more likely right labels become by one more answer."""
    best = np.zeros(len(q))
    for answer in range(typical.shape[1]):
        best += (q * typical[:, answer]).max(axis=1)
    return np.asarray(np.maximum(best - q.max(axis=1), 0))


def _imagine(
    q: Doubles, found: Annotators, per_annotator: Doubles, times: int, draws: np.random.Generator
) -> Doubles:
    """Return (n, MOST + 1): the mean certainty of items after 0, 1, ... imagined answers."""
    n = len(q)
    now = np.repeat(q, times, axis=0)
    true = _draw(now, draws)
    out = [now.max(axis=1)]
    for _ in range(MOST):
        who = draws.choice(len(per_annotator), len(now), p=per_annotator / per_annotator.sum())
        accuracy = found.accuracy[who]
        right = draws.random(len(now)) < accuracy
        said = np.where(right, true, _draw(found.off[true], draws))
        likely = (1 - accuracy)[:, None] * found.off[:, said].T
        likely[np.arange(len(now)), said] = accuracy
        now = normalised(now * likely)
        out.append(now.max(axis=1))
    return np.asarray(np.stack(out, axis=1).reshape(n, times, MOST + 1).mean(axis=1))


def _draw(p: Doubles, draws: np.random.Generator) -> Codes:
    """Return (N,): a class drawn from each row of p."""
    steps = p.cumsum(axis=1)
    at = (steps < draws.random(len(p))[:, None] * steps[:, -1:]).sum(axis=1)
    return np.asarray(np.minimum(at, p.shape[1] - 1), dtype=np.int64)
