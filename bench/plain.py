"""Plain WGSL kernels: what this adapter reaches without PyTorch.

Each kind of work is written in every way that a careful author would try: one
to eight vec4 per thread, adjacent or strided by the workgroup, three workgroup
sizes, loops over the grid, and loops over a workgroup's own chunk whose length
is known only at run time (no compiler unrolls those; on a CPU they are the
fastest). A short tournament keeps the fastest; those run again beside each
case, and the best of them in that run is the reference.

The kernels are compiled as trusted, like the package's own: no bounds checks,
no PyTorch operator, no allocation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from common import Run, best, interleave

import torch_webgpu._C as _C

KEPT = 3  # variants of a kind that run beside a case


@dataclass(frozen=True)
class Kind:
    inputs: int
    body: str  # of vec4 number i, the J-th in flight
    traffic: int  # vec4 moved for each one
    end: str = ""  # sees the sum of all sJ as s


# `read` may not store, and may not be optimised away: no sum of the data is
# ever that number.
KINDS = {
    "copy": Kind(1, "o[i] = a[i];", 2),
    "scale": Kind(1, "o[i] = a[i] * 2.0;", 2),
    "add": Kind(2, "o[i] = a[i] + b[i];", 3),
    "fill": Kind(0, "o[i] = vec4<f32>(1.0);", 1),
    "read": Kind(
        1, "sJ += a[i];", 1, "if (s.x == -12345.5) { o[0] = s + s.yzwx; }"
    ),
}


@dataclass(frozen=True)
class Shape:
    """How the work is divided among threads.

    adjacent, strided: `per_thread` vec4 each, in straight code up to 8
    grid: a loop of `per_thread`, each a grid apart
    chunk: the same number, in a loop over the workgroup's own chunk that ends
    where num_workgroups says, `unroll` vec4 in flight
    """

    workgroup: int
    per_thread: int
    walk: str
    unroll: int = 1

    def __str__(self) -> str:
        shown = f"{self.walk} {self.per_thread} x {self.workgroup}"
        return shown + (f" by {self.unroll}" if self.unroll > 1 else "")


def shapes(kind: str, short: bool) -> list[Shape]:
    workgroups = (64, 256) if short else (64, 128, 256)
    widths = (1, 4) if short else (1, 2, 4, 8)
    made = [Shape(w, n, "strided") for w in workgroups for n in widths]
    made += [Shape(w, n, "adjacent") for w in workgroups for n in widths[1:]]
    longer = (64,) if short else (16, 64, 256)
    made += [Shape(w, n, "grid") for w in workgroups for n in longer]
    made += [
        Shape(w, n, "chunk", unroll)
        for w in workgroups
        for n in longer
        for unroll in ((2,) if short else (1, 2, 4))
    ]
    if kind == "read":
        made += [Shape(w, n, "adjacent") for w in workgroups for n in longer]
    return made


def text(kind: Kind, shape: Shape, count: int) -> tuple[str, int]:
    """The WGSL for `count` vec4 and the number of workgroups."""
    names = "ab"[: kind.inputs]
    lines = [
        f"@group(0) @binding({i}) var<storage, read> {name}: array<vec4<f32>>;"
        for i, name in enumerate(names)
    ]
    per_group = shape.workgroup * shape.per_thread
    groups = -(-count // per_group)
    # Only a count that does not divide needs a check.
    exact = count % per_group == 0 and groups <= 32768
    body = kind.body if exact else f"if (i < {count}u) {{ {kind.body} }}"
    lines += [
        f"@group(0) @binding({len(names)}) "
        "var<storage, read_write> o: array<vec4<f32>>;",
        f"@compute @workgroup_size({shape.workgroup})",
        "fn main(@builtin(workgroup_id) w: vec3<u32>,",
        "        @builtin(num_workgroups) n: vec3<u32>,",
        "        @builtin(local_invocation_index) l: u32) {",
        f"  let g = {'w.x' if exact else 'w.y * n.x + w.x'};",
        *walk(shape, body, groups, count),
        f"  {kind.end}",
        "}",
    ]
    return "\n".join(lines), groups


def walk(shape: Shape, body: str, groups: int, count: int) -> list[str]:
    size, each = shape.workgroup, shape.per_thread
    looped = shape.walk in ("grid", "chunk") or each > 8
    flying = shape.unroll if looped else each

    def one(j: int, index: str) -> str:
        return f"    {{ let i = {index}; {body.replace('J', str(j))} }}"

    if shape.walk == "chunk":
        step = size * flying
        lines = [
            f"  let steps = {-(-count // step)}u;",
            f"  let per = (steps + n.x * n.y - 1u) / (n.x * n.y) * {step}u;",
            f"  for (var k = g * per + l; k < g * per + per; k += {step}u) {{",
            *(one(j, f"k + {j * size}u") for j in range(flying)),
            "  }",
        ]
    else:
        index = {
            "adjacent": f"(g * {size}u + l) * {each}u + j",
            "strided": f"g * {size * each}u + j * {size}u + l",
            "grid": f"j * {groups * size}u + g * {size}u + l",
        }[shape.walk]
        lines = [one(j, index.replace("j", f"{j}u")) for j in range(flying)]
        if looped:
            head = f"  for (var j = 0u; j < {each}u; j++) {{"
            lines = [head, one(0, index), "  }"]
    sums = [f"s{j}" for j in range(flying)]
    return [
        *(f"  var {name} = vec4<f32>();" for name in sums),
        *lines,
        f"  let s = {' + '.join(sums)};",
    ]


def fold(groups: int) -> tuple[int, int, int]:
    if groups <= 32768:
        return groups, 1, 1
    return 32768, -(-groups // 32768), 1


def launcher(
    kind: str, shape: Shape, tensors: list[torch.Tensor]
) -> Callable[[], None]:
    """Launches the kernel on inputs and output of one size."""
    wgsl, groups = text(KINDS[kind], shape, tensors[-1].numel() // 4)
    writes = [False] * (len(tensors) - 1) + [True]
    label = f"plain_{kind} {shape}"
    kernel = _C.UserKernel(label, wgsl, "main", writes, trusted=True)
    grid = fold(groups)
    return lambda: kernel.launch(*tensors, grid=grid)


MATMUL_SHAPES = ((4, 8, 8), (8, 8, 8), (4, 16, 4), (8, 4, 16))


def matmul_launcher(
    rows: int, gx: int, gy: int, tensors: list[torch.Tensor]
) -> Callable[[], None]:
    """A product of squares: `rows` x 4 outputs in a thread's registers."""
    n = tensors[-1].shape[0]
    span = range(rows)
    wgsl = "\n".join(
        [
            *(
                f"@group(0) @binding({i}) var<storage, {access}> {name}: "
                "array<vec4<f32>>;"
                for i, (name, access) in enumerate(
                    [("a", "read"), ("b", "read"), ("o", "read_write")]
                )
            ),
            f"@compute @workgroup_size({gx}, {gy})",
            "fn main(@builtin(global_invocation_id) id: vec3<u32>) {",
            f"  let r = id.y * {rows}u;",
            *(f"  var s{i} = vec4<f32>();" for i in span),
            f"  for (var k = 0u; k < {n // 4}u; k++) {{",
            *(f"    let a{i} = a[(r + {i}u) * {n // 4}u + k];" for i in span),
            *(
                f"    let b{j} = b[(4u * k + {j}u) * {n // 4}u + id.x];"
                for j in range(4)
            ),
            *(
                f"    s{i} += a{i}.x * b0 + a{i}.y * b1 + a{i}.z * b2"
                f" + a{i}.w * b3;"
                for i in span
            ),
            "  }",
            *(f"  o[(r + {i}u) * {n // 4}u + id.x] = s{i};" for i in span),
            "}",
        ]
    )
    kernel = _C.UserKernel(
        f"plain_matmul {rows} {gx}x{gy}",
        wgsl,
        "main",
        [False, False, True],
        trusted=True,
    )
    grid = (n // (4 * gx), n // (rows * gy), 1)
    return lambda: kernel.launch(*tensors, grid=grid)


class References:
    """The fastest variants of each kind for one size, found on first use."""

    def __init__(self, elements: int, short: bool) -> None:
        self._elements = elements
        self._short = short
        self._tensors = [torch.rand(elements).to("webgpu") for _ in range(3)]
        self._kept: dict[str, dict[str, Run]] = {}
        self._copied: dict[int, list[torch.Tensor]] = {}

    def bytes(self, kind: str) -> int:
        return KINDS[kind].traffic * 4 * self._elements

    def copy(self, size: int) -> dict[str, Run]:
        """The adapter's buffer copy of `size` bytes."""
        if size not in self._copied:
            self._copied[size] = [
                torch.zeros(size // 4, device="webgpu") for _ in range(2)
            ]
        a, b = self._copied[size]
        return {"buffer copy": lambda: _C.bench_buffer_copy(a, b)}

    def of(self, kind: str) -> dict[str, Run]:
        if kind not in self._kept:
            tensors = self._tensors[: KINDS[kind].inputs] + self._tensors[2:]
            loops: dict[str, Run] = {
                f"{kind}, {shape}": launcher(kind, shape, tensors)
                for shape in shapes(kind, self._short)
            }
            self._kept[kind] = fastest(loops)
        return self._kept[kind]

    def matmul(self, n: int) -> dict[str, Run]:
        name = f"matmul {n}"
        if name not in self._kept:
            tensors = [t[: n * n].view(n, n) for t in self._tensors]
            self._kept[name] = fastest(
                {
                    f"{name}, {rows} x 4, {gx} x {gy}": matmul_launcher(
                        rows, gx, gy, tensors
                    )
                    for rows, gx, gy in MATMUL_SHAPES
                }
            )
        return self._kept[name]


def fastest(loops: dict[str, Run]) -> dict[str, Run]:
    times = best(interleave(loops, 3, torch.webgpu.synchronize, 0.004))
    names = sorted(times, key=lambda name: times[name])[:KEPT]
    return {name: loops[name] for name in names}
