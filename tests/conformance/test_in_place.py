"""Every operator in place whose operands would need a larger self.

The schemas of aten say which there are. The CPU is the oracle: where it raises,
the device raises too, and nothing around the view has changed.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

PLAIN: dict[str, Any] = {
    "Scalar": 1,
    "number": 1,
    "float": 1.0,
    "int": 0,
    "SymInt": 0,
    "bool": False,
}


def operators() -> list[torch._C.FunctionSchema]:
    found = []
    for schema in torch._C._jit_get_all_schemas():
        name = schema.name
        if not name.startswith("aten::") or not name.endswith("_"):
            continue
        if name.startswith("aten::_") or not schema.arguments:
            continue
        self, *others = schema.arguments
        writes = self.alias_info is not None and self.alias_info.is_write
        if (
            writes
            and str(self.type) == "Tensor"
            and any(str(a.type) == "Tensor" for a in others)
        ):
            found.append(schema)
    return found


def argument(kind: str, device: str) -> Any:
    if kind == "Tensor":
        return torch.ones(2, 3, device=device)
    if kind.startswith("Optional"):
        return None
    return PLAIN.get(kind)


def attempt(schema: torch._C.FunctionSchema, device: str) -> tuple[bool, list]:
    """Whether it raised, and what the memory of the view's storage holds."""
    name = schema.name.removeprefix("aten::")
    operator = getattr(
        getattr(torch.ops.aten, name), schema.overload_name or "default"
    )
    memory = torch.zeros(12, device=device)
    given, named = [memory[:3]], {}
    for a in schema.arguments[1:]:
        if a.has_default_value():
            continue
        value = argument(str(a.type), device)
        if a.kwarg_only:
            named[a.name] = value
        else:
            given.append(value)
    try:
        operator(*given, **named)
        raised = False
    except Exception:
        raised = True
    return raised, memory[3:].tolist()


OPERATORS = operators()


def test_there_are_many() -> None:
    names = {schema.name for schema in OPERATORS}
    assert len(OPERATORS) > 80
    assert {"aten::add_", "aten::logical_or_", "aten::addr_"} <= names


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "schema", OPERATORS, ids=lambda s: f"{s.name}.{s.overload_name}"
)
def test_self_does_not_grow(schema: torch._C.FunctionSchema) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raised, around = attempt(schema, "cpu")
        assert around == [0.0] * 9, "the CPU itself writes outside of the view"
        got_raised, got_around = attempt(schema, "webgpu")
    assert got_around == around
    assert got_raised == raised


def test_addr_does_not_grow_self() -> None:
    memory = torch.zeros(12, device="webgpu")
    with pytest.raises(RuntimeError, match="doesn't match"):
        memory[:3].addr_(
            torch.ones(2, device="webgpu"), torch.ones(3, device="webgpu")
        )
    assert memory.tolist() == [0.0] * 12
