import pytest
import torch
from torch import nn
from torch.nn import functional as F

from noiseproof import models
from noiseproof.errors import ParameterError
from noiseproof.models.cnn import block

SHAPES = {
    "cnn4": (1, 28, 28),
    "cnn8": (3, 32, 32),
    "resnet34": (3, 8, 8),
    "resnet50": (3, 32, 32),
    "mlp": (20,),
    "linear": (20,),
}
WIDTHS = {"cnn4": 128, "cnn8": 256, "resnet34": 512, "resnet50": 2048, "mlp": 256, "linear": 20}


@pytest.fixture(autouse=True)
def _one_thread():
    """Two threads on cores shared with other work spend their time waiting for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def build(name, classes=10, shape=None, seed=1, **options):
    generator = torch.Generator().manual_seed(seed)
    return models.build(name, classes, shape or SHAPES[name], generator=generator, **options)


def inputs(name, count=4):
    return torch.randn(count, *SHAPES[name], generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("name", "classes", "shape", "count"),
    [
        ("cnn4", 10, (1, 28, 28), 422_090),
        ("cnn8", 10, (3, 32, 32), 1_639_794),
        ("resnet34", 100, (3, 32, 32), 21_328_292),
        # The usual ResNet-50: 23,508,032 and a last layer of 2,049 a class.
        ("resnet50", 1000, (3, 224, 224), 25_557_032),
        ("resnet50", 50, (3, 224, 224), 23_508_032 + 50 * 2049),
        ("linear", 3, (4,), 15),
        ("mlp", 3, (4,), (4 + 1) * 256 + 512 + 257 * 256 + 512 + 257 * 3),
    ],
)
def test_parameter_counts(name, classes, shape, count):
    assert sum(p.numel() for p in build(name, classes, shape).parameters()) == count


@pytest.mark.parametrize("name", models.NAMES)
def test_logits_are_the_head_of_the_features(name):
    net = build(name, classes=7).eval()
    x = inputs(name, 2)
    with torch.no_grad():
        features, logits = net.features(x), net(x)
    assert features.shape == (2, WIDTHS[name])
    assert logits.shape == (2, 7)
    assert torch.equal(logits, net.head(features))


@pytest.mark.parametrize("name", models.NAMES)
def test_every_parameter_gets_a_finite_gradient(name):
    net = build(name)
    F.cross_entropy(net(inputs(name)), torch.tensor([0, 1, 2, 3])).backward()
    for parameter in net.parameters():
        assert parameter.grad is not None
        assert torch.isfinite(parameter.grad).all()


@pytest.mark.parametrize("name", models.NAMES)
def test_weights_come_from_the_generator_and_from_nothing_else(name):
    before = torch.get_rng_state()
    first, again = build(name), build(name)
    other = build(name, seed=2)
    assert torch.equal(torch.get_rng_state(), before)
    for key, value in first.state_dict().items():
        assert torch.equal(value, again.state_dict()[key]), key
    assert not torch.equal(first.head.weight, other.head.weight)


@pytest.mark.parametrize("name", ["cnn8", "resnet34"])
def test_initialisation_is_the_stated_one(name):
    for module in build(name).modules():
        if isinstance(module, nn.Conv2d):
            # Kaiming-uniform: the bound is gain sqrt(3 / fan-in), the gain of a ReLU sqrt(2).
            bound = (6 / module.weight[0].numel()) ** 0.5
        elif isinstance(module, nn.Linear):
            bound = (6 / sum(module.weight.shape)) ** 0.5
        elif isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
            assert torch.equal(module.weight, torch.ones_like(module.weight))
            assert not module.bias.any()
            assert not module.running_mean.any()
            assert torch.equal(module.running_var, torch.ones_like(module.running_var))
            assert module.num_batches_tracked == 0
            continue
        else:
            continue
        assert module.weight.abs().max() <= bound
        assert module.weight.abs().max() > 0.95 * bound
        assert module.weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.1)
        assert module.bias is None or not module.bias.any()


def test_pooling_before_the_relu_gives_the_numbers_of_pooling_after():
    layers = block(3, 8, pool=True)
    convolution, norm, pool, relu = layers
    x = torch.randn(4, 3, 8, 8, generator=torch.Generator().manual_seed(0), requires_grad=True)
    z = norm(convolution(x))
    ours, usual = relu(pool(z)), pool(relu(z))
    assert torch.equal(ours, usual)
    weights = torch.randn(ours.shape, generator=torch.Generator().manual_seed(1))
    gradients = [
        torch.autograd.grad((y * weights).sum(), z, retain_graph=True)[0] for y in (ours, usual)
    ]
    assert torch.equal(*gradients)


def test_the_stem_of_resnet50_pools_as_imagenet_networks_do():
    convolution, pool, relu = build("resnet50").stem
    z = convolution(inputs("resnet50", 2))
    assert torch.equal(relu(pool(z)), F.max_pool2d(F.relu(z), 3, 2, 1))
    assert pool(z).shape == (2, 64, 8, 8)


@pytest.mark.parametrize("name", ["cnn4", "cnn8", "resnet34"])
def test_channels_last_gives_the_same_logits(name):
    net = build(name).eval()
    x = inputs(name, 2)
    with torch.no_grad():
        plain = net(x)
        last = net.to(memory_format=torch.channels_last)(x.to(memory_format=torch.channels_last))
    assert torch.allclose(plain, last, atol=1e-5 * plain.abs().max().item())


@pytest.mark.parametrize("name", ["cnn4", "cnn8", "mlp", "linear"])
def test_digits_fit_every_network_for_small_images(name):
    assert build(name, shape=(1, 8, 8)).eval()(torch.zeros(2, 1, 8, 8)).shape == (2, 10)


def test_a_state_dict_goes_from_one_network_to_another():
    first, second = build("cnn4"), build("cnn4", seed=2)
    second.load_state_dict(first.state_dict())
    x = inputs("cnn4")
    assert torch.equal(first.eval()(x), second.eval()(x))


def test_the_hidden_layers_of_the_mlp_can_be_chosen():
    assert build("mlp", hidden=(8, 5)).eval().features(inputs("mlp")).shape == (4, 5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cnn5", 10, (1, 28, 28)), "no network 'cnn5'; did you mean 'cnn[48]'?"),
        (("cnn4", 1, (1, 28, 28)), "expected classes >= 2, got 1"),
        (("cnn4", 10, (20,)), r"cnn4 reads images \(C, H, W\), got inputs of shape \(20,\); mlp"),
        (("cnn8", 10, (3, 7, 32)), "cnn8 reads images of at least 8x8 pixels, got 7x32"),
        (("mlp", 10, ()), "expected input_shape"),
        (("mlp", 10, (0,)), "expected input_shape"),
    ],
)
def test_what_cannot_be_built_is_one_line(arguments, message):
    with pytest.raises(ParameterError, match=message):
        models.build(*arguments, generator=torch.Generator())
