import numpy as np
import pytest
import torch
from PIL import Image
from tiny_runs import ONE, tiny_data

from noiseproof.data import LazyImages, Normalisation, TrainTest, load
from noiseproof.errors import ParameterError
from noiseproof.train import Machine, Recipe, World, prepare
from noiseproof.train.augment import Pipeline
from noiseproof.train.batches import FileBatches, MemoryBatches, check_batch

CPU = torch.device("cpu")


def files(folder, count=12):
    random = np.random.default_rng(1)
    for i in range(count):
        pixels = random.integers(0, 256, (16, 16, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{i}.png")
    labels = torch.arange(count) % 2
    paths = tuple(f"{i}.png" for i in range(count))
    plain = Normalisation((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    return LazyImages(folder, paths, labels, ("a", "b"), "web", 8, plain)


ALONE = World()


def memory(world=ALONE, batch=32, augment=("crop", "flip")):
    train = tiny_data().train
    return MemoryBatches(train, Pipeline(augment, [0.0], [1.0], train.shape), batch, CPU, world)


def test_an_epoch_has_every_sample_once_in_an_order_of_its_own():
    orders = [torch.cat([b.rows for b in memory().shuffled(1, epoch)]) for epoch in range(2)]
    assert all(torch.equal(order.sort().values, torch.arange(160)) for order in orders)
    assert not torch.equal(*orders)


def test_inputs_are_those_of_the_rows_and_channels_last():
    train = tiny_data(channels=3).train
    batches = MemoryBatches(
        train, Pipeline((), [0.0] * 3, [1.0] * 3, train.shape), 32, CPU, World()
    )
    for batch in [*batches.shuffled(1, 0), *batches.in_order()]:
        assert torch.equal(batch.inputs, train.inputs[batch.rows].float() / 255)
        assert batch.inputs.is_contiguous(memory_format=torch.channels_last)


def test_two_processes_see_together_what_one_sees():
    whole = list(memory().shuffled(1, 0))
    parts = [list(memory(World(rank, 2)).shuffled(1, 0)) for rank in range(2)]
    for one, first, second in zip(whole, *parts, strict=True):
        assert torch.equal(torch.cat([first.rows, second.rows]), one.rows)
        assert torch.equal(torch.cat([first.inputs, second.inputs]), one.inputs)


def test_files_are_read_in_the_same_order(tmp_path):
    lazy = files(tmp_path)
    pipeline = Pipeline(("flip",), lazy.mean, lazy.std, lazy.shape)
    batches = FileBatches(lazy, pipeline, 5, CPU, World(), workers=0)
    seen = list(batches.shuffled(1, 0))
    assert [len(b.rows) for b in seen] == [5, 5, 2]
    assert torch.equal(torch.cat([b.rows for b in seen]).sort().values, torch.arange(12))
    for batch in batches.in_order():
        images = torch.stack([lazy[i][0] for i in batch.rows.tolist()])
        assert torch.allclose(batch.inputs, pipeline(images))


def test_images_in_files_can_be_trained_on(tmp_path):
    lazy = files(tmp_path)
    recipe = Recipe(network="linear", epochs=1, batch=4, train_size=8, augment=("colour", "shift"))
    experiment = prepare(TrainTest(lazy, lazy), recipe, "CE", "symmetric:0.2")
    outcome, _ = experiment.run(ONE)
    assert (outcome.status, len(experiment.train)) == ("done", 8)


@pytest.mark.parametrize(("count", "batch", "size"), [(1, 64, 1), (3, 64, 2), (100, 3, 2)])
def test_a_run_that_would_train_on_nothing_is_refused(count, batch, size):
    world = World(size=size)
    with pytest.raises(ParameterError, match=f"at least {2 * size} samples"):
        check_batch(count, batch, world)
    recipe = Recipe(network="linear", epochs=1, train_size=count, batch=batch)
    experiment = prepare(load("digits"), recipe, "CE")
    with pytest.raises(ParameterError, match=f"at least {2 * size} samples"):
        experiment.job(Machine(world=world))
