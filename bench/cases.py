"""The cases of limits.py: one row each, so a new family is one more row.

A row names the work, the plain kernel that it is held against, the bytes that
it must move at least (or its floating-point operations), the bar, and a
generous floor for CI. Rates are bytes per second on both sides, so a ratio of
1 means that the operator moves its bytes as fast as the plain kernel its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F

SIDE = 2048
N = SIDE * SIDE
# Bytes of that many elements of a width: byte, half, word, long.
B, H, W, L = N, 2 * N, 4 * N, 8 * N

ADD, SCALE, COPY = "plain add", "plain scale", "plain copy"
FILL, READ, BUFFER = "plain fill", "plain read", "buffer copy"

# The cases of limits.py --short: one or two of each family.
SHORT = frozenset(
    {
        "add",
        "relu",
        "add_",
        "add f16",
        "add row",
        "gelu",
        "where",
        "copy_",
        "zero_",
        "f16 to f32",
        "transpose",
        "cat columns",
        "sum rows",
        "sum columns",
        "sum all",
        "softmax",
        "layer_norm",
        "softmax backward",
        "layer_norm backward",
        "index_select",
        "dropout",
        "matvec",
        "a @ b 512",
        "a @ b.T 512",
        "a.T @ b 512",
        "f16 a @ b 512",
        "skinny k 65536",
    }
)


class Data:
    """Inputs, made on first use and shared by the cases."""

    def tensor(self, *shape: int, dtype: torch.dtype = torch.float32):
        generator = torch.Generator().manual_seed(len(shape))
        return torch.rand(shape, generator=generator).to(dtype).to("webgpu")

    @cached_property
    def x(self):
        return self.tensor(SIDE, SIDE)

    @cached_property
    def y(self):
        return self.tensor(SIDE, SIDE)

    @cached_property
    def o(self):
        return torch.empty_like(self.x)

    @cached_property
    def half_x(self):
        return self.tensor(SIDE // 2, SIDE)

    @cached_property
    def narrow_x(self):
        return self.tensor(SIDE, SIDE // 2)

    @cached_property
    def x4(self):
        return self.x.view(16, SIDE // 16, 16, SIDE // 16)

    @cached_property
    def row(self):
        return self.tensor(SIDE)

    @cached_property
    def col(self):
        return self.tensor(SIDE)[:, None]

    @cached_property
    def mask(self):
        return self.x > 0.5

    @cached_property
    def f16(self):
        return self.x.half()

    @cached_property
    def g16(self):
        return self.y.half()

    @cached_property
    def bf16(self):
        return self.x.bfloat16()

    @cached_property
    def bg16(self):
        return self.y.bfloat16()

    @cached_property
    def order(self):
        generator = torch.Generator().manual_seed(7)
        return torch.randperm(SIDE, generator=generator).to("webgpu")

    @cached_property
    def places(self):
        generator = torch.Generator().manual_seed(8)
        made = torch.randint(SIDE, (SIDE, SIDE), generator=generator)
        return made.to("webgpu")

    def square(self, n: int, dtype: torch.dtype = torch.float32):
        """Two factors, kept."""
        key = f"square {n} {dtype}"
        if key not in self.__dict__:
            self.__dict__[key] = tuple(
                self.tensor(n, n).sub(0.5).to(dtype) for _ in range(2)
            )
        return self.__dict__[key]

    def product(self, *shapes: tuple[int, ...]):
        key = f"product {shapes}"
        if key not in self.__dict__:
            self.__dict__[key] = tuple(self.tensor(*shape) for shape in shapes)
        return self.__dict__[key]

    def gradient(self, name: str, forward: Callable, *inputs: torch.Tensor):
        """Runs the backward pass of `forward`, whose graph is kept."""
        key = f"gradient {name}"
        if key not in self.__dict__:
            leaves = [t.detach().requires_grad_() for t in inputs]
            self.__dict__[key] = forward(*leaves), leaves
        out, leaves = self.__dict__[key]
        return torch.autograd.grad(out, leaves, self.y, retain_graph=True)


def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, (SIDE,), weight)


def layer_norm(x: torch.Tensor, *affine: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, (SIDE,), *affine)


def softmax(x: torch.Tensor) -> torch.Tensor:
    return x.softmax(-1)


def log_softmax(x: torch.Tensor) -> torch.Tensor:
    return x.log_softmax(-1)


@dataclass(frozen=True)
class Case:
    name: str
    # "plain KIND" or "plain matmul N" of plain.py, "buffer copy", or the name
    # of another case.
    against: str
    work: float  # bytes, or floating-point operations
    run: Callable[[Data], object]
    bar: float | None = None
    floor: float | None = None  # for CI; by default 0.4 of the bar
    unit: str = "GB/s"

    def lowest(self) -> float | None:
        if self.floor is not None or self.bar is None:
            return self.floor
        return 0.4 * self.bar


# The ratios of the narrow kernels, one word per thread, which some bars are
# made of: measured once on a quiet machine, against the same plain kernels.
BEFORE = {
    "exp": 0.072,
    "tanh": 0.071,
    "gelu": 0.059,
    "sigmoid": 0.072,
    "a @ b 512": 1.6,
    "a @ b 1024": 1.6,
}


def twice(name: str) -> float:
    return 2 * BEFORE[name]


def bandwidth() -> list[Case]:
    c = Case
    return [
        # dense pointwise
        c("add", ADD, 3 * W, lambda d: d.x + d.y, 0.9),
        c("mul", ADD, 3 * W, lambda d: d.x * d.y, 0.9),
        c("relu", SCALE, 2 * W, lambda d: d.x.relu(), 0.9),
        c("add scalar", SCALE, 2 * W, lambda d: d.x + 1.5, 0.9),
        c("add_", ADD, 3 * W, lambda d: d.o.add_(d.y), 0.9),
        c("add f16", ADD, 3 * H, lambda d: d.f16 + d.g16, 0.6),
        c("add bf16", ADD, 3 * H, lambda d: d.bf16 + d.bg16, 0.6),
        c("mul scalar f16", SCALE, 2 * H, lambda d: d.f16 * 1.5, 0.6),
        # broadcasts
        c("add row", SCALE, 2 * W, lambda d: d.x + d.row, 0.7),
        c("add column", SCALE, 2 * W, lambda d: d.x + d.col, 0.7),
        # transcendental
        c("exp", SCALE, 2 * W, lambda d: d.x.exp(), twice("exp")),
        c("tanh", SCALE, 2 * W, lambda d: d.x.tanh(), twice("tanh")),
        c("gelu", SCALE, 2 * W, lambda d: F.gelu(d.x), twice("gelu")),
        c("sigmoid", SCALE, 2 * W, lambda d: d.x.sigmoid(), twice("sigmoid")),
        # choices
        c("gt", ADD, 2 * W + B, lambda d: d.x > d.y, floor=0.1),
        c(
            "where",
            ADD,
            3 * W + B,
            lambda d: torch.where(d.mask, d.x, d.y),
            floor=0.1,
        ),
        # copies
        c("clone", BUFFER, 2 * W, lambda d: d.x.clone(), 0.9),
        c("copy_", BUFFER, 2 * W, lambda d: d.o.copy_(d.x), 0.9),
        c("clone f16", BUFFER, 2 * H, lambda d: d.f16.clone(), 0.9),
        c("zero_", FILL, W, lambda d: d.o.zero_(), floor=0.3),
        c("fill_", FILL, W, lambda d: d.o.fill_(1.5), floor=0.3),
        c("to f16", COPY, W + H, lambda d: d.x.half(), floor=0.2),
        c("f16 to f32", COPY, W + H, lambda d: d.f16.float(), floor=0.2),
        c("transpose", COPY, 2 * W, lambda d: d.x.t().contiguous(), 0.5),
        c("add transposed", ADD, 3 * W, lambda d: d.x + d.y.t(), floor=0.15),
        c(
            "cat rows",
            COPY,
            2 * W,
            lambda d: torch.cat((d.half_x, d.half_x)),
            floor=0.2,
        ),
        c(
            "cat columns",
            COPY,
            2 * W,
            lambda d: torch.cat((d.narrow_x, d.narrow_x), -1),
            floor=0.2,
        ),
        # sums
        c("sum rows", READ, W, lambda d: d.x.sum(1), 0.75),
        c("sum columns", READ, W, lambda d: d.x.sum(0), 0.75),
        c("sum all", READ, W, lambda d: d.x.sum(), 0.75),
        c("mean dims", READ, W, lambda d: d.x4.mean((0, 2)), floor=0.15),
        c("max rows", READ, W, lambda d: d.x.amax(1), floor=0.15),
        # rows
        c("softmax", COPY, 2 * W, lambda d: softmax(d.x), 0.6),
        c("log_softmax", COPY, 2 * W, lambda d: log_softmax(d.x), 0.6),
        c(
            "layer_norm",
            COPY,
            2 * W,
            lambda d: layer_norm(d.x, d.row, d.row),
            0.6,
        ),
        c("rms_norm", COPY, 2 * W, lambda d: rms_norm(d.x, d.row), 0.6),
        c(
            "softmax backward",
            ADD,
            3 * W,
            lambda d: d.gradient("softmax", softmax, d.x),
            floor=0.15,
        ),
        c(
            "log_softmax backward",
            ADD,
            3 * W,
            lambda d: d.gradient("log_softmax", log_softmax, d.x),
            floor=0.15,
        ),
        c(
            "layer_norm backward",
            ADD,
            3 * W,
            lambda d: d.gradient("layer_norm", layer_norm, d.x, d.row, d.row),
            floor=0.1,
        ),
        c(
            "rms_norm backward",
            ADD,
            3 * W,
            lambda d: d.gradient("rms_norm", rms_norm, d.x, d.row),
            floor=0.1,
        ),
        c("cumsum", COPY, 2 * W, lambda d: d.x.cumsum(1), floor=0.05),
        # by index
        c(
            "index_select",
            COPY,
            2 * W,
            lambda d: d.x.index_select(0, d.order),
            floor=0.2,
        ),
        c(
            "embedding",
            COPY,
            2 * W,
            lambda d: F.embedding(d.order, d.x),
            floor=0.2,
        ),
        c(
            "gather",
            COPY,
            2 * W + L,
            lambda d: d.x.gather(1, d.places),
            floor=0.1,
        ),
        # random numbers
        c("rand", FILL, W, lambda d: d.o.uniform_(), floor=0.05),
        c("randn", FILL, W, lambda d: d.o.normal_(), floor=0.02),
        c(
            "dropout",
            SCALE,
            2 * W + B,
            lambda d: F.dropout(d.x, 0.5),
            floor=0.05,
        ),
        c("matvec", READ, W, lambda d: d.x @ d.row, floor=0.2),
    ]


def multiply(
    n: int, flip: str = "", dtype: torch.dtype = torch.float32
) -> Callable[[Data], object]:
    """A product of squares, of which `flip` names the transposed ones."""

    def run(data: Data) -> object:
        a, b = data.square(n, dtype)
        return (a.T if "a" in flip else a) @ (b.T if "b" in flip else b)

    return run


def matmul(*shapes: tuple[int, ...]) -> Callable[[Data], object]:
    return lambda data: torch.matmul(*data.product(*shapes))


def products() -> list[Case]:
    made = []
    for n in (512, 1024):
        own = f"a @ b {n}"

        def case(
            name: str,
            against: str,
            run: Callable,
            bar: float | None,
            floor=None,
            n=n,
        ) -> Case:
            work, named = 2 * n**3, f"{name} {n}"
            return Case(named, against, work, run, bar, floor, "GFLOP/s")

        half, brain = torch.float16, torch.bfloat16
        made += [
            case("a @ b", f"plain matmul {n}", multiply(n), BEFORE[own]),
            case("a @ b.T", own, multiply(n, "b"), 0.9),
            case("a.T @ b", own, multiply(n, "a"), 0.9),
            case("a.T @ b.T", own, multiply(n, "ab"), 0.9),
            case("f16 a @ b", own, multiply(n, dtype=half), None, 0.3),
            case("bf16 a @ b", own, multiply(n, dtype=brain), None, 0.3),
        ]
    shapes = {
        "batched 64 of 64": ((64, 64, 64), (64, 64, 64), 64**4),
        "skinny k 65536": ((32, 65536), (65536, 32), 32 * 32 * 65536),
        "skinny m 8": ((8, 2048), (2048, 2048), 8 * 2048 * 2048),
        "linear 256 x 768 x 3072": ((256, 768), (768, 3072), 256 * 768 * 3072),
    }
    made += [
        Case(
            name,
            "a @ b 512",
            2 * work,
            matmul(a, b),
            floor=0.1,
            unit="GFLOP/s",
        )
        for name, (a, b, work) in shapes.items()
    ]
    return made


CASES = [*bandwidth(), *products()]
