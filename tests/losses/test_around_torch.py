"""The losses where torch does more than run operations: tracers, modes, subclasses, hooks."""

import os
import socket

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from functorch.compile import aot_function, nop
from loss_examples import CENTRAL, SUMS, with_options
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import noiseproof as nf

FEW = [nf.CE(), nf.AGCE(1, 0.5), nf.NCE(), nf.NFL(), nf.NCE() + 4 * nf.AGCE(6, 1.5), nf.NLNL()]
FIXED = [loss for loss in [*CENTRAL, *SUMS] if not loss.random]
SIZES = {"small": 6, "in blocks": 4000}


def problem(rows=6, classes=5, dtype=torch.float64):
    z = torch.randn(rows, classes, dtype=dtype, requires_grad=True)
    return z, torch.arange(rows) % classes


@pytest.mark.parametrize("loss", FEW, ids=str)
def test_fake_and_meta_tensors(loss):
    with FakeTensorMode():
        z, y = problem(4000)
        loss(z, y).backward()
        assert z.grad.shape == z.shape
        assert str(nf.loss(str(loss))) == str(loss)  # built where there are no numbers
    z = torch.randn(6, 5, device="meta", requires_grad=True)
    value = loss(z, torch.zeros(6, dtype=torch.int64, device="meta"))
    value.backward()
    assert value.shape == ()


@pytest.mark.parametrize("loss", FEW[:-1], ids=str)
@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
def test_make_fx_traces_a_training_step(loss, mode):
    z, y = problem()

    def step(z, y):
        return torch.autograd.grad(loss(z, y), z)[0]

    traced = make_fx(step, tracing_mode=mode)(z, y)
    other, labels = problem()
    torch.testing.assert_close(traced(other, labels), step(other, labels))


@pytest.mark.parametrize("loss", FEW[:-1], ids=str)
def test_aot_function(loss):
    z, y = problem()
    compiled = aot_function(lambda z, y: loss(z, y), fw_compiler=nop)
    torch.testing.assert_close(compiled(z, y), loss(z, y))
    ours, plain = (torch.autograd.grad(f(z, y), z)[0] for f in (compiled, loss))
    torch.testing.assert_close(ours, plain)


@pytest.mark.parametrize("loss", FEW, ids=str)
def test_compile_with_dynamic_shapes(loss):
    torch._dynamo.reset()
    compiled = torch.compile(loss, dynamic=True, fullgraph=True, backend="aot_eager")
    for rows, classes in ((6, 5), (9, 3)):
        z, y = problem(rows, classes)
        value = compiled(z, y)
        value.backward()
        if not loss.random:
            torch.testing.assert_close(value, loss(z, y))
    torch._dynamo.reset()


@pytest.mark.parametrize("loss", FIXED, ids=str)
@pytest.mark.parametrize("rows", SIZES.values(), ids=SIZES)
def test_many_gradients_at_once(loss, rows):
    loss = with_options(loss, reduction="none")
    z, y = problem(rows)
    some = torch.eye(rows, dtype=torch.float64)[[0, 3, rows - 1]]
    (batched,) = torch.autograd.grad(loss(z, y), z, some, is_grads_batched=True)
    for gradient, one in zip(batched, some, strict=True):
        torch.testing.assert_close(gradient, torch.autograd.grad(loss(z, y), z, one)[0])


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
@pytest.mark.parametrize("loss", FIXED, ids=str)
def test_forward_mode(loss):
    z, y = problem()
    tangent = torch.randn_like(z)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(z, tangent)
        along = torch.autograd.forward_ad.unpack_dual(loss(dual, y)).tangent
    expected = (torch.autograd.grad(loss(z, y), z)[0] * tangent).sum()
    torch.testing.assert_close(along, expected)


@pytest.mark.parametrize("loss", FIXED, ids=str)
@pytest.mark.parametrize("rows", SIZES.values(), ids=SIZES)
def test_logits_may_be_overwritten_after_the_loss_as_for_torch(loss, rows):
    leaf, y = problem(rows)
    (expected,) = torch.autograd.grad(loss(leaf, y), leaf)
    for criterion in (loss, torch.nn.CrossEntropyLoss()):
        z = leaf * 1.0
        value = criterion(z, y)
        z.zero_()
        (gradient,) = torch.autograd.grad(value, leaf)
        if criterion is loss:
            torch.testing.assert_close(gradient, expected)


def test_a_double_backward_says_that_its_logits_were_overwritten():
    leaf, y = problem(4000)
    z = leaf * 1.0
    value = nf.AGCE(1, 0.5)(z, y)
    z.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(value, leaf, create_graph=True)


@pytest.mark.parametrize("loss", [nf.AGCE(1, 0.5), nf.NFL(), nf.CE()], ids=str)
def test_saved_tensors_hooks_see_the_gradient_buffer(loss):
    z, y = problem(4000)
    seen = []

    def pack(x):
        seen.append(x.numel())
        return x.half()  # as offloading or compression would

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x.double()):
        value = loss(z, y)
    assert max(seen) == z.numel()
    (gradient,) = torch.autograd.grad(value, z)
    torch.testing.assert_close(
        gradient, torch.autograd.grad(loss(z, y), z)[0], rtol=1e-2, atol=1e-6
    )


@pytest.mark.parametrize("loss", [nf.AGCE(1, 0.5), nf.NFL(), nf.NCE()], ids=str)
def test_a_kept_graph_gives_the_same_again(loss):
    z, y = problem(4000)
    value = 3 * loss(z, y)
    first = torch.autograd.grad(value, z, retain_graph=True)[0].clone()
    second = torch.autograd.grad(value, z, retain_graph=True, create_graph=True)[0]
    torch.testing.assert_close(first, second.detach())
    torch.testing.assert_close(first, torch.autograd.grad(value, z)[0])


def _shards(rank, port, losses):
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    dist.init_process_group("gloo", rank=rank, world_size=2)
    from torch.distributed.tensor import (
        DTensor,
        Partial,
        Replicate,
        Shard,
        distribute_tensor,
        init_device_mesh,
    )

    mesh = init_device_mesh("cpu", (2,))
    torch.manual_seed(0)
    z, y = problem(8, 6)
    labels = distribute_tensor(y, mesh, [Replicate()])
    for text in losses:
        loss = nf.loss(text)
        (expected,) = torch.autograd.grad(loss(z, y), z)
        whole = z.detach()
        for placement in (Shard(1), Shard(0), Replicate(), Partial()):
            if placement.is_partial():  # each process holds a summand
                sharded = DTensor.from_local(whole * (0.25, 0.75)[rank], mesh, [placement])
            else:
                sharded = distribute_tensor(whole, mesh, [placement])
            value = loss(sharded.requires_grad_(), labels)
            torch.testing.assert_close(value.full_tensor(), loss(z, y))
            value.backward()
            torch.testing.assert_close(sharded.grad.full_tensor(), expected)
    dist.destroy_process_group()


@pytest.mark.filterwarnings("ignore")
def test_logits_sharded_by_class_or_by_row():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    losses = ["CE", "AGCE(a=1, q=0.5)", "NCE", "NFL", "NGCE", "NCE + 4*AGCE(a=6, q=1.5)"]
    mp.spawn(_shards, (port, losses), nprocs=2)
