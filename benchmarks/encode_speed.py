"""Pictures and texts a second of an encoder in `fit`, against the bare loop of its network.

    python benchmarks/encode_speed.py [--pictures 512] [--texts 1024] [--encoder FOLDER]

The bare loop runs the same network on ready float tensors (or tokens) in memory, in batches of the
same size on the same cores, one thread each. Ours starts from files, or from a list of texts: it
hashes, decodes, resizes, sorts and tokenises, runs the network and writes the cache. Goal: 0.9 of
the bare loop. CPU seconds are of all threads, and on a busy machine say more than the clock does.
A second run reads the cache.

Pictures need the extra `encoders`; texts are measured where --encoder names a folder of a model.
"""

import argparse
import os
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from noiseproof import parallel
from noiseproof.encoders import choose
from noiseproof.encoders.encoder import PICTURES, TEXTS
from noiseproof.encoders.pictures import PictureFiles
from noiseproof.encoders.run import embed
from noiseproof.encoders.texts import Texts

WORDS = ("the", "a", "film", "plot", "is", "very", "good", "bad", "story", "cast", "of", "slow")


def pictures(folder: Path, count: int, side: int) -> PictureFiles:
    """Smooth pictures with some noise, as PNG: they decode about as fast as real ones."""
    numbers = np.random.default_rng(0)
    folder.mkdir()
    for i in range(count):
        small = Image.fromarray(numbers.integers(0, 256, (6, 6, 3), np.uint8))
        pixels = np.asarray(small.resize((side, side), Image.Resampling.BICUBIC), np.int16)
        noisy = np.clip(pixels + numbers.normal(0, 8, pixels.shape), 0, 255).astype(np.uint8)
        Image.fromarray(noisy).save(folder / f"{i}.png")
    return PictureFiles(sorted(folder.iterdir()))


@torch.inference_mode()
def forward(network, ready) -> None:
    network(**ready) if isinstance(ready, dict) else network(ready)


def ready_pictures(encoder, files):
    """Batches as the network reads them."""
    for start in range(0, len(files.files), encoder.batch):
        these = range(start, min(start + encoder.batch, len(files.files)))
        pixels = torch.from_numpy(np.stack([files.load(at, encoder.identity.size) for at in these]))
        yield ((pixels.float() - 127) / 128).contiguous(memory_format=torch.channels_last)


def ready_texts(encoder, texts):
    """Batches of tokens, of texts of like length: padding is no part of the network."""
    order = Texts(texts).order(np.arange(len(texts)))
    for start in range(0, len(order), encoder.batch):
        these = [texts[at] for at in order[start : start + encoder.batch]]
        yield dict(
            encoder.tokenizer(
                these, truncation=True, max_length=encoder.size, padding=True, return_tensors="pt"
            )
        )


def timed(step) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    step()
    return time.perf_counter() - wall, time.process_time() - cpu


def compare(what, count, encoder, inputs, batches, rounds) -> None:
    """Time ours and the bare loop in turn; print items a second and the median of the ratios."""
    cache = Path(os.environ["NOISEPROOF_CACHE"])

    def ours():
        shutil.rmtree(cache, ignore_errors=True)
        embed(encoder, inputs)

    def bare():
        parallel.run([partial(forward, encoder.network, batch) for batch in batches])

    ours(), bare()
    pairs = []
    for i in range(rounds):
        steps = (ours, bare) if i % 2 else (bare, ours)
        seconds = {step: timed(step) for step in steps}
        pairs.append((seconds[ours], seconds[bare]))
    (our_wall, our_cpu), (bare_wall, bare_cpu) = np.median(pairs, axis=0)
    ratios = np.array([[b / o for o, b in zip(*pair, strict=True)] for pair in pairs])
    low, middle, high = np.quantile(ratios, [0, 0.5, 1], axis=0)
    again, _ = timed(lambda: embed(encoder, inputs))
    print(
        f"| {what} | {count / our_wall:.0f} | {count / bare_wall:.0f} | "
        f"{middle[0]:.2f} ({low[0]:.2f}-{high[0]:.2f}) | {count / our_cpu:.0f} | "
        f"{count / bare_cpu:.0f} | {middle[1]:.2f} ({low[1]:.2f}-{high[1]:.2f}) | {again:.2f} s |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", type=int, default=512)
    parser.add_argument("--texts", type=int, default=1024)
    parser.add_argument("--encoder", help="a folder of a text model")
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    numbers = np.random.default_rng(0)
    print(f"{parallel.cores()} cores\n")
    print(
        "| what | ours, a second | bare | ours / bare | ours, a CPU second | bare | ours / bare "
        "| second run |\n| --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    with tempfile.TemporaryDirectory() as made:
        os.environ["NOISEPROOF_CACHE"] = f"{made}/cache"
        for side, count in ((32, chosen.pictures), (320, chosen.pictures // 4)):
            files = pictures(Path(made) / str(side), count, side)
            encoder = choose.load("efficientnet-lite0", PICTURES, typical=side)
            what = f"lite0, {count} PNG of {side} px at {encoder.identity.size} px"
            ready = list(ready_pictures(encoder, files))
            compare(what, count, encoder, files, ready, chosen.rounds)
        if chosen.encoder:
            lengths = numbers.integers(3, 60, chosen.texts)
            texts = [" ".join(numbers.choice(WORDS, n)) + f" {i}" for i, n in enumerate(lengths)]
            encoder = choose.load(chosen.encoder, TEXTS)
            ready = list(ready_texts(encoder, texts))
            compare(f"{len(texts)} texts", len(texts), encoder, Texts(texts), ready, chosen.rounds)


if __name__ == "__main__":
    main()
