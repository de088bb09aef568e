"""The native library, or the reason why there is none."""

from __future__ import annotations

from typing import Any

_library: Any = None
_error: str | None = None


def load() -> Any:
    """The module `_C`; raises RuntimeError with the remedy without it."""
    global _library, _error
    if _error is not None:
        raise RuntimeError(_error)
    if _library is None:
        try:
            from torch_webgpu import _C
        except Exception as error:
            _error = _explain(error)
            raise RuntimeError(_error) from error
        _library = _C
    return _library


def fail(message: str) -> None:
    """Makes every later use of the device raise this sentence."""
    global _error
    _error = message


def error() -> str | None:
    return _error


def _explain(error: Exception) -> str:
    import torch

    return (
        "webgpu: the native library of torch-webgpu does not load "
        f"({type(error).__name__}: {error}); it is built for one release of "
        f"torch and this is torch {torch.__version__}: reinstall with "
        "`pip install --force-reinstall torch-webgpu`."
    )
