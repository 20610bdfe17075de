import os
from pathlib import Path

import cifar_files as cifar
import pytest
import torch

from noiseproof import data
from noiseproof.data.cifar_n import _load
from noiseproof.errors import DataError, ParameterError

KEYS = ("aggre_label", "random_label1", "random_label2", "random_label3", "worse_label")


@pytest.fixture
def train(tmp_path):
    cifar.write(tmp_path, "cifar10")
    return data.load("cifar10", tmp_path, verify=False).train


def human(train, **changed):
    clean = train.labels.tolist()
    shifted = {key: [(label + i) % 10 for label in clean] for i, key in enumerate(KEYS)}
    return {"clean_label": clean} | shifted | changed


def test_the_five_kinds_have_public_names(tmp_path, train):
    cifar.write_human(tmp_path, **human(train))
    labels = data.human_labels(train, tmp_path, verify=False)
    assert list(labels) == ["aggregate", "random1", "random2", "random3", "worst"]
    for i, values in enumerate(labels.values()):
        assert torch.equal(values, (train.labels + i) % 10)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"clean_label": [0] * 20}, "its clean_label is not the labels of this cifar10"),
        ({"worse_label": [10] * 20}, "worse_label: label 10 of sample 0 is out of range 0..9"),
        ({"worse_label": [1] * 19}, "19 labels worst for 20 images"),
    ],
)
def test_labels_that_do_not_fit_are_refused(tmp_path, train, changed, message):
    cifar.write_human(tmp_path, **human(train, **changed))
    with pytest.raises(DataError, match=f"CIFAR-10_human.pt.*{message}"):
        data.human_labels(train, tmp_path, verify=False)


def test_a_missing_kind_is_named(tmp_path, train):
    cifar.write_human(tmp_path, clean_label=train.labels.tolist())
    with pytest.raises(DataError, match=r"CIFAR-10_human.pt: has no aggre_label"):
        data.human_labels(train, tmp_path, verify=False)


class Malicious:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_a_file_with_more_than_arrays_is_refused_and_not_run(tmp_path, train):
    mark = tmp_path / "it-ran"
    (tmp_path / "cifar-n").mkdir()
    path = tmp_path / "cifar-n/CIFAR-10_human.pt"
    torch.save({"clean_label": Malicious(mark)}, path)
    with pytest.raises(DataError, match=r"human.pt: refused: it asks for \S*io\S*open") as error:
        data.human_labels(train, tmp_path, verify=False)
    assert not mark.exists()
    assert "\n" not in str(error.value)


def test_a_truncated_file_is_one_line(tmp_path, train):
    cifar.write_human(tmp_path, **human(train))
    path = tmp_path / "cifar-n/CIFAR-10_human.pt"
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(DataError, match=r"CIFAR-10_human.pt: ") as error:
        data.human_labels(train, tmp_path, verify=False)
    assert "\n" not in str(error.value)


def test_where_there_is_no_file_the_message_says_what_to_do(tmp_path, train):
    with pytest.raises(DataError, match=r"fetch cifar10n`, or put cifar-n/CIFAR-10_human.pt into"):
        data.human_labels(train, tmp_path, verify=False)


def test_nobody_labelled_digits():
    with pytest.raises(ParameterError, match=r"expected the training set of cifar10 or cifar100"):
        data.human_labels(data.load("digits").train)


@pytest.mark.realdata
def test_the_real_human_labels_are_as_noisy_as_published():
    train = data.load("cifar10").train
    rates = {
        name: round(100 * (labels != train.labels).double().mean().item(), 2)
        for name, labels in data.human_labels(train).items()
    }
    assert rates == {
        "aggregate": 9.01,
        "random1": 17.23,
        "random2": 18.12,
        "random3": 17.64,
        "worst": 40.21,
    }


@pytest.mark.realdata
def test_the_real_human_labels_of_cifar100_are_as_noisy_as_published():
    path = Path(os.environ["NOISEPROOF_DATA"]) / "cifar-n" / "CIFAR-100_human.pt"
    true = torch.from_numpy(_load(path)["clean_label"])
    images = torch.zeros(len(true), 3, 1, 1, dtype=torch.uint8)  # the file has the labels alone
    train = data.Dataset(images, true, tuple(map(str, range(100))), "cifar100")
    (labels,) = data.human_labels(train).values()
    assert round((labels != true).double().mean().item(), 4) == 0.402
