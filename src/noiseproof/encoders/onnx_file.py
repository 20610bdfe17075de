"""An encoder in an ONNX file, described by a small JSON file beside it.

``mine.onnx`` needs ``mine.json``; for pictures

    {"encodes": "pictures", "size": 224, "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]}

(mean and std of red, green and blue in 0..1; ``"layout": "NHWC"`` where the channels come last),
and for texts

    {"encodes": "texts", "size": 256, "tokenizer": "tokenizer.json"}

(a file of the ``tokenizers`` library, beside the others; an output of one vector for each token is
averaged over the tokens). ``"input"`` names the network's input for pictures and ``"output"`` the
output to take; by default they are the first ones.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.encoders.batches import of_tokens, picture_batch, text_batch
from noiseproof.encoders.encoder import PICTURES, TEXTS, Identity, digest, panics_are_errors
from noiseproof.errors import DataError
from noiseproof.extras import need
from noiseproof.files import check_plain

#: No description is larger.
LARGEST = 1 << 20
#: No network in one file is: protobuf reads no more.
MOST = 2 << 30
#: onnxruntime's name for the folder of weights that are not in the file itself.
ELSEWHERE = "session.model_external_initializers_file_folder_path"
KEYS = {"encodes", "size", "mean", "std", "layout", "tokenizer", "input", "output"}


class OnnxEncoder:
    """Runs the network with onnxruntime."""

    def __init__(
        self, session: Any, described: dict[str, Any], tokenizer: Any, name: str, sha256: str
    ) -> None:
        self.session, self.described, self.tokenizer = session, described, tokenizer
        self.inputs = [each.name for each in session.get_inputs()]
        self.output = described.get("output", session.get_outputs()[0].name)
        encodes, size = described["encodes"], described["size"]
        if encodes == TEXTS:
            trial = self._run(self._tokens(["a text"]))
        else:
            trial = self.encode(np.zeros((1, 3, size, size), np.uint8))
        if trial.ndim != 2 or trial.shape[0] != 1:
            raise ValueError(f"expected an output (n, d), got {trial.shape}")
        self.identity = Identity(name, sha256, encodes, size, trial.shape[1])
        if encodes == PICTURES:
            self.batch = picture_batch(self.encode, size, 32)
        else:  # one that is not told which tokens are padding must not see any
            most = 32 if "attention_mask" in self.inputs else 1
            self.batch = text_batch(self.encode, size, most, tokenizer.get_vocab())

    def encode(self, batch: Any) -> NDArray[np.float32]:
        """Return the output of the network, one vector for each input."""
        if self.tokenizer is not None:
            parts = self._tokens(batch)
            return of_tokens(
                parts["attention_mask"], self.identity.width,
                lambda some: self._run({name: part[some] for name, part in parts.items()}),
            )  # fmt: skip
        mean, std = (
            np.array(self.described[key], np.float32)[:, None, None] for key in ("mean", "std")
        )
        x = (batch.astype(np.float32) / 255 - mean) / std
        if self.described.get("layout", "NCHW") == "NHWC":
            x = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
        (out,) = self.session.run([self.output], {self.described.get("input", self.inputs[0]): x})
        if out.ndim == 4:
            out = out.mean(axis=(2, 3))
        return np.asarray(out.reshape(*out.shape[:1], -1), np.float32)

    def _tokens(self, texts: list[str]) -> dict[str, NDArray[np.int64]]:
        found = self.tokenizer.encode_batch(texts)
        return {
            "input_ids": np.array([one.ids for one in found], np.int64),
            "attention_mask": np.array([one.attention_mask for one in found], np.int64),
            "token_type_ids": np.array([one.type_ids for one in found], np.int64),
        }

    def _run(self, parts: dict[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        fed = {name: parts[name] for name in self.inputs if name in parts}
        (out,) = self.session.run([self.output], fed)
        if out.ndim == 3:
            mask = parts["attention_mask"][:, :, None]
            out = (out * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)
        length = np.linalg.norm(out, axis=1, keepdims=True)
        return np.asarray(out / np.maximum(length, 1e-12), np.float32)


def claims(word: str) -> bool:
    """Return whether the word is the path of an ONNX file."""
    return word.lower().endswith(".onnx")


def load(
    word: str, encodes: str, size: int | None = None, typical: int | None = None
) -> OnnxEncoder:
    """Load the network from the bytes that were hashed, so that nothing changes in between."""
    need("encoders", "onnxruntime", "tokenizers")
    import onnxruntime
    from tokenizers import Tokenizer

    path = Path(word)
    if not path.is_file():
        raise DataError(f"{path}: there is no such encoder; say where it is by --encoder")
    content, description = _content(path), path.with_suffix(".json")
    described = _described(description)
    if described["encodes"] != encodes:
        raise DataError(f"{path}: it encodes {described['encodes']}, these are {encodes}")
    # Under any name it is the same encoder.
    hashed = [("network", content), ("description", json.dumps(described).encode())]
    tokenizer = None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # batches run at the same time, one thread each
    options.log_severity_level = 4
    # Weights in a second file would be looked for in the working directory, and are not hashed.
    options.add_session_config_entry(ELSEWHERE, os.devnull)
    try:
        if encodes == TEXTS:
            beside = path.parent / Path(described["tokenizer"]).name
            text = _content(beside)
            hashed.append(("tokenizer", text))
            with panics_are_errors():
                tokenizer = Tokenizer.from_str(text.decode("utf-8"))
            tokenizer.enable_truncation(described["size"])
            if tokenizer.padding is None:
                tokenizer.enable_padding()
        providers = ["CPUExecutionProvider"]
        session = onnxruntime.InferenceSession(
            content, options, providers=providers, enable_fallback=0
        )
        name = str(path.resolve())
        return OnnxEncoder(session, described, tokenizer, name, digest(hashed))
    except Exception as error:  # of many kinds, all from a file that does not fit
        said = " ".join(str(error).split())[:200]
        if "external data" in said.lower():
            said = "its weights are in a second file; save the network as one file"
        raise DataError(f"{path}: cannot be used as an encoder ({said})") from None


def _content(path: Path) -> bytes:
    check_plain(path)
    if path.stat().st_size > MOST:
        raise DataError(f"{path}: larger than the {MOST >> 30} GiB that an ONNX file may have")
    return path.read_bytes()


def _described(path: Path) -> dict[str, Any]:
    """Return the checked description."""
    try:
        if path.exists():
            check_plain(path)
        if path.stat().st_size > LARGEST:
            raise ValueError("too large")
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(
            f"{path}: missing; it says how to prepare inputs, see docs/encoders.md"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: cannot be read as JSON ({error})") from None
    problem = _problem(found)
    if problem:
        raise DataError(f"{path}: {problem}, see docs/encoders.md")
    return dict(found)


def _problem(found: Any) -> str | None:
    if not isinstance(found, dict) or found.get("encodes") not in (PICTURES, TEXTS):
        return 'expected {"encodes": "pictures" or "texts", "size": ...}'
    unknown = sorted(set(found) - KEYS)
    if unknown:
        return f"unknown key {unknown[0]!r}"
    size = found.get("size")
    if not isinstance(size, int) or not 1 <= size <= 8192:
        return f"size: expected pixels or tokens, a whole number, got {size!r}"
    if found["encodes"] == TEXTS:
        return None if isinstance(found.get("tokenizer"), str) else "tokenizer: expected a file"
    for key in ("mean", "std"):
        values = found.get(key)
        if not isinstance(values, list) or len(values) != 3 or not all(map(_is_number, values)):
            return f"{key}: expected three numbers, got {values!r}"
    if min(map(abs, found["std"])) < 1e-9:
        return "std: expected numbers other than 0"
    if found.get("layout", "NCHW") not in ("NCHW", "NHWC"):
        return f"layout: expected NCHW or NHWC, got {found['layout']!r}"
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e9
