"""Host to host against other libraries: NumPy arrays in, a NumPy array out.

  ours      torch-webgpu, the implementation that TORCH_WEBGPU_IMPL names
  ort       onnxruntime-webgpu, one small ONNX model for each case
  tinygrad  tinygrad with its WEBGPU device (by way of dawn-python), jitted
  cpu       PyTorch on the CPU

All run in one process in interleaved rounds, and the best of the rounds counts.
Every result is compared with PyTorch's on the CPU. A ratio above 1 means that
ours is faster. Fails when a result is wrong, when a case is slower than
onnxruntime-webgpu, or when the geometric mean against it is below the bar.
Peers that are not installed are left out, and the package to install is named.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import common
import numpy as np
import torch
from peer_cases import CASES, SHORT, PeerCase

import torch_webgpu  # noqa: F401 - no entry point without an installation

MEAN_BAR = 2.5
SAMPLE = 0.02  # seconds, at least
PEERS = ("ort", "tinygrad", "cpu")

Arrays = list[np.ndarray]
Call = Callable[[], np.ndarray]


class Missing(Exception):
    """A peer that cannot run here; the text says what to install."""


class Ours:
    def prepare(self, case: PeerCase, arrays: Arrays) -> Call:
        def call() -> np.ndarray:
            inputs = [torch.from_numpy(a).to("webgpu") for a in arrays]
            return case.torch(*inputs).cpu().numpy()

        return call


class CpuTorch:
    def prepare(self, case: PeerCase, arrays: Arrays) -> Call:
        def call() -> np.ndarray:
            return case.torch(*map(torch.from_numpy, arrays)).numpy()

        return call


class OnnxRuntime:
    OPSET = 21

    def __init__(self) -> None:
        try:
            import onnx
            import onnxruntime
        except ImportError as error:
            raise Missing(
                f"{error.name} is not installed: "
                "pip install onnx onnxruntime-webgpu"
            ) from None
        if "WebGpuExecutionProvider" not in (
            onnxruntime.get_available_providers()
        ):
            raise Missing(
                "this onnxruntime has no WebGPU: pip install onnxruntime-webgpu"
            )
        self._onnx, self._runtime = onnx, onnxruntime

    def model(self, case: PeerCase, arrays: Arrays) -> bytes:
        helper = self._onnx.helper
        kinds = {
            a.dtype: helper.np_dtype_to_tensor_dtype(a.dtype) for a in arrays
        }
        inputs = [
            helper.make_tensor_value_info(name, kinds[a.dtype], a.shape)
            for name, a in zip("abc", arrays, strict=False)
        ]
        nodes: list[Any] = []
        constants: list[Any] = []
        for i, (operator, names, attributes) in enumerate(case.onnx):
            last = i == len(case.onnx) - 1
            wanted = []
            for name in names:
                if isinstance(name, str):
                    wanted.append(name)
                    continue
                wanted.append(f"constant_{len(constants)}")
                constants.append(
                    self._onnx.numpy_helper.from_array(
                        np.asarray(name), wanted[-1]
                    )
                )
            nodes.append(
                helper.make_node(
                    operator, wanted, ["o" if last else f"t{i}"], **attributes
                )
            )
        output = helper.make_empty_tensor_value_info("o")
        graph = helper.make_graph(nodes, case.name, inputs, [output], constants)
        made = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self.OPSET)]
        )
        made.ir_version = 10  # what this runtime reads
        return self._onnx.shape_inference.infer_shapes(made).SerializeToString()

    def prepare(self, case: PeerCase, arrays: Arrays) -> Call:
        options = self._runtime.SessionOptions()
        options.log_severity_level = 3
        # A model that would compute on the CPU in silence is no comparison.
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        session = self._runtime.InferenceSession(
            self.model(case, arrays),
            options,
            providers=["WebGpuExecutionProvider"],
        )
        feed = dict(zip("abc", arrays, strict=False))
        return lambda: session.run(None, feed)[0]


class TinyGrad:
    def __init__(self) -> None:
        try:
            import pydawn
        except ImportError:
            raise Missing(
                "dawn-python is not installed: pip install dawn-python"
            ) from None
        suffix = {"Linux": "so", "Darwin": "dylib"}.get(platform.system())
        folder = Path(pydawn.__file__).parent / "lib"
        library = folder / f"libwebgpu_dawn_{platform.machine()}.{suffix}"
        os.environ.setdefault("WEBGPU_PATH", str(library))
        os.environ["DEV"] = "WEBGPU"  # read when tinygrad is imported
        try:
            import tinygrad
        except ImportError:
            raise Missing(
                "tinygrad is not installed: pip install tinygrad"
            ) from None
        self._tinygrad = tinygrad

    def prepare(self, case: PeerCase, arrays: Arrays) -> Call:
        tinygrad = self._tinygrad
        jitted = tinygrad.TinyJit(lambda *inputs: case.tiny(*inputs).realize())

        def call() -> np.ndarray:
            inputs = [tinygrad.Tensor(a).realize() for a in arrays]
            return jitted(*inputs).numpy()

        for _ in range(3):  # runs, captures, replays
            call()
        return call


MAKERS: dict[str, Callable[[], Any]] = {
    "ort": OnnxRuntime,
    "tinygrad": TinyGrad,
    "cpu": CpuTorch,
}


def peers(wanted: list[str]) -> dict[str, Any]:
    found = {}
    for name in wanted:
        try:
            found[name] = MAKERS[name]()
        except Missing as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    return found


def mistake(got: np.ndarray, want: np.ndarray, tolerance: float) -> str:
    """What is wrong with a result; empty if nothing is."""
    if got.shape != want.shape:
        return f"shape {got.shape} instead of {want.shape}"
    difference = np.abs(got.astype(np.float64) - want.astype(np.float64))
    limit = tolerance * (1 + np.abs(want.astype(np.float64)))
    if (difference <= limit).all():  # a NaN is not
        return ""
    return f"differs by {np.nanmax(difference):.2g}"


def measure(case: PeerCase, others: dict[str, Any], rounds: int) -> dict:
    row: dict[str, Any] = {
        "name": case.name,
        "exempt": case.exempt,
        "wrong": {},
    }
    arrays = case.arrays()
    want = CpuTorch().prepare(case, arrays)()
    loops: dict[str, common.Run] = {}
    torch.webgpu.reset_fallback_counts()
    for name, peer in {"ours": Ours(), **others}.items():
        try:
            call = peer.prepare(case, arrays)
            wrong = mistake(call(), want, case.tolerance)
        except Exception as error:  # a peer's own; the other columns go on
            wrong = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        if wrong:
            row["wrong"][name] = wrong[:160]
        else:
            loops[name] = call
    if fallen := torch.webgpu.fallback_counts():
        row["wrong"]["ours"] = f"ran on the CPU: {', '.join(fallen)}"
    # Every call ends with its result on the host: nothing is left to wait for.
    samples = common.interleave(loops, rounds, lambda: None, SAMPLE)
    row["ms"] = {name: 1e3 * t for name, t in common.best(samples).items()}
    return row


def ratio(row: dict, peer: str) -> float | None:
    ms = row["ms"]
    return ms[peer] / ms["ours"] if peer in ms and "ours" in ms else None


def verdict(row: dict) -> str:
    if "ours" in row["wrong"]:
        return "ERROR"
    against, bar = ratio(row, "ort"), row["bar"]
    if against is None or against >= bar:
        return "ok" if against is not None else ""
    return "exempt" if row["exempt"] else "MISSED"


def run(cases: list[PeerCase], arguments: argparse.Namespace) -> dict:
    others = peers(arguments.peers.split(","))
    facts = common.machine()
    title = f"peers, {torch.webgpu.implementation()}"
    rows = [
        {**measure(case, others, arguments.rounds), "bar": case.bar}
        for case in common.progress(cases, title)
    ]
    return {
        **facts,
        "peers": list(others),
        "rounds": arguments.rounds,
        "rows": rows,
    }


def mean(document: dict, peer: str) -> float:
    ratios = [ratio(row, peer) for row in document["rows"]]
    return common.geometric_mean(r for r in ratios if r is not None)


def report(document: dict, whole: bool) -> tuple[bool, str]:
    """Prints one implementation's table.

    Returns whether nothing was missed, and the table. The mean is a bar only of
    the whole list of cases.
    """
    shown = document["peers"]
    columns = ["case", "ours ms", *(f"{p} ms" for p in shown)]
    columns += [f"{p} / ours" for p in shown]
    columns += ["bar", ""]
    rows, good = [], True
    for row in document["rows"]:
        says = verdict(row)
        good &= says not in ("ERROR", "MISSED")
        rows.append(
            [
                row["name"],
                *(row["ms"].get(p) for p in ("ours", *shown)),
                *(ratio(row, p) for p in shown),
                row["bar"],
                says,
            ]
        )
    rows.append(
        [
            "geometric mean",
            *[None] * (1 + len(shown)),
            *(mean(document, p) for p in shown),
            MEAN_BAR,
            "",
        ]
    )
    if whole and "ort" in shown:
        reached = mean(document, "ort") >= MEAN_BAR
        rows[-1][-1] = "ok" if reached else "MISSED"
        good &= reached
    text = (
        f"{document['adapter']}, {document['implementation']}: host to host, "
        f"best of {document['rounds']} rounds; load average before "
        f"{document['load']:.1f}.\n\n" + common.table(columns, rows)
    )
    print(f"\n{text}")
    for row in document["rows"]:
        for name, what in row["wrong"].items():
            print(f"{row['name']}: {name}: {what}")
    for name in (p for p in PEERS if p not in shown):
        print(f"not compared with {name}: not installed, or not asked for")
    return good, text


def main() -> int:
    parser = common.parser(__doc__)
    parser.add_argument("--rounds", type=int, help="default: 7, short 3")
    parser.add_argument("--peers", default=",".join(PEERS), help="by comma")
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or (3 if arguments.short else 7)
    if unknown := set(arguments.peers.split(",")) - set(PEERS):
        raise SystemExit(f"unknown peers: {unknown}; there are {PEERS}")
    cases = [c for c in CASES if not arguments.short or c.name in SHORT]
    cases = common.chosen(cases, arguments.filter, lambda case: case.name)
    if arguments.both:
        documents = common.run_both(__file__, arguments)
        common.write_json(arguments.json, {"documents": documents})
    else:
        documents = [run(cases, arguments)]
        common.write_json(arguments.json, documents[0])
    whole = len(cases) == len(CASES)
    reports = [report(document, whole) for document in documents]
    common.replace_table(
        arguments.markdown, __file__, "\n\n".join(text for _, text in reports)
    )
    common.plot_bars(
        arguments.plot,
        "times faster than onnxruntime-webgpu; the mark is the bar",
        [row["name"] for row in documents[0]["rows"]],
        {
            d["implementation"]: [ratio(row, "ort") for row in d["rows"]]
            for d in documents
        },
        [row["bar"] for row in documents[0]["rows"]],
    )
    return 0 if all(good for good, _ in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
