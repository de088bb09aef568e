"""Runs a program in an interpreter of its own, for what needs a fresh one."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

TIMEOUT_SECONDS = 300


def run_python(program: str, **environment: str) -> str:
    """The program's output; fails the test on any exit code but 0."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, (
        f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    )
    return done.stdout
