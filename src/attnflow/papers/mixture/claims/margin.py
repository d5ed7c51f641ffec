"""Claims on separability and margins of the attention features."""

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
from attnflow.papers.mixture.claims.evidence import (
    DECIDING_SEEDS,
    FLOW,
    algorithm,
    stage,
)
from attnflow.papers.mixture.features import feature_margin
from attnflow.schema.declarations import Request

ALL = mutate.EVERY
_claim = partial(
    Claim,
    scope=Scope.THEOREM,
    expected=Verdict.HOLDS,
    source="our run (deterministic)",
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
    """A ladder over √m / ω² of the margin's median over seeds."""
    medians = evidence["margins"]["margin"].median("seed").transpose("omega", "width")
    size = np.sqrt(medians["width"].values) / medians["omega"].values[:, None] ** 2
    ratio = medians.values * size
    cells = tuple(size.ravel().tolist()), tuple(ratio.ravel().tolist())
    what = "initial margin times √m / ω²"
    check = Ladder(*cells, "O-tilde", what, seeds=len(DECIDING_SEEDS))
    return Finding((check,), {"least": ratio.min(), "largest": ratio.max()})


def _margins(run: xr.Dataset, count: int = 25) -> np.ndarray:
    """Margins at some evenly spaced records of stage 2."""
    rows, bias = stage(run, 1), schema.setting_of(run)["bias"]
    picks = np.unique(np.linspace(0, rows.sizes["time"] - 1, count).astype(int))
    picked = rows.isel(time=picks)
    parts = zip(
        picked["pooled_token"].transpose("time", "sample", "head", "token").values,
        picked["head_output"].transpose("time", "sample", "head").values,
        picked["label"].values,
        strict=True,
    )
    return np.array([feature_margin(*part, bias) for part in parts])


# The margin of features of size 3 is computed to about 1e-14.
FALL = 1e-13
# At finite width the margin dips (by 2.6e-5 in one of the first three seeds): falls of
# up to 1% of the final margin are therefore allowed.
DIP = 0.01


def _margin_growth(run: xr.Dataset) -> tuple[float, float, float]:
    """The largest fall of the margin in stage 2, and its first and last value."""
    margins = _margins(run.isel(seed=0))
    fall = float(np.maximum(-np.diff(margins), 0.0).max())
    return fall, float(margins[0]), float(margins[-1])


def _judge_growing(evidence: Evidence) -> Finding:
    fall, first, last = _margin_growth(evidence["infinite"])
    return Finding(
        (
            Exact(fall, FALL, "largest fall of the margin"),
            Exact(0.3 / max(last, 1e-9), 1.0, "0.3 over the last margin"),
        ),
        {"first": first, "last": last},
    )


def _judge_growing_finite(evidence: Evidence) -> Finding:
    growth = {name: _margin_growth(run) for name, run in evidence.items()}
    margins = [
        min(1 - fall / (DIP * last), last / 0.3 - 1)
        for fall, _, last in growth.values()
    ]
    held = tuple(m > 0 for m in margins)
    check = Seeds(held, tuple(margins), "falls below 1%, and a final margin above 0.3")
    return Finding((check,), {name: list(values) for name, values in growth.items()})


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
        predicate="for none of the 256 patterns do neurons exist that produce it and "
        "solve the task, even with a free bias per head; each programme has a "
        "certificate",
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
        predicate="with the activation pattern held fixed, none of the patterns that "
        "some weights produce gives separable features",
        conditions="K = 2, L = 3, b = 1/2",
        expected=Verdict.HOLDS_CORRECTED,
        source="our enumeration: features are separable for 64 of the 196 patterns "
        "that some weights produce (and for 78 of all 256)",
        correction=Correction(
            "They are not separable by weights that produce the features' activation "
            "pattern themselves; with the pattern of other weights they may be.",
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
                seeds=DECIDING_SEEDS,
            )
        },
        judge=_judge_initial_margin,
        predicate="Õ(ω²/√m) by the ladder rule over the 25 cells, √m/ω² = 63 … 1e7, "
        "with medians over 16 seeds (200 … 215)",
        conditions="ω = 0.3 … 0.003, m = 32 … 8192, b = 1/2",
        source="our runs, seeds 200 … 215",
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
        "and ends above 0.3",
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
        predicate="the margin ends above 0.3 and before that never falls by more than "
        "1% of its final value, in 90% of 3 seeds (400, 401, 402), none of which was "
        "used to set the tolerance",
        scope=Scope.BEYOND,
        conditions="ω = 0.1, m = 128, T1 = 10, b = 1/2",
        source="our runs, seeds 400, 401, 402, of a statement that was weakened: "
        "'never falls' is false (seed 202 falls by 2.6e-5 on the way to 0.45), and the "
        "1% was set after that",
        # Eight samples in nine dimensions are separable with other labels too, so that
        # shuffling the labels would test nothing here.
        mutations=named(*_NOT_GROWING[:2]),
    ),
)
