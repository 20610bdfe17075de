"""Noise as text: one spelling, errors of one line, and specs to be applied to any labels."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from noiseproof import noise
from noiseproof.errors import DataError, NoiseError
from noiseproof.noise import asymmetric, identity, pair_flip, parse, superclass, symmetric

TEXTS = [
    "none",
    "symmetric:0.4",
    "symmetric:0",
    "symmetric:1",
    "asymmetric:0.3",
    "asymmetric:0.3:released",
    "pair-flip:0.2",
    "superclass:0.2",
    "instance:0.3",
    "human:worst",
    "human:fine",
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_round_trips(text: str) -> None:
    spec = parse(text)
    assert str(spec) == text
    assert parse(str(spec)) == spec
    assert hash(parse(text)) == hash(spec)


@given(st.sampled_from(["symmetric", "pair-flip", "asymmetric", "instance"]), st.floats(0, 1))
def test_every_rate_round_trips(kind: str, rate: float) -> None:
    spec = parse(f"{kind}:{rate!r}")
    assert spec.rate == rate  # type: ignore[union-attr]
    assert parse(str(spec)) == spec


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("clean", "none"), (" symmetric:0.40 ", "symmetric:0.4"), ("symmetric:.4", "symmetric:0.4")],
)
def test_other_spellings_become_the_one(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical


def test_matrices() -> None:
    assert parse("symmetric:0.4", classes=10).transition == symmetric(10, 0.4)
    assert parse("pair-flip:0.2", classes=["a", "b"]).transition == pair_flip(2, 0.2, ["a", "b"])
    assert parse("none", classes=3).transition == identity(3)
    assert parse("asymmetric:0.3", dataset="cifar10").transition == asymmetric("cifar10", 0.3)
    released = asymmetric("cifar100", 0.3, variant="released")
    assert parse("asymmetric:0.3:released", 100, "cifar100").transition.rate == released.rate  # type: ignore[union-attr]
    assert parse("asymmetric:0.3:released", dataset="cifar100").transition == released
    assert parse("superclass:0.2", dataset="cifar100").transition == superclass("cifar100", 0.2)
    named = parse("symmetric:0.2", dataset="cifar10").transition
    assert named is not None
    assert named.name(3) == "cat"
    assert parse("instance:0.3").transition is None
    assert parse("human:worst").transition is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("symetric:0.4",), "unknown noise 'symetric'; did you mean 'symmetric'?"),
        (("pair_flip:0.4",), "unknown noise 'pair_flip'; did you mean 'pair-flip'?"),
        (
            ("",),
            "unknown noise ''; known: asymmetric, clean, human, instance, matrix, none, "
            "pair-flip, superclass, symmetric",
        ),
        (("symmetric",), "noise 'symmetric' has no rate, as in 'symmetric:0.4'"),
        (("symmetric:",), "noise 'symmetric:' has no rate, as in 'symmetric:0.4'"),
        (("symmetric:x",), "noise 'symmetric:x': 'x' is not a number"),
        (("symmetric:1.4",), "noise 'symmetric:1.4': expected a rate from 0 to 1, got 1.4"),
        (("symmetric:nan",), "noise 'symmetric:nan': expected a rate from 0 to 1, got nan"),
        (("symmetric:0.4:0.3",), "noise 'symmetric:0.4:0.3' has a part too many: '0.3'"),
        (
            ("asymmetric:0.4:released:twice",),
            "noise 'asymmetric:0.4:released:twice' has a part too many: 'twice'",
        ),
        (
            ("asymmetric:0.4:relesed",),
            "noise 'asymmetric:0.4:relesed': the only variant is 'released', not 'relesed'",
        ),
        (("none:0.1",), "noise 'none:0.1': 'none' stands alone"),
        (("human",), "noise 'human' does not say which, as in 'human:worst'"),
        (("matrix:",), "noise 'matrix:' does not say which, as in 'matrix:T.csv'"),
        (("human:worse",), "unknown human labels 'worse'; did you mean 'worst'?"),
        (("human:worst", None, "cifar100"), "unknown human labels 'worst'; known: fine"),
        (
            ("human:worst", None, "mnist"),
            "no human labels known for 'mnist'; known: cifar10, cifar100",
        ),
        (
            ("asymmetric:0.3", None, "webvision"),
            "no asymmetric noise known for 'webvision'; known: cifar10, cifar100, digits, mnist",
        ),
        (
            ("asymmetric:0.3", 10),
            "noise 'asymmetric:0.3' needs a data set whose confusions are known",
        ),
        (
            ("superclass:0.3", None, "mnist"),
            "no super-classes known for 'mnist'; known: cifar100",
        ),
        (
            ("superclass:0.3", 10, "cifar100"),
            "super-classes of 100 classes, not 10",
        ),
        (("symmetric:0.3", 1), "expected at least 2 classes, got 1"),
    ],
)
def test_one_line_says_what_is_wrong(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(NoiseError) as error:
        parse(*arguments)  # type: ignore[arg-type]
    assert str(error.value) == message


def test_a_matrix_without_classes_says_so_when_it_is_asked_for() -> None:
    with pytest.raises(NoiseError, match=r"'symmetric:0\.4' needs the number of classes"):
        parse("symmetric:0.4").transition  # noqa: B018


def test_a_matrix_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("T.csv").write_text("ham, spam\n0.9, 0.1\n\n0.3, 0.7\n", encoding="utf-8")
    spec = parse("matrix:T.csv")
    assert str(spec) == "matrix:T.csv"
    assert spec.transition == noise.TransitionMatrix([[0.9, 0.1], [0.3, 0.7]], ["ham", "spam"])
    Path("bare.csv").write_text("0.9,0.1\n0.3,0.7", encoding="utf-8")
    bare = parse("matrix:bare.csv", classes=["no", "yes"]).transition
    assert bare is not None
    assert bare.classes == ("no", "yes")
    assert parse("matrix:bare.csv").transition.classes is None  # type: ignore[union-attr]
    renamed = parse("matrix:T.csv", classes=["no", "yes"]).transition
    assert renamed is not None
    assert renamed.classes == ("no", "yes")


@pytest.mark.parametrize(
    ("content", "classes", "kind", "message"),
    [
        (None, None, DataError, "T.csv: no such file"),
        (b"\xff\xfe\x00", None, DataError, "cannot read T.csv: not a CSV text file"),
        (b"0.9,0.1\n0.3,x\n", None, NoiseError, "T.csv, line 2: 'x' is not a number"),
        (b"0.9,0.1\n\n0.3\n", 2, NoiseError, "T.csv, line 3: 1 values for 2 classes"),
        (b"a,b\n0.9,0.1\n0.3,0.8\n", None, NoiseError, "T.csv, line 3 sums to 1.1, not to 1"),
        (
            b"0.9,0.1\n1.3,-0.3\n",
            None,
            NoiseError,
            "T.csv, line 2 has -0.3 in column 1: not a probability",
        ),
        (b"0.9,0.1\n0.3,0.7\n", 3, NoiseError, "T.csv, line 1: 2 values for 3 classes"),
        (b"1,0\n", 2, NoiseError, "T.csv: 1 rows for 2 classes"),
        (b"", None, NoiseError, "T.csv: 0 rows for 2 classes"),
        (b"a,b,c\n0.9,0.1\n0.3,0.7\n", None, NoiseError, "T.csv, line 1: 3 names for 2 classes"),
        (
            b"b,a\n0.9,0.1\n0.3,0.7\n",
            ["a", "b"],
            NoiseError,
            "T.csv, line 1: the classes are a, b, in this order, not b, a",
        ),
        (
            b"Dog,Cat\n0.9,0.1\n0.3,0.7\n",
            ["cat", "dog"],
            NoiseError,
            "T.csv, line 1: the classes are cat, dog, in this order, not Dog, Cat",
        ),
        (
            b"A,a\n0.9,0.1\n0.3,0.7\n",
            ["a", "A"],
            NoiseError,
            "T.csv, line 1: the classes are a, A, in this order, not A, a",
        ),
    ],
)
def test_a_file_that_is_not_a_matrix(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes | None,
    classes: int | None,
    kind: type[Exception],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("T.csv").write_bytes(content)
    with pytest.raises(kind) as error:
        parse("matrix:T.csv", classes=classes)
    assert str(error.value) == message


def test_each_kind_is_applied_alike(tmp_path: Path) -> None:
    labels = torch.arange(1000) % 10
    features, human = torch.eye(10)[labels], (labels + (torch.arange(1000) % 4 == 0)) % 10
    path = tmp_path / "T.csv"
    np.savetxt(path, pair_flip(10, 0.3).matrix, delimiter=",")
    rates = {}
    for text in (
        "none",
        "symmetric:0.4",
        "asymmetric:0.4",
        "instance:0.3",
        "human:worst",
        f"matrix:{path}",
    ):
        spec = parse(text, dataset="cifar10")
        noisy = spec.apply(labels, seed=1, exact=True, features=features, human=human)
        assert isinstance(noisy.labels, torch.Tensor)
        assert noisy.counts.shape == (10, 10)
        rates[text.partition(":")[0]] = noisy.rate
    assert rates.pop("instance") == pytest.approx(0.3, abs=0.05)
    assert rates == {"none": 0, "symmetric": 0.4, "asymmetric": 0.2, "human": 0.25, "matrix": 0.3}


def test_what_a_noise_needs_it_asks_for() -> None:
    labels = np.arange(10)
    with pytest.raises(NoiseError, match=r"'instance:0\.3' needs the features of the samples"):
        parse("instance:0.3").apply(labels, seed=1)
    with pytest.raises(NoiseError, match="noise 'human:worst' needs the labels that people gave"):
        parse("human:worst").apply(labels, seed=1)


def test_public_names() -> None:
    assert all(hasattr(noise, name) for name in noise.__all__)
    assert {"TransitionMatrix", "Corruption", "parse", "stream"} <= set(noise.__all__)
