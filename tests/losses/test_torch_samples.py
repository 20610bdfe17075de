"""torch's own samples for cross entropy, OpInfo's and ModuleInfo's, run through ``nf.CE``.

Each test says and checks how many there were, so that an empty run does not pass for a good one.
"""

import pytest
import torch
from torch.nn.functional import cross_entropy

import noiseproof as nf

pytest.importorskip("expecttest", reason="torch's testing modules import it")
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db
from torch.testing._internal.opinfo.core import SampleInput

OP = next(op for op in op_db if op.name == "nn.functional.cross_entropy")
MODULE = next(m for m in module_db if m.module_cls is torch.nn.CrossEntropyLoss)
DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


def samples(dtype):
    """Each of OpInfo's samples three times: as it is, not contiguous, and with logits far apart."""
    for sample in OP.sample_inputs("cpu", dtype, requires_grad=True):
        yield sample
        yield sample.noncontiguous()
        far = (sample.input.detach() * 8).requires_grad_()
        yield SampleInput(far, args=sample.args, kwargs=sample.kwargs)


def pairs(sample):
    """The two functions of the logits, and of soft targets where they are differentiable."""
    (target,), options = sample.args, sample.kwargs
    leaves = [sample.input, *([target] if target.requires_grad else [])]

    def ours(z, t=target):
        return nf.CE(**options)(z, t)

    def theirs(z, t=target):
        return cross_entropy(z, t, **options)

    return ours, theirs, leaves


def tolerance(dtype):
    # Ours is computed and returned in float32 at least: theirs is the coarser one.
    return {torch.bfloat16: 4e-2, torch.float16: 4e-3, torch.float32: 1e-5}.get(dtype, 1e-10)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values_and_gradients(dtype):
    values = gradients = 0
    for sample in samples(dtype):
        ours, theirs, leaves = pairs(sample)
        value, expected = ours(*leaves), theirs(*leaves)
        close = {"rtol": tolerance(dtype), "atol": tolerance(dtype), "check_dtype": False}
        torch.testing.assert_close(value, expected, equal_nan=True, **close)
        values += 1
        if not expected.isfinite().all():
            continue
        both = [torch.autograd.grad(v.float().sum(), leaves) for v in (value, expected)]
        for mine, torchs in zip(*both, strict=True):
            torch.testing.assert_close(mine, torchs, **close)
            gradients += 1
    print(f"{values} values and {gradients} gradients agree")
    assert values >= 63
    assert gradients >= 75


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
def test_every_kind_of_derivative():
    """Reverse, forward, batched, and both over reverse, by torch's own checkers."""
    checked = 0
    for sample in samples(torch.float64):
        ours, _, leaves = pairs(sample)
        options = {"check_batched_grad": True, "fast_mode": True}
        assert torch.autograd.gradcheck(ours, leaves, check_forward_ad=True, **options)
        assert torch.autograd.gradgradcheck(
            ours, leaves, check_fwd_over_rev=True, check_rev_over_rev=True, **options
        )
        checked += 1
    print(f"{checked} samples")
    assert checked >= 63


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_module_inputs(dtype):
    inputs = MODULE.module_inputs_func(
        MODULE, device="cpu", dtype=dtype, requires_grad=True, training=True
    )
    for given in inputs:
        options = given.constructor_input.kwargs
        z, target = given.forward_input.args
        value, expected = (
            nf.CE(**options)(z, target),
            torch.nn.CrossEntropyLoss(**options)(z, target),
        )
        close = {"rtol": tolerance(dtype), "atol": tolerance(dtype), "equal_nan": True}
        torch.testing.assert_close(value, expected, **close)
        mine, torchs = (torch.autograd.grad(v.sum(), z)[0] for v in (value, expected))
        torch.testing.assert_close(mine, torchs, **close)
    print(f"{len(inputs)} module inputs")
    assert len(inputs) >= 100
