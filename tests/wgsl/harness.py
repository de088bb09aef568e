"""Runs functions of wgsl/lib on both WebGPU implementations.

The linker here is the reference for the one in the library: a file is a list
of top-level declarations, and a kernel gets those that it names, directly or
through others.
"""

from __future__ import annotations

import functools
import importlib
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

LIBRARY = Path(__file__).parents[2] / "wgsl" / "lib"
# The files of functions that stand by themselves; the others of the folder
# are parts of kernels and name what a kernel declares.
MODULES = (
    *("float", "math", "pow", "divide", "trig", "special"),
    *("i64", "cast", "flag", "quad"),
)
COMPUTE_TYPES = ("f32", "i32", "u32", "i64")
IMPLEMENTATIONS = {"wgpu": "wgpu", "dawn": "wgpudawn"}
WORKGROUP = 64

_DECLARATION = re.compile(r"(fn|const|alias|struct)\s+(\w+)")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def split(text: str) -> dict[str, str]:
    """The declarations of a file by name, each with its comment."""
    declarations: dict[str, str] = {}
    comment: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("//"):
            comment.append(line)
            continue
        if not line.strip():
            comment = []
            continue
        match = _DECLARATION.match(line)
        if match is None:
            raise ValueError(f"not a declaration: {line!r}")
        body = [line]
        last = "}" if match[1] in ("fn", "struct") else ";"
        while not (
            body[-1] == "}" if last == "}" else body[-1].rstrip().endswith(";")
        ):
            body.append(next(lines))
        if match[2] in declarations:
            raise ValueError(f"declared twice: {match[2]}")
        declarations[match[2]] = "\n".join([*comment, *body]) + "\n"
        comment = []
    return declarations


@functools.cache
def declarations(compute_type: str | None) -> dict[str, str]:
    """All declarations that a kernel of this compute type may use."""
    stems = [*MODULES, *([f"t_{compute_type}"] if compute_type else [])]
    result: dict[str, str] = {}
    for stem in stems:
        file = LIBRARY / f"{stem}.wgsl"
        for key, text in split(file.read_text()).items():
            if key in result:
                raise ValueError(f"declared in two files: {key}")
            result[key] = text
    return result


def identifiers(text: str) -> set[str]:
    return set(_IDENTIFIER.findall(re.sub(r"//[^\n]*", "", text)))


def link(kernel: str, compute_type: str | None = None) -> str:
    """The kernel with the declarations that it needs in front."""
    known = declarations(compute_type)
    needed: set[str] = set()
    pending = identifiers(kernel) & known.keys()
    while pending:
        name = pending.pop()
        needed.add(name)
        pending |= (identifiers(known[name]) & known.keys()) - needed
    return "\n".join([*(known[n] for n in known if n in needed), kernel])


_LOADS = {
    "f32": "bitcast<f32>({0})",
    "i32": "bitcast<i32>({0})",
    "u32": "{0}",
    "i64": "{0}",
}
_STORES = {
    "f32": "bitcast<u32>({0})",
    "i32": "bitcast<u32>({0})",
    "u32": "{0}",
    "i64": "{0}",
    "bool": "select(0u, 1u, {0})",
}
_DTYPES = {"f32": "f4", "i32": "i4", "u32": "u4", "i64": "i8", "bool": "u4"}


class Runner:
    """One device of one implementation."""

    def __init__(self, implementation: str) -> None:
        package = IMPLEMENTATIONS[implementation]
        self.api: ModuleType = importlib.import_module(package)
        importlib.import_module(f"{package}.backends.auto")
        adapter = self.api.gpu.request_adapter_sync(
            power_preference="high-performance"
        )
        self.device: Any = adapter.request_device_sync()

    def evaluate(
        self,
        expression: str,
        inputs: list[np.ndarray],
        out: str,
        types: tuple[str, ...] | None = None,
        compute_type: str | None = None,
    ) -> np.ndarray:
        """The expression in a, b, c for each element of the inputs."""
        if types is None:
            types = tuple(
                {"f4": "f32", "i4": "i32", "u4": "u32", "i8": "i64"}[
                    x.dtype.str[1:]
                ]
                for x in inputs
            )
        size = inputs[0].size
        names = "abc"[: len(inputs)]
        words = ["vec2<u32>" if t == "i64" else "u32" for t in (*types, out)]
        bindings = [
            f"@group(0) @binding({i}) var<storage, read> in_{n}: array<{w}>;"
            for i, (n, w) in enumerate(zip(names, words, strict=False))
        ]
        loads = [
            f"  let {n} = {_LOADS[t].format(f'in_{n}[i]')};"
            for n, t in zip(names, types, strict=True)
        ]
        kernel = "\n".join(
            [
                *bindings,
                f"@group(0) @binding({len(inputs)}) "
                f"var<storage, read_write> result: array<{words[-1]}>;",
                f"@compute @workgroup_size({WORKGROUP})",
                "fn main(@builtin(global_invocation_id) id: vec3<u32>,",
                "        @builtin(num_workgroups) groups: vec3<u32>) {",
                f"  let i = id.y * groups.x * {WORKGROUP}u + id.x;",
                f"  if (i >= {size}u) {{ return; }}",
                *loads,
                f"  result[i] = {_STORES[out].format(expression)};",
                "}",
                "",
            ]
        )
        return self._run(link(kernel, compute_type), inputs, out)

    def _run(
        self, source: str, inputs: list[np.ndarray], out: str
    ) -> np.ndarray:
        usage = self.api.BufferUsage
        device = self.device
        size = inputs[0].size
        dtype = np.dtype(_DTYPES[out])
        buffers = [
            device.create_buffer_with_data(
                data=np.ascontiguousarray(x), usage=usage.STORAGE
            )
            for x in inputs
        ]
        result = device.create_buffer(
            size=size * dtype.itemsize, usage=usage.STORAGE | usage.COPY_SRC
        )
        pipeline = device.create_compute_pipeline(
            layout="auto",
            compute={
                "module": device.create_shader_module(code=source),
                "entry_point": "main",
            },
        )
        group = device.create_bind_group(
            layout=pipeline.get_bind_group_layout(0),
            entries=[
                {"binding": i, "resource": {"buffer": b}}
                for i, b in enumerate([*buffers, result])
            ],
        )
        encoder = device.create_command_encoder()
        compute_pass = encoder.begin_compute_pass()
        compute_pass.set_pipeline(pipeline)
        compute_pass.set_bind_group(0, group)
        groups = -(-size // WORKGROUP)
        rows = -(-groups // 65535)
        compute_pass.dispatch_workgroups(-(-groups // rows), rows)
        compute_pass.end()
        device.queue.submit([encoder.finish()])
        data = np.frombuffer(device.queue.read_buffer(result), dtype)
        for buffer in (*buffers, result):
            buffer.destroy()
        return data


@functools.cache
def runner(implementation: str) -> Runner:
    return Runner(implementation)
