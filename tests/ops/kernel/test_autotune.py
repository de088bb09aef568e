"""TORCH_WEBGPU_AUTOTUNE=1: measured choices, kept between processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import torch, torch_webgpu
a = torch.arange(1 << 20, dtype=torch.float32)
b = a.to("webgpu")
assert torch.equal((b + b).cpu(), a + a)
b.add_(1)  # cannot be repeated: takes the choice that was measured
b.add_(b)
assert torch.equal(b.cpu(), 2 * (a + 1))
print(torch.webgpu.stats()["dispatches"])
"""


def dispatches(folder: Path, program: str = PROGRAM, **extra: str) -> int:
    """Of the program, in a process of its own."""
    env = {**os.environ, "TORCH_WEBGPU_CACHE_DIR": str(folder), **extra}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_a_choice_is_measured_once_and_kept(tmp_path: Path) -> None:
    plain = dispatches(tmp_path)
    assert not list(tmp_path.rglob("autotune/*"))
    measured = dispatches(tmp_path, TORCH_WEBGPU_AUTOTUNE="1")
    assert measured > plain + 9  # every candidate at least once
    assert list(tmp_path.rglob("autotune/*.blob"))
    assert dispatches(tmp_path, TORCH_WEBGPU_AUTOTUNE="1") == plain


def test_damaged_and_foreign_files_are_ignored(tmp_path: Path) -> None:
    measured = dispatches(tmp_path, TORCH_WEBGPU_AUTOTUNE="1")
    files = list(tmp_path.rglob("autotune/*.blob"))
    assert files
    for file in files:
        content = bytearray(file.read_bytes())
        content[-1] ^= 0xFF  # of the value: the checksum no longer holds
        file.write_bytes(bytes(content))
    (files[0].parent / "other.blob").write_bytes(b"not ours")
    again = dispatches(tmp_path, TORCH_WEBGPU_AUTOTUNE="1")
    assert again > measured / 2  # measured anew
    plain = dispatches(tmp_path)
    assert dispatches(tmp_path, TORCH_WEBGPU_AUTOTUNE="1") == plain


def test_many_processes_at_once(tmp_path: Path) -> None:
    env = {
        **os.environ,
        "TORCH_WEBGPU_CACHE_DIR": str(tmp_path),
        "TORCH_WEBGPU_AUTOTUNE": "1",
    }
    running = [
        subprocess.Popen([sys.executable, "-c", PROGRAM], env=env)
        for _ in range(3)
    ]
    assert [process.wait(timeout=300) for process in running] == [0, 0, 0]
    plain = dispatches(tmp_path)
    assert dispatches(tmp_path, TORCH_WEBGPU_AUTOTUNE="1") == plain


PRODUCTS = """
import torch, torch_webgpu
def near(got, expected):
    torch.testing.assert_close(got.cpu(), expected, rtol=1e-5, atol=1e-3)
for m, k, n in [(70, 600, 130), (8, 3000, 20), (256, 256, 256)]:
    a, b, c = torch.rand(m, k), torch.rand(k, n), torch.rand(m, n)
    x, y, z = (t.to("webgpu") for t in (a, b, c))
    near(x @ y, a @ b)
    near(x @ y.t().contiguous().t(), a @ b)
    near(torch.addmm(z, x, y), torch.addmm(c, a, b))
    near(z.addmm_(x, y), c.addmm_(a, b))  # cannot be repeated
print(torch.webgpu.stats()["dispatches"])
"""


def test_products_choose_their_tiles(tmp_path: Path) -> None:
    plain = dispatches(tmp_path, PRODUCTS)
    measured = dispatches(tmp_path, PRODUCTS, TORCH_WEBGPU_AUTOTUNE="1")
    assert measured > 3 * plain
    assert dispatches(tmp_path, PRODUCTS, TORCH_WEBGPU_AUTOTUNE="1") < measured
