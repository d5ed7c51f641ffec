"""Separability and margins of the attention features."""

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
    Seeds,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.mixture.claims.evidence import FLOW, PLAN, algorithm, stage
from attnflow.papers.mixture.features import feature_margin
from attnflow.schema.declarations import Request

ALL = mutate.EVERY
_claim = partial(
    Claim,
    scope=Scope.THEOREM,
    expected=Verdict.HOLDS,
    source="sheet B section 7, and our run",
)
PATTERNS = {"patterns": Request("separability", seeds=1)}
GROWING = {"infinite": algorithm(0.1)}
GROWING_FINITE = {
    f"m=128, seed {seed}": algorithm(0.1, width=128, seeds=(seed,))
    for seed in (400, 401, 402)
}


def _judge_patterns(evidence: Evidence, *, count: str, of: str) -> Finding:
    run = evidence["patterns"].isel(seed=0)
    number, total = int(run[count]), int(run[of])
    what = f"separable patterns, {number} of {total}"
    check = Exact(float(number), 0.0, what, counterexample=True)
    return Finding((check,), {count: number, of: total})


_judge_tied = partial(_judge_patterns, count="tied", of="patterns")
_judge_untied = partial(_judge_patterns, count="untied_possible", of="possible")


def _judge_initial_margin(evidence: Evidence) -> Finding:
    """One ladder over √m / ω², of medians over seeds."""
    found = evidence["margins"]["margin"].median("seed").transpose("omega", "width")
    size = np.sqrt(found["width"].values) / found["omega"].values[:, None] ** 2
    ratio = found.values * size
    cells = tuple(size.ravel().tolist()), tuple(ratio.ravel().tolist())
    what = "initial margin times √m / ω²"
    check = Ladder(*cells, "O-tilde", what, seeds=len(PLAN))
    return Finding((check,), {"least": ratio.min(), "largest": ratio.max()})


def _margins(run: xr.Dataset, count: int = 25) -> np.ndarray:
    """The margin at some records of stage 2, evenly chosen."""
    rows, bias = stage(run, 1), schema.setting_of(run)["bias"]
    picks = np.unique(np.linspace(0, rows.sizes["time"] - 1, count).astype(int))
    chosen = rows.isel(time=picks)
    parts = zip(
        chosen["pooled_token"].transpose("time", "sample", "head", "token").values,
        chosen["head_output"].transpose("time", "sample", "head").values,
        chosen["label"].values,
        strict=True,
    )
    return np.array([feature_margin(*part, bias) for part in parts])


# A margin of features of size 3 is known to some 1e-14.
FALL = 1e-13
# At finite width it dips (by 2.6e-5 in one of three seeds looked at first): growth is
# said of what is left when falls of 1% of the last margin are overlooked.
DIP = 0.01


def _grown(run: xr.Dataset) -> tuple[float, float, float]:
    """The largest fall of the margin in stage 2, and its first and last value."""
    found = _margins(run.isel(seed=0))
    fall = float(np.maximum(-np.diff(found), 0.0).max())
    return fall, float(found[0]), float(found[-1])


def _judge_growing(evidence: Evidence) -> Finding:
    fall, first, last = _grown(evidence["infinite"])
    return Finding(
        (
            Exact(fall, FALL, "largest fall of the margin"),
            Exact(0.3 / max(last, 1e-9), 1.0, "0.3 over the last margin"),
        ),
        {"first": first, "last": last},
    )


def _judge_growing_finite(evidence: Evidence) -> Finding:
    found = {name: _grown(run) for name, run in evidence.items()}
    margin = [
        min(1 - fall / (DIP * last), last / 0.3 - 1) for fall, _, last in found.values()
    ]
    held = tuple(m > 0 for m in margin)
    check = Seeds(held, tuple(margin), "falls below 1%, and an end beyond 0.3")
    return Finding((check,), {name: list(values) for name, values in found.items()})


_NOT_GROWING = (
    mutate.constant(ALL, "pooled_token"),
    mutate.swap(ALL, "pooled_token", "sample", ("c1 v1 -v2", "c1 -v1 v2")),
    mutate.shuffle(ALL, "label", "sample"),
)

MARGIN = (
    _claim(
        id="B-L5.4",
        place="Lemma 5.4",
        statement="Under uniform attention no neurons classify all four conflicting "
        "samples.",
        system="exact: linear programmes over the 256 activation patterns",
        needs=PATTERNS,
        judge=_judge_tied,
        predicate="none of the 256 patterns has neurons that produce it and solve the "
        "task, even with a free bias per head; each programme has a certificate",
        conditions="K = 2, L = 3",
        mutations=named(
            mutate.add(ALL, "tied", 1),
            mutate.on_run(
                "patterns of other weights",
                "patterns",
                lambda run: run.assign(tied=run["untied"]),
            ),
        ),
    ),
    _claim(
        id="B-L5.4-feature",
        place="Section 5.1, after Lemma 5.4; equation 2",
        statement="Said of the attention features: under uniform attention they are "
        "not linearly separable.",
        system="exact: linear programmes over the possible activation patterns",
        needs=PATTERNS,
        judge=_judge_untied,
        predicate="with the pattern of activations held fixed, none of the patterns "
        "that some weights produce gives separable features",
        conditions="K = 2, L = 3, b = 1/2",
        expected=Verdict.HOLDS_CORRECTED,
        source="sheet B section 7 (78 of all 256 patterns), and our run: 64 of the 196 "
        "that some weights produce",
        correction=Correction(
            "They are not separable by the weights whose own activation pattern the "
            "features have; with the pattern of other weights they may be.",
            _judge_tied,
        ),
        mutations=named(
            mutate.add(ALL, ("tied", "untied_possible"), 1),
            mutate.on_run(
                "patterns of other weights",
                "patterns",
                lambda run: run.assign(tied=run["untied"]),
            ),
        ),
    ),
    _claim(
        id="B-5.1-margin",
        place="Section 5.1, after Lemma 5.4",
        statement="At initialisation the attention features' largest margin is at most "
        "Õ(ω²/√m).",
        system="Gaussian initial weights",
        needs={
            "margins": Request(
                "initial-margin",
                {
                    "omegas": (0.3, 0.1, 0.03, 0.01, 0.003),
                    "widths": (32, 128, 512, 2048, 8192),
                },
                seeds=PLAN,
            )
        },
        judge=_judge_initial_margin,
        predicate="Õ by the ladder's rule over the 25 cells, √m/ω² = 63 … 1e7, with "
        "medians over 16 seeds (200 … 215)",
        conditions="ω = 0.3 … 0.003, m = 32 … 8192, b = 1/2",
        mutations=named(
            mutate.power(ALL, "margin", 0.5),
            mutate.replace(ALL, "margin", 1e-3),
            mutate.reverse(ALL, "margin", "width"),
        ),
    ),
    _claim(
        id="B-7-margin",
        place="Section 7; also Section 5.3 and the abstract",
        statement="In stage 2 the attention features go from nearly non-separable to "
        "well separated.",
        system=FLOW,
        needs=GROWING,
        judge=_judge_growing,
        predicate="the margin at 25 records of stage 2 never falls by more than 1e-13 "
        "and ends beyond 0.3",
        conditions="ω = 0.1, m infinite, T1 = 10, b = 1/2, up to a main score of 1",
        mutations=named(*_NOT_GROWING),
    ),
    _claim(
        id="B-7-margin-width",
        origin="ours",
        place="Section 7, at finite width",
        statement="At m = 128 too the margin grows in stage 2, up to dips below 1%.",
        system="gradient flow of Algorithm 1 at m = 128",
        needs=GROWING_FINITE,
        judge=_judge_growing_finite,
        predicate="the margin ends beyond 0.3 and on the way never falls by more than "
        "1% of that, in 90% of 3 seeds (400, 401, 402) that set no tolerance",
        scope=Scope.BEYOND,
        conditions="ω = 0.1, m = 128, T1 = 10, b = 1/2",
        source="our run, of a statement that was loosened: as 'never falls' it did "
        "not come out (seed 202 falls by 2.6e-5 on the way to 0.45), and the 1% was "
        "set after that; sheet B section 7 saw one seed without a fall",
        # Eight samples in nine dimensions: other labels are separable too, so that
        # shuffling them says nothing here.
        mutations=named(*_NOT_GROWING[:2]),
    ),
)
