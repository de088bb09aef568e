"""Kernels whose text a code generator writes. Private: for the compiler.

The text is written against the same accessors, walks and `wgsl/lib` functions
as the package's own kernels (docs/engine.md):

    kernel = GeneratedKernel(
        "scaled_relu",
        '''
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
          if id.x < p.quads {
            let a = load4_a(p.offset_a / 4u + id.x) * p.scale;
            store4_o(p.offset_o / 4u + id.x, max(a, vec4<f32>()));
          }
        }
        ''',
        [
            Operand("a", torch.float16, width="quad"),
            Operand("o", torch.float16, "write", "quad"),
        ],
        {"quads": "u32", "scale": "f32"},
    )
    kernel(x, y, workgroups=n, quads=x.numel() // 4, scale=2.0)
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from torch_webgpu import _native

DTYPES = {
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.bool: "bool",
}


@dataclass(frozen=True)
class Operand:
    """One tensor of a kernel, by the name that its accessors have."""

    name: str
    dtype: torch.dtype
    mode: Literal["read", "write", "scatter"] = "read"
    width: Literal["element", "quad", "chunk"] = "element"
    windows: int = 1  # bindings, for a view above the binding limit


def _words(count: int, values: Sequence[int]) -> bytes:
    return struct.pack(f"<{count}I", *values, *[0] * (count - len(values)))


def _walk(sizes: Sequence[int]) -> bytes:
    """The C++ struct Walk: sizes, innermost first, and what divides by them."""
    magic, shift = [], []
    for size in sizes:
        bits = (size - 1).bit_length()
        shift.append(max(bits - 1, 0))
        magic.append(((1 << 32) * ((1 << bits) - size)) // size + 1)
    blocks = b"".join(_words(8, values) for values in (sizes, magic, shift))
    return blocks + _words(4, [len(sizes)])


# Alignment in the uniform address space, and the bytes of a value.
_TYPES: dict[str, tuple[int, Any]] = {
    "u32": (4, lambda value: struct.pack("<I", value)),
    "i32": (4, lambda value: struct.pack("<i", value)),
    "f32": (4, lambda value: struct.pack("<f", value)),
    "u64": (8, lambda value: struct.pack("<Q", value & (1 << 64) - 1)),
    "u32x8": (16, lambda value: _words(8, value)),
    "Walk": (16, _walk),
}


class GeneratedKernel:
    """Compiled once; called with tensors and the values of its parameters.

    A tensor that is written shares no memory with another one. The parameters
    have `offset_a` for each operand `a` besides, which is filled in.
    """

    def __init__(
        self,
        label: str,
        text: str,
        operands: Sequence[Operand],
        params: Mapping[str, str] | None = None,
        *,
        walks: Mapping[str, Sequence[str]] | None = None,
        chunk: int = 0,
        compute: Literal["f32", "i32", "u32", "i64"] = "f32",
        trusted: bool = True,
        subgroups: bool = False,
    ) -> None:
        self._params = dict(params or {})
        self._native = _native.load().GeneratedKernel(
            label,
            text,
            [
                (o.name, DTYPES[o.dtype], o.mode, o.width, o.windows)
                for o in operands
            ],
            list(self._params.items()),
            [(name, list(walked)) for name, walked in (walks or {}).items()],
            chunk,
            compute,
            trusted,
            subgroups,
        )

    @property
    def wgsl(self) -> str:
        return self._native.wgsl

    def pack(self, values: Mapping[str, Any]) -> bytes:
        """The bytes of all parameters, for calls that repeat."""
        if values.keys() != self._params.keys():
            raise TypeError(
                f"the kernel's parameters are {sorted(self._params)}, "
                f"got {sorted(values)}"
            )
        packed = bytearray()
        for name, type_name in self._params.items():
            alignment, encode = _TYPES[type_name]
            packed += bytes(-len(packed) % alignment)
            packed += encode(values[name])
        return bytes(packed)

    def __call__(
        self, *tensors: torch.Tensor, workgroups: int, **values: Any
    ) -> None:
        self._native.launch(
            *tensors, values=self.pack(values), workgroups=workgroups
        )
