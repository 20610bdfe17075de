"""From the word that a user gives to an encoder; ``auto`` takes the best that is installed."""

from dataclasses import dataclass
from difflib import get_close_matches

from noiseproof.encoders import cache, hub, huggingface, lite0, onnx_file
from noiseproof.encoders.encoder import PICTURES, TEXTS, Encoder, Identity
from noiseproof.errors import DataError, ParameterError
from noiseproof.extras import missing
from noiseproof.files import mode_of

AUTO, PATCHES, TFIDF = "auto", "patches", "tfidf"
#: What is made without a network.
PLAIN = {PICTURES: PATCHES, TEXTS: TFIDF}
#: Encoders of sentences that ``auto`` looks for in the local cache, the best first.
SENTENCES = (
    "sentence-transformers/all-mpnet-base-v2",
    "BAAI/bge-small-en-v1.5",
    "sentence-transformers/all-MiniLM-L6-v2",
    "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
)
INSTALL = "pip install 'noiseproof[encoders]'"
#: ``auto`` takes no encoder that would need about this many minutes or more ...
MINUTES = 20
#: ... at so many pictures or texts a second on two cores.
SPEED = {PICTURES: 60, TEXTS: 120}
#: ImageNet's networks know photos: smaller pictures, and grey ones, are left to patches.
PHOTO = 32
#: The encoder that was loaded last.
_loaded: dict[Identity, Encoder] = {}


@dataclass(frozen=True)
class Facts:
    """What there is to encode.

    Args:
        encodes: ``"pictures"`` or ``"texts"``.
        count: how many.
        side: the shorter side of a typical picture, in pixels.
        colour: whether the pictures are coloured.
    """

    encodes: str
    count: int
    side: int = 0
    colour: bool = True


def choose(word: str, facts: Facts) -> tuple[Encoder | None, str]:
    """Return the encoder, None for patches or TF-IDF, and a line about why.

    The line is empty where the user asked for exactly that.
    """
    plain = PLAIN[facts.encodes]
    if word == AUTO:
        return _pictures(facts) if facts.encodes == PICTURES else _texts(facts)
    if word == plain:
        return None, ""
    if word in PLAIN.values():
        raise ParameterError(f"--encoder {word}: expected one for {facts.encodes}, or {plain!r}")
    found = load(word, facts.encodes, typical=facts.side or None, download=True)
    return found, f"{facts.encodes} encoded by {found.identity}"


def load(
    word: str, encodes: str, size: int | None = None, *, typical: int | None = None,
    download: bool = False,
) -> Encoder:  # fmt: skip
    """Load the encoder that a word means."""
    cache.limit()  # a wrong setting is refused before any work
    if word in (AUTO, *PLAIN.values()):
        raise ParameterError(f"--encoder {word}: expected the network that the model was fitted by")
    _check_spelling(word)
    found: Encoder
    if lite0.claims(word):
        found = lite0.load(word, encodes, size, typical)
    elif onnx_file.claims(word):
        found = onnx_file.load(word, encodes, size)
    elif huggingface.claims(word):
        found = huggingface.load(word, encodes, size, download=download)
    else:
        raise ParameterError("--encoder: expected a name, a folder or a file, got ''")
    _loaded.clear()
    _loaded[found.identity] = found
    return found


def _check_spelling(word: str) -> None:
    """Refuse a word that is nearly one of ours; Hugging Face would be asked for it otherwise."""
    known = (AUTO, *PLAIN.values(), lite0.NAME)
    is_there = mode_of(word) is not None  # asked in any case: no file can have some names
    if word in known or "/" in word or is_there:
        return
    if near := get_close_matches(word.casefold(), known, n=1, cutoff=0.75):
        raise ParameterError(f"--encoder {word}: no such encoder; did you mean {near[0]!r}?")


def reopen(identity: Identity) -> Encoder:
    """Return the encoder of a model, and make sure that it is the very same."""
    if identity in _loaded:
        return _loaded[identity]
    found = load(identity.name, identity.encodes, identity.size)
    if found.identity.sha256 != identity.sha256:
        raise DataError(
            f"encoder {identity.name}: its files are not those of the fit (SHA-256 "
            f"{found.identity.sha256[:12]}, the model wants {identity.sha256[:12]}); fit again, or "
            "say by --encoder where those are"
        )
    return found


def _pictures(facts: Facts) -> tuple[Encoder | None, str]:
    if facts.side < PHOTO or not facts.colour:
        what = "grey" if not facts.colour else f"{facts.side} pixels small"
        return None, f"pictures are {what}: no network for photos is used (--encoder names one)"
    if not lite0.is_installed():
        return None, (
            f"pictures are described by patches; {INSTALL} brings {lite0.NAME}, which predicts "
            "photos far better"
        )
    if _too_many(facts):
        return None, _slow(facts, lite0.NAME)
    found = load(lite0.NAME, PICTURES, typical=facts.side)
    return found, (
        f"pictures encoded by {found.identity}, the best that is installed; --encoder NAME takes a "
        "model of Hugging Face, --encoder patches is faster"
    )


def _texts(facts: Facts) -> tuple[Encoder | None, str]:
    if missing("transformers", "tokenizers", "safetensors", "huggingface_hub"):
        return None, (
            f"texts are described by their words; {INSTALL} and --encoder {SENTENCES[-2]} often "
            "predict better"
        )
    name = next((name for name in SENTENCES if hub.cached(name)), None)
    if name is None:
        return None, (
            "texts are described by their words: no encoder of sentences is in the local cache; "
            f"--encoder {SENTENCES[-2]} fetches one and often predicts better"
        )
    if _too_many(facts):
        return None, _slow(facts, name)
    found = load(name, TEXTS)
    return found, f"texts encoded by {found.identity}, the best in the local cache"


def _too_many(facts: Facts) -> bool:
    return facts.count > 60 * MINUTES * SPEED[facts.encodes]


def _slow(facts: Facts, name: str) -> str:
    minutes = facts.count / SPEED[facts.encodes] / 60
    return (
        f"{PLAIN[facts.encodes]} describe {facts.count:,} {facts.encodes}; --encoder {name} may "
        f"predict better and takes about {minutes:.0f} minutes"
    )
