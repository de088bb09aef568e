"""The cases of peers.py: one row each, the same work for every library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

# operator, inputs (names, or arrays as constants), attributes; node i makes
# "t<i>", the model's inputs are "a", "b" and "c".
Node = tuple[str, Sequence[Any], dict[str, Any]]

SIDE = 1024
SQUARE = (SIDE, SIDE)

# The cases of peers.py --short.
SHORT = frozenset(
    {"matmul 512", "matvec 2048", "gelu", "add", "sum rows", "softmax"}
)


@dataclass(frozen=True)
class PeerCase:
    name: str
    shapes: Sequence[tuple[int, ...]]
    torch: Callable[..., torch.Tensor]
    onnx: Sequence[Node]
    tiny: Callable[..., Any]
    tolerance: float = 1e-4
    # ours must be this many times faster than onnxruntime-webgpu
    bar: float = 1.0
    exempt: bool = False  # until pointwise chains are fused
    indices: bool = False  # the first input holds row numbers of the second
    flags: bool = False  # the first input is a mask

    def arrays(self) -> list[np.ndarray]:
        random = np.random.default_rng(0)
        made: list[np.ndarray] = [
            random.standard_normal(shape, dtype=np.float32)
            for shape in self.shapes
        ]
        if self.indices:
            made[0] = random.integers(self.shapes[1][0], size=self.shapes[0])
        if self.flags:
            made[0] = made[0] > 0
        return made


def one(name: str, operator: str, function: str, **more: Any) -> PeerCase:
    """A function of one tensor that all libraries call by one name."""
    return PeerCase(
        name,
        [SQUARE],
        lambda a: getattr(a, function)(),
        [(operator, ["a"], {})],
        lambda a: getattr(a, function)(),
        **more,
    )


def product(n: int, bar: float = 1.0) -> PeerCase:
    return PeerCase(
        f"matmul {n}",
        [(n, n), (n, n)],
        lambda a, b: a @ b,
        [("MatMul", "ab", {})],
        lambda a, b: a @ b,
        tolerance=1e-3,
        bar=bar,
    )


def sums(name: str, axes: list[int]) -> PeerCase:
    return PeerCase(
        name,
        [SQUARE],
        lambda a: a.sum(axes),
        [("ReduceSum", ["a", np.array(axes)], {"keepdims": 0})],
        lambda a: a.sum(axis=tuple(axes)),
        tolerance=2e-3,
    )


CASES = [
    product(256),
    product(512),
    product(1024, bar=3.5),
    PeerCase(
        "linear 512 (b.T)",
        [(512, 512), (512, 512), (512,)],
        F.linear,
        [("Gemm", "abc", {"transB": 1})],
        lambda a, b, c: a.linear(b.T, c),
        tolerance=1e-3,
    ),
    PeerCase(
        "matvec 2048",
        [(2048, 2048), (2048, 1)],  # ort refuses a vector
        lambda a, b: a @ b,
        [("MatMul", "ab", {})],
        lambda a, b: a @ b,
        tolerance=1e-3,
    ),
    PeerCase(
        "vector by matrix 2048",
        [(1, 2048), (2048, 2048)],
        lambda a, b: a @ b,
        [("MatMul", "ab", {})],
        lambda a, b: a @ b,
        tolerance=1e-3,
    ),
    PeerCase(
        "batched 32 of 128",
        [(32, 128, 128), (32, 128, 128)],
        lambda a, b: a @ b,
        [("MatMul", "ab", {})],
        lambda a, b: a @ b,
        tolerance=1e-3,
    ),
    PeerCase(
        "gelu",
        [SQUARE],
        F.gelu,
        [("Gelu", "a", {})],
        # tinygrad's is the approximation by tanh
        lambda a: a.gelu(),
        tolerance=1e-3,
    ),
    one("exp", "Exp", "exp"),
    one("tanh", "Tanh", "tanh"),
    one("sigmoid", "Sigmoid", "sigmoid"),
    PeerCase(
        "chain of 5",
        [SQUARE, SQUARE],
        lambda a, b: ((a + b) * a - b).relu() * b,
        [
            ("Add", "ab", {}),
            ("Mul", ["t0", "a"], {}),
            ("Sub", ["t1", "b"], {}),
            ("Relu", ["t2"], {}),
            ("Mul", ["t3", "b"], {}),
        ],
        lambda a, b: ((a + b) * a - b).relu() * b,
        exempt=True,
    ),
    PeerCase(
        "add",
        [SQUARE, SQUARE],
        lambda a, b: a + b,
        [("Add", "ab", {})],
        lambda a, b: a + b,
    ),
    PeerCase(
        "add row",
        [SQUARE, (SIDE,)],
        lambda a, b: a + b,
        [("Add", "ab", {})],
        lambda a, b: a + b,
    ),
    PeerCase(
        "add column",
        [SQUARE, (SIDE, 1)],
        lambda a, b: a + b,
        [("Add", "ab", {})],
        lambda a, b: a + b,
    ),
    PeerCase(
        "add transposed",
        [SQUARE, SQUARE],
        lambda a, b: a + b.T,
        [("Transpose", "b", {"perm": [1, 0]}), ("Add", ["a", "t0"], {})],
        lambda a, b: a + b.T,
    ),
    PeerCase(
        "transpose",
        [SQUARE],
        lambda a: a.T.contiguous(),
        [("Transpose", "a", {"perm": [1, 0]})],
        lambda a: a.T.contiguous(),
    ),
    sums("sum rows", [1]),
    sums("sum columns", [0]),
    sums("sum all", [0, 1]),
    PeerCase(
        "softmax",
        [SQUARE],
        lambda a: a.softmax(-1),
        [("Softmax", "a", {"axis": -1})],
        lambda a: a.softmax(-1),
    ),
    PeerCase(
        "layer_norm",
        [SQUARE, (SIDE,), (SIDE,)],
        lambda a, b, c: F.layer_norm(a, (SIDE,), b, c),
        [("LayerNormalization", "abc", {"axis": -1, "epsilon": 1e-5})],
        lambda a, b, c: a.layernorm(eps=1e-5) * b + c,
        tolerance=1e-3,
    ),
    PeerCase(
        "cast to f16",
        [SQUARE],
        lambda a: a.half(),
        [("Cast", "a", {"to": 10})],  # TensorProto.FLOAT16
        lambda a: a.half(),
        tolerance=1e-3,
    ),
    PeerCase(
        "embedding",
        [(SIDE,), SQUARE],
        F.embedding,
        [("Gather", "ba", {"axis": 0})],
        lambda a, b: b[a],
        indices=True,
    ),
    PeerCase(
        "concat",
        [SQUARE, SQUARE],
        lambda a, b: torch.cat((a, b), -1),
        [("Concat", "ab", {"axis": -1})],
        lambda a, b: a.cat(b, dim=-1),
    ),
    PeerCase(
        "where",
        [SQUARE, SQUARE, SQUARE],
        torch.where,
        [("Where", "abc", {})],
        lambda a, b, c: a.where(b, c),
        flags=True,
    ),
]
