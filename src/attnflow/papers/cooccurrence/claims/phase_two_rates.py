"""Phase 2: rates of the loss, of scores and of attention."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.claims import look
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims import evidence as ev
from attnflow.papers.cooccurrence.claims import templates
from attnflow.papers.cooccurrence.claims.phase_two import score_rates
from attnflow.papers.cooccurrence.claims.windows import (
    BEGINS,
    band,
    ladder,
    largest,
    phase_two,
    sizes,
    with_width,
)
from attnflow.schema.declarations import Evidence
from attnflow.schema.installation import xr

ALL = mutate.EVERY
NAMED = 3
SAMPLES = ("seed", "time", "sample", "entry")
_claim = partial(templates.at_large_widths, needs=ev.LARGE_WIDTHS)


def _inverse_loss(run: xr.Dataset) -> xr.DataArray:
    """(1/Loss − 1/Loss(T1)) / (σ1² m m1 (t − T1)), NaN at T1 itself."""
    first = phase_two(run).argmax("time")
    inverse, time = 1 / run["loss"], run["time"]
    start = (table.isel(time=first).drop_vars("time") for table in (inverse, time))
    loss, begin = start
    return (inverse - loss) / (sizes(run).gain * (time - begin))


def _after_first(run: xr.Dataset) -> xr.DataArray:
    """Phase 2 without its first record."""
    inside = phase_two(run)
    return inside & inside.shift(time=1, fill_value=False)


def attention_rates(run: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Tokens of each sample, and ∂p/∂t by seed, time, sample, key and query.

    By the chain rule from the recorded scores and their rates. The tokens of a sample
    are those that it attends to, named ones first.
    """
    attended = run["pooled_token"].isel(time=0, drop=True).squeeze("head") > 0.5
    tokens = np.array(
        [[np.flatnonzero(row) for row in seed] for seed in attended.values]
    )
    root = sizes(run).width ** 0.5
    tables = (
        run[name].squeeze("head").values / root for name in ("score", "score_rate")
    )
    scores, rates = (
        np.stack([table[:, at[:, :, None], at[:, None, :]] for table, at in pairs])
        for pairs in (list(zip(table, tokens, strict=True)) for table in tables)
    )
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    p = weights / weights.sum(axis=3, keepdims=True)
    return tokens, p * (rates - (p * rates).sum(axis=3, keepdims=True))


def _of_targets(run: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """∂p/∂t in samples with both targets, of named keys (signed) and of fillers."""
    tokens, rates = attention_rates(run)
    both = (tokens[:, :, :2] == (0, 1)).all(axis=2)
    rows = np.stack(
        [rate[:, is_both] for rate, is_both in zip(rates, both, strict=True)]
    )
    named = [rows[..., 1, 0], rows[..., 0, 1], -rows[..., 2, 0], -rows[..., 2, 1]]
    fillers = rows[..., NAMED:, :2].reshape(*rows.shape[:3], -1)
    coords = {name: run[name] for name in ("seed", "time")}
    return (
        xr.DataArray(np.stack(named, axis=-1), coords, SAMPLES),
        xr.DataArray(fillers, coords, SAMPLES),
    )


def _attention(run: xr.Dataset, *, power: float) -> xr.DataArray:
    """Signed ∂p/∂t over Loss σ0² m / (m^power L²)."""
    size = sizes(run)
    unit = run["loss"] * size.key_norm / size.length**2
    return _of_targets(run)[0] * size.width**power / unit


def _slope(evidence: Evidence) -> float:
    """Exponent of m of the largest ∂p/∂t over Loss σ0² m / (√m L²)."""
    measure = largest(partial(_attention, power=0.5))
    width = [np.log(sizes(run).width) for run in evidence.values()]
    median = [np.log(np.median(measure(run))) for run in evidence.values()]
    return float(np.polyfit(width, median, 1)[0])


def _filler_share(run: xr.Dataset) -> xr.DataArray:
    """Largest |∂p/∂t| of a filler as key relative to that of the targets, by time."""
    targets, fillers = _of_targets(run)
    dims = ("sample", "entry")
    return abs(fillers).max(dims, skipna=False) / targets.max(dims, skipna=False)


def _attention_share(run: xr.Dataset) -> xr.DataArray:
    """max_i |Σ Σ G ∂p/∂t| / (b mean g), by time."""
    tokens, rates = attention_rates(run)
    values = run["value"].squeeze("head").values
    read = np.stack([value[:, at] for value, at in zip(values, tokens, strict=True)])
    moved = np.abs((read[..., None] * rates).sum(axis=(3, 4))).max(axis=2)
    pull = run["pull_by_group"].sum("group", skipna=False)
    return moved / (run["readout_gain"].isel(head=0, drop=True) * pull).transpose(
        "seed", "time"
    )


CLAIMS: tuple[c.Claim, ...] = (
    _claim(
        id="A-L4.7-rate",
        place="Lemma 4.7; Lemma F.16, first item",
        statement="In phase 2 the scores between the targets, and those of the common "
        "token with them, move at the rate Θ̃(Loss σ0² m) / (√m L).",
        judge=c.All(
            band(
                "rate of the four scores over Loss σ0² m / (√m L)",
                score_rates,
                "theta-tilde",
            )
        ),
        predicate="powers of log m up to 2: the largest needs the first power, as "
        "readouts grow",
        mutations=c.named(with_width("score_rate", -0.5)),
    ),
    _claim(
        id="A-F.8",
        place="Theorem F.8",
        statement="In phase 2 the loss is 1 / (Θ(σ1² m m1)(t − T1) + 1/Loss(T1)).",
        judge=c.All(
            tuple(
                ladder(
                    f"{word} (1/Loss − 1/Loss(T1)) / (σ1² m m1 (t − T1))",
                    lambda run, pick=pick: pick(_inverse_loss(run), _after_first(run)),
                    "theta",
                    constant=2.0,
                )
                for word, pick in (("least", look.least), ("largest", look.largest))
            )
        ),
        predicate="late in training it should be 1/|w*|² = 0.1216 of A-R4",
        inert=BEGINS,
        mutations=c.named(with_width("loss", 0.2)),
    ),
    _claim(
        id="A-F.17",
        place="Corollary F.17, first item",
        statement="In phase 2 attention between the targets rises, and that of the "
        "common token with them falls, at the rate Θ̃(Loss σ0² m) / (√m L²).",
        judge=c.All(
            band(
                "∂p/∂t over Loss σ0² m / (√m L²)",
                partial(_attention, power=0.5),
                "theta-tilde",
            ),
            also={"exponent of m": _slope},
        ),
        predicate="with these signs, in samples with both targets; powers of log m up "
        "to 2",
        needs=ev.LARGE_TABLES,
        expected=c.Verdict.FAILS,
        source=f"{ev.THEORY_RUNS}: the proof has 1/m (reader's note A-N2)",
        mends=c.named(with_width("score_rate", 0.5)),
        correction=c.Correction(
            c.CorrectionKind.TYPO,
            "The rate is Θ̃(Loss σ0² m) / (m L²), as in the corollary's own proof: "
            "scores move with 1/√m, and enter the softmax with another 1/√m.",
            c.All(
                band(
                    "∂p/∂t over Loss σ0² m / (m L²)",
                    partial(_attention, power=1.0),
                    "theta-tilde",
                ),
                also={
                    "largest |∂p/∂t|, fillers over targets": lambda evidence: [
                        float(largest(_filler_share)(run).max())
                        for run in evidence.values()
                    ]
                },
            ),
        ),
        witness=c.Witness(
            "witnesses/frozen_attention.py",
            {"exponent of m of the rate of attention": ("exponent of m",)},
        ),
    ),
    _claim(
        id="A-F.18",
        place="Corollary F.18; Definition F.1, fourth condition, second display",
        statement=(
            "In phase 2 the contribution of moving attention to the outputs is o(1) "
            "relative to b times the mean logistic weight."
        ),
        judge=ladder(
            "max_i |Σ Σ G ∂p/∂t| / (b mean g)", largest(_attention_share), "o(1)"
        ),
        needs=ev.LARGE_TABLES,
        mutations=c.named(with_width("score_rate", 2.5)),
        inert={"score": "larger scores saturate the softmax, which moves less then"},
    ),
)
