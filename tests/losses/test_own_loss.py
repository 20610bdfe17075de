"""A user's own loss: one function, and it works wherever a built-in one does."""

import contextlib
import pickle

import pytest
import torch
from annotated_loss import Annotated, Wrapped
from torch import nn

import noiseproof as nf
from noiseproof.errors import ExpressionError, NoiseproofError, ParameterError


class Brier(nf.Pointwise):
    """l(u) = s (1 - u)^2, with nothing but ``value``."""

    s: float = nf.parameter(default=1.0, above=0)

    def value(self, log_u):
        return self.s * torch.expm1(log_u) ** 2


class Margin(nf.Loss):
    """Not pointwise: 1 - p_y + the largest of all p, with nothing but ``per_class``."""

    def per_class(self, log_p):
        p = log_p.exp()
        return 1 - p + p.amax(-1, keepdim=True)


OWN = {cls.__name__: cls for cls in (Brier, Margin, Annotated, Wrapped)}
del nf.registry["Brier"], nf.registry["Margin"]  # defining them registered them


@pytest.fixture(autouse=True)
def _registered():
    """The losses of this file are known in its tests only."""
    before = dict(nf.registry)
    nf.registry.update(OWN)
    yield
    nf.registry.clear()
    nf.registry.update(before)


def data(classes=4):
    z = torch.randn(6, classes, dtype=torch.float64, requires_grad=True)
    return z, torch.arange(6) % classes


def brier(z, y, s=1.0):
    return s * (1 - torch.softmax(z, 1).gather(1, y[:, None]).squeeze(1)) ** 2


def same(value, expected, z):
    torch.testing.assert_close(value, expected)
    (gradient,) = torch.autograd.grad(value, z)
    (wanted,) = torch.autograd.grad(expected, z, retain_graph=True)
    torch.testing.assert_close(gradient, wanted)


def test_value_and_gradient():
    z, y = data()
    same(Brier()(z, y), brier(z, y).mean(), z)
    same(Brier(s=3, reduction="sum")(z, y), 3 * brier(z, y).sum(), z)
    p = torch.softmax(z, 1)
    expected = (1 - p.gather(1, y[:, None]).squeeze(1) + p.amax(1)).mean()
    same(Margin()(z, y), expected, z)


@pytest.mark.parametrize("loss", [Brier(), Margin(), Annotated(), Margin() + 2 * Brier()], ids=str)
def test_gradcheck_and_double_backward(loss):
    z, y = data()
    z, y = z[:3].detach().requires_grad_(), y[:3]
    assert torch.autograd.gradcheck(lambda z: loss(z, y), z)
    assert torch.autograd.gradgradcheck(lambda z: loss(z, y), z)


def test_slope_is_derived():
    log_u = torch.tensor([-3.0, -0.5, -0.1], dtype=torch.float64)
    u = log_u.exp()
    value, slope = Brier(s=2).with_slope(log_u)
    torch.testing.assert_close(value, 2 * (1 - u) ** 2)
    torch.testing.assert_close(slope, -4 * u * (1 - u))
    assert not slope.requires_grad


def test_text_form():
    assert str(nf.loss("NCE + 2*Brier(s=3)")) == "NCE + 2*Brier(s=3)"
    assert str(nf.loss("Brier")) == "Brier(s=1)"
    with pytest.raises(ExpressionError, match="did you mean 'Brier'"):
        nf.loss("Brie")
    with pytest.raises(ExpressionError, match="expected `s` > 0, got -1"):
        nf.loss("Brier(s=-1)")


@pytest.mark.parametrize("text", ["Annotated", "Annotated(power=2, half=True)", "Wrapped(CE)"])
def test_postponed_annotations_are_understood(text):
    loss = nf.loss(text)
    assert str(nf.loss(str(loss))) == str(loss)
    z, y = data()
    assert torch.isfinite(loss(z, y))


def test_postponed_annotations_are_checked():
    with pytest.raises(ParameterError, match="expected `power` > 0, got -1"):
        Annotated(power=-1)
    assert Annotated(power=2).power == 2.0


def test_sums_and_normalized():
    z, y = data()
    both = nf.CE() + 2 * Brier(s=3)
    assert isinstance(both, nf.Pointwise)
    same(both(z, y), nn.functional.cross_entropy(z, y) + 6 * brier(z, y).mean(), z)
    all_classes = sum(brier(z, torch.full_like(y, k)) for k in range(4))
    same(nf.Normalized(Brier())(z, y), (brier(z, y) / all_classes).mean(), z)
    assert str(nf.loss("Normalized(Brier(s=1)) + Margin")) == "Normalized(Brier(s=1)) + Margin"


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_sums_of_losses_of_every_kind(reduction):
    z, y = data()
    options = {"reduction": reduction, "weight": torch.rand(4, dtype=torch.float64)}
    parts = [Margin(**options), Brier(**options), nf.NCE(**options), nf.NFL(**options)]
    value = sum(parts[1:], start=parts[0])(z, y)
    with torch.no_grad():
        expected = sum(part(z, y) for part in parts)
    assert value.shape == expected.shape
    torch.testing.assert_close(value.detach(), expected)
    (gradient,) = torch.autograd.grad(value.sum(), z)
    wanted = sum(torch.autograd.grad(part(z, y).sum(), z)[0] for part in parts)
    torch.testing.assert_close(gradient, wanted)


def test_the_options_of_cross_entropy():
    z, y = data()
    w = torch.rand(4, dtype=torch.float64)
    rows = brier(z, y) * w[y]
    with_ignored = y.clone()
    with_ignored[0] = -100
    same(Brier(weight=w)(z, with_ignored), rows[1:].sum() / w[y[1:]].sum(), z)
    soft = torch.softmax(torch.randn_like(z), 1)
    expected = sum(soft[:, k] * brier(z, torch.full_like(y, k)) for k in range(4)).mean()
    same(Brier()(z, soft), expected, z)


def test_linear_loss():
    hidden = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    y = torch.arange(6) % 4
    value = nf.linear_loss(hidden, weight, y, nf.NCE() + Brier() + Margin())
    expected = (nf.NCE() + Brier() + Margin())(hidden @ weight.T, y)
    same(value, expected, weight)


def test_compile():
    torch._dynamo.reset()
    z, y = data()
    compiled = torch.compile(Brier(s=2), fullgraph=True, backend="aot_eager")
    same(compiled(z, y), 2 * brier(z, y).mean(), z)
    torch._dynamo.reset()


def test_training_and_pickle():
    x = torch.randn(90, 3)
    y = x.argmax(1)
    model = nn.Linear(3, 3)
    loss = pickle.loads(pickle.dumps(nf.loss("Brier + NCE")))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(40):
        optimizer.zero_grad()
        loss(model(x), y).backward()
        optimizer.step()
    assert float((model(x).argmax(1) == y).float().mean()) > 0.9


def test_a_subclass_with_no_formula_says_what_is_missing():
    class Nothing(nf.Pointwise, register=False):
        pass

    with pytest.raises(NotImplementedError, match="Nothing has to define value"):
        Nothing()

    class NotEvenPointwise(nf.Loss, register=False):
        pass

    with pytest.raises(NotImplementedError, match="has to define per_class"):
        NotEvenPointwise()(torch.randn(2, 3), torch.tensor([0, 1]))
    assert "Nothing" not in nf.registry


def test_a_value_that_is_not_finite_is_refused():
    class Steep(nf.Pointwise, register=False):
        def value(self, log_u):
            return torch.exp(-log_u)  # 1 / u

    with pytest.raises(ParameterError, match="Steep is not finite"):
        Steep()


def test_the_name_of_a_built_in_loss_is_taken():
    builtin = nf.registry["CE"]
    with pytest.raises(ParameterError, match="has a loss named CE already"):

        class CE(nf.Pointwise):
            def value(self, log_u):
                return -2 * log_u

    assert nf.registry["CE"] is builtin


def test_a_loss_may_be_defined_again_where_it_was_defined():
    """As in a notebook, where the cell is run again."""

    class Brier(nf.Pointwise):
        def value(self, log_u):
            return 5 * torch.expm1(log_u) ** 2

    assert nf.registry["Brier"] is Brier
    z, y = data()
    same(nf.loss("Brier")(z, y), 5 * brier(z, y).mean(), z)


def test_a_subclass_of_a_named_loss_has_its_own_name():
    class Halved(nf.AGCE):
        def value(self, log_u):
            return 0.5 * super().value(log_u)

        def with_slope(self, log_u):
            _, slope = super().with_slope(log_u)
            return self.value(log_u), 0.5 * slope

    z, y = data()
    loss = nf.loss("Halved(a=1, q=0.5)")
    same(loss(z, y), 0.5 * nf.AGCE(a=1, q=0.5)(z, y), z)
    assert str(loss) == "Halved(a=1, q=0.5)"


def test_a_new_formula_does_not_inherit_what_was_said_of_the_old_one():
    try:

        class DoubleAGCE(nf.AGCE):
            def value(self, log_u):
                return 2 * super().value(log_u)

        class SquaredMAE(nf.MAE):
            def value(self, log_u):
                return torch.expm1(log_u) ** 2

        z = torch.randn(4, 5, requires_grad=True)
        y = torch.tensor([0, 1, 2, 3])
        old, new = nf.AGCE(a=1, q=0.5)(z, y), DoubleAGCE(a=1, q=0.5)(z, y)
        torch.testing.assert_close(new, 2 * old)
        torch.testing.assert_close(*(torch.autograd.grad(v, z)[0] for v in (new, 2 * old)))
        assert not SquaredMAE.symmetric
        assert nf.asymmetry_ratio(SquaredMAE()) == 0  # its slope vanishes at u = 1
    finally:
        nf.registry.pop("DoubleAGCE", None)
        nf.registry.pop("SquaredMAE", None)


def test_whole_numbers_and_flags_that_default_to_true_have_a_text_form():
    try:

        class Counted(nf.Pointwise):
            t: int = nf.parameter(at_least=1)
            halved: bool = nf.parameter(default=True)

            def value(self, log_u):
                return -torch.expm1(log_u) * self.t / (2 if self.halved else 1)

        assert str(nf.loss("Counted(t=3, halved=False)")) == "Counted(t=3, halved=False)"
        assert str(Counted(3)) == "Counted(t=3)"
        assert isinstance(nf.loss("Counted(t=3)").t, int)
        with pytest.raises(nf.errors.ParameterError, match="whole number"):
            Counted(2.5)
        with pytest.raises(nf.errors.ParameterError, match="`t` >= 1"):
            Counted(0)
    finally:
        nf.registry.pop("Counted", None)


def test_options_belong_to_the_outer_loss():
    with pytest.raises(nf.errors.ParameterError, match="give the options to Normalized"):
        nf.Normalized(nf.CE(reduction="none"))


SQUARED = {
    "per_class": lambda self, log_p: log_p**2,
    "per_sample": lambda self, log_p, y: log_p.gather(-1, y[..., None]).squeeze(-1) ** 2,
    "from_row": lambda self, log_u, sums, classes: log_u**2,
    "value": lambda self, log_u: log_u**2,
}


@pytest.mark.parametrize("formula", SQUARED)
@pytest.mark.parametrize(
    "parent",
    [nf.CE, nf.NCE, nf.NGCE, nf.AMSE, nf.NNCE, nf.Spread, nf.NLNL, nf.Normalized, nf.UnitLogits],
    ids=lambda cls: cls.__name__,
)
def test_a_formula_of_ones_own_is_the_one_computed_or_refused(parent, formula):
    """Never with the gradient, or the few rows, of the parent's formula."""
    if formula in ("value", "from_row") and not hasattr(parent, formula):
        pytest.skip(f"{parent.__name__} knows no {formula}")
    if formula == "value" and not issubclass(parent, nf.Pointwise):
        pytest.skip("a value says nothing there")
    kind = None
    with contextlib.suppress(ParameterError):
        kind = type("Squared", (parent,), {formula: SQUARED[formula]}, register=False)
    if kind is None:
        with pytest.raises(ParameterError, match="derive Squared from nf"):
            type("Squared", (parent,), {formula: SQUARED[formula]}, register=False)
        return
    needed = {name: 2.0 for name in kind.domains() if name == "a"}
    base = {"base": nf.CE()} if parent in (nf.Normalized, nf.UnitLogits) else {}
    loss = kind(**base, **needed)
    for rows in (6, 4000):
        z = torch.randn(rows, 5, dtype=torch.float64, requires_grad=True)
        y = torch.arange(rows) % 5
        same(loss(z, y), (z.log_softmax(1).gather(1, y[:, None]) ** 2).mean(), z)


class Halved:
    def transform(self, z):
        return z / 2


@pytest.mark.parametrize("parent", [nf.CE, nf.NCE, nf.NGCE, nf.AMSE, nf.NNCE, Margin, nf.MAE])
def test_logits_may_be_changed_by_any_class_and_by_a_mixin(parent):
    needed = {name: 2.0 for name in parent.domains() if name == "a"}
    own = type("Own", (parent,), {"transform": Halved.transform}, register=False)(**needed)
    mixed = type("Mixed", (Halved, parent), {}, register=False)(**needed)
    for rows in (6, 4000):
        z = torch.randn(rows, 5, dtype=torch.float64, requires_grad=True)
        y = torch.arange(rows) % 5
        expected = parent(**needed)(z / 2, y)
        for loss in (own, mixed):
            same(loss(z, y), expected, z)
            same((loss + nf.CE())(z, y), expected + nf.CE()(z, y), z)


def test_linear_loss_calls_a_forward_of_ones_own():
    class Doubled(nf.CE, register=False):
        def forward(self, input, target, sample_weight=None):
            return 2 * super().forward(input, target, sample_weight)

    z, y = data()
    eye = torch.eye(4, dtype=z.dtype)
    same(nf.linear_loss(z, eye, y, Doubled()), 2 * nf.CE()(z, y), z)


@pytest.mark.parametrize(
    "ask",
    [
        lambda loss: loss + nf.MAE(),
        lambda loss: 2 * loss,
        nf.Normalized,
        nf.EpsSoftmax,
        nf.Biased,
        lambda loss: loss.derivatives(torch.zeros(2, 3), torch.tensor([0, 1])),
        nf.audit,
        lambda loss: nf.minimise_risk(loss, [0.6, 0.4]),
    ],
    ids=range(8),
)
def test_who_asks_the_formula_alone_refuses_a_forward_of_ones_own(ask):
    class Doubled(nf.CE, register=False):
        def forward(self, input, target, sample_weight=None):
            return 2 * super().forward(input, target, sample_weight)

    with pytest.raises(NoiseproofError, match="Doubled says its own forward"):
        ask(Doubled())


def test_the_theory_of_a_loss_that_learns_is_that_of_its_present_numbers():
    class Learnt(nf.Pointwise, register=False):
        def prepare(self):
            self.t = torch.nn.Parameter(torch.tensor(1.0))

        def value(self, log_u):
            return -torch.expm1(log_u) * self.t.exp()

    loss = Learnt()
    assert nf.audit(loss, classes=3, noise="symmetric:0.4").tolerant
    assert nf.asymmetry_ratio(loss) == 1
    assert loss.t.requires_grad


class Cubes(nf.Statistic):
    """sum_k p_k^3, whose slope is ``factor`` p^3."""

    def __init__(self, factor):
        self.factor = factor

    def value(self, log_p):
        return torch.exp(3 * log_p)


class CubesBySlope(Cubes):
    def with_slope(self, log_p):
        return self.value(log_p), self.factor * self.value(log_p)


class CubesInOne(Cubes):
    def summed(self, log_p, p):
        return (p**3).sum(1, keepdim=True), -self.factor * p**3


def squares_with_slope(factor):
    class Squares(nf.Pointwise, register=False):
        def value(self, log_u):
            return 1 - torch.exp(2 * log_u)

        def with_slope(self, log_u):
            return self.value(log_u), -factor * torch.exp(2 * log_u)

    return Squares()


def squares_summed(factor):
    class Squares(nf.Pointwise, register=False):
        def value(self, log_u):
            return 1 - torch.exp(2 * log_u)

        def summed(self, log_p, p):
            return p.shape[1] - (p**2).sum(1, keepdim=True), factor * p**2

    return nf.Normalized(Squares())


def row_with_slopes(factor):
    class Row(nf.RowLoss, register=False):
        statistics = (nf.PowerSum(2),)

        def from_row(self, log_u, sums, classes):
            return sums[0] - log_u.exp()

        def with_slopes(self, log_u, sums, classes):
            rows = self.from_row(log_u, sums, classes)
            return rows, -factor / 2 * log_u.exp(), (torch.ones_like(rows),)

    return Row()


def row_of(statistic):
    class Row(nf.RowLoss, register=False):
        statistics = (statistic,)

        def from_row(self, log_u, sums, classes):
            return sums[0] - log_u.exp()

    return Row()


@pytest.mark.parametrize(
    ("build", "right", "name"),
    [
        (squares_with_slope, 2, "with_slope"),
        (squares_summed, 2, "summed"),
        (row_with_slopes, 2, "with_slopes"),
        (lambda factor: row_of(CubesBySlope(factor)), 3, "with_slope"),
        (lambda factor: row_of(CubesInOne(factor)), 3, "summed"),
    ],
)
def test_slopes_that_are_not_those_of_the_formula_are_refused(build, right, name):
    """Small batches ask autograd and large ones the slopes: they would be trained differently."""
    loss = build(right)
    for rows in (6, 4000):
        z = torch.randn(rows, 9, dtype=torch.float64, requires_grad=True)
        y = torch.arange(rows) % 9
        value, expected = loss(z, y), loss.rows(z, y).mean()
        same(value, expected, z)
    for wrong in (1, 0.98 * right, -right):
        with pytest.raises(ParameterError, match=f"{name} and the formula disagree"):
            build(wrong)


def test_slopes_that_cannot_be_tried_yet_are_not_refused():
    class Ten(nf.RowLoss, register=False):
        """For ten classes, with numbers set up late."""

        def prepare(self):
            super().prepare()
            self.late = 2.0

        def from_row(self, log_u, sums, classes):
            if int(torch.as_tensor(classes).max()) != 10:
                raise ValueError("ten classes")
            return -self.late * log_u

        def with_slopes(self, log_u, sums, classes):
            return super().with_slopes(log_u, sums, classes)

    z, y = data(10)
    torch.testing.assert_close(Ten()(z, y), 2 * nf.CE()(z, y))
