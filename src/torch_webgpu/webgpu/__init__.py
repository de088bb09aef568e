"""The device module, registered as ``torch.webgpu``."""

from __future__ import annotations

from torch_webgpu.webgpu import _utils
from torch_webgpu.webgpu._device import (
    DeviceProperties,
    _exchange_device,
    _is_in_bad_fork,
    _lazy_init,
    _maybe_exchange_device,
    _set_window,
    adapter_info,
    can_device_access_peer,
    current_device,
    device,
    device_count,
    device_of,
    fallback_counts,
    get_amp_supported_dtype,
    get_device_capability,
    get_device_name,
    get_device_properties,
    implementation,
    init,
    is_available,
    is_bf16_supported,
    is_initialized,
    list_adapters,
    reset_fallback_counts,
    set_device,
    stats,
    synchronize,
    unavailable_reason,
)
from torch_webgpu.webgpu.memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
)
from torch_webgpu.webgpu.profiler import KernelTiming, kernel_timings
from torch_webgpu.webgpu.random import (
    _get_generator,
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from torch_webgpu.webgpu.shader import compile_shader
from torch_webgpu.webgpu.streams import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)

__all__ = [
    "DeviceProperties",
    "Event",
    "KernelTiming",
    "Stream",
    "StreamContext",
    "_exchange_device",
    "_get_generator",
    "_is_in_bad_fork",
    "_lazy_init",
    "_maybe_exchange_device",
    "_set_window",
    "_utils",
    "adapter_info",
    "can_device_access_peer",
    "compile_shader",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "fallback_counts",
    "get_amp_supported_dtype",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "implementation",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "kernel_timings",
    "list_adapters",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_accumulated_memory_stats",
    "reset_fallback_counts",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stats",
    "stream",
    "synchronize",
    "unavailable_reason",
]


def __getattr__(name: str) -> object:
    # Asked anew each time: the native library may be missing, and the device
    # is created late.
    if name == "_initialized":
        return is_initialized()
    if name == "default_generators":
        return (_get_generator(),)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
