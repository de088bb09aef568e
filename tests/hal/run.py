"""Runs the GoogleTest suite of src/hal under one WebGPU implementation.

    python tests/hal/run.py [--suite build/libhal_tests.so] [gtest arguments]

TORCH_WEBGPU_IMPL chooses the implementation; it comes from its Python package,
or from TORCH_WEBGPU_WGPU_LIBRARY / TORCH_WEBGPU_DAWN_LIBRARY if that is set.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def wgpu_library() -> str:
    """The path of wgpu-native, without importing its package."""
    override = os.environ.get("TORCH_WEBGPU_WGPU_LIBRARY")
    if override:
        return override
    spec = importlib.util.find_spec("wgpu")
    if spec is None or spec.origin is None:
        raise SystemExit("The package wgpu is missing: pip install wgpu")
    resources = Path(spec.origin).parent / "resources"
    for pattern in ("libwgpu_native*.so", "libwgpu_native*.dylib"):
        for path in sorted(resources.glob(pattern)):
            return str(path)
    raise SystemExit(f"No wgpu-native library in {resources}")


def dawn_address() -> int:
    """The address of Dawn's wgpuGetProcAddress."""
    from wgpudawn._lib import ffi, lib

    return int(ffi.cast("uintptr_t", ffi.addressof(lib, "wgpuGetProcAddress")))


def main(arguments: list[str]) -> int:
    suite = ROOT / "build" / "libhal_tests.so"
    if arguments[:1] == ["--suite"]:
        suite = Path(arguments[1])
        arguments = arguments[2:]
    implementation = os.environ.get("TORCH_WEBGPU_IMPL", "wgpu")
    library, address = "", 0
    if implementation == "wgpu":
        library = wgpu_library()
    elif implementation == "dawn":
        library = os.environ.get("TORCH_WEBGPU_DAWN_LIBRARY", "")
        address = 0 if library else dawn_address()
    else:
        raise SystemExit(
            f'TORCH_WEBGPU_IMPL is "{implementation}", not wgpu or dawn'
        )

    run = ctypes.CDLL(str(suite)).run_hal_tests
    run.restype = ctypes.c_int
    run.argtypes = [
        ctypes.c_int,
        ctypes.POINTER(ctypes.c_char_p),
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_void_p,
    ]
    words = [b"hal_tests", *(word.encode() for word in arguments)]
    # GoogleTest expects the terminating null of a real argv.
    argv = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    return int(
        run(
            len(words), argv, implementation.encode(), library.encode(), address
        )
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
