"""Makes "webgpu" a device of torch, once per process."""

from __future__ import annotations

import atexit
import contextlib
import os
import warnings

import torch

from torch_webgpu import _implementation, _modules, _native, _refusals

_registered = False


def register() -> None:
    """Never raises: a failure here must not break `import torch`.

    What fails is remembered and raised, as one sentence, by the first use of
    the device.
    """
    global _registered
    if _registered:
        return
    _registered = True
    try:
        _register_device()
    except Exception as error:
        message = (
            f"webgpu: the device is not registered ({error}); only one "
            "out-of-tree device can be loaded in a process: uninstall the "
            "other one, or torch-webgpu."
        )
        _native.fail(message)
        warnings.warn(message, stacklevel=2)
        return
    try:
        _load()
    except Exception as error:
        _native.fail(str(error))
        with contextlib.suppress(Exception):
            _pretend_device()


def _register_device() -> None:
    from torch_webgpu import webgpu

    torch.utils.rename_privateuse1_backend("webgpu")
    torch._register_device_module("webgpu", webgpu)
    torch.utils.generate_methods_for_privateuse1_backend(
        for_tensor=True,
        for_module=True,
        for_packed_sequence=True,
        for_storage=True,
        unsupported_dtype=[
            torch.quint8,
            torch.quint4x2,
            torch.quint2x4,
            torch.qint32,
            torch.qint8,
        ],
    )
    _print_on_cpu()
    _modules.keep_parameters()
    _refusals.refuse()


def _load() -> None:
    library = _native.load()
    library.set_device_options(_implementation.resolve)
    library.set_fallback_policy(
        os.environ.get("TORCH_WEBGPU_FALLBACK", "").strip().lower() or "warn"
    )
    atexit.register(library.finish)


def _pretend_device() -> None:
    """Registers empty hooks where the native ones are missing.

    Torch asks the hooks of a registered device in CPU-only programs too (the
    autograd engine does, for example), and would raise without any.
    """
    from torch.utils import backend_registration

    hook = backend_registration._DummyPrivateUse1Hook()
    guard = backend_registration._DummyDeviceGuard()
    torch._C._acc.register_python_privateuseone_hook(hook)
    torch._C._acc.register_python_privateuseone_device_guard(guard)


def _print_on_cpu() -> None:
    """Formats webgpu tensors from a copy on the CPU.

    Torch formats with a dozen operators and readbacks on the tensor's own
    device, which is slow here and would count as fallbacks.
    """
    from torch import _tensor_str

    format_tensor = _tensor_str._tensor_str

    def format_on_cpu(self: torch.Tensor, indent: int) -> str:
        if self.device.type == "webgpu":
            self = self.detach().cpu()
        return format_tensor(self, indent)

    _tensor_str._tensor_str = format_on_cpu
