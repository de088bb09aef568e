"""For hand-written operator tests: the same call on the CPU and the device.

    check(torch.add, a, b)
    check(lambda x: x[1:].mul_(2), torch.arange(7, dtype=torch.uint8))
    check(torch.softmax, x, dim=-1, grad=True)

The rules are those of the conformance harness (tests/conformance/core.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from hypothesis import strategies

from tests.conformance import core
from tests.conformance.core import DEVICE, WIDER, DeviceFallbacks, Fallbacks


def check(
    fn: Callable[..., Any],
    *args: Any,
    grad: bool = False,
    values: bool = True,
    allow_fallbacks: bool = False,
    tolerance: core.Tolerance = core.DEFAULT_TOLERANCE,
    device: str = DEVICE,
    fallbacks: Fallbacks | None = None,
    **kwargs: Any,
) -> dict[str, int]:
    """Calls `fn` with the CPU's `args` and with their copies on the device,
    and asserts that outputs, what became of the arguments' whole storages
    and (with `grad`) the gradients agree at torch's tolerances, with no
    fallback counted. Gradients are those of the arguments that require one,
    or of all floating-point arguments if none does.

    `values=False` compares shapes, dtypes and strides only, for random
    numbers. Returns the fallbacks that `allow_fallbacks` let pass.
    """
    if grad and not any(
        isinstance(leaf, torch.Tensor) and leaf.requires_grad
        for leaf in core.tree_leaves((args, kwargs))
    ):
        args, kwargs = core.tree_map(_requires_grad, (args, kwargs))

    def on_cpu(wide: bool = False) -> tuple[core.Placed, core.Outcome]:
        placed = core.place(args, kwargs, "cpu", WIDER if wide else None)
        return placed, core.run(fn, placed, grad=grad)

    def exactly(part: Callable[[core.Placed, core.Outcome], Any]) -> Any:
        try:
            return part(*on_cpu(wide=True))
        except Exception:
            return []

    want_args, want = on_cpu()
    got_args = core.place(args, kwargs, device)
    got = core.run(
        fn, got_args, grad=grad, fallbacks=fallbacks or DeviceFallbacks()
    )

    def meta() -> Any:
        try:
            return core.run(fn, core.place(args, kwargs, "meta")).outputs
        except Exception:
            return []

    core.compare_all(
        "output",
        got.outputs,
        want.outputs,
        device=device,
        tolerance=tolerance,
        exact=lambda: exactly(lambda _, outcome: outcome.outputs),
        strides=meta,
        values=values,
    )
    core.compare_all(
        "storage of the arguments",
        got_args.bases,
        want_args.bases,
        device=device,
        tolerance=tolerance,
        exact=lambda: exactly(lambda placed, _: placed.bases),
        values=values,
    )
    if grad:
        core.compare_all(
            "gradient",
            got.grads,
            want.grads,
            device=device,
            tolerance=tolerance,
            exact=lambda: exactly(lambda _, outcome: outcome.grads),
            values=values,
            derived=True,
        )
        assert any(g is not None for g in want.grads), (
            "nothing to differentiate"
        )
    if not allow_fallbacks:
        core.assert_no_fallbacks(got.fallbacks)
    return got.fallbacks


def _requires_grad(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor) and leaf.dtype.is_floating_point:
        return leaf.detach().requires_grad_()
    return leaf


def make(
    shape: tuple[int, ...],
    dtype: torch.dtype = torch.float32,
    *,
    seed: int = 0,
    low: float | None = None,
    high: float | None = None,
) -> torch.Tensor:
    """A CPU tensor of fixed pseudo-random values, in [-9, 9] or, for
    integers, the whole range of the dtype."""
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=generator).to(dtype)
    if dtype.is_floating_point:
        low = -9 if low is None else low
        high = 9 if high is None else high
        values = torch.rand(shape, generator=generator, dtype=torch.float64)
        return (values * (high - low) + low).to(dtype)
    info = torch.iinfo(dtype)
    first = info.min if low is None else int(low)
    last = info.max - 1 if high is None else int(high)
    values = torch.randint(first, last + 1, shape, generator=generator)
    return values.to(dtype)


# Each makes a tensor of the given shape (of at least one dimension) whose
# memory is laid out in its own awkward way.
Layout = Callable[[torch.Tensor], torch.Tensor]


def transposed(x: torch.Tensor) -> torch.Tensor:
    """Strides in reverse order."""
    order = tuple(reversed(range(x.dim())))
    return x.permute(order).contiguous().permute(order)


def sliced(x: torch.Tensor) -> torch.Tensor:
    """A part of a larger tensor: an offset, gaps between rows."""
    base = torch.zeros([n + 3 for n in x.shape], dtype=x.dtype)
    view = base[tuple(slice(1, 1 + n) for n in x.shape)]
    view.copy_(x)
    return view


def stepped(x: torch.Tensor) -> torch.Tensor:
    """Every third element of the last dimension."""
    base = torch.zeros((*x.shape[:-1], 3 * x.shape[-1] + 1), dtype=x.dtype)
    view = base[..., 1 : 1 + 3 * x.shape[-1] : 3]
    view.copy_(x)
    return view


def unaligned(x: torch.Tensor) -> torch.Tensor:
    """Dense, but one element into its storage: narrow dtypes then start in
    the middle of a 32-bit word, and end in one that others share."""
    base = torch.zeros(x.numel() + 2, dtype=x.dtype)
    base[-1] = 1
    view = base[1:-1].view(x.shape)
    view.copy_(x)
    return view


def expanded(x: torch.Tensor) -> torch.Tensor:
    """The first element of the first dimension, repeated by stride 0."""
    return x[:1].expand(x.shape) if x.shape[0] else x


def channels_last(x: torch.Tensor) -> torch.Tensor:
    if x.dim() != 4:
        return x.movedim(0, -1).contiguous().movedim(-1, 0)
    return x.contiguous(memory_format=torch.channels_last)


LAYOUTS: dict[str, Layout] = {
    "dense": lambda x: x.contiguous(),
    "transposed": transposed,
    "sliced": sliced,
    "stepped": stepped,
    "unaligned": unaligned,
    "expanded": expanded,
    "channels_last": channels_last,
}
# Those that may be written in place: no two indices share an element.
WRITABLE = {name: f for name, f in LAYOUTS.items() if name != "expanded"}

SHAPES: dict[str, tuple[int, ...]] = {
    "scalar": (),
    "one": (1,),
    "none": (0,),
    "none_inside": (3, 0, 2),
    "odd": (7,),
    "matrix": (5, 6),
    "ones": (1, 4, 1, 3),
    "image": (2, 3, 4, 5),
    "eight": (2, 1, 3, 1, 2, 2, 1, 3),
}


def tricky(
    dtype: torch.dtype = torch.float32, *, writable: bool = False
) -> Iterator[tuple[str, torch.Tensor]]:
    """Every shape in every layout, with a name for the failure's message."""
    layouts = WRITABLE if writable else LAYOUTS
    for shape_name, shape in SHAPES.items():
        x = make(shape, dtype)
        if not shape:
            yield "scalar", x
            yield "scalar of a vector", make((5,), dtype)[3]
            continue
        for layout_name, layout in layouts.items():
            yield f"{shape_name} {layout_name}", layout(x)


def broadcastable(
    dtype: torch.dtype = torch.float32,
) -> Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
    """Pairs of tensors that broadcast against each other."""
    pairs = [
        ((4, 5), (5,)),
        ((4, 5), (4, 1)),
        ((4, 1), (1, 5)),
        ((3, 4, 5), ()),
        ((), (3,)),
        ((2, 1, 3, 1), (4, 1, 5)),
        ((0, 3), (1, 3)),
        ((2, 1, 3, 1, 2, 1, 2, 1), (1, 2, 1, 3, 1, 2, 1, 2)),
    ]
    for left, right in pairs:
        a, b = make(left, dtype), make(right, dtype, seed=1)
        yield f"{left} {right}", a, b
        if len(left) > 1:
            yield f"{left} transposed {right}", transposed(a), b


def overlapping(
    dtype: torch.dtype = torch.float32,
) -> Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
    """(name, whole, part): two views that share a storage, for calls that
    write one while they read the other, `whole.add_(part)`."""
    base = make((6, 6), dtype)
    yield "same", base, base
    base = make((6, 6), dtype)
    yield "row", base, base[2]
    base = make((6, 6), dtype)
    yield "column", base, base[:, 3:4]
    base = make((9,), dtype)
    yield "disjoint", base[:4], base[4:8]


@strategies.composite
def layouts(
    draw: strategies.DrawFn,
    dtype: torch.dtype = torch.float32,
    max_dims: int = 8,
    max_side: int = 5,
    writable: bool = False,
) -> torch.Tensor:
    """A tensor of any shape up to 8 dimensions and any layout: a slice of a
    permuted, stepped, possibly expanded base at an odd offset."""
    dims = draw(strategies.integers(0, max_dims))
    # Eight dimensions of five elements would be slow, and teach no more.
    side = max_side if dims <= 4 else 2
    base_shape = tuple(draw(strategies.integers(0, side)) for _ in range(dims))
    base = make(base_shape, dtype, seed=draw(strategies.integers(0, 9)))
    if draw(strategies.booleans()):
        base = unaligned(base)
    if dims:
        base = base.permute(draw(strategies.permutations(range(dims))))
    for dim in range(dims):
        size = base.shape[dim]
        start = draw(strategies.integers(0, size))
        step = draw(strategies.integers(1, 3))
        base = base[(slice(None),) * dim + (slice(start, None, step),)]
    if dims and not writable and draw(strategies.booleans()):
        dim = draw(strategies.integers(0, dims - 1))
        if base.shape[dim] == 1:
            shape = list(base.shape)
            shape[dim] = 3
            base = base.expand(shape)
    return base
