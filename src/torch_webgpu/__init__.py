"""PyTorch's device "webgpu".

Importing this package is optional: its ``torch.backends`` entry point calls
``_autoload`` during ``import torch``.
"""

from __future__ import annotations

__version__ = "0.1.0"


# Defined before torch is imported: an `import torch_webgpu` that comes first
# runs torch's entry points, and so this function, in the middle of this file.
def _autoload() -> None:
    """Registers the device with torch; never raises."""
    from torch_webgpu import _registration

    _registration.register()


import torch  # noqa: E402, F401

_autoload()
