"""Models of Hugging Face, by name or as a local folder, loaded without anybody's code."""

import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from noiseproof.encoders.batches import of_tokens, picture_batch, text_batch
from noiseproof.encoders.encoder import PICTURES, TEXTS, Identity, panics_are_errors
from noiseproof.encoders.hub import local_folder
from noiseproof.encoders.model_files import (
    check_tokenizer,
    check_weights,
    described_in,
    hash_of,
    hashed_files,
    in_utf8,
)
from noiseproof.encoders.pixels import Pixels
from noiseproof.errors import DataError
from noiseproof.extras import need
from noiseproof.files import unchanged

#: A text is cut off after this many tokens, or fewer where the model says so.
TOKENS = 256
#: No network is deeper: building one takes time by the layer.
DEEPEST = 2000
#: Nor is a picture's side longer, in pixels.
WIDEST = 4096
#: The ends of keys that name attention and the like; a name with a slash is code of the hub.
CODE = "implementation"
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "tokenizer.model")


class TextEncoder:
    """The mean of the last layer over the tokens of a text, at length 1."""

    def __init__(self, folder: Path, name: str, size: int | None) -> None:
        from transformers import AutoTokenizer

        self.lock = threading.Lock()
        self.tokenizer = AutoTokenizer.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True
        )
        check_tokenizer(folder, self.tokenizer.vocab_files_names)
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        # On the left it would move the positions of a text by the length of its neighbours.
        self.tokenizer.padding_side = "right"
        model, _ = _model(folder, "pooler.")
        # A model of pictures and texts has a part for each.
        model = getattr(model, "text_model", model)
        config = model.config
        self.network = model.get_encoder() if config.is_encoder_decoder else model
        limits = [
            TOKENS, self.tokenizer.model_max_length,
            getattr(config, "max_position_embeddings", TOKENS), _positions(model),
            described_in(folder / "sentence_bert_config.json").get("max_seq_length"),
        ]  # fmt: skip
        self.size = size or min(limit for limit in limits if limit and limit > 0)
        width = self._run(self._tokens(["a text"])).shape[1]
        self.identity = Identity(name, hash_of(folder), TEXTS, self.size, width)
        self.batch = text_batch(self.encode, self.size, 32, self.tokenizer.get_vocab())

    def encode(self, batch: Any) -> NDArray[np.float32]:
        """Return a vector of length 1 for each text."""
        tokens = self._tokens(list(batch))
        return of_tokens(
            tokens["attention_mask"].numpy(), self.identity.width,
            lambda some: self._run({name: value[some] for name, value in tokens.items()}),
        )  # fmt: skip

    def _tokens(self, texts: list[str]) -> Any:
        with self.lock:  # a tokenizer serves one thread at a time
            return self.tokenizer(
                texts, truncation=True, max_length=self.size, padding=True, return_tensors="pt",
                return_attention_mask=True,
            )  # fmt: skip

    def _run(self, tokens: Any) -> NDArray[np.float32]:
        with torch.inference_mode():
            tokens = {name: value.to(self.network.device) for name, value in tokens.items()}
            states = self.network(**tokens).last_hidden_state.float()
            mask = tokens["attention_mask"].unsqueeze(-1)
            mean = (states * mask).sum(1) / mask.sum(1).clamp(min=1)
            found: NDArray[np.float32] = F.normalize(mean, dim=1).cpu().numpy()
            return found


class PictureEncoder:
    """The pooled output of a model for pictures."""

    def __init__(self, folder: Path, name: str, size: int | None) -> None:
        model, missing = _model(folder, "pooler.", "vision_model.post_layernorm.")
        # A model of pictures and texts has a part for each.
        self.network = getattr(model, "vision_model", model)
        self.pooled = not any("pooler." in key for key in missing)
        described = described_in(folder / "preprocessor_config.json")
        side = size or _side(described) or getattr(self.network.config, "image_size", None) or 224
        if side > WIDEST:
            raise DataError(f"{folder}: it reads pictures of {side:,} pixels, more than {WIDEST:,}")
        self.pixels = Pixels.of(described)
        width = self.encode(np.zeros((1, 3, side, side), np.uint8)).shape[1]
        self.identity = Identity(name, hash_of(folder), PICTURES, side, width)
        self.batch = picture_batch(self.encode, side, min(16, WIDEST**2 // side**2))

    def encode(self, batch: Any) -> NDArray[np.float32]:
        """Return the pooled output; where there is none, the mean over the pixels or tokens."""
        with torch.inference_mode():
            x = self.pixels(torch.from_numpy(batch))
            out = self.network(pixel_values=x.to(self.network.device))
            found: NDArray[np.float32] = self._pool(out).float().cpu().numpy()
            return found

    def _pool(self, out: Any) -> Tensor:
        pooled: Tensor | None = getattr(out, "pooler_output", None)
        if pooled is not None and self.pooled:
            return pooled.flatten(1)
        states: Tensor = out.last_hidden_state
        return states.flatten(2).mean(2) if states.ndim == 4 else states.mean(1)


def claims(word: str) -> bool:
    """Return whether the word may be a folder or a name: every other encoder was asked before."""
    return bool(word)


def load(
    word: str, encodes: str, size: int | None = None, typical: int | None = None,
    download: bool = False,
) -> TextEncoder | PictureEncoder:  # fmt: skip
    """Load a model.

    Args:
        word: the path of a folder, or a name on Hugging Face.
        encodes: what it shall encode.
        size: pixels or tokens; None takes the model's own.
        typical: not asked for.
        download: whether a name may be fetched from the network where it is not in the cache.
    """
    need("encoders", "transformers", "tokenizers", "safetensors", "huggingface_hub")
    folder = local_folder(word, download)
    name = str(folder) if Path(word).is_dir() else word
    can = _encodes(folder)
    if encodes not in can:
        raise DataError(f"--encoder {word}: it encodes {' and '.join(can)}, these are {encodes}")
    kind = TextEncoder if encodes == TEXTS else PictureEncoder
    with _quiet(), in_utf8(folder) as found:
        try:
            with panics_are_errors(), unchanged(folder, partial(hashed_files, folder)):
                return kind(found, name, size)
        except DataError:
            raise
        except UnpicklingError:  # torch would advise to load it all the same
            raise DataError(f"{folder}: cannot be used as an encoder (no plain tensors)") from None
        except Exception as error:  # of many kinds, all from files that do not fit
            said = " ".join(str(error).split())[:200] or type(error).__name__
            raise DataError(f"{folder}: cannot be used as an encoder ({said})") from None


def _encodes(folder: Path) -> tuple[str, ...]:
    texts = any((folder / name).is_file() for name in TOKENIZERS)
    pictures = (folder / "preprocessor_config.json").is_file()
    vision = "image_size" in described_in(folder / "config.json")
    found = ((TEXTS, texts), (PICTURES, pictures or vision))
    return tuple(kind for kind, can in found if can) or ("nothing that is known",)


def _model(folder: Path, *optional: str) -> tuple[Any, list[str]]:
    """Return the model and the weights that its files lack, which may be ``optional`` ones."""
    from transformers import AutoModel

    described = described_in(folder / "config.json")
    if code := _code(described):
        raise DataError(f"{folder}: its config.json asks for code from Hugging Face ({code})")
    layers = _layers(described)
    if layers > DEEPEST:
        raise DataError(f"{folder}: its config.json asks for {layers:,} layers")
    safe = any(folder.glob("*.safetensors"))
    check_weights(folder, described, "model.safetensors" if safe else "pytorch_model.bin")
    model, loading = AutoModel.from_pretrained(
        folder, trust_remote_code=False, local_files_only=True, use_safetensors=safe,
        weights_only=True, dtype=torch.float32, output_loading_info=True,
    )  # fmt: skip
    lacking = sorted(loading["missing_keys"])
    needed = [key for key in lacking if not any(part in f"{key}." for part in optional)]
    if needed:
        raise DataError(f"{folder}: the weights are not of this model: {needed[0]} is missing")
    if torch.cuda.is_available():
        model = model.to("cuda")
    else:
        _unmap(model)
    return model.eval().requires_grad_(False), lacking


def _unmap(model: torch.nn.Module) -> None:
    """Copy the weights from the file, which they are a map of: they would change with it."""
    for tensor in (*model.parameters(), *model.buffers()):
        tensor.data = tensor.data.clone()


def _positions(model: Any) -> int | None:
    """Return how many tokens a network has places for; RoBERTa and its kin begin after the padding.

    None where it has no table of places.
    """
    for name, part in model.named_modules():
        if name.endswith("position_embeddings") and hasattr(part, "num_embeddings"):
            first = -1 if part.padding_idx is None else int(part.padding_idx)
            return int(part.num_embeddings) - first - 1
    return None


def _side(described: dict[str, Any]) -> int | None:
    """Return the side of the pictures that a preprocessor makes."""
    for key in ("crop_size", "size"):
        size = described.get(key)
        if isinstance(size, dict):
            size = size.get("height") or size.get("shortest_edge")
        if isinstance(size, int) and size > 0:
            return size
    return None


def _layers(described: Any) -> int:
    """Return the largest number of layers that a description, or a part of it, asks for."""
    if not isinstance(described, dict):
        return 0
    counts = [
        max(value) if isinstance(value, list) else value
        for key, value in described.items()
        if re.search("(layer|depth|block|repeat)s?$", key) and _is_count(value)
    ]
    return max([*counts, *map(_layers, described.values())], default=0)


def _code(described: dict[str, Any]) -> str | None:
    """Return the kernel of the hub that a description, or a part of it, would have run."""
    for key, value in described.items():
        if isinstance(value, dict):
            # An implementation may be given for each part.
            parts = {f"{key}.{k}": v for k, v in value.items()} if key.endswith(CODE) else value
            if found := _code(parts):
                return found
        elif CODE in key and isinstance(value, str) and "/" in value:
            return value
    return None


def _is_count(value: object) -> bool:
    each = value if isinstance(value, list) else [value]
    return bool(each) and all(isinstance(one, int) for one in each)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers and torch from talking about their work."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
