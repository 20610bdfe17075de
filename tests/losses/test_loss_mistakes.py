"""Mistakes are one clear line, of the type torch raises for the same mistake."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

import noiseproof as nf
from noiseproof.errors import InputTypeError, NoiseproofError, ParameterError, ShapeError

Z, Y = torch.randn(4, 3), torch.tensor([0, 1, 2, 0])


@pytest.mark.parametrize(
    ("z", "y", "options"),
    [
        (Z, Y[:3], {}),
        (Z, torch.rand(4, 5), {}),
        (Z, Y + 1, {}),
        (Z, Y - 1, {}),
        (Z, Y, {"weight": torch.ones(4)}),
        (Z.numpy(), Y, {}),
        (Z.tolist(), Y, {}),
        (Z, Y.tolist(), {}),
        (torch.randn(2, 5, 3), torch.zeros(2, 5, dtype=torch.int64), {}),
    ],
    ids=["rows", "soft", "large", "negative", "weight", "array", "list", "labels", "B,T,K"],
)
def test_errors_are_of_the_types_torch_raises(z, y, options):
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - whatever torch raises
        cross_entropy(z, y, **options)
    with pytest.raises(NoiseproofError) as ours:
        nf.CE(**options)(z, y)
    assert isinstance(ours.value, type(theirs.value))
    assert "\n" not in str(ours.value)


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: nf.CE()(Z.numpy(), Y), InputTypeError, "expected logits to be a tensor, got nump"),
        (lambda: nf.CE()(Z, Y.tolist()), InputTypeError, "expected target to be a tensor, got li"),
        (lambda: nf.CE(weight=[1, 2, 3]), InputTypeError, "expected weight to be a tensor"),
        (lambda: nf.CE(weight=np.ones(3)), InputTypeError, "expected weight to be a tensor"),
        (lambda: nf.CE(weight=torch.ones(3, 1)), ShapeError, r"shape \(K,\), got"),
        (lambda: nf.CE(weight=torch.tensor([1, 2, 3])), ShapeError, "floating-point weight"),
        (lambda: nf.MAE(weight=-torch.ones(3)), ParameterError, "class weights >= 0"),
        (lambda: nf.MAE(ignore_index=None), ParameterError, "expected `ignore_index` to be an int"),
        (lambda: nf.audit("CE", noise=3), nf.errors.TheoryError, "expected `noise` as"),
        (lambda: 0 * nf.NCE(), ParameterError, "expected `weight of NCE` > 0, got 0"),
    ],
)
def test_one_clear_line(call, kind, says):
    with pytest.raises(kind, match=says) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_classes_last_is_recognised():
    with pytest.raises(ShapeError, match=r"classes are dimension 1 .* logits.movedim\(-1, 1\)"):
        nf.CE()(torch.randn(2, 5, 3), torch.zeros(2, 5, dtype=torch.int64))


def test_called_as_torch_is():
    w = torch.tensor([1.0, 2.0, 3.0])
    theirs = torch.nn.CrossEntropyLoss(w)
    torch.testing.assert_close(nf.CE(w)(input=Z, target=Y), theirs(input=Z, target=Y))
    assert repr(nf.CE(w)) == "<CE, weight=tensor([1., 2., 3.])>"


def not_dense(x):
    """Yield tensors of the same numbers that no loss reads: sparse, nested, on another device."""
    yield from (x.to_sparse(), x.to("meta"))
    if x.dim() == 2:
        yield torch.sparse_csr_tensor([0, 1, 2, 3, 4], [0, 1, 2, 0], x[:, 0], (4, 3))
    yield torch.nested.nested_tensor(list(x.reshape(2, -1)))
    yield torch.nested.nested_tensor(list(x.reshape(2, -1)), layout=torch.jagged)


@pytest.mark.filterwarnings("ignore:.*(nested tensors|Sparse CSR|Sparse invariant)")
@pytest.mark.parametrize("text", ["CE", "AGCE(a=1, q=0.5)", "NCE + MAE", "NLNL"])
def test_tensors_that_are_not_dense(text):
    loss, P, w = nf.loss(text), torch.softmax(Z, 1), torch.ones(4)
    W, H = torch.randn(3, 2), torch.randn(4, 2)
    calls = [(loss, (odd, Y)) for odd in not_dense(Z)]
    calls += [(loss, (Z, odd)) for x in (Y, P) for odd in not_dense(x)]
    calls += [(loss, (Z, y, w.to_sparse())) for y in (Y, P)]
    calls += [(nf.linear_loss, (odd, W, Y, loss)) for odd in not_dense(H)]
    calls += [(nf.linear_loss, (H, W, odd, loss)) for odd in not_dense(Y)]
    if not loss.random:
        calls += [(loss.derivatives, (Z, odd)) for x in (Y, P) for odd in not_dense(x)]
    for call, given in calls:
        with pytest.raises(
            ShapeError, match=r"\Aexpected .* (dense tensor|on one device), got .*\Z"
        ):
            call(*given)


@pytest.mark.parametrize("text", ["CE", "AGCE(a=1, q=0.5)", "NCE + MAE"])
def test_complex_labels_are_no_labels(text):
    loss, odd = nf.loss(text), Y.to(torch.complex64)
    W, H = torch.randn(3, 2), torch.randn(4, 2)
    for call in (
        lambda: loss(Z, odd),
        lambda: loss.derivatives(Z, odd),
        lambda: nf.linear_loss(H, W, odd, loss),
    ):
        with pytest.raises(ShapeError, match=r"got torch\.complex64 of"):
            call()


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_negative_probabilities_are_none_but_for_cross_entropy(kind):
    t = torch.tensor([[1.5, -0.5, 0.0]], dtype=kind)
    z, W, H = torch.randn(1, 3), torch.randn(3, 2), torch.randn(1, 2)
    torch.testing.assert_close(nf.CE()(z, t.float()), cross_entropy(z, t.float()))
    for text in ("AGCE(a=1, q=0.5)", "NCE + MAE", "SCE(alpha=1, beta=1)"):
        loss = nf.loss(text)
        for call in (
            lambda loss=loss: loss(z, t),
            lambda loss=loss: loss.derivatives(z, t),
            lambda loss=loss: nf.linear_loss(H, W, t, loss),
        ):
            with pytest.raises(ParameterError, match="class probabilities >= 0"):
                call()


def test_rows_of_negative_weight_have_no_derivatives():
    with pytest.raises(ParameterError, match="sample_weight >= 0"):
        nf.MAE().derivatives(np.zeros((2, 3)), np.array([0, 1]), np.array([1.0, -1.0]))


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (lambda log_u: -log_u.exp() / log_u.exp().mean(), "depends on the others"),
        (lambda log_u: log_u.exp().cumsum(0), "depends on the others"),
        (lambda log_u: log_u * torch.rand(()), "or on chance"),
        (lambda log_u: log_u.mean(), "a tensor of the shape of log_u"),
        (lambda log_u: 1 - np.exp(log_u.numpy()), "a tensor of the shape of log_u"),
        (lambda log_u: None, "a tensor of the shape of log_u"),
    ],
    ids=["batch mean", "running sum", "draws", "scalar", "array", "none"],
)
def test_a_value_that_is_no_function_of_one_probability(value, says):
    class Own(nf.Pointwise, register=False):
        def value(self, log_u):
            return value(log_u)

    with pytest.raises(ParameterError, match=says):
        Own()


# What a tensor may hold, besides the numbers that are asked for.
ODD = {
    "complex": lambda x: x.to(torch.complex64),
    "float8": lambda x: x.to(torch.float8_e4m3fn),
    "uint16": lambda x: x.abs().to(torch.uint16),
    "bool": lambda x: x != 0,
    "meta": lambda x: x.to("meta"),
    "learnt": lambda x: x.float().requires_grad_(),
    "no classes": lambda x: x[..., :0],
    "ragged": lambda x: [x.tolist(), [1.0]],
    "quantized": lambda x: torch.quantize_per_tensor(x.float(), 0.1, 0, torch.qint8),
}
ODD_OPTIONS = [
    {"ignore_index": 10**30},
    {"ignore_index": -(10**30)},
    {"reduction": np.array(["mean", "sum"])},
    {"weight": torch.ones(3, device="meta")},
    {"weight": torch.ones(3).to(torch.float8_e4m3fn)},
]


@pytest.mark.filterwarnings("ignore:.*(quantize_per_tensor|torch.ao)")
@pytest.mark.parametrize("text", ["CE", "AGCE(a=1, q=0.5)", "NCE + MAE", "EpsSoftmax(CE)", "NLNL"])
def test_odd_numbers_are_read_or_refused_in_one_line(text):
    loss, soft, w, W = nf.loss(text), Z.softmax(1), torch.rand(4), torch.randn(3, 3)
    ignored = torch.full((4,), -100)
    calls = [lambda given=given: nf.loss(text, **given)(Z, Y) for given in ODD_OPTIONS]
    for odd in ODD.values():
        calls += [
            lambda odd=odd: loss(odd(Z), Y),
            lambda odd=odd: loss(odd(Z), ignored),
            lambda odd=odd: loss(Z, odd(soft)),
            lambda odd=odd: loss(Z, Y, odd(w)),
            lambda odd=odd: loss(Z, soft, odd(w)),
            lambda odd=odd: loss.derivatives(odd(Z), Y),
            lambda odd=odd: loss.derivatives(Z, odd(soft)),
            lambda odd=odd: loss.derivatives(Z, Y, odd(w)),
            lambda odd=odd: nf.linear_loss(odd(Z), W, Y, loss),
            lambda odd=odd: nf.linear_loss(odd(Z), odd(W), Y, loss),
            lambda odd=odd: nf.linear_loss(Z, odd(W), ignored, loss),
            lambda odd=odd: nf.linear_loss(Z, W, Y, loss, odd(torch.randn(3))),
            lambda odd=odd: nf.linear_loss(Z, W, Y, loss, sample_weight=odd(w)),
        ]
    said = []
    for call in calls:
        try:
            call()
        except NoiseproofError as error:
            said.append(str(error))
    assert 50 < len(said) < len(calls)
    assert not any("\n" in line for line in said)


@pytest.mark.parametrize("text", ["AGCE(a=1, q=0.5)", "NLNL"], ids=["in blocks", "by logits"])
def test_a_linear_loss_multiplies_what_a_linear_layer_does(text):
    h, W = torch.randn(4, 5), torch.randn(3, 5)
    for odd in (torch.float64, torch.bfloat16, torch.int64, torch.complex64):
        for given in ((h.to(odd), W), (h, W.to(odd))):
            with pytest.raises(ShapeError, match="expected one floating type, got hidden torch"):
                nf.linear_loss(*given, Y, nf.loss(text))
    with torch.autocast("cpu", torch.bfloat16):
        nf.linear_loss(h.bfloat16(), W, Y, nf.loss(text))
        assert nf.linear_loss(h.double(), W.double(), Y, nf.loss(text)).dtype == torch.float64


@pytest.mark.parametrize(
    "text",
    [
        "AMSE(a=1e300)", "AMSE(a=1e20)", "UnitLogits(CE, 1e-300)", "UnitLogits(CE, 1e300)",
        "FL(gamma=1e308)", "NFL(gamma=1e308)", "SCE(1e300, 1)", "1e300*NCE", "AGCE(a=1, q=1e5)",
    ],
)  # fmt: skip
def test_a_number_that_no_float32_bears_is_refused_when_the_loss_is_built(text):
    with pytest.raises(nf.errors.ExpressionError, match=r"finite in float32|1e\+30"):
        nf.loss(text)


ASKED_FOR_A_NUMBER = [
    lambda x: nf.AGCE(a=x, q=1),
    lambda x: x * nf.CE() if isinstance(x, int) else nf.GCE(x),
    lambda x: nf.CE(label_smoothing=x),
    lambda x: nf.AGCE.a_for(q=x, clean_level=2),
    lambda x: nf.AGCE.a_for(q=0.5, clean_level=x),
    lambda x: nf.AUL.a_for(p=2, clean_level=x),
    lambda x: nf.AEL.a_for(x),
    lambda x: nf.AMSE.a_for(x),
    lambda x: nf.Biased.eps_for(x),
    lambda x: nf.calibration("MAE", eta=[x]),
    lambda x: nf.minimise_risk("MAE", x),
    lambda x: nf.noise.symmetric(x, 0.1),
    lambda x: nf.noise.symmetric(3, x),
    lambda x: nf.noise.parse(x, classes=3),
    lambda x: nf.recommend("symmetric:0.1", classes=x),
    lambda x: nf.noise.symmetric(3, 0.1).corrupt(x, seed=0),
]
NO_NUMBER = ["a", None, 1j, 10**400, {}, np.full((2, 2), "x"), torch.ones(2, 2, device="meta")]


@pytest.mark.parametrize("number", NO_NUMBER, ids=lambda x: str(x)[:8])
def test_what_is_no_number_is_named_in_one_line(number):
    for ask in ASKED_FOR_A_NUMBER:
        with pytest.raises(NoiseproofError) as caught:
            ask(number)
        assert "\n" not in str(caught.value)
