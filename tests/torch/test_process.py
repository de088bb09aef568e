"""What only a fresh interpreter shows: import, choice, exit, fork."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import torch_webgpu

from .process import run_python

ANSWER_OF_USE = """
import torch, torch_webgpu
print(torch.webgpu.is_available(), torch.webgpu.device_count())
for use in (
    lambda: torch.empty(3, device="webgpu"),
    lambda: torch.ones(3).to("webgpu"),
):
    try:
        use()
        print("no error")
    except RuntimeError as error:
        print(error)
"""
# A CPU program goes on as if nothing had happened.
CPU_WORK = """
x = torch.ones(3, requires_grad=True)
(x * 2).sum().backward()
assert x.grad.tolist() == [2, 2, 2]
torch.manual_seed(0)
torch.ones(1).is_pinned()
with torch.random.fork_rng():
    pass
"""


def answers(program: str, **environment: str) -> list[str]:
    lines = run_python(program, **environment).splitlines()
    assert lines[0] == "False 0"
    assert len(lines) == 3 and lines[1] == lines[2], lines
    return lines


def test_unknown_implementation() -> None:
    lines = answers(ANSWER_OF_USE + CPU_WORK, TORCH_WEBGPU_IMPL="vulkan")
    assert "TORCH_WEBGPU_IMPL=vulkan is unknown" in lines[1]
    assert "set it to wgpu or dawn" in lines[1]


@pytest.mark.parametrize(
    ("implementation", "package", "remedy"),
    [
        ("wgpu", "wgpu", "pip install wgpu"),
        ("dawn", "wgpudawn", "pip install 'torch-webgpu[dawn]'"),
    ],
)
def test_missing_package(
    implementation: str, package: str, remedy: str
) -> None:
    hidden = f"import sys; sys.modules[{package!r}] = None\n"
    lines = answers(
        hidden + ANSWER_OF_USE + CPU_WORK, TORCH_WEBGPU_IMPL=implementation
    )
    assert f"needs the package {package}" in lines[1]
    assert remedy in lines[1]


def test_missing_library() -> None:
    lines = answers(
        ANSWER_OF_USE,
        TORCH_WEBGPU_IMPL="wgpu",
        TORCH_WEBGPU_WGPU_LIBRARY="/nowhere/libwgpu.so",
    )
    assert "TORCH_WEBGPU_WGPU_LIBRARY=/nowhere/libwgpu.so" in lines[1]


def test_compiled_shaders_are_kept(tmp_path: Path) -> None:
    """The second process finds what the first one compiled, where the
    implementation can keep it, and nothing is kept when told so."""
    program = """
    import torch
    assert (torch.ones(3, device="webgpu") + 1).tolist() == [2, 2, 2]
    stats = torch.webgpu.stats()
    keeps = torch.webgpu.implementation() == "dawn"
    print(keeps, stats["cache_stores"] > 0, stats["cache_loads"] > 0)
    """

    def kept(folder: str) -> list[str]:
        return run_python(program, TORCH_WEBGPU_CACHE_DIR=folder).split()

    keeps, stored, loaded = kept(str(tmp_path))
    assert (stored, loaded) == (keeps, "False")
    assert kept(str(tmp_path)) == [keeps, "False", keeps]
    assert kept("") == [keeps, "False", "False"]


@pytest.mark.parametrize("implementation", ["wgpu", "dawn"])
def test_no_driver(implementation: str) -> None:
    lines = answers(
        ANSWER_OF_USE + CPU_WORK,
        TORCH_WEBGPU_IMPL=implementation,
        VK_DRIVER_FILES="/nowhere",
        VK_ICD_FILENAMES="/nowhere",
    )
    assert "install a Vulkan driver" in lines[1]


def test_unknown_adapter() -> None:
    for name in ("no such adapter", "99"):
        lines = answers(ANSWER_OF_USE + CPU_WORK, TORCH_WEBGPU_ADAPTER=name)
        assert "TORCH_WEBGPU_ADAPTER" in lines[1] and name in lines[1]


def test_unknown_fallback_policy() -> None:
    lines = answers(ANSWER_OF_USE + CPU_WORK, TORCH_WEBGPU_FALLBACK="maybe")
    assert "set it to warn, error or silent" in lines[1]


def test_names_are_taken_in_any_case() -> None:
    run_python(
        """
        import torch, torch_webgpu
        assert torch.ones(2, device="webgpu").tolist() == [1, 1]
        assert torch.webgpu.implementation() == "wgpu"
        """,
        TORCH_WEBGPU_IMPL=" WGPU ",
        TORCH_WEBGPU_FALLBACK="Warn",
    )


def test_native_library_that_does_not_load() -> None:
    hidden = 'import sys; sys.modules["torch_webgpu._C"] = None\n'
    lines = answers(hidden + ANSWER_OF_USE + CPU_WORK)
    assert "does not load" in lines[1] and "reinstall" in lines[1]


def test_another_backend_keeps_its_name() -> None:
    output = run_python(
        """
        import warnings
        import torch
        torch.utils.rename_privateuse1_backend("other")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            import torch_webgpu
        print(len(caught), "only one out-of-tree device" in str(caught[0]))
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert output == "1 True\n"


def test_import_twice_and_in_any_order() -> None:
    run_python("""
        import torch_webgpu, torch
        torch_webgpu._autoload()
        import importlib
        importlib.reload(torch_webgpu)
        assert torch.ones(2, device="webgpu").tolist() == [1, 1]
        """)


def test_entry_point_never_raises() -> None:
    run_python("""
        import sys
        sys.modules["torch_webgpu._C"] = None
        import torch
        import torch_webgpu
        torch_webgpu._autoload()
        """)


@pytest.fixture
def entry_point(tmp_path: Path) -> str:
    """A folder for PYTHONPATH that declares what the wheel declares."""
    info = tmp_path / "torch_webgpu_test-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: torch_webgpu_test\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(
        "[torch.backends]\ntorch_webgpu_test = torch_webgpu:_autoload\n"
    )
    package = Path(torch_webgpu.__file__).parents[1]
    return f"{tmp_path}{os.pathsep}{package}"


def test_import_torch_is_enough(entry_point: str) -> None:
    run_python(
        """
        import torch
        assert torch.ones(2, device="webgpu").tolist() == [1, 1]
        """,
        PYTHONPATH=entry_point,
    )


def test_a_failure_does_not_break_import_torch(entry_point: str) -> None:
    hidden = 'import sys; sys.modules["torch_webgpu._C"] = None\nimport torch\n'
    program = ANSWER_OF_USE.replace(", torch_webgpu", "")
    run_python(hidden + program + CPU_WORK, PYTHONPATH=entry_point)


def test_data_loader_workers() -> None:
    run_python("""
        import torch, torch_webgpu
        x = torch.ones(3, device="webgpu")
        dataset = torch.utils.data.TensorDataset(torch.arange(8.0))
        loader = torch.utils.data.DataLoader(
            dataset, 2, num_workers=2, multiprocessing_context="fork"
        )
        total = sum(batch.to("webgpu").sum().item() for (batch,) in loader)
        assert total == 28
        """)


def test_import_touches_no_driver() -> None:
    run_python("""
        import torch, torch_webgpu
        torch.ones(1, requires_grad=True).sum().backward()
        torch.manual_seed(0)
        assert not torch.webgpu.is_initialized()
        assert torch.webgpu.stats()["submits"] == 0
        assert torch.webgpu.memory_allocated() == 0
        torch.webgpu.synchronize()
        torch.webgpu.empty_cache()
        assert not torch.webgpu.is_initialized()
        """)


def test_exit_with_live_tensors_and_queued_work() -> None:
    run_python("""
        import builtins, torch, torch_webgpu
        x = torch.ones(1000, device="webgpu", requires_grad=True)
        builtins.kept = [x * i for i in range(100)]
        builtins.event = torch.webgpu.Event()
        builtins.event.record()
        """)


def test_exit_with_a_finished_thread() -> None:
    run_python("""
        import threading, torch, torch_webgpu
        kept = []
        def work():
            kept.append(torch.ones(10, device="webgpu") + 1)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """)


def test_forked_child_gets_one_clear_error() -> None:
    output = run_python("""
        import os, sys, torch, torch_webgpu
        assert torch.webgpu.is_available()  # remembered by the parent only
        x = torch.ones(3, device="webgpu")
        child = os.fork()
        if child == 0:
            for use in (
                lambda: x + 1,
                lambda: x.cpu(),
                lambda: torch.ones(3, device="webgpu"),
                torch.webgpu.synchronize,
            ):
                try:
                    use()
                    print("no error")
                except RuntimeError as error:
                    print(error)
            print(torch.webgpu._is_in_bad_fork(), torch.webgpu.is_available())
            sys.exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        print((x + 1).tolist())
        """)
    lines = output.splitlines()
    assert len(set(lines[:4])) == 1 and "'spawn'" in lines[0]
    assert lines[4:] == ["True False", "7", "[2.0, 2.0, 2.0]"]


def test_fork_before_first_use_is_fine() -> None:
    output = run_python("""
        import os, sys, torch, torch_webgpu
        child = os.fork()
        if child == 0:
            print(torch.ones(2, device="webgpu").tolist())
            sys.exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """)
    assert output.splitlines() == ["[1.0, 1.0]", "0"]


def test_tensors_do_not_go_to_other_processes() -> None:
    output = run_python("""
        import torch, torch_webgpu
        from torch import multiprocessing
        tensor = torch.ones(2, device="webgpu")
        context = multiprocessing.get_context("spawn")
        for value in (tensor, torch.nn.Parameter(tensor), {"x": [tensor]}):
            try:
                context.Process(target=print, args=(value,)).start()
            except RuntimeError as error:
                print(error)
        queue = multiprocessing.SimpleQueue()
        queue.put(tensor.cpu())
        print(queue.get().tolist())
        """)
    lines = output.splitlines()
    assert len(lines) == 4 and len(set(lines[:3])) == 1, lines
    assert "send its .cpu()" in lines[0] and lines[3] == "[1.0, 1.0]"
