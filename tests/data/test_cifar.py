import pickle

import cifar_files as cifar
import numpy as np
import pytest
import torch

from noiseproof import data
from noiseproof.data.pickles import read_pickle
from noiseproof.errors import DataError


@pytest.mark.parametrize("packed", [True, False])
def test_cifar10_is_read_packed_or_unpacked(tmp_path, packed):
    cifar.write(tmp_path, "cifar10", packed=packed)
    before = sorted(tmp_path.rglob("*"))
    parts = data.load("cifar10", tmp_path, verify=False)
    expected = np.concatenate([cifar.images(4, i) for i in range(1, 6)]).reshape(-1, 3, 32, 32)
    assert np.array_equal(parts.train.inputs.numpy(), expected)
    assert parts.train.labels.tolist() == [x for i in range(1, 6) for x in (i, 9, 0, 3)]
    assert np.array_equal(parts.test.inputs.numpy(), cifar.images(2, 6).reshape(-1, 3, 32, 32))
    assert parts.train.classes == tuple(f"class{i}" for i in range(10))
    assert parts.train.mean == (0.4914, 0.4822, 0.4465)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("packed", [True, False])
def test_cifar100_has_its_fine_labels(tmp_path, packed):
    cifar.write(tmp_path, "cifar100", packed=packed)
    parts = data.load("cifar100", tmp_path, verify=False)
    assert parts.train.labels.tolist() == [99, 0, 5, 7]
    assert len(parts.train.classes) == 100
    assert parts.train.std == (0.2673, 0.2564, 0.2762)


class Malicious:
    """A pickle that creates a file when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("packed", [True, False])
def test_a_malicious_pickle_is_refused_and_not_run(tmp_path, packed):
    mark = tmp_path / "it-ran"
    files = cifar.contents("cifar10")
    files["data_batch_2"] = pickle.dumps({b"data": Malicious(mark)}, protocol=2)
    cifar.write(tmp_path, "cifar10", files, packed)
    with pytest.raises(DataError, match=r"data_batch_2: refused: it asks for \S*io.open") as error:
        data.load("cifar10", tmp_path, verify=False)
    assert not mark.exists()
    assert "\n" not in str(error.value)
    pickle.loads(files["data_batch_2"])[b"data"].close()
    assert mark.exists(), "the pickle of this test does nothing, so refusing it proves nothing"


@pytest.mark.parametrize(
    "name", ["os.system", "builtins.eval", "numpy.load", "numpy.core.multiarray.fromfile"]
)
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_no_other_global_is_admitted(name, protocol):
    module, _, attribute = name.rpartition(".")
    opcodes = {
        0: f"c{module}\n{attribute}\n.".encode(),
        2: b"\x80\x02" + f"c{module}\n{attribute}\n.".encode(),
        4: b"\x80\x04"
        + b"".join(b"\x8c" + bytes([len(s)]) + s.encode() for s in (module, attribute))
        + b"\x93.",
    }
    with pytest.raises(DataError, match=f"batch: refused: it asks for {name}"):
        read_pickle(opcodes[protocol], "batch")


def batch(**changed):
    content = {"data": cifar.images(4), "labels": [1, 2, 3, 4]} | changed
    return cifar.old_pickle({key.encode(): value for key, value in content.items()})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (batch()[:5000], "truncated or not a pickle"),
        (b"", "truncated or not a pickle"),
        (b"<html>not found</html>", "truncated or not a pickle|damaged"),
        (batch(labels=[1, 2, 3]), "4 images but 3 labels"),
        (batch(labels=[1, 2, 10, 4]), "label 10 of sample 2 is out of range 0..9"),
        (batch(labels=[1, 2, -1, 4]), "label -1 of sample 2 is out of range 0..9"),
        (batch(labels=[1, 2, b"x", 4]), "damaged"),
        (batch(data=cifar.images(4)[:, :3000]), "damaged .cannot reshape"),
        (batch(data=np.zeros((4, 3072))), "damaged .an array of f8, expected bytes"),
        (batch(data=b"pixels"), "expected the entries data and labels"),
        (pickle.dumps([1, 2]), "expected a dictionary, got list"),
        (cifar.old_pickle({b"x": 1}), "expected the entries data and labels"),
    ],
)
def test_a_damaged_batch_is_one_line_that_names_it(tmp_path, content, message):
    cifar.write(tmp_path, "cifar10", cifar.contents("cifar10") | {"data_batch_3": content})
    with pytest.raises(DataError, match=f"data_batch_3: ({message})") as error:
        data.load("cifar10", tmp_path, verify=False)
    assert "\n" not in str(error.value)


def test_meta_must_name_the_classes(tmp_path):
    meta = cifar.old_pickle({b"num_vis": 3072})
    cifar.write(tmp_path, "cifar10", cifar.contents("cifar10") | {"batches.meta": meta})
    with pytest.raises(DataError, match=r"batches.meta: expected the entry label_names"):
        data.load("cifar10", tmp_path, verify=False)


def test_a_missing_batch_is_named(tmp_path):
    cifar.write(tmp_path, "cifar10")
    (tmp_path / "cifar-10-batches-py/data_batch_4").unlink()
    with pytest.raises(DataError, match=r"data_batch_4: no such file; put cifar-10-python.tar"):
        data.load("cifar10", tmp_path, verify=False)


def test_a_truncated_or_incomplete_archive_is_named(tmp_path):
    files = cifar.contents("cifar10")
    del files["data_batch_5"]
    cifar.write(tmp_path, "cifar10", files, packed=True)
    with pytest.raises(DataError, match=r"cifar-10-python.tar.gz: holds no data_batch_5"):
        data.load("cifar10", tmp_path, verify=False)
    path = tmp_path / "cifar-10-python.tar.gz"
    path.write_bytes(path.read_bytes()[:-3000])
    with pytest.raises(DataError, match=r"cifar-10-python.tar.gz: truncated or not a .tar.gz"):
        data.load("cifar10", tmp_path, verify=False)


@pytest.mark.realdata
def test_the_real_cifar10():
    parts = data.load("cifar10")
    assert parts.train.inputs.shape == (50000, 3, 32, 32)
    assert torch.bincount(parts.train.labels).tolist() == [5000] * 10
    assert torch.bincount(parts.test.labels).tolist() == [1000] * 10
    assert parts.train.classes[1] == "automobile"
    computed = data.Dataset(parts.train.inputs, parts.train.labels, parts.train.classes, "x")
    assert computed.mean == pytest.approx(parts.train.mean, abs=1e-4)
    assert computed.std == pytest.approx(parts.train.std, abs=1e-4)
    assert {check.state for check in data.verify("cifar10")} == {"ok"}
