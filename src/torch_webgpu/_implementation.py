"""Which WebGPU implementation serves the process, and where it is."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class DeviceOptions:
    """What the native library creates the device from."""

    implementation: str
    library: str = ""  # a path, used if get_proc_address is 0
    get_proc_address: int = 0  # address of wgpuGetProcAddress
    adapter: str = ""
    validation: bool = False
    cache_folder: str = ""  # "" = keep no compiled shaders on disk
    tuning_folder: str = ""  # "" = keep no measurements on disk


def _package_folder(package: str) -> Path | None:
    """Where a package is installed, without importing it."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent


def _library_from(variable: str) -> str:
    path = os.environ.get(variable, "")
    if path and not Path(path).is_file():
        raise RuntimeError(
            f"webgpu: {variable}={path} is no file; set it to the path of a "
            "shared library that exports webgpu.h, or unset it."
        )
    return path


def _find_wgpu() -> DeviceOptions | None:
    if path := _library_from("TORCH_WEBGPU_WGPU_LIBRARY"):
        return DeviceOptions("wgpu", library=path)
    folder = _package_folder("wgpu")
    if folder is None:
        return None
    for suffix in (".so", ".dylib", ".dll"):
        found = sorted(folder.glob(f"resources/*wgpu_native*release*{suffix}"))
        if found:
            return DeviceOptions("wgpu", library=str(found[0]))
    return None


def _find_dawn() -> DeviceOptions | None:
    if path := _library_from("TORCH_WEBGPU_DAWN_LIBRARY"):
        return DeviceOptions("dawn", library=path)
    if _package_folder("wgpudawn") is None:
        return None
    # The extension module exports nothing but its init function; all procs
    # come from this one address.
    from wgpudawn._lib import ffi, lib

    address = ffi.addressof(lib, "wgpuGetProcAddress")
    return DeviceOptions(
        "dawn", get_proc_address=int(ffi.cast("uintptr_t", address))
    )


_FINDERS: dict[str, Callable[[], DeviceOptions | None]] = {
    "wgpu": _find_wgpu,
    "dawn": _find_dawn,
}
_REMEDIES = {
    "wgpu": "pip install wgpu==0.32.0",
    "dawn": "pip install 'torch-webgpu[dawn]'",
}
_PACKAGES = {"wgpu": "wgpu", "dawn": "wgpudawn"}


def _find() -> DeviceOptions:
    chosen = os.environ.get("TORCH_WEBGPU_IMPL", "").strip().lower()
    if chosen:
        if chosen not in _FINDERS:
            raise RuntimeError(
                f"webgpu: TORCH_WEBGPU_IMPL={chosen} is unknown; set it to "
                "wgpu or dawn."
            )
        found = _FINDERS[chosen]()
        if found is None:
            raise RuntimeError(
                f"webgpu: TORCH_WEBGPU_IMPL={chosen} needs the package "
                f"{_PACKAGES[chosen]}, which is not installed; run: "
                f"{_REMEDIES[chosen]}"
            )
        return found
    for find in _FINDERS.values():
        if (found := find()) is not None:
            return found
    raise RuntimeError(
        "webgpu: no WebGPU implementation is installed; run: "
        f"{_REMEDIES['wgpu']} (or {_REMEDIES['dawn']})"
    )


# The version whose callbacks for a cache are known. They stand in no header
# that both implementations share and have changed before.
_CACHING_DAWN = "0.32.0.4"


def _kept_in(folder: str) -> str:
    """A folder for what is kept between processes; "" if there is none."""
    base = os.environ.get("TORCH_WEBGPU_CACHE_DIR")
    if base is None:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(
            "~/.cache"
        )
        base = os.path.join(home, "torch_webgpu")
        if not os.path.isabs(base):  # there is no home
            return ""
    return os.path.join(base, folder) if base else ""


def _cache_folder(found: DeviceOptions) -> str:
    """Where compiled shaders are kept; wgpu-native has no function for it. A
    folder for each version, as what one compiled is of no use to another."""
    if found.implementation != "dawn" or found.library:
        return ""
    if importlib.metadata.version("wgpudawn") != _CACHING_DAWN:
        return ""
    return _kept_in(f"dawn-{_CACHING_DAWN}")


def resolve() -> DeviceOptions:
    """Reads the environment; raises RuntimeError, one sentence, on failure."""
    found = _find()
    return DeviceOptions(
        found.implementation,
        found.library,
        found.get_proc_address,
        adapter=os.environ.get("TORCH_WEBGPU_ADAPTER", "").strip(),
        validation=os.environ.get("TORCH_WEBGPU_VALIDATION", "") == "1",
        cache_folder=_cache_folder(found),
        tuning_folder=_kept_in("autotune"),
    )
