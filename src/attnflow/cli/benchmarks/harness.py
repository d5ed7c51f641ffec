"""Benchmarks: one core, in turns, medians; each case in a process of its own."""

import importlib
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attnflow.schema.installation import MissingData

if TYPE_CHECKING:
    from torch import Tensor

    from attnflow.experiments import Experiment, SystemExperiment

Rows = Mapping[str, np.ndarray]
"""Recorded series by name, `(records, …)`."""
Arrays = dict[str, np.ndarray]
"""Data and initial weights by name."""


@dataclass(frozen=True)
class Case:
    """One experiment, computed in up to four ways from the same initial weights.

    **Arguments:**

    - `ours`, `weights`, `torch`: functions that train and return the recorded rows;
      `None` where a way is out of reach (weights of width 10⁶, say). PyTorch is left
      out where it is not installed.
    - `rival`: which loop `torch` is, in words.
    - `lean`: the same loop with its obvious slowness removed, and what that is, in
      words: what is the same in every step is done once, products go in the cheaper
      order.
    - `tolerance`: relative difference of trajectories above which nothing is timed.
    - `share`: the part of the run, from its beginning, that the rival takes; its time
      is divided by it. Every step of a descent costs the same.
    - `repeats`: how often `ours` is timed.
    """

    size: str
    ours: Callable[[], Rows]
    weights: Callable[[], Rows] | None = None
    torch: Callable[[], Rows] | None = None
    rival: str = "none"
    lean: tuple[Callable[[], Rows], str] | None = None
    tolerance: float = 1e-12
    share: float = 1.0
    repeats: int = 9


def agreement(ours: Rows, other: Rows) -> float:
    """The largest difference of two trajectories, relative to each series' size.

    A shorter one is compared as far as it goes.
    """
    errors = []
    for name in ours:
        first, second = np.asarray(ours[name]), np.asarray(other[name])
        both = min(len(first), len(second))
        difference = np.abs(first[:both] - second[:both]).max()
        errors.append(difference / np.abs(first[:both]).max())
    return float(max(errors))


def seed_arrays(
    experiment: "Experiment", *, tested: bool, shown: bool = False
) -> Arrays:
    """Initial weights of seed 0, and its samples `x`, `y` by their tokens.

    `tested` adds test samples, `shown` the tokens that are shown.
    """
    from attnflow.experiments.members import samples_of, test_samples_of, weights_key
    from attnflow.models.forms.initial import draw_weights
    from attnflow.training import precise

    with precise():
        sets = {"": samples_of(experiment, 0, None)}
        if tested and (test := test_samples_of(experiment, 0, None)) is not None:
            sets["test_"] = test
        arrays = {}
        for prefix, data in sets.items():
            arrays[f"{prefix}x"] = data.host_tokens[np.asarray(data.key)]
            arrays[f"{prefix}y"] = np.asarray(data.label)
        if shown:
            arrays["shown"] = sets[""].host_tokens[list(sets[""].shown)]
        weights = draw_weights(
            experiment.initial, 1, arrays["x"].shape[-1], key=weights_key(experiment, 0)
        )
        return arrays | {name: np.asarray(array[0]) for name, array in weights.items()}


def run_rows(experiment: "Experiment | SystemExperiment", **options: Any) -> Rows:
    """The recorded rows of an experiment's seed 0; `options` are those of `run`."""
    from attnflow.experiments import run

    with warnings.catch_warnings():
        # Papers' settings warn of large steps and the like, which is not timed here.
        warnings.simplefilter("ignore")
        result = run(experiment, **options)
    return {name: result[name].values[0] for name in experiment.observables}


def torch_losses(
    loss_of: "Callable[[], Tensor]",
    weights: "list[Tensor]",
    advance: Callable[[], object],
    steps: int,
) -> "Iterator[tuple[int, Tensor]]":
    """The loop that one would write in PyTorch: each step's number, and loss before it.

    `advance` moves weights that have their gradients, as an optimiser's `step` does.
    """
    for step in range(steps + 1):
        loss = loss_of()
        yield step, loss
        for weight in weights:
            weight.grad = None
        loss.backward()
        advance()


PAPERS = ("mixture", "cooccurrence", "signgd", "vit", "scansnap", "mix")
HEADLINES = ("m128", "m128", "a", "n20-trained", "figure6-counts", "selection")
"""The case of each paper that comes before all others."""
RIVAL_REPEATS = 3
SECONDS = 15.0
"""After so much time one way is not repeated any more."""
# One core for everything; PyTorch's allocator must not return memory at every step.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": "1073741824",
    "MALLOC_TRIM_THRESHOLD_": "1073741824",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


class CaseName(NamedTuple):
    """A case by name, so that listing imports neither JAX nor PyTorch."""

    paper: str
    id: str


def cases() -> list[CaseName]:
    """The cases of all papers, the one of each paper that says most first."""
    every = [CaseName(slug, id) for slug in PAPERS for id in _functions(slug)]
    first = set(zip(PAPERS, HEADLINES, strict=True))
    return sorted(every, key=lambda name: name not in first)


def _functions(slug: str) -> dict[str, Callable[[], Case]]:
    return importlib.import_module(f"attnflow.cli.benchmarks.{slug}").CASES


def run_case(case: CaseName, progress: Callable[[float, str], None]) -> dict[str, Any]:
    """Compare and time one case in a fresh process; a row of `attnflow bench`.

    A case whose data set is not on this machine raises `MissingData`.
    """
    progress(0.0, f"{case.paper}/{case.id}")
    command = [sys.executable, "-m", "attnflow.cli.benchmarks", case.paper, case.id]
    environment = {**os.environ, **ENVIRONMENT}
    process = subprocess.run(command, capture_output=True, text=True, env=environment)
    if process.returncode != 0:
        lines = process.stderr.strip().splitlines()
        raise RuntimeError(
            f"The benchmark {case.paper}/{case.id} failed: "
            f"{lines[-1] if lines else 'no message'}. "
            "`attnflow doctor` says what is installed."
        )
    progress(1.0, f"{case.paper}/{case.id}")
    row = json.loads(process.stdout)
    if "missing" in row:
        raise MissingData(row["missing"])
    return row


def measure(name: CaseName, case: Case) -> dict[str, Any]:
    """Trajectories first; then the medians of interleaved repeats.

    The first time of ours, in which it is compiled, is told apart. That of a rival
    counts where one is long, and warms it up where it is short.
    """
    ways = _ways(case)
    if {"torch", "lean"} & ways.keys():
        # Importing PyTorch takes seconds, and is not part of the loop that is timed.
        importlib.import_module("torch")
    # Ours comes first, so that the peak is its own, compilation included.
    before = _peak_memory()
    rows, first = _timed(ways["ours"])
    memory = _peak_memory() - before
    times: dict[str, list[float]] = {"ours": []}
    worst = 0.0
    for way in [name for name in ways if name != "ours"]:
        others, seconds = _timed(ways[way])
        times[way] = [seconds] if seconds > SECONDS else []
        # Python's max would lose a NaN.
        worst = float(np.max([worst, agreement(rows, others)]))
    if not worst <= case.tolerance:
        raise RuntimeError(
            f"The trajectories differ by {worst:.2e}, more than {case.tolerance:.0e}: "
            "times of different computations are not compared."
        )
    _repeat(ways, times, case.repeats)
    for way in times.keys() & {"torch", "lean"}:
        times[way] = [seconds / case.share for seconds in times[way]]
    medians = {name: float(np.median(t)) for name, t in times.items()}
    rival = times.get("torch") or times.get("weights") or []
    ratios = [seconds / medians["ours"] for seconds in rival]
    lean = medians.get("lean")
    return {
        "paper": name.paper,
        "id": name.id,
        "size": case.size,
        "ours": medians["ours"],
        "first": first,
        "weights": medians.get("weights"),
        "torch": medians.get("torch"),
        "lean": lean,
        "ratio": float(np.median(ratios)) if ratios else None,
        "spread": [min(ratios), max(ratios)] if ratios else None,
        "lean_ratio": lean and lean / medians["ours"],
        "agreement": worst if len(ways) > 1 else None,
        "memory": memory,
        "rival": case.rival,
        "lean_rival": case.lean and case.lean[1],
    }


def _ways(case: Case) -> dict[str, Callable[[], Rows]]:
    """The ways of a case that can be gone on this machine."""
    lean = case.lean and case.lean[0]
    every = {"ours": case.ours, "weights": case.weights, "torch": case.torch}
    has_torch = find_spec("torch") is not None
    return {
        name: way
        for name, way in {**every, "lean": lean}.items()
        if way is not None and (has_torch or name not in ("torch", "lean"))
    }


def _timed(way: Callable[[], Rows]) -> tuple[Rows, float]:
    start = time.perf_counter()
    rows = way()
    return rows, time.perf_counter() - start


def _peak_memory() -> float:
    """The largest resident memory of this process so far, in MB."""
    # Linux counts in kilobytes, macOS in bytes.
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _repeat(
    ways: dict[str, Callable[[], Rows]], times: dict[str, list[float]], repeats: int
) -> None:
    """More times of each way, which take turns, so that load hits all alike.

    Rivals are repeated less often, and nothing for longer than `SECONDS`.
    """
    for turn in range(repeats):
        for name, way in ways.items():
            often = repeats if name == "ours" else min(repeats, RIVAL_REPEATS)
            # Spread over the turns; the first one is already done, if there is one.
            due = turn * often // repeats >= len(times[name])
            if not times[name] or (due and sum(times[name]) < SECONDS):
                times[name].append(_timed(way)[1])


def worker(paper: str, id: str) -> None:
    """Measure one case in this process and print its row."""
    # XLA's thread flags alone do not keep it on one core.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    try:
        row = measure(CaseName(paper, id), _functions(paper)[id]())
    except MissingData as error:
        row = {"missing": str(error)}
    print(json.dumps(row))
