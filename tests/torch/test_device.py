"""The device as torch's generic code sees it."""

from __future__ import annotations

import os

import pytest
import torch

DTYPES = [
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
    torch.complex64,
    torch.complex128,
]


def values(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    count = torch.Size(shape).numel()
    return (
        (
            torch.arange(count) % 2
            if dtype is torch.bool
            else torch.arange(count)
        )
        .to(dtype)
        .reshape(shape)
    )


def test_names() -> None:
    assert torch.device("webgpu").type == "webgpu"
    assert torch.get_device_module("webgpu") is torch.webgpu
    assert torch.accelerator.current_accelerator() == torch.device("webgpu")
    assert torch.webgpu.is_available()
    assert torch.webgpu.unavailable_reason() == ""
    assert torch.webgpu.device_count() == 1
    assert torch.webgpu.current_device() == 0
    torch.webgpu.init()
    assert torch.webgpu.is_initialized()
    assert not torch.webgpu._is_in_bad_fork()


def test_implementation_is_the_one_asked_for() -> None:
    asked = os.environ.get("TORCH_WEBGPU_IMPL")
    used = torch.webgpu.implementation()
    assert used == asked if asked else used in ("wgpu", "dawn")


def test_properties() -> None:
    properties = torch.webgpu.get_device_properties("webgpu:0")
    assert properties.name == torch.webgpu.get_device_name()
    assert properties.name
    assert properties.max_buffer_size >= properties.max_storage_binding_size
    assert torch.webgpu.adapter_info()["limits"]["max_storage_buffers"] >= 8
    capability = torch.webgpu.get_device_capability()
    assert torch.float32 in capability["supported_dtypes"]
    assert torch.float64 not in capability["supported_dtypes"]
    assert any(
        adapter["name"] == properties.name
        for adapter in torch.webgpu.list_adapters()
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_empty_has_what_was_asked(dtype: torch.dtype) -> None:
    x = torch.empty(2, 3, dtype=dtype, device="webgpu")
    assert x.device == torch.device("webgpu:0")
    assert x.is_webgpu and x.dtype == dtype and x.stride() == (3, 1)
    y = torch.empty_strided((2, 3), (1, 2), dtype=dtype, device="webgpu")
    assert y.stride() == (1, 2)
    channels_last = torch.empty(
        2, 3, 4, 5, device="webgpu", memory_format=torch.channels_last
    )
    assert channels_last.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_round_trip(dtype: torch.dtype) -> None:
    x = values(dtype, 3, 5)
    assert torch.equal(x.to("webgpu").cpu(), x)
    assert torch.equal(x.webgpu().t().cpu(), x.t())
    assert torch.equal(x.webgpu()[1:, ::2].cpu(), x[1:, ::2])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_item_and_print(dtype: torch.dtype) -> None:
    x = values(dtype, 5)
    on_device = x.webgpu()
    assert [v.item() for v in on_device] == x.tolist()
    assert repr(on_device).startswith(repr(x).split("]")[0])
    assert "device='webgpu:0'" in repr(on_device)


def test_printing_counts_no_fallback() -> None:
    torch.webgpu.reset_fallback_counts()
    repr(torch.zeros(3, dtype=torch.float64, device="webgpu"))
    assert torch.webgpu.fallback_counts() == {}


def test_empty_tensors() -> None:
    x = torch.empty(0, 3, device="webgpu")
    assert x.data_ptr() == 0
    assert x.cpu().shape == (0, 3)
    assert repr(x) == "tensor([], device='webgpu:0', size=(0, 3))"
    assert torch.empty(0, device="webgpu").resize_(2).fill_(4).tolist() == [
        4,
        4,
    ]


def test_views_share_memory() -> None:
    x = torch.zeros(4, 4, device="webgpu")
    for view in (
        x.view(16),
        x.t(),
        x[1:],
        x.unfold(0, 2, 1),
        x.as_strided((2, 2), (4, 1), 5),
        x.reshape(2, 8),
        x.diagonal(),
    ):
        storage = view.untyped_storage()
        assert storage.data_ptr() == x.untyped_storage().data_ptr()
    x.diagonal().fill_(1)
    assert torch.equal(x.cpu(), torch.eye(4))


def test_complex_views() -> None:
    z = torch.tensor([1 + 2j, 3 - 4j])
    on_device = z.webgpu()
    assert torch.equal(
        torch.view_as_real(on_device).cpu(), torch.view_as_real(z)
    )
    pairs = torch.view_as_real(z).webgpu()
    assert torch.equal(torch.view_as_complex(pairs).cpu(), z)
    assert torch.equal(on_device.conj().cpu(), z.conj().resolve_conj())
    assert torch.equal(on_device.conj().imag.cpu(), z.conj().imag)
    strided = torch.stack([z, z], 1).webgpu()[:, 0]
    assert torch.equal(strided.conj().cpu(), z.conj().resolve_conj())


def test_writing_to_flagged_views() -> None:
    # fill_ and add_ have no kernel for these flags, so torch works on a copy
    # and copies it back into a strided view that negates.
    for write in (
        lambda z: z.conj().imag.fill_(3),
        lambda z: z.conj().imag.add_(3),
        lambda z: z.conj().imag.copy_(torch.tensor([5.0, 6.0])),
        lambda z: z.conj().copy_(torch.tensor([5j, 6j])),
        lambda z: z[:1].conj().fill_(1 + 1j),
    ):
        on_cpu = torch.tensor([1 + 2j, 3 - 4j])
        on_device = on_cpu.webgpu()
        write(on_cpu)
        write(on_device)
        assert torch.equal(on_device.cpu(), on_cpu)


def test_expanded_tensors_can_be_filled() -> None:
    for dtype in (torch.float32, torch.float64, torch.complex64, torch.uint16):
        x = torch.ones(2, 1, dtype=dtype, device="webgpu")
        assert x.expand(2, 3).fill_(3).tolist() == [[3] * 3] * 2
        assert x.tolist() == [[3], [3]]
        assert x.expand(2, 3).zero_().tolist() == [[0] * 3] * 2
    with pytest.raises(RuntimeError, match="refers to a single memory"):
        x.expand(2, 3).copy_(torch.ones(2, 3, device="webgpu"))


def test_copies_check_shapes() -> None:
    x, empty = torch.ones(4, device="webgpu"), torch.ones(0, device="webgpu")
    for source in (x, x.cpu()):
        with pytest.raises(RuntimeError):
            empty.copy_(source)
        with pytest.raises(RuntimeError):
            x[:3].copy_(source)
    assert empty.copy_(x[:1]).numel() == 0
    with pytest.raises(NotImplementedError, match="no data"):
        x.copy_(torch.ones(4, device="meta"))


def test_a_storage_that_is_too_small_is_never_touched() -> None:
    for size in (0, 8):
        x = torch.ones(1000, device="webgpu")
        x.untyped_storage().resize_(size)
        assert x.shape == (1000,)
        for use in (
            lambda x=x: x + 1,
            lambda x=x: x.fill_(2),
            lambda x=x: x.zero_(),
            lambda x=x: x.cpu(),
            lambda x=x: x.copy_(torch.ones(1000)),
            lambda x=x: torch.add(1, torch.ones(1000, device="webgpu"), out=x),
        ):
            with pytest.raises(RuntimeError, match="needs 4000 bytes, but its"):
                use()
        x.untyped_storage().resize_(4000)
        assert x.fill_(2).sum().item() == 2000


def test_more_elements_than_kernels_count() -> None:
    x = torch.ones(1, 1, device="webgpu").expand(2**17, 2**16)
    for use in (
        lambda: x.sum(),
        lambda: x.amax(),
        lambda: x.count_nonzero(),
        lambda: x.flatten()[torch.zeros(1, dtype=torch.int64)],
    ):
        with pytest.raises(RuntimeError, match=r"up to 2\^32 - 1 elements"):
            use()
    assert x[: 2**10, : 2**10].sum().item() == 2**20


def test_memory_inside_of_a_buffer_has_one_clear_error() -> None:
    x = torch.arange(8, dtype=torch.uint8, device="webgpu")
    part = x.untyped_storage()[4:]
    with pytest.raises(NotImplementedError, match="make the view afterwards"):
        part.cpu()
    pack, unpack = torch.utils.dlpack.to_dlpack, torch.utils.dlpack.from_dlpack
    with pytest.raises(NotImplementedError, match="make the view afterwards"):
        unpack(pack(x[4:])).cpu()
    assert unpack(pack(x)).tolist() == x.tolist()


def test_resize_keeps_what_was_there() -> None:
    x = torch.arange(6.0, device="webgpu")
    x.resize_(2, 2)
    assert x.tolist() == [[0, 1], [2, 3]]
    x.resize_(10)
    assert x[:6].tolist() == [0, 1, 2, 3, 4, 5]


def test_set() -> None:
    x = torch.arange(6.0, device="webgpu")
    y = torch.empty(0, device="webgpu").set_(x)
    assert y.data_ptr() == x.data_ptr()
    z = torch.empty(0, device="webgpu")
    z.set_(x.untyped_storage(), 2, (2, 2), (1, 2))
    assert z.tolist() == [[2, 4], [3, 5]]
    whole = torch.empty(0, device="webgpu").set_(x.untyped_storage())
    assert whole.tolist() == x.tolist()
    assert y.set_().numel() == 0
    with pytest.raises(RuntimeError, match="different device"):
        torch.empty(0).set_(x.untyped_storage())


def test_copy_on_write() -> None:
    x = torch.arange(3.0, device="webgpu")
    y = torch._lazy_clone(x)
    y.add_(1)
    assert x.tolist() == [0, 1, 2] and y.tolist() == [1, 2, 3]


def test_one_device() -> None:
    with pytest.raises(RuntimeError, match="there is one device"):
        torch.empty(1, device="webgpu:1")
    with pytest.raises(ValueError, match="there is one device"):
        torch.webgpu.set_device(1)
    with pytest.raises(ValueError, match="expected a webgpu device"):
        torch.webgpu.synchronize("cpu")
    with torch.webgpu.device("webgpu:0"), torch.webgpu.device_of(torch.ones(1)):
        assert torch.webgpu.current_device() == 0


def test_unsupported_layouts_say_so() -> None:
    with pytest.raises(RuntimeError, match="only CPU tensors can be pinned"):
        torch.empty(1, device="webgpu", pin_memory=True)


def test_default_device() -> None:
    with torch.device("webgpu"):
        assert torch.ones(2).is_webgpu
        assert torch.nn.Linear(2, 2).weight.is_webgpu


def test_modules_move() -> None:
    module = torch.nn.Linear(2, 3)
    module.webgpu()
    assert all(p.is_webgpu for p in module.parameters())
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(3, 2)])
    assert packed.webgpu().is_webgpu


def test_pinned_memory() -> None:
    pinned = torch.arange(4.0).pin_memory()
    assert pinned.is_pinned() and pinned[1:].is_pinned()
    assert not torch.arange(4.0).is_pinned()
    assert pinned.to("webgpu", non_blocking=True).tolist() == [0, 1, 2, 3]
    dataset = torch.utils.data.TensorDataset(torch.arange(4.0))
    loader = torch.utils.data.DataLoader(dataset, 2, pin_memory=True)
    assert all(batch.is_pinned() for (batch,) in loader)


def test_devices_do_not_mix() -> None:
    x = torch.ones(2, 2, device="webgpu")
    with pytest.raises(RuntimeError, match=r"all tensors .* same device"):
        x @ torch.ones(2, 2)
    with pytest.raises(RuntimeError, match=r"all tensors .* same device"):
        x + torch.ones(2, 2)


def test_deterministic_mode_fills_new_memory() -> None:
    torch.use_deterministic_algorithms(True)
    try:
        assert torch.empty(3, device="webgpu").isnan().all()
    finally:
        torch.use_deterministic_algorithms(False)
