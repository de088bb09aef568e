"""What training loops ask of a device: autocast, scaler, checkpoint, optim."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_autocast(dtype: torch.dtype) -> None:
    x = torch.rand(4, 4, device="webgpu")
    with torch.autocast("webgpu", dtype=dtype):
        product = x @ x
        assert product.dtype == dtype
        assert F.softmax(product, -1).dtype == torch.float32
        assert (product + x).dtype == torch.float32
        with torch.autocast("webgpu", enabled=False):
            assert (x @ x).dtype == torch.float32
        with pytest.raises(RuntimeError, match="unsafe to autocast"):
            F.binary_cross_entropy(torch.sigmoid(x), x)
    assert (x @ x).dtype == torch.float32
    assert dtype in torch.webgpu.get_amp_supported_dtype()
    assert torch.webgpu.is_bf16_supported()


def test_grad_scaler() -> None:
    module = torch.nn.Linear(3, 2).webgpu()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("webgpu", init_scale=1024.0)
    before = module.weight.detach().cpu()
    with torch.autocast("webgpu"):
        loss = module(torch.ones(2, 3, device="webgpu")).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    change = before - module.weight.detach().cpu()
    assert torch.allclose(change, torch.full((2, 3), 0.2), atol=1e-3)
    module.weight.grad = torch.full((2, 3), float("inf"), device="webgpu")
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 512.0


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoint_repeats_random_numbers(reentrant: bool) -> None:
    def block(x: torch.Tensor) -> torch.Tensor:
        return F.dropout(x, 0.5) * 3

    x = torch.ones(64, device="webgpu", requires_grad=True)
    y = checkpoint(block, x, use_reentrant=reentrant)
    y.sum().backward()
    assert x.grad is not None
    # The same mask forward and backward, so gradient and output agree.
    assert torch.equal(x.grad.cpu(), y.detach().cpu())


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_optimizers_agree_with_cpu(name: str) -> None:
    results = []
    for device in ("cpu", "webgpu"):
        parameter = torch.nn.Parameter(
            torch.arange(1.0, 7.0).to(device), requires_grad=True
        )
        optimizer = getattr(torch.optim, name)([parameter], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            (parameter * parameter).sum().backward()
            optimizer.step()
        results.append(parameter.detach().cpu())
    assert torch.allclose(*results, rtol=1e-5, atol=1e-6)


def test_graph_capture_sees_the_device() -> None:
    with torch._subclasses.FakeTensorMode():
        fake = torch.empty(3, device="webgpu") + 1
    assert fake.device == torch.device("webgpu:0")


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compile_without_code_generation(backend: str) -> None:
    torch._dynamo.reset()
    module = torch.nn.Linear(3, 2).webgpu()

    def function(x: torch.Tensor) -> torch.Tensor:
        return (module(x) * 2 + 1).square().sum()

    gradients = []
    for run in (function, torch.compile(function, backend=backend)):
        x = torch.ones(2, 3, device="webgpu", requires_grad=True)
        run(x).backward()
        assert x.grad is not None
        gradients.append(x.grad.cpu())
    assert torch.equal(*gradients)


def test_compile_with_inductor_says_that_it_cannot() -> None:
    torch._dynamo.reset()
    x = torch.ones(3, device="webgpu")
    for function in (
        lambda x: x * 2,
        lambda x: torch.zeros(3, device="webgpu") + x.shape[0],
    ):
        with pytest.raises(RuntimeError, match="pass backend='aot_eager'"):
            torch.compile(function)(x)


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: torch.nn.BatchNorm1d(3), (4, 3)),
        (lambda: torch.nn.BatchNorm2d(3, momentum=None), (2, 3, 4, 4)),
        (
            lambda: torch.nn.InstanceNorm1d(3, track_running_stats=True),
            (2, 3, 5),
        ),
    ],
    ids=["batch", "cumulative", "instance"],
)
def test_running_statistics_agree_with_cpu(
    make: Callable[[], torch.nn.Module], shape: tuple[int, ...]
) -> None:
    module = make()
    on_device = copy.deepcopy(module).webgpu()
    for _ in range(2):
        x = torch.rand(shape)
        module(x)
        on_device(x.webgpu())
    for name, buffer in on_device.named_buffers():
        torch.testing.assert_close(buffer.cpu(), module.get_buffer(name))
    x = torch.rand(shape)
    torch.testing.assert_close(
        on_device.eval()(x.webgpu()).cpu(), module.eval()(x)
    )


def test_transformer_encoder_with_padding() -> None:
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    module = torch.nn.TransformerEncoder(layer, 2).eval()
    x = torch.rand(2, 3, 8)
    padding = torch.tensor([[False, False, True], [False, False, False]])
    with torch.inference_mode():
        expected = module(x, src_key_padding_mask=padding)
        found = module.webgpu()(
            x.webgpu(), src_key_padding_mask=padding.webgpu()
        ).cpu()
    kept = ~padding
    torch.testing.assert_close(found[kept], expected[kept])


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: torch.nn.LSTM(3, 4, num_layers=2), (5, 2, 3)),
        (lambda: torch.nn.LSTM(3, 4, bias=False), (5, 2, 3)),
        (lambda: torch.nn.GRU(3, 4, bidirectional=True), (5, 2, 3)),
        (lambda: torch.nn.GRU(3, 4, bias=False), (5, 2, 3)),
        (lambda: torch.nn.Conv2d(2, 4, 3, padding=1), (2, 2, 6, 6)),
        (lambda: torch.nn.Conv2d(2, 4, 3, groups=2, bias=False), (2, 2, 6, 6)),
        (lambda: torch.nn.Conv1d(2, 4, 3, stride=2), (2, 2, 9)),
        (lambda: torch.nn.ConvTranspose2d(2, 4, 3), (2, 2, 6, 6)),
        (lambda: torch.nn.Conv3d(1, 2, 2), (1, 1, 4, 4, 4)),
        (
            lambda: torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0),
            (5, 2, 8),
        ),
    ],
    ids=lambda value: None if callable(value) else "x".join(map(str, value)),
)
def test_modules_agree_with_cpu(
    make: Callable[[], torch.nn.Module], shape: tuple[int, ...]
) -> None:
    module = make()
    on_device = copy.deepcopy(module).webgpu()
    results = []
    for model in (module, on_device):
        device = next(model.parameters()).device
        torch.manual_seed(1)
        x = torch.rand(shape).to(device).requires_grad_()
        y = model(x)
        output = y[0] if isinstance(y, tuple) else y
        output.square().sum().backward()
        assert x.grad is not None
        results.append(
            [output.detach().cpu(), x.grad.cpu()]
            + [p.grad.cpu() for p in model.parameters() if p.grad is not None]
        )
    assert len(results[0]) == 2 + len(list(module.parameters()))
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-5)
