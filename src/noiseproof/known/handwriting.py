"""MNIST, and what is built like it: Fashion-MNIST, and the digits of scikit-learn."""

from noiseproof.known.entry import File, Known

_DIGITS = tuple("0123456789")

#: 7 -> 1, 2 -> 7, 5 <-> 6, 3 -> 8.
_LOOK_ALIKE = {7: 1, 2: 7, 5: 6, 6: 5, 3: 8}

#: The released recipe, which has no augmentation; the paper's text speaks of shifts and flips.
_PAPER = {"network": "cnn4", "epochs": 50, "lr": 0.01, "weight_decay": 1e-3}
#: For one core of a CPU. Chosen by measurement, so that the table of the paper shows through: CE
#: learns the wrong labels, AGCE does not.
_QUICK = _PAPER | {"epochs": 18, "train_size": 8_000, "test_size": 5_000}


def _idx(folder: str, url: str, *checksums: tuple[str, str]) -> tuple[File, ...]:
    stems = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
    return tuple(
        File(f"{folder}/raw/{stem}-ubyte.gz", f"{url}/{stem}-ubyte.gz", md5, inner)
        for stem, (md5, inner) in zip(stems, checksums, strict=True)
    )


DIGITS = Known(
    "digits",
    "scikit-learn digits: 1,797 grey images 8x8, 10 classes, needs no file",
    reader="noiseproof.data.digits",
    classes=_DIGITS,
    samples=(1442, 355),
    fingerprint="98951cee8cc9808bdeb599079c7dac16987357004cf29b7a5ce57727cc12892a",
    # Not in the paper: they are digits, and are mistaken for each other as MNIST's are.
    confusions=_LOOK_ALIKE,
    recipes={
        "quick": {
            "network": "mlp", "epochs": 60, "batch": 64, "lr": 0.03, "weight_decay": 5e-3,
            "exact": True,
        }
    },
)  # fmt: skip

MNIST = Known(
    "mnist",
    "MNIST: 60,000 + 10,000 grey images 28x28, 10 classes",
    reader="noiseproof.data.idx",
    classes=_DIGITS,
    files=_idx(
        "MNIST",
        "https://ossci-datasets.s3.amazonaws.com/mnist",
        ("f68b3c2dcbeaaa9fbdd348bbdeb94873", "6bbc9ace898e44ae57da46a324031adb"),
        ("d53e105ee54ea40749a09fcbcd1e9432", "a25bea736e30d166cdddb491f175f624"),
        ("9fb629c4189551a2d022fa330f9573f3", "2646ac647ad5339dbf082846283269ea"),
        ("ec29112dd5afa0611ce80d1b7f02629c", "27ae3e4e09519cfbb04c329615203637"),
    ),
    mean=(0.1307,),
    std=(0.3081,),
    samples=(60_000, 10_000),
    fingerprint="d1685a08ee8ea31a0540fabd7010e6d3fb21324cac332b8df76e0ba2a8692094",
    confusions=_LOOK_ALIKE,
    recipes={"paper": _PAPER, "quick": _QUICK},
    paper="mnist",
)

FASHION_MNIST = Known(
    "fashion-mnist",
    "Fashion-MNIST: 60,000 + 10,000 grey images 28x28, 10 classes",
    reader="noiseproof.data.idx",
    classes=(
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
        "Ankle boot",
    ),
    files=_idx(
        "FashionMNIST",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
        ("8d4fb7e6c68d591d4c3dfef9ec88bf0d", ""),
        ("25c81989df183df01b3e8a0aad5dffbe", ""),
        ("bef4ecab320f06d8554ea6380940ec79", ""),
        ("bb300cfdad3c16e7a12a480ee83cd310", ""),
    ),
    mean=(0.2860,),
    std=(0.3530,),
    samples=(60_000, 10_000),
    # Not in the paper either: MNIST's recipes.
    recipes={"paper": _PAPER, "quick": _QUICK},
)  # fmt: skip
