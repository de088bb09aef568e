"""compile_shader: a user's WGSL as functions on tensors."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import torch

from torch_webgpu import _native

_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_BINDING = re.compile(
    r"((?:@\w+\s*\([^)]*\)\s*)+)var\s*<\s*(\w+)\s*(?:,\s*(\w+)\s*,?\s*)?>\s*(\w+)"
)
_ENTRY = re.compile(
    r"((?:@\w+\s*(?:\([^)]*\))?\s*)*@compute\b(?:\s*@\w+\s*(?:\([^)]*\))?)*)"
    r"\s*fn\s+(\w+)"
)
_SIZE = re.compile(r"@workgroup_size\s*\(([^)]*)\)")


def _attribute(text: str, name: str) -> int | None:
    found = re.search(rf"@{name}\s*\(\s*(\d+)[ui]?\s*\)", text)
    return int(found.group(1)) if found else None


def _bindings(wgsl: str) -> list[bool]:
    """For each storage binding of group 0, in order: is it written?"""
    writes: dict[int, bool] = {}
    for attributes, space, access, name in _BINDING.findall(wgsl):
        group = _attribute(attributes, "group")
        binding = _attribute(attributes, "binding")
        if group != 0 or binding is None or space != "storage":
            raise ValueError(
                f"webgpu: `{name}` is not supported in compile_shader; declare "
                "it as @group(0) @binding(i) var<storage, read> or "
                "var<storage, read_write>."
            )
        writes[binding] = access == "read_write"
    if sorted(writes) != list(range(len(writes))):
        raise ValueError(
            "webgpu: the bindings of group 0 must be numbered 0, 1, 2 …, got "
            f"{sorted(writes)}."
        )
    return [writes[i] for i in sorted(writes)]


def _workgroup_size(attributes: str, wgsl: str) -> tuple[int, int, int]:
    found = _SIZE.search(attributes)
    sizes = []
    for part in found.group(1).split(",") if found else []:
        text = part.strip()
        if not text:
            continue
        if not re.fullmatch(r"\d+[ui]?", text):
            named = re.search(
                rf"const\s+{re.escape(text)}\b[^=]*=\s*(\d+)", wgsl
            )
            if not named:
                raise ValueError(
                    f"webgpu: @workgroup_size({text}) must be a number or a "
                    "const of one in compile_shader."
                )
            text = named.group(1)
        sizes.append(int(text.rstrip("ui")))
    x, y, z = [*sizes, 1, 1, 1][:3]
    return x, y, z


class Kernel:
    """One entry point; call it with its tensors and the threads to run."""

    def __init__(
        self,
        name: str,
        wgsl: str,
        writes: list[bool],
        workgroup_size: tuple[int, int, int],
    ) -> None:
        self.name = name
        self.workgroup_size = workgroup_size
        self._native = _native.load().UserKernel(name, wgsl, name, writes)

    def __call__(
        self,
        *tensors: torch.Tensor,
        threads: int | Sequence[int] | None = None,
    ) -> None:
        """Runs the kernel.

        Tensor i is bound to @group(0) @binding(i): contiguous, on the device,
        and sharing no memory with one that is written. `threads` counts
        invocations, rounded up to whole workgroups; by default the last
        tensor's elements.
        """
        if threads is None:
            threads = tensors[-1].numel() if tensors else 1
        counts = [threads] if isinstance(threads, int) else list(threads)
        if not 1 <= len(counts) <= 3:
            raise ValueError(
                f"webgpu: threads={threads!r} must be one to three numbers."
            )
        counts += [1] * (3 - len(counts))
        if any(count < 0 for count in counts):
            raise ValueError(f"webgpu: threads={threads!r} is negative.")
        grid = tuple(
            math.ceil(count / size)
            for count, size in zip(counts, self.workgroup_size, strict=True)
        )
        if 0 not in grid:
            self._native.launch(*tensors, grid=grid)

    def __repr__(self) -> str:
        return f"<webgpu kernel {self.name} {self.workgroup_size}>"


class ShaderLibrary:
    """The entry points of one WGSL text, as attributes."""

    def __init__(self, wgsl: str) -> None:
        text = _COMMENTS.sub(" ", wgsl)
        writes = _bindings(text)
        self._kernels = {
            name: Kernel(name, wgsl, writes, _workgroup_size(attributes, text))
            for attributes, name in _ENTRY.findall(text)
        }
        if not self._kernels:
            raise ValueError(
                "webgpu: the WGSL has no entry point; mark a function with "
                "@compute @workgroup_size(n)."
            )

    def __getattr__(self, name: str) -> Kernel:
        kernels: dict[str, Any] = self.__dict__.get("_kernels", {})
        if name in kernels:
            return kernels[name]  # type: ignore[no-any-return]
        raise AttributeError(
            f"webgpu: the shader has no entry point {name!r}, only "
            f"{', '.join(sorted(kernels))}."
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._kernels]


def compile_shader(wgsl: str) -> ShaderLibrary:
    """Compiles WGSL; its entry points become callables on tensors.

    >>> lib = torch.webgpu.compile_shader('''
    ... @group(0) @binding(0) var<storage, read> x: array<f32>;
    ... @group(0) @binding(1) var<storage, read_write> y: array<f32>;
    ... @compute @workgroup_size(64)
    ... fn twice(@builtin(global_invocation_id) id: vec3<u32>) {
    ...   if (id.x < arrayLength(&y)) { y[id.x] = 2.0 * x[id.x]; }
    ... }''')
    >>> lib.twice(x, y)

    Accesses out of bounds are checked by the implementation. A text that does
    not compile raises RuntimeError with the implementation's message.
    """
    return ShaderLibrary(wgsl)
