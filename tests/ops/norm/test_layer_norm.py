"""layer_norm, rms_norm and group_norm."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from tests.ops.against_cpu import LAYOUTS, check, make

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
SHAPES = [((7, 12), 1), ((5, 300), 1), ((70, 9), 1), ((3, 4, 5), 2)]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape,depth", SHAPES, ids=str)
def test_layer_norm(
    shape: tuple[int, ...], depth: int, dtype: torch.dtype
) -> None:
    x = make(shape, dtype)
    normal = shape[-depth:]
    weight, bias = make(normal, dtype, seed=1), make(normal, dtype, seed=2)
    grad = dtype == torch.float32  # for the others, see below
    check(F.layer_norm, x, normal, weight, bias, grad=grad)
    check(F.layer_norm, x, normal, weight, grad=grad)
    check(F.layer_norm, x, normal, eps=0.1, grad=grad)


def check_half_gradients(fn, *tensors: torch.Tensor) -> None:
    """Against float64 from the same rounded inputs: the CPU rounds the
    statistics and some sums to the half type."""

    def gradients(device: str, wide: bool) -> list[torch.Tensor]:
        leaves = [
            t.to(device, torch.float64 if wide else None).requires_grad_()
            for t in tensors
        ]
        out = fn(*leaves)
        cotangent = make(tuple(out.shape), tensors[0].dtype, seed=9)
        torch.autograd.backward(out, cotangent.to(out))
        return [t.grad.cpu() for t in leaves if t.grad is not None]

    torch.webgpu.reset_fallback_counts()  # type: ignore[attr-defined]
    for got, want in zip(
        gradients("webgpu", False), gradients("cpu", True), strict=True
    ):
        torch.testing.assert_close(got, want.to(got.dtype))
    counts = torch.webgpu.fallback_counts()  # type: ignore[attr-defined]
    assert counts == {}


@pytest.mark.parametrize("dtype", FLOATS[1:], ids=str)
@pytest.mark.parametrize("shape,depth", SHAPES, ids=str)
def test_half_gradients(
    shape: tuple[int, ...], depth: int, dtype: torch.dtype
) -> None:
    normal = shape[-depth:]
    check_half_gradients(
        lambda x, w, b: F.layer_norm(x, normal, w, b),
        make(shape, dtype),
        make(normal, dtype, seed=1),
        make(normal, dtype, seed=2),
    )
    check_half_gradients(
        lambda x, w: F.rms_norm(x, normal, w, 1e-5),
        make(shape, dtype),
        make(normal, dtype, seed=1),
    )


def test_layer_norm_of_a_large_mean() -> None:
    x = make((4, 1000), low=999, high=1001)
    check(F.layer_norm, x, (1000,))


def test_layer_norm_of_many_rows() -> None:
    x = make((3000, 40))
    check(F.layer_norm, x, (40,), make((40,)), make((40,)), grad=True)


@pytest.mark.parametrize("dtype", FLOATS[1:], ids=str)
def test_mixed_dtypes(dtype: torch.dtype) -> None:
    x = make((6, 33), dtype)
    weight, bias = make((33,), seed=1), make((33,), seed=2)
    check(F.layer_norm, x, (33,), weight, bias)
    # Sums of float32 weights' gradients, which the CPU makes in the half type.
    check_half_gradients(
        lambda x, w, b: F.layer_norm(x, (33,), w, b), x, weight, bias
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    x = LAYOUTS[layout](make((4, 6, 8)))
    check(F.layer_norm, x, (6, 8), make((6, 8)), make((6, 8)), grad=True)
    check(F.rms_norm, x, (8,), make((8,)), grad=True)
    check(F.group_norm, x, 3, make((6,)), make((6,)), grad=True)


def test_saved_statistics() -> None:
    """float32 for every input, as torch has it on devices but the CPU."""
    x, w = make((5, 7)), make((7,))
    check(torch.native_layer_norm, x, (7,), w, w, 1e-5)
    for dtype in FLOATS[1:]:
        x = make((5, 7), dtype)
        _, mean, rstd = torch.native_layer_norm(
            x.to("webgpu"), (7,), None, None, 1e-5
        )
        _, want_mean, want_rstd = torch.native_layer_norm(
            x.float(), (7,), None, None, 1e-5
        )
        torch.testing.assert_close(mean.cpu(), want_mean)
        torch.testing.assert_close(rstd.cpu(), want_rstd)


def test_empty() -> None:
    w = make((4,))
    check(F.layer_norm, torch.empty(0, 4), (4,), w, w, grad=True)
    check(F.group_norm, torch.empty(0, 4, 2), 2, w, w, grad=True)
    check(F.rms_norm, torch.empty(0, 4), (4,), w, grad=True)


def test_shapes_that_do_not_fit() -> None:
    x = make((3, 4)).to("webgpu")
    with pytest.raises(RuntimeError, match="normalized_shape"):
        F.layer_norm(x, (5,))
    with pytest.raises(RuntimeError, match="weight"):
        F.layer_norm(x, (4,), torch.ones(3, device="webgpu"))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_rms_norm(dtype: torch.dtype) -> None:
    for shape in [(7, 12), (5, 301), (70, 9)]:
        x, w = make(shape, dtype), make(shape[-1:], dtype, seed=1)
        grad = dtype == torch.float32
        check(F.rms_norm, x, shape[-1:], w, grad=grad)
        check(F.rms_norm, x, shape[-1:], eps=1e-3, grad=grad)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_rms_norm_of_small_values(dtype: torch.dtype) -> None:
    """Where the default eps is most of the mean square."""
    check(F.rms_norm, make((3, 8), dtype, low=-1e-3, high=1e-3), (8,))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_group_norm(dtype: torch.dtype) -> None:
    w, b = make((6,), dtype, seed=1), make((6,), dtype, seed=2)
    for shape in [(2, 6, 5, 7), (3, 6, 50), (4, 6)]:
        x = make(shape, dtype)
        check(F.group_norm, x, 2, w, b, grad=True)
        check(F.group_norm, x, 6 if len(shape) > 2 else 3, grad=True)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("count", [32, 36, 256, 1024, 4100], ids=str)
def test_rows_in_quads(count: int, dtype: torch.dtype) -> None:
    """Aligned rows, and the same that begin between quads."""
    weight, bias = make((count,), dtype, seed=1), make((count,), dtype, seed=2)
    check(F.layer_norm, make((17, count), dtype), (count,), weight, bias)
    check_half_gradients(
        lambda x, w, b: F.layer_norm(x, (count,), w, b),
        make((17, count), dtype),
        weight,
        bias,
    )
    flat = make((17 * count + 2,), dtype)
    for start in (0, 1, 2):

        def norm(
            f: torch.Tensor, w: torch.Tensor, s: int = start
        ) -> torch.Tensor:
            rows = f[s:][: 17 * count].view(17, count)
            return F.rms_norm(rows, (count,), w, 1e-5)

        check(norm, flat, weight)


@pytest.mark.parametrize("spatial", [4, 8, 9], ids=str)
def test_group_norm_in_quads(spatial: int) -> None:
    x = make((20, 12, spatial, 16))
    check(F.group_norm, x, 3, make((12,)), make((12,), seed=1), grad=True)


@pytest.mark.parametrize("shape", [(20, 256), (2, 256), (20, 7)], ids=str)
def test_a_first_value_far_from_the_others(shape: tuple[int, int]) -> None:
    """Distances are from a value of the row: that must not cost digits."""
    x = make(shape)
    x[:, 0] = 1e4
    check(F.layer_norm, x, shape[1:])
    x[:, :8] = 1e4
    check(F.layer_norm, x, shape[1:])


@pytest.mark.parametrize("rows", [63, 64, 65, 67, 130])
def test_rows_that_share_their_weights(rows: int) -> None:
    x = make((rows, 64))
    w, b = make((64,)), make((64,))
    check(F.layer_norm, x, (64,), w, b)
    check(F.layer_norm, x, (64,), None, b)
    check(F.rms_norm, x, (64,), w)
    check(F.layer_norm, x.half(), (64,), w.half(), b.half())
