"""Training loss and learned attention scores at T* (Theorem 3.3)."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import (
    Claim,
    Correction,
    Evidence,
    Exact,
    Finding,
    Ladder,
    Scope,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims.courses import (
    LARGE,
    LARGE_CONDITION,
    LARGE_TABLES,
    LARGE_WIDTHS,
)
from attnflow.papers.cooccurrence.claims.evidence import (
    FLOW,
    THEORY_RUNS,
    at_end,
    noise_free,
)
from attnflow.papers.cooccurrence.claims.ladders import (
    Kind,
    Measure,
    ladder,
    points,
    with_width,
)

ALL = mutate.EVERY
_claim = partial(
    Claim,
    system=FLOW,
    needs=LARGE_WIDTHS,
    scope=Scope.THEOREM,
    conditions=LARGE_CONDITION,
    expected=Verdict.HOLDS,
    source=THEORY_RUNS,
)
TARGETS = [0, 1, 2, 2], [1, 0, 0, 1]
"""Keys and queries of C12, C21, C31 and C32."""
SIGNS = np.array([1.0, 1.0, -1.0, -1.0])
NAMED = 3


def _over_width(evidence: Evidence, measure: Measure) -> list[float]:
    """Means over seeds by width, for printing."""
    size, values = points(evidence, measure)
    return [float(values[size == m].mean()) for m in np.unique(size)]


def _gain(run: xr.Dataset) -> float:
    """σ1² m m1."""
    setting = schema.setting_of(run)
    return setting["c1"] ** 2 * setting["width"]


def _end_clock(run: xr.Dataset) -> np.ndarray:
    """σ1² m m1 T* / m, by seed."""
    return run["end_time"].values * _gain(run) / schema.setting_of(run)["width"]


def _level(run: xr.Dataset) -> np.ndarray:
    """Loss(T*) times m, by seed."""
    return at_end(run)["loss"].values * schema.setting_of(run)["width"]


def _judge_train(evidence: Evidence) -> Finding:
    above = float(points(evidence, _level)[1].max()) - 1
    what = "σ1² m m1 T* / m"
    return Finding(
        (
            Exact(max(0.0, above), 1e-6, "m Loss(T*) above 1"),
            ladder(evidence, _end_clock, "theta", what, constant=2.0),
        ),
        {
            "σ1² m m1 T* / m": _over_width(evidence, _end_clock),
            "T*": _over_width(evidence, lambda run: run["end_time"].values),
        },
    )


def _coefficients(run: xr.Dataset) -> np.ndarray:
    """C(T*) = S(T*) − S(0), `(seed, key, query)`."""
    start = run["score"].isel(time=0, head=0)
    change = at_end(run)["score"].isel(head=0) - start
    return change.transpose("seed", "key", "query").values


def _unit(run: xr.Dataset, *, samples: bool = False) -> float:
    """σ0² m / (√m L σ1² m m1), over n too for fillers."""
    setting = schema.setting_of(run)
    first = (
        setting["c0"] ** 2 / setting["length"] / (setting["width"] ** 0.5 * _gain(run))
    )
    return first / setting["length"] / (setting["samples"] if samples else 1)


def _printed(run: xr.Dataset) -> float:
    """Both terms of the theorem's Θ; the second has σ0² √m instead of σ0² m / L."""
    setting = schema.setting_of(run)
    return _unit(run) * (1 + setting["length"] / setting["width"] ** 0.5)


def _targets(run: xr.Dataset) -> np.ndarray:
    """C12, C21, −C31 and −C32 over the printed sizes, `(seed, 4)`."""
    keys, queries = TARGETS
    return _coefficients(run)[:, keys, queries] * SIGNS / _printed(run)


def _fillers(run: xr.Dataset) -> np.ndarray:
    """The largest |C| with a filler over σ0² m / (n √m L σ1² m m1), by seed."""
    C = np.abs(_coefficients(run))
    C[:, :NAMED, :NAMED] = 0.0
    return C.max(axis=(1, 2)) / _unit(run, samples=True)


def _least(run: xr.Dataset) -> np.ndarray:
    return _targets(run).min(axis=1)


def _largest(run: xr.Dataset) -> np.ndarray:
    return _targets(run).max(axis=1)


def _ladder(evidence: Evidence, measure: Measure, what: str, kind: Kind) -> Ladder:
    size, ratio = points(evidence, measure)
    return Ladder(
        tuple(size.tolist()),
        tuple(ratio.tolist()),
        kind,
        what,
        constant=2.0,
        seeds=min(run.sizes["seed"] for run in evidence.values()),
    )


def _tables(evidence: Evidence) -> dict[str, xr.Dataset]:
    return {name: run for name, run in evidence.items() if name.startswith("m=")}


def _beside(run: xr.Dataset) -> dict[str, float]:
    """Coefficients between named tokens relative to C12; the theorem mentions four."""
    C = _coefficients(run).mean(axis=0)
    pairs = {"C31": (2, 0), "C11": (0, 0), "C13": (0, 2), "C33": (2, 2)}
    return {name: float(C[at] / C[0, 1]) for name, at in pairs.items()}


def _judge_scores(evidence: Evidence, *, tilde: bool) -> Finding:
    runs = _tables(evidence)
    kind = "theta-tilde" if tilde else "theta"
    targets = [
        _ladder(runs, measure, f"{word} of C12, C21, −C31, −C32 over its size", kind)
        for word, measure in (("least", _least), ("largest", _largest))
    ]
    fillers = _ladder(
        runs, _fillers, "largest C with a filler over its size", "O-tilde"
    )
    numbers = {
        "least over its size": _over_width(runs, _least),
        "largest over its size": _over_width(runs, _largest),
        "largest with a filler over its size": _over_width(runs, _fillers),
        "beside C12 at n = 60": _beside(runs[f"m={LARGE[-1]}"]),
        "beside C12 at n = 6000, without noise": _beside(evidence["many"]),
    }
    return Finding((*targets, fillers), numbers)


CLAIMS: tuple[Claim, ...] = (
    _claim(
        id="A-Thm3.3-train",
        place="Theorem 3.3, first item; Theorem F.20",
        statement="There is a time T* = poly(m) at which the training loss is at most "
        "1/poly(m).",
        judge=_judge_train,
        predicate="the loss falls to 1/m in every seed of m = 8192 … 1048576, and "
        "σ1² m m1 T* is Θ(m) by the ladder's rule; by A-F.8 it is |w*|² m = 8.22 m",
        mutations=named(
            mutate.scale(ALL, "loss_at_end", 1.001),
            with_width("end_time", 0.5),
            mutate.only("m=1048576", mutate.scale(ALL, "end_time", 10.0)),
        ),
    ),
    _claim(
        id="A-Thm3.3-C",
        place="Theorem 3.3, second item; equation (3); Lemma F.16, second item",
        statement="At T* the learned coefficients C12, C21, −C31 and −C32 are "
        "Θ(σ0² m / (√m L σ1² m m1) + σ0² √m / (√m σ1² m m1)), and those with a filler "
        "Õ of the first term over n.",
        needs={**LARGE_TABLES, "many": noise_free(6e3)},
        judge=partial(_judge_scores, tilde=False),
        predicate="least and largest of the four over the printed size by the rule for "
        "Θ as printed, for Θ̃ as corrected, and the largest with a filler by that for "
        "Õ (over the first term alone, which is stronger); powers of log m up to 2",
        expected=Verdict.HOLDS_CORRECTED,
        source=f"{THEORY_RUNS}, and one run without noise; the proof has Õ, from above "
        "only (reader's note A-N3a). C33, C11, C13 and C22, C23, which the theorem "
        "does not mention, are of the same order as C12 for many samples",
        correction=Correction(
            "Θ̃: the coefficients grow like the square of log m, once for the readouts "
            "that drive them and once for the time that it takes.",
            partial(_judge_scores, tilde=True),
        ),
        mutations=named(
            with_width("score_at_end", 0.5),
            mutate.swap(ALL, "score_at_end", "key", ("mu1", "mu3")),
            mutate.only("m=1048576", mutate.scale(ALL, "score_at_end", 20.0)),
        ),
    ),
)
