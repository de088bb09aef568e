"""Kernels from a code generator: the engine's accessors, offsets and walks."""

from __future__ import annotations

import gc

import pytest
import torch

from torch_webgpu._generated import DTYPES, GeneratedKernel, Operand

MAIN = """
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if id.x < p.count {
    BODY
  }
}
"""


def scaled(dtype: torch.dtype, label: str = "scaled") -> GeneratedKernel:
    body = """let a = load4_a(p.offset_a / 4u + id.x) * p.scale;
    store4_o(p.offset_o / 4u + id.x, a);"""
    return GeneratedKernel(
        label,
        MAIN.replace("BODY", body),
        [
            Operand("a", dtype, width="quad"),
            Operand("o", dtype, "write", "quad"),
        ],
        {"count": "u32", "scale": "f32"},
    )


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16]
)
def test_quads_of_any_float_and_views(dtype: torch.dtype) -> None:
    whole = torch.arange(80).to(dtype)
    a = whole.to("webgpu")[8:72]
    o = torch.zeros(80, dtype=dtype, device="webgpu")
    scaled(dtype)(a, o[4:68], workgroups=1, count=16, scale=2.0)
    expected = torch.zeros(80, dtype=dtype)
    expected[4:68] = whole[8:72] * 2
    assert torch.equal(o.cpu(), expected)


def test_walks_and_every_type_of_parameter() -> None:
    kernel = GeneratedKernel(
        "walked",
        MAIN.replace(
            "BODY",
            "let a = load_a(p.offset_a + at_a(id.x)) + p.shift;"
            "let b = i32_to_i64(a + i32(p.more[1].w));"
            "store_o(p.offset_o + id.x, i64_add(p.big, b));",
        ),
        [Operand("a", torch.int32), Operand("o", torch.int64, "write")],
        {
            "shift": "i32",
            "big": "u64",
            "at": "Walk",
            "at_a": "u32x8",
            "more": "u32x8",
            "count": "u32",
        },
        walks={"at": ["a"]},
        compute="i64",
    )
    whole = torch.arange(7 * 11 * 3, dtype=torch.int32).view(7, 11, 3)
    view = whole.to("webgpu").permute(2, 0, 1)[1:, :, 2:]
    out = torch.empty(view.shape, dtype=torch.int64, device="webgpu")
    kernel(
        view,
        out,
        workgroups=4,
        shift=-5,
        big=1 << 40,
        at=list(reversed(view.shape)),
        at_a=list(reversed(view.stride())),
        more=[0, 0, 0, 0, 0, 0, 0, 9],
        count=view.numel(),
    )
    expected = view.cpu().to(torch.int64) + 4 + (1 << 40)
    assert torch.equal(out.cpu(), expected)


def test_errors_name_the_kernel() -> None:
    kernel = scaled(torch.float32, "my_kernel")
    x = torch.zeros(64, device="webgpu")
    with pytest.raises(ValueError, match="my_kernel takes 2 tensors, got 1"):
        kernel(x, workgroups=1, count=16, scale=1.0)
    with pytest.raises(ValueError, match=r"operand o is f32.*Half"):
        kernel(x, x.half(), workgroups=1, count=16, scale=1.0)
    with pytest.raises(TypeError, match=r"parameters are .*'count', 'scale'"):
        kernel(x, torch.zeros_like(x), workgroups=1, count=16)
    with pytest.raises(RuntimeError, match=r"broken.*nope"):
        GeneratedKernel(
            "broken",
            MAIN.replace("BODY", "nope();"),
            [Operand("a", torch.float32)],
            {"count": "u32"},
        )


def test_any_number_of_them() -> None:
    """Those that nobody holds go by age; one that ran may go before it runs."""
    x = torch.ones(64, device="webgpu")
    results = []
    for i in range(300):
        o = torch.empty_like(x)
        scaled(torch.float32, f"kernel_{i}")(
            x, o, workgroups=1, count=16, scale=float(i)
        )
        results.append(o)
    gc.collect()
    assert [o[5].item() for o in results] == [float(i) for i in range(300)]


def test_every_dtype_has_a_name() -> None:
    for dtype, name in DTYPES.items():
        kernel = GeneratedKernel(
            f"copy_{name}",
            MAIN.replace("BODY", "store4_o(id.x, load4_a(id.x));"),
            [
                Operand("a", dtype, width="quad"),
                Operand("o", dtype, "write", "quad"),
            ],
            {"count": "u32"},
        )
        x = torch.randint(0, 2, (64,)).to(dtype)
        out = torch.empty(64, dtype=dtype, device="webgpu")
        kernel(x.to("webgpu"), out, workgroups=1, count=16)
        assert torch.equal(out.cpu(), x)
