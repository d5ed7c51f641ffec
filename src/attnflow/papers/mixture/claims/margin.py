"""Claims on separability and margins of the attention features."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow import schema
from attnflow.claims import look
from attnflow.claims import mutations as mutate
from attnflow.papers.mixture.claims import evidence as ev
from attnflow.papers.mixture.conditions import STAGE_TWO
from attnflow.papers.mixture.features import feature_margin
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

ALL = mutate.EVERY
_claim = partial(
    c.Claim,
    kind=c.Kind.UNIVERSAL,
    expected=c.Verdict.HOLDS,
    source="our run (deterministic)",
)
PATTERNS = {"patterns": Request("separability", seeds=1)}
GROWING = {"infinite": ev.algorithm(0.1)}
GROWING_FINITE = {
    f"m=128, seed {seed}": ev.algorithm(0.1, width=128, seeds=(seed,))
    for seed in (400, 401, 402)
}
TIED = c.Equal(
    "patterns without separating weights, less 256",
    lambda run: run["patterns"] - run["tied"] - 256,
    0.0,
)
UNTIED = c.Equal(
    "separable patterns, of those that some weights produce",
    lambda run: run["untied_possible"],
    0.0,
)


def _scaled(run: xr.Dataset, along: str) -> xr.DataArray:
    """The initial margin times √m/ω², by the size that the ladder is in.

    Along 1/ω and m alone it is the largest over the other; along √m/ω² all cells.
    """
    size = run["width"] ** 0.5 / run["omega"] ** 2
    ratio = run["margin"] * size
    if along == "√m/ω²":
        cells = ratio.stack({along: ("omega", "width")})
        sizes = size.stack({along: ("omega", "width")}).values
        bare = cells.drop_vars(["omega", "width", along])
        return bare.assign_coords({along: sizes})
    if along == "m":
        return ratio.median("seed", skipna=False).max("omega").rename(width=along)
    largest = ratio.median("seed", skipna=False).max("width")
    return largest.assign_coords(omega=1 / run["omega"]).rename(omega=along)


def _known_margin(
    reads: np.ndarray, heads: np.ndarray, label: np.ndarray, bias: float
) -> float:
    return (
        np.nan if np.isnan(reads).any() else feature_margin(reads, heads, label, bias)
    )


def _margins(run: xr.Dataset, count: int = 25) -> xr.DataArray:
    """Margins at some evenly spaced records of stage 2; NaN where one is not known."""
    rows = np.flatnonzero(ev.during(run, 1).all("seed"))
    if not len(rows):
        return run["output"].isel(sample=0, time=[0, 0], drop=True) * np.nan
    picks = rows[np.unique(np.linspace(0, len(rows) - 1, count).astype(int))]
    picked, bias = run.isel(time=picks), float(schema.setting_of(run)["bias"])
    margin = xr.apply_ufunc(
        partial(_known_margin, bias=bias),
        picked["pooled_token"],
        picked["head_output"],
        picked["label"],
        input_core_dims=[["sample", "head", "token"], ["sample", "head"], ["sample"]],
        vectorize=True,
    )
    return margin.transpose("seed", "time")


def _rises(run: xr.Dataset) -> xr.DataArray:
    return look.steps(_margins(run))


def _relative_rises(run: xr.Dataset) -> xr.DataArray:
    """Steps of the margin over its last value."""
    margins = _margins(run)
    return look.steps(margins) / margins.isel(time=-1, drop=True)


def _last(run: xr.Dataset) -> xr.DataArray:
    return _margins(run).isel(time=-1, drop=True)


# The margin of features of size 3 is computed to about 1e-14.
FALL = 1e-13
# At finite width the margin dips (by 2.6e-5 in one of the first three seeds): falls of
# up to 1% of the final margin are therefore allowed.
DIP = 0.01
SEPARATED = c.AtLeast("last margin of stage 2", _last, 0.3)
_STOPPED = {
    "cut": "stage 2 ends before a tenth of the run's time",
    "holes": "stage 2 ends before the records that are not known",
}


_NOT_GROWING = (
    mutate.constant(ALL, "pooled_token"),
    mutate.swap(ALL, "pooled_token", "sample", ("c1 v1 -v2", "c1 -v1 v2")),
)

MARGIN = (
    _claim(
        id="B-L5.4",
        place="Lemma 5.4",
        statement="Under uniform attention no neurons classify all four conflicting "
        "samples.",
        under=(),
        system="exact: linear programmes over the 256 activation patterns",
        needs=PATTERNS,
        judge=TIED,
        predicate=(
            "for none of the 256 activation patterns are there neurons that produce "
            "it and solve the task, even with a free bias per head; each linear "
            "program has a certificate"
        ),
        mutations=c.named(mutate.add(ALL, "tied", 1)),
        inert={"tied": "0 stays 0 when negated or scaled"},
    ),
    _claim(
        id="B-L5.4-feature",
        place="Section 5.1, after Lemma 5.4; equation 2",
        statement=(
            "As a statement about attention features: under uniform attention they "
            "are not linearly separable, for the activation pattern of any weights."
        ),
        under=(),
        system="exact: linear programmes over the possible activation patterns",
        needs=PATTERNS,
        judge=UNTIED,
        predicate="with the activation pattern held fixed, none of the patterns that "
        "some weights produce gives separable features",
        settings="b = 1/2",
        expected=c.Verdict.FAILS,
        source="our enumeration: features are separable for 64 of the 196 patterns "
        "that some weights produce (and for 78 of all 256)",
        correction=c.Correction(
            c.CorrectionKind.CONDITION,
            "They are not separable by weights that produce the features' activation "
            "pattern themselves, as at w = 0.",
            TIED,
        ),
        mends=c.named(mutate.replace(ALL, "untied_possible", 0)),
        witness=c.Witness("witnesses/patterns.py", {"separable": (UNTIED.what,)}),
    ),
    _claim(
        id="B-5.1-margin",
        kind=c.Kind.ASYMPTOTIC,
        place="Section 5.1, after Lemma 5.4",
        statement="At initialisation the attention features' largest margin is at most "
        "Õ(ω²/√m).",
        under=("ω", "m", "b"),
        system="Gaussian initial weights",
        needs={
            "margins": Request(
                "initial-margin",
                {
                    "omegas": (0.3, 0.1, 0.03, 0.01, 0.003),
                    "widths": (32, 128, 512, 2048, 8192),
                },
                seeds=ev.DECIDING_SEEDS,
            )
        },
        judge=c.All(
            tuple(
                c.Rungs(
                    f"initial margin times √m/ω², along {along}",
                    partial(_scaled, along=along),
                    "O-tilde",
                    along,
                )
                for along in ("√m/ω²", "1/ω", "m")
            )
        ),
        predicate="medians over 16 seeds (200 … 215)",
        settings="ω = 0.3 … 0.003, m = 32 … 8192, b = 1/2",
        source="our runs, seeds 200 … 215; the ladders in 1/ω and m alone were added "
        "to that in √m/ω²",
        mutations=c.named(
            mutate.power(ALL, "margin", 0.5), mutate.replace(ALL, "margin", 1e-3)
        ),
    ),
    _claim(
        id="B-7-margin",
        place="Section 7; also Section 5.3 and the abstract",
        statement="In stage 2 the attention features go from nearly non-separable to "
        "well separated.",
        system=ev.FLOW,
        needs=GROWING,
        under=STAGE_TWO,
        judge=c.All(
            (
                c.AtLeast("steps of the margin", _rises, -FALL, unit="difference"),
                SEPARATED,
            )
        ),
        predicate="at 25 records of stage 2; 1e-13 is rounding, and what counts as "
        "well separated, 0.3, is ours",
        settings=f"{ev.SETTINGS}; ω = 0.1",
        mutations=c.named(*_NOT_GROWING, mutate.shuffle(ALL, "label", "sample")),
        inert={"head_output": "only whether H + b is positive is read"},
        survives=_STOPPED,
    ),
    _claim(
        id="B-7-margin-width",
        origin="ours",
        place="Section 7, at finite width",
        statement="At m = 128 too the margin grows in stage 2, up to dips below 1%.",
        system="gradient flow of Algorithm 1 at m = 128",
        needs=GROWING_FINITE,
        kind=c.Kind.OBSERVATION,
        under=STAGE_TWO,
        judge=c.All(
            (
                c.AtLeast(
                    "steps of the margin over the last one",
                    _relative_rises,
                    -DIP,
                    unit="difference",
                ),
                SEPARATED,
            )
        ),
        predicate="the margin ends above 0.3 and before that never falls by more than "
        "1% of its final value, in 90% of 3 seeds (400, 401, 402), none of which was "
        "used to set the tolerance",
        settings="ω = 0.1, m = 128, T1 = 10, b = 1/2",
        source=(
            "our runs, seeds 400, 401, 402, of a statement that was weakened: 'never "
            "falls' is false (seed 202 falls by 2.6e-5 on the way to 0.45), and the "
            "1% was set afterwards"
        ),
        # Eight samples in nine dimensions are separable with other labels too, so that
        # shuffling the labels would test nothing here.
        mutations=c.named(*_NOT_GROWING),
        inert={"head_output": "only whether H + b is positive is read"},
        survives=_STOPPED,
    ),
)
