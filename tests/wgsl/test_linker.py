"""The form of the files: what the linker relies on."""

import re

import pytest

from tests.wgsl.harness import (
    COMPUTE_TYPES,
    LIBRARY,
    MODULES,
    Runner,
    declarations,
    link,
    split,
)

GENERIC = set(
    """
    T t_zero t_one t_from_i32 t_from_i64 t_from_f32 t_from_bool t_to_i64
    t_to_f32 t_to_bool t_is_zero t_is_nan t_lowest t_highest t_select
    t_add t_sub t_mul t_div_trunc t_div_floor t_rem_trunc t_rem_floor
    t_neg t_abs t_sign t_min t_max t_lt t_le t_gt t_ge t_eq t_ne t_pow t_square
    """.split()
)
INTEGER = {"t_and", "t_or", "t_xor", "t_not", "t_shl", "t_shr"}


@pytest.mark.parametrize("compute_type", COMPUTE_TYPES)
def test_names_are_unique_and_generic_set_is_complete(
    compute_type: str,
) -> None:
    known = declarations(compute_type).keys()
    expected = GENERIC | ({"t_div"} if compute_type == "f32" else INTEGER)
    assert expected <= known


@pytest.mark.parametrize("source", ("f32", "i32", "u32", "i64", "bool"))
def test_casts_between_all_compute_types(source: str) -> None:
    known = declarations(None)
    for target in ("f32", "i32", "u32", "i64", "bool"):
        assert source == target or f"{source}_to_{target}" in known


def test_only_what_is_needed_is_linked() -> None:
    text = link("fn main() { let x = m_fmod(1.0, 2.0); }\n")
    assert "fn m_significand" in text
    assert "fn m_pow" not in text
    assert text.index("fn m_fmod") < text.index("fn main")


@pytest.mark.parametrize("stem", [*MODULES, *(f"t_{t}" for t in COMPUTE_TYPES)])
def test_form(stem: str) -> None:
    text = (LIBRARY / f"{stem}.wgsl").read_text()
    assert split(text)
    assert not re.search(r"^(var|override|@|enable)", text, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) <= 500


@pytest.mark.parametrize("compute_type", COMPUTE_TYPES)
def test_whole_library_compiles(gpu: Runner, compute_type: str) -> None:
    text = "\n".join(declarations(compute_type).values())
    entry = "@compute @workgroup_size(1)\nfn main() {\n}\n"
    module = gpu.device.create_shader_module(code=text + entry)
    gpu.device.create_compute_pipeline(
        layout="auto", compute={"module": module, "entry_point": "main"}
    )


def test_bad_form_is_refused() -> None:
    with pytest.raises(ValueError, match="not a declaration"):
        split("  let x = 1;\n")
    with pytest.raises(ValueError, match="declared twice"):
        split("const a = 1;\nconst a = 2;\n")
