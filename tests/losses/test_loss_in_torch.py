"""A loss is a module like any other: compiled, transformed, cast, copied, saved."""

import copy
import io
import pickle

import pytest
import torch
from loss_examples import CENTRAL, EXAMPLES, SUMS, classes_for, problem, with_options
from references import textbook, textbook_rows
from torch import nn

import noiseproof as nf

DOUBLE = {"rtol": 1e-9, "atol": 1e-11}


def close(a, b):
    torch.testing.assert_close(a, b, **DOUBLE)


@pytest.fixture
def _fresh_compiler():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


COMPILED = {type(loss).__name__: loss for loss in CENTRAL}  # one of each
COMPILED |= {str(loss): loss for loss in SUMS[-4:]}


@pytest.mark.usefixtures("_fresh_compiler")
@pytest.mark.parametrize("loss", COMPILED.values(), ids=str)
def test_compiles_in_one_graph(loss):
    z, y = problem(loss)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    value = compiled(z, y)
    (gradient,) = torch.autograd.grad(value, z)
    expected = textbook(loss)(z, y)
    close(value, expected)
    close(gradient, torch.autograd.grad(expected, z)[0])


@pytest.mark.usefixtures("_fresh_compiler")
@pytest.mark.parametrize("target", ["ignored", "soft", "smooth", "none"])
def test_compiles_in_one_graph_in_every_mode(target):
    z, y = torch.randn(6, 5, dtype=torch.float64, requires_grad=True), torch.arange(6) % 5
    options = {"weight": torch.rand(5, dtype=torch.float64) + 0.5}
    if target == "ignored":
        y[::2] = -100
    if target == "soft":
        y = torch.softmax(torch.randn(6, 5, dtype=torch.float64), 1)
    if target == "smooth":
        options["label_smoothing"] = 0.1
    if target == "none":
        options["reduction"] = "none"
    loss = nf.CE(**options)
    value = torch.compile(loss, fullgraph=True, backend="aot_eager")(z, y)
    expected = nn.functional.cross_entropy(z, y, **options)
    close(value, expected)
    close(*(torch.autograd.grad(x.sum(), z)[0] for x in (value, expected)))


@pytest.mark.usefixtures("_fresh_compiler")
def test_a_compiled_training_step():
    loss = nf.loss("NCE + 4*AGCE(a=6, q=1.5)")
    model = nn.Linear(3, 4).double()
    x, y = torch.randn(8, 3, dtype=torch.float64), torch.arange(8) % 4
    step = torch.compile(lambda x, y: loss(model(x), y), fullgraph=True, backend="aot_eager")
    step(x, y).backward()
    expected = torch.autograd.grad(textbook(loss)(model(x), y), tuple(model.parameters()))
    for parameter, gradient in zip(model.parameters(), expected, strict=True):
        close(parameter.grad, gradient)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # the compiler's own
@pytest.mark.usefixtures("_fresh_compiler")
def test_compiles_to_machine_code():
    loss = nf.loss("NCE + 4*AGCE(a=6, q=1.5)")
    z, y = problem(loss, dtype=torch.float32)
    value = torch.compile(loss, fullgraph=True)(z, y)
    (gradient,) = torch.autograd.grad(value, z)
    torch.testing.assert_close(value, textbook(loss)(z, y))
    torch.testing.assert_close(gradient, torch.autograd.grad(textbook(loss)(z, y), z)[0])


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize("loss", [x for x in COMPILED.values() if not x.random], ids=str)
def test_a_trace_is_the_loss_of_any_batch(loss):
    traced = torch.jit.trace(loss, problem(loss))
    z, y = problem(loss, rows=5)
    y[0] = -100
    close(traced(z, y), loss(z, y))


@pytest.mark.parametrize("loss", [*CENTRAL, *SUMS], ids=str)
def test_autocast(loss):
    classes = classes_for(loss)
    model = nn.Linear(6, classes)
    x, y = torch.randn(32, 6), torch.randint(classes, (32,))
    with torch.autocast("cpu", torch.bfloat16):
        logits = model(x)
        assert logits.dtype == torch.bfloat16
        value = loss(logits, y)
        assert value.dtype == torch.float32
    value.backward()
    torch.testing.assert_close(value, textbook(loss)(logits.float(), y), rtol=1e-4, atol=1e-5)
    expected = torch.autograd.grad(textbook(loss)(model(x), y), model.weight)[0]
    assert model.weight.grad.dtype == torch.float32
    scale = float(expected.abs().max())
    torch.testing.assert_close(model.weight.grad, expected, rtol=0.05, atol=0.03 * scale)


@pytest.mark.parametrize("loss", [*CENTRAL, *SUMS], ids=str)
def test_per_sample_gradients_by_vmap_and_functional_call(loss):
    classes = classes_for(loss)
    model = nn.Linear(3, classes).double()
    x, y = torch.randn(5, 3, dtype=torch.float64), torch.arange(5) % classes
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def of_one(parameters, x, y):
        return loss(torch.func.functional_call(model, parameters, (x[None],)), y[None])

    per_sample = torch.func.vmap(torch.func.grad(of_one), (None, 0, 0), randomness="different")
    gradients = per_sample(parameters, x, y)
    for i in range(5):
        alone = textbook(loss)(model(x[i : i + 1]), y[i : i + 1])
        expected = torch.autograd.grad(alone, tuple(model.parameters()))
        for name, gradient in zip(parameters, expected, strict=True):
            close(gradients[name][i], gradient)


@pytest.mark.parametrize("loss", [*CENTRAL, *SUMS], ids=str)
def test_an_ensemble_by_vmap_over_logits(loss):
    z, y = problem(loss)
    many = torch.stack([z.detach(), 2 * z.detach(), -z.detach()])
    values = torch.func.vmap(loss, (0, None), randomness="different")(many, y)
    close(values, torch.stack([textbook(loss)(one, y) for one in many]))
    rows = torch.func.vmap(with_options(loss, reduction="none"), randomness="different")(
        z.detach().unsqueeze(1), y.unsqueeze(1)
    )
    close(rows.squeeze(1), textbook_rows(loss)(z, y).detach())


def test_functional_call_replaces_the_weight():
    z, y = torch.randn(5, 3), torch.tensor([0, 1, 2, 0, 1])
    w = torch.tensor([1.0, 2.0, 5.0])
    loss = nf.MAE(weight=torch.ones(3))
    torch.testing.assert_close(
        torch.func.functional_call(loss, {"weight": w}, (z, y)), nf.MAE(weight=w)(z, y)
    )


@pytest.mark.parametrize("loss", EXAMPLES, ids=str)
def test_copies_are_the_same_loss(loss):
    z, y = problem(loss)
    weight = torch.rand(z.shape[1], dtype=torch.float64)
    loss = with_options(loss, weight=weight, ignore_index=1, reduction="sum")
    buffer = io.BytesIO()
    torch.save(loss, buffer)
    buffer.seek(0)
    saved = torch.load(buffer, weights_only=False)
    for again in (pickle.loads(pickle.dumps(loss)), copy.deepcopy(loss), copy.copy(loss), saved):
        assert type(again) is type(loss)
        assert str(again) == str(loss)
        assert repr(again) == repr(loss)
        assert torch.equal(again(z, y), loss(z, y))
    separate = copy.deepcopy(loss)
    separate.weight.zero_()
    assert separate(z, y).item() == 0 != loss(z, y).item()


@pytest.mark.parametrize("loss", EXAMPLES, ids=str)
def test_a_loss_has_no_parameters_and_no_state(loss):
    assert list(loss.parameters()) == []
    assert loss.state_dict() == {}
    model = nn.ModuleDict({"layer": nn.Linear(2, 2), "loss": loss})
    model.load_state_dict({f"layer.{k}": v for k, v in nn.Linear(2, 2).state_dict().items()})


@pytest.mark.parametrize("loss", [*CENTRAL, *SUMS], ids=str)
def test_the_weight_moves_with_the_module(loss):
    z, y = problem(loss)
    weight = torch.rand(z.shape[1])
    loss = with_options(loss, weight=weight)
    expected = loss(z, y)
    moved = loss.to(torch.float64)
    assert moved.weight.dtype == torch.float64
    close(moved(z, y), expected)
    assert loss.to("meta").weight.device.type == "meta"


@pytest.mark.parametrize("loss", EXAMPLES, ids=str)
def test_training_mode_and_hooks_are_a_modules(loss):
    z, y = problem(loss)
    seen = []
    handle = loss.register_forward_hook(lambda module, args, result: seen.append(result))
    assert loss.eval()(z, y) is seen[0]
    handle.remove()
    assert loss.train().training
    assert isinstance(loss, nn.Module)


@pytest.mark.parametrize("loss", CENTRAL, ids=str)
def test_a_loss_trains_a_classifier(loss):
    if isinstance(loss, nf.Spread):
        pytest.skip("sees no label")
    # Clean, separable data: every loss of the package must learn it.
    classes = classes_for(loss, 3)
    centres = 4 * torch.eye(classes, 6)
    y = torch.arange(120) % classes
    x = centres[y] + torch.randn(120, 6)
    model = nn.Linear(6, classes)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(25):
        optimizer.zero_grad()
        loss(model(x), y).backward()
        optimizer.step()
    assert float((model(x).argmax(1) == y).float().mean()) > 0.95
