"""What it means for a device to agree with the CPU.

The conformance harness and the hand-written operator tests both stand on
this module, so there is one rule for placing inputs, running, counting
fallbacks and comparing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch._prims_common import check_significant_strides
from torch.utils._pytree import tree_leaves, tree_map

DEVICE = "webgpu"
SEED = 20260101

# The dtype in which the CPU says what the exact result is, asked only when
# the device and the CPU disagree in the narrow one.
WIDER = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.float32: torch.float64,
}


class Fallbacks(Protocol):
    """The counter of operators that ran on the CPU in place of the device."""

    def reset(self) -> None: ...

    def counts(self) -> Mapping[str, int]: ...


class DeviceFallbacks:
    """The counter of the real device."""

    def reset(self) -> None:
        torch.webgpu.reset_fallback_counts()  # type: ignore[attr-defined]

    def counts(self) -> Mapping[str, int]:
        counts = torch.webgpu.fallback_counts()  # type: ignore[attr-defined]
        return {name: int(count) for name, count in counts.items() if count}


@contextmanager
def counting(fallbacks: Fallbacks, seen: dict[str, int]) -> Iterator[None]:
    """Adds to `seen` what the block made the counter count."""
    fallbacks.reset()
    try:
        yield
    finally:
        for name, count in fallbacks.counts().items():
            seen[name] = seen.get(name, 0) + count


@dataclass(frozen=True)
class Tolerance:
    """Bounds that torch itself raises above its defaults for a test."""

    rtol: float = 0.0
    atol: float = 0.0

    def for_dtype(self, dtype: torch.dtype) -> tuple[float, float]:
        rtol, atol = torch.testing._comparison.default_tolerances(dtype)
        if not dtype.is_floating_point:
            return rtol, atol
        return max(rtol, self.rtol), max(atol, self.atol)


DEFAULT_TOLERANCE = Tolerance()


@dataclass
class Placed:
    """Arguments on a device. `bases` are the storages that they view, each
    as one flat tensor, in the order of first appearance."""

    args: Any
    kwargs: Any
    bases: list[torch.Tensor]


def _is_plain(tensor: torch.Tensor) -> bool:
    return (
        tensor.layout == torch.strided
        and not tensor.is_quantized
        and not tensor.is_nested
        and tensor.device.type != "meta"
    )


def place(
    args: Any,
    kwargs: Any,
    device: str,
    dtypes: Mapping[torch.dtype, torch.dtype] | None = None,
) -> Placed:
    """Copies CPU arguments to `device` with their exact layout.

    Whole storages are copied and viewed again, so strides, offsets, expanded
    dimensions and storages shared between arguments arrive as they are.
    `dtypes` maps dtypes (of tensors and of dtype arguments) to others.
    """
    dtypes = dtypes or {}
    bases: dict[tuple[int, torch.dtype], torch.Tensor] = {}

    def base_of(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        key = (storage._cdata, tensor.dtype)
        if key not in bases:
            count = storage.nbytes() // tensor.element_size()
            flat = torch.empty(0, dtype=tensor.dtype)
            flat.set_(storage, 0, (count,), (1,))
            target = dtypes.get(tensor.dtype, tensor.dtype)
            bases[key] = flat.to(target, copy=True).to(device)
        return bases[key]

    def one(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            with torch.no_grad():
                if _is_plain(leaf):
                    raw = leaf.detach()
                    moved = base_of(raw).as_strided(
                        raw.size(), raw.stride(), raw.storage_offset()
                    )
                    if raw.is_conj():
                        moved = moved.conj()
                    if raw.is_neg():
                        moved = torch._neg_view(moved)
                else:
                    target = dtypes.get(leaf.dtype, leaf.dtype)
                    moved = leaf.detach().to(target).to(device)
                    moved = moved.clone() if device == "cpu" else moved
            return moved.requires_grad_(leaf.requires_grad)
        if isinstance(leaf, torch.device) or leaf == "cpu":
            return torch.device(device)
        if isinstance(leaf, torch.dtype):
            return dtypes.get(leaf, leaf)
        return leaf

    placed_args, placed_kwargs = tree_map(one, (args, dict(kwargs)))
    return Placed(placed_args, placed_kwargs, list(bases.values()))


@dataclass
class Outcome:
    """What one call gave: its outputs, flattened, and the gradients of the
    inputs that asked for one (None where torch gave none)."""

    outputs: list[Any]
    grads: list[torch.Tensor | None] = field(default_factory=list)
    forward_fallbacks: dict[str, int] = field(default_factory=dict)
    backward_fallbacks: dict[str, int] = field(default_factory=dict)

    @property
    def fallbacks(self) -> dict[str, int]:
        return self.forward_fallbacks | self.backward_fallbacks


class BackwardError(RuntimeError):
    """The forward call worked, the backward call did not."""


class NoFallbacks:
    """The counter of a device that has no fallback, such as the CPU."""

    def reset(self) -> None:
        pass

    def counts(self) -> Mapping[str, int]:
        return {}


def _cotangent(output: torch.Tensor, index: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(SEED + index)
    values = torch.randn(output.shape, generator=generator)
    return values.to(output.dtype).to(output.device)


def run(
    fn: Callable[..., Any],
    placed: Placed,
    *,
    grad: bool = False,
    process: Callable[[Any], Any] | None = None,
    fallbacks: Fallbacks | None = None,
) -> Outcome:
    """Calls `fn` once; with `grad`, also differentiates its outputs with
    fixed pseudo-random cotangents. `process` selects what to differentiate
    among the outputs."""
    fallbacks = fallbacks or NoFallbacks()
    outcome = Outcome([])
    torch.manual_seed(SEED)
    with counting(fallbacks, outcome.forward_fallbacks), _grad_mode(grad):
        result = fn(*placed.args, **placed.kwargs)
    outcome.outputs = tree_leaves(result)
    if not grad:
        return outcome
    inputs = [
        leaf
        for leaf in tree_leaves((placed.args, placed.kwargs))
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    ]
    try:
        with counting(fallbacks, outcome.backward_fallbacks):
            processed = process(result) if process else result
        outputs = [
            leaf
            for leaf in tree_leaves(processed)
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad
        ]
        if not inputs or not outputs:
            return outcome
        cotangents = [_cotangent(o, i) for i, o in enumerate(outputs)]
        with counting(fallbacks, outcome.backward_fallbacks):
            outcome.grads = list(
                torch.autograd.grad(
                    outputs, inputs, cotangents, allow_unused=True
                )
            )
    except Exception as error:
        raise BackwardError(f"{type(error).__name__}: {error}") from error
    return outcome


def _grad_mode(grad: bool) -> Any:
    return torch.enable_grad() if grad else torch.no_grad()


def compare_all(
    what: str,
    actual: Sequence[Any],
    expected: Sequence[Any],
    *,
    device: str = DEVICE,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    exact: Callable[[], Sequence[Any]] | None = None,
    strides: Callable[[], Sequence[Any]] | None = None,
    values: bool = True,
    derived: bool = False,
) -> None:
    """Asserts that two flattened results agree.

    `derived` results (gradients) come from others that were rounded first,
    see compare_values. `exact` gives the CPU's result in a wider dtype,
    `strides` that of torch's meta device; both are asked only after a
    difference was found.
    """
    if len(actual) != len(expected):
        raise AssertionError(
            f"{what}: {len(actual)} values where the CPU gives {len(expected)}"
        )

    def at(i: int, more: Callable[[], Sequence[Any]] | None) -> Any:
        if more is None:
            return None
        leaves = more()
        return leaves[i] if len(leaves) == len(expected) else None

    for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
        name = what if len(expected) == 1 else f"{what} {i}"
        if not isinstance(e, torch.Tensor):
            compare_plain(name, a, e, tolerance, values)
            continue
        compare_structure(name, a, e, device)
        if strides is not None:
            compare_strides(name, a, e, lambda i=i: at(i, strides))  # type: ignore[misc]
        if values:
            compare_values(
                name,
                a,
                e,
                tolerance,
                lambda i=i: at(i, exact),  # type: ignore[misc]
                derived,
            )


def compare_plain(
    name: str, actual: Any, expected: Any, tolerance: Tolerance, values: bool
) -> None:
    """For the leaves that are no tensors: numbers, None, sizes."""
    if type(actual) is not type(expected):
        raise AssertionError(
            f"{name}: {type(actual).__name__} {actual!r} where the CPU gives "
            f"{type(expected).__name__} {expected!r}"
        )
    if not values or isinstance(expected, torch.device):
        return
    if isinstance(expected, float):
        rtol, atol = tolerance.for_dtype(torch.float32)
        close = math.isclose(actual, expected, rel_tol=rtol, abs_tol=atol)
        if not close and not (math.isnan(actual) and math.isnan(expected)):
            raise AssertionError(f"{name}: {actual!r}, CPU {expected!r}")
    elif actual != expected:
        raise AssertionError(f"{name}: {actual!r}, CPU {expected!r}")


def compare_structure(
    name: str, actual: Any, expected: torch.Tensor, device: str
) -> None:
    if not isinstance(actual, torch.Tensor):
        raise AssertionError(
            f"{name}: {actual!r} where the CPU gives a tensor of "
            f"{expected.dtype}"
        )
    if actual.device.type != torch.device(device).type:
        raise AssertionError(f"{name}: is on {actual.device}, not on {device}")
    for attribute in ("dtype", "shape", "layout"):
        a, e = getattr(actual, attribute), getattr(expected, attribute)
        if a != e:
            raise AssertionError(f"{name}: {attribute} {a}, CPU {e}")


def compare_strides(
    name: str,
    actual: torch.Tensor,
    expected: torch.Tensor,
    meta: Callable[[], Any],
) -> None:
    """Asserts equal strides where torch fixes them, which is where its meta
    device agrees with the CPU."""
    if actual.layout != torch.strided:
        return
    if _same_strides(actual, expected):
        return
    fixed = meta()
    if isinstance(fixed, torch.Tensor) and _same_strides(fixed, expected):
        raise AssertionError(
            f"{name}: strides {actual.stride()}, "
            f"CPU {expected.stride()} (shape {tuple(expected.shape)})"
        )


def _same_strides(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Equal where more than one element lies along the dimension."""
    return check_significant_strides(a, b, only_cuda=False)[0]


def compare_values(
    name: str,
    actual: torch.Tensor,
    expected: torch.Tensor,
    tolerance: Tolerance,
    exact: Callable[[], Any],
    derived: bool = False,
) -> None:
    """Asserts that every element is within torch's tolerance of the CPU's.

    Where the two disagree, the wider dtype tells who is right: an element
    also passes if it is within the same tolerance of the exact result, or
    nearer to it than the CPU's own.

    A gradient in a 16-bit dtype starts from a forward result that was rounded
    to that dtype. If the CPU rounds it wrongly (it does, in log_softmax), a
    right gradient differs from the CPU's, and the exact one knows of no
    rounding at all. So an element of a `derived` 16-bit result also passes if
    its error is at most the largest that the CPU makes in the same tensor.
    """
    a = actual.detach().cpu()
    e = expected.detach()
    rtol, atol = tolerance.for_dtype(e.dtype)
    try:
        torch.testing.assert_close(a, e, rtol=rtol, atol=atol, equal_nan=True)
        return
    except AssertionError as error:
        failure = error
    truth = exact() if e.dtype in WIDER and e.layout == torch.strided else None
    if not isinstance(truth, torch.Tensor) or truth.shape != e.shape:
        raise AssertionError(f"{name}: {failure}") from None
    wide = WIDER[e.dtype]
    t = truth.detach().to(wide)
    good = torch.isclose(a, e, rtol=rtol, atol=atol, equal_nan=True)
    good |= torch.isclose(
        a, t.to(e.dtype), rtol=rtol, atol=atol, equal_nan=True
    )
    distance = (a.to(wide) - t).abs()
    bound = (e.to(wide) - t).abs()
    good |= distance <= bound
    if derived and e.dtype.itemsize == 2 and bool(bound.isfinite().all()):
        good |= distance <= bound.max()
    if bool(good.all()):
        return
    wrong = (~good).nonzero()
    spot = tuple(wrong[0].tolist())
    raise AssertionError(
        f"{name}: {len(wrong)} of {good.numel()} elements are wrong; at "
        f"{spot} the device has {a[spot].item()!r}, the CPU "
        f"{e[spot].item()!r}, the CPU in {wide} {t[spot].item()!r} "
        f"(rtol {rtol:g}, atol {atol:g})"
    ) from None


def assert_no_fallbacks(counts: Mapping[str, int]) -> None:
    if counts:
        listed = ", ".join(
            f"{n} ({c} times)" for n, c in sorted(counts.items())
        )
        raise AssertionError(f"fell back to the CPU: {listed}")
