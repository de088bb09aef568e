"""Tensors and storages in files, pickles and deep copies."""

from __future__ import annotations

import copy
import io
import pickle

import pytest
import torch

LOCATIONS = [None, "cpu", "webgpu", "webgpu:0", torch.device("webgpu", 0)]


def saved(value: object) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


@pytest.mark.parametrize("location", LOCATIONS, ids=str)
def test_load(location: torch.device | str | None) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    file = saved({"x": x.webgpu(), "row": x.webgpu()[1]})
    loaded = torch.load(file, map_location=location)
    device = torch.device(location or "webgpu").type
    assert loaded["x"].device.type == device
    assert torch.equal(loaded["x"].cpu(), x)
    assert torch.equal(loaded["row"].cpu(), x[1])


def test_load_from_cpu() -> None:
    loaded = torch.load(saved(torch.ones(3)), map_location="webgpu")
    assert loaded.is_webgpu and loaded.tolist() == [1, 1, 1]


def test_views_of_one_storage_stay_so() -> None:
    x = torch.arange(4.0, device="webgpu")
    a, b = torch.load(saved([x, x[2:]]))
    assert a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def test_module_state() -> None:
    module = torch.nn.Linear(2, 3).webgpu()
    other = torch.nn.Linear(2, 3)
    other.load_state_dict(torch.load(saved(module.state_dict())))
    assert torch.equal(other.weight, module.weight.cpu())


def test_pickle_and_deepcopy() -> None:
    x = torch.arange(3.0, device="webgpu", requires_grad=True)
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert y.is_webgpu and y.requires_grad
        assert y.tolist() == [0, 1, 2]
        assert y.data_ptr() != x.data_ptr()


def test_storage() -> None:
    storage = torch.arange(4, dtype=torch.uint8, device="webgpu")
    untyped = storage.untyped_storage()
    assert untyped.is_webgpu and untyped.nbytes() == 4
    assert untyped.cpu().tolist() == [0, 1, 2, 3]
    assert untyped.clone().cpu().tolist() == [0, 1, 2, 3]
    assert untyped[2] == 2
    untyped[2] = 7
    untyped.resize_(8)
    assert untyped.cpu().tolist()[:4] == [0, 1, 7, 3]
    untyped.resize_(0)
    assert untyped.nbytes() == 0
