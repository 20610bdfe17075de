import numpy as np
import pytest

from noiseproof.errors import ParameterError
from noiseproof.known import KNOWN
from noiseproof.train import Recipe, describe, recipe
from noiseproof.train.recipes import known_recipe

PAPER = {name: known_recipe(name, "paper") for name in KNOWN if known_recipe(name, "paper")}
QUICK = {name: known_recipe(name, "quick") for name in KNOWN if known_recipe(name, "quick")}


def test_paper_recipes_are_the_released_ones():
    rows = {
        "mnist": ("cnn4", 50, 0.01, 1e-3, ()),
        "cifar10": ("cnn8", 120, 0.01, 1e-4, ("crop", "flip")),
        "cifar100": ("resnet34", 200, 0.1, 1e-5, ("crop", "flip", "rotation")),
    }
    for name, expected in rows.items():
        r = PAPER[name]
        assert (r.network, r.epochs, r.lr, r.weight_decay, r.augment) == expected
        assert (r.batch, r.momentum, r.clip, r.schedule, r.nesterov) == (
            128, 0.9, 5, "cosine", False,
        )  # fmt: skip
    assert not PAPER["mnist"].exact
    assert PAPER["cifar10"].exact
    web = PAPER["webvision-mini"]
    assert (web.network, web.epochs, web.lr, web.decay) == ("resnet50", 250, 0.4, 0.97)
    assert (web.nesterov, web.weight_decay, web.batch) == (True, 3e-5, 512)


def test_every_field_but_the_name_moves_the_hash():
    base = Recipe(network="mlp", epochs=2, schedule="exponential")
    others = {
        "network": "linear", "epochs": 3, "batch": 64, "lr": 0.02, "momentum": 0.8,
        "nesterov": True, "weight_decay": 0.1, "schedule": "constant", "decay": 0.5, "clip": 0.0,
        "augment": ("flip",), "exact": True, "train_size": 5, "test_size": 5, "hidden": (9,),
        "precision": "bfloat16", "method": "nlnl",
    }  # fmt: skip
    hashes = {base.hash} | {base.override(**{k: v}).hash for k, v in others.items()}
    hashes.add(base.override(mean=(0.5,), std=(1.0,)).hash)
    assert len(hashes) == len(others) + 2
    assert set(others) | {"name", "mean", "std"} == set(base.to_dict())
    assert base.override(name="other").hash == base.hash


def test_hash_is_the_same_everywhere():
    # Written down once: a hash that moves by itself would orphan every record and checkpoint.
    assert PAPER["mnist"].hash[:16] == "01044d94dad8588c"


def test_round_trip():
    for r in (*PAPER.values(), *QUICK.values()):
        assert Recipe.from_dict(r.to_dict()) == r


@pytest.mark.parametrize("name", QUICK)
def test_quick_recipes_list_every_deviation(name):
    text = describe(name, QUICK[name])
    if name == "digits":
        assert "The paper has no recipe for digits" in text
        return
    for field, value in QUICK[name].to_dict().items():
        if field != "name" and value != PAPER[name].to_dict()[field]:
            assert f"\n  {field} " in text.partition("Deviations")[2]


def test_paper_has_no_deviations():
    assert describe("mnist", PAPER["mnist"]).endswith("This is the paper's recipe.")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"epochs": 0}, "expected epochs >= 1, got 0"),
        ({"lr": -1.0}, "expected lr >= 0, got -1.0"),
        ({"lr": float("nan")}, "expected lr >= 0, got nan"),
        ({"momentum": 1.0}, "expected momentum < 1, got 1.0"),
        ({"decay": 1e300}, "decay: a learning rate multiplied by 1e+300 each epoch soon overflows"),
        ({"schedule": "cosin"}, "unknown schedule 'cosin'; did you mean 'cosine'?"),
        ({"augment": ("flop",)}, "unknown augmentation 'flop'; did you mean 'flip'?"),
        ({"mean": (0.5,)}, "1 numbers in mean, but 0 in std"),
        ({"lr": "0.1"}, "expected lr to be a number, got '0.1'"),
        ({"lr": True}, "expected lr to be a number, got True"),
        ({"epochs": 2.5}, "expected epochs to be a whole number, got 2.5"),
        ({"hidden": 64}, "expected hidden to be a tuple, got 64"),
        ({"epoch": 3}, "a recipe has no 'epoch'; did you mean 'epochs'?"),
        ({"decay": 0.9}, "decay has no effect with the schedule cosine: use exponential"),
        (
            {"hidden": (8,), "network": "linear"},
            "hidden has no effect with the network linear: use mlp",
        ),
    ],
)
def test_errors_say_what_is_wrong(fields, message):
    with pytest.raises(ParameterError) as error:
        recipe("digits").override(**fields)
    assert str(error.value) == message


def test_equal_numbers_are_one_recipe():
    same = recipe("digits").override(lr=1.0, epochs=3, mean=(0.0,), std=(1.0,))
    other = recipe("digits").override(lr=1, epochs=np.int64(3), mean=[np.float32(0)], std=[1])
    assert (same, same.hash) == (other, other.hash)


def test_own_data_get_a_network_that_fits():
    assert recipe("mine", shape=(12,)).network == "mlp"
    assert recipe("mine", shape=(3, 32, 32)).network == "cnn8"
