"""Where a model of Hugging Face is on this machine; fetched only if the user named it."""

from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from noiseproof.errors import DataError
from noiseproof.extras import need

#: The files that loading reads: no code.
PATTERNS = ("*.json", "*.txt", "*.model", "*.codes", "*.spm", "*.tokenizer", "*.tiktoken", "*.bpe")
#: The weights, the better first: pickles are fetched only where there are no safetensors, and
#: loaded without running them.
WEIGHTS = ("*.safetensors", "pytorch_model*.bin")


def local_folder(word: str, download: bool = False) -> Path:
    """Return the folder of a model.

    Args:
        word: a folder, or a name such as ``sentence-transformers/all-MiniLM-L6-v2``.
        download: whether to fetch a name that is not in the local cache.
    """
    path = Path(word)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise DataError(f"{path}: not the folder of a model: there is no config.json")
        return path.resolve()
    if path.is_absolute() or word.startswith(".") or word.count("/") > 1:
        raise DataError(f"{path}: there is no such encoder; say where it is by --encoder")
    return cached(word) or (_fetched(word) if download else _not_here(word))


def cached(name: str) -> Path | None:
    """Return the folder of a model in the local cache; None if it is not there."""
    need("encoders", "huggingface_hub")
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(name, "config.json")
    except HFValidationError:
        return None
    if not isinstance(found, str):
        return None
    folder = Path(found).parent
    weights = [*folder.glob("*.safetensors"), *folder.glob("*.bin")]
    return folder if any(file.is_file() for file in weights) else None


def _not_here(name: str) -> Path:
    raise DataError(
        f"encoder {name}: not in the local cache; `hf download {name}` gets it, or say where a "
        "copy is by --encoder"
    )


def _fetched(name: str) -> Path:
    need("encoders", "huggingface_hub")
    from huggingface_hub import model_info, snapshot_download

    try:
        # list_repo_files would try five times, and print a line each time.
        files = [file.rfilename for file in model_info(name).siblings or ()]
        weights = _weights(name, files)
        return Path(snapshot_download(name, allow_patterns=[*PATTERNS, weights]))
    except DataError:
        raise
    except Exception as error:  # of the network, the hub or the name
        said = " ".join(str(error).split())[:120] or type(error).__name__
        raise DataError(
            f"--encoder {name}: no such folder, and it cannot be fetched from Hugging Face ({said})"
        ) from None


def _weights(name: str, files: Sequence[str]) -> str:
    """Return the pattern of the weights to fetch."""
    for pattern in WEIGHTS:
        if any(fnmatch(file, pattern) for file in files):
            return pattern
    raise DataError(
        f"--encoder {name}: its files hold no weights that PyTorch reads ({' or '.join(WEIGHTS)})"
    )
