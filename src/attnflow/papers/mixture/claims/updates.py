"""Claims on the updates of stage 2, entry by entry (Appendices B.2 and E.5 to E.7)."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow import schema
from attnflow.claims import mutations as mutate
from attnflow.papers.mixture.claims import evidence as ev
from attnflow.papers.mixture.conditions import STAGE_ONE, STAGE_TWO
from attnflow.schema.installation import xr

ALL = mutate.EVERY
TABLES = ("score", "key_self_score", "query_self_score")
RATES = tuple(f"{name}_rate" for name in TABLES)
TOKENS = ("c1", "c2", "v1", "v2")
SUM, MEAN = 1.0, 0.25
"""Weight of each of the four conflicting samples: as printed, and as it must be."""
# Products of a few numbers of order 1, summed over 4 samples, 3 queries and 3 keys.
ROUNDING = 1e-12
EARLY = {"cut": "stage 2 ends before a tenth of the run's time"}


def _matrix(run: xr.Dataset, name: str) -> np.ndarray:
    """A table of the positive head, `(seed, time, key, query)`."""
    table = run[name].sel(head="+", key=list(TOKENS), query=list(TOKENS))
    return table.transpose("seed", "time", "key", "query").values


def _incidence(samples: list[str]) -> np.ndarray:
    """Which token stands at which position, with its sign: `(sample, position, 4)`."""
    tables = np.zeros((len(samples), 3, 4))
    for row, sample in enumerate(samples):
        for position, token in enumerate(sample.split()):
            sign = -1.0 if token[0] == "-" else 1.0
            tables[row, position, TOKENS.index(token.removeprefix("-"))] = sign
    return tables


def _force(run: xr.Dataset) -> np.ndarray:
    """The sum over conflicting samples of g y 1[on] Σ_l p_l(k) (w·x_k − w·X p_l).

    By the tokens of key k and query l, `(seed, time, key, query)`, from recorded
    attention, outputs and neurons.
    """
    hard = run.isel(sample=np.flatnonzero(~ev.is_consistent(run)))
    tokens = _incidence([str(name) for name in hard["sample"].values])
    dims = ("seed", "time", "sample", "query_position", "key_position")
    attention = hard["attention"].sel(head="+").transpose(*dims).values
    neurons = run["value"].sel(head="+", token=list(TOKENS))
    values = np.einsum(
        "std,nkd->stnk", neurons.transpose("seed", "time", "token"), tokens
    )
    reads = np.einsum("stnqk,stnk->stnq", attention, values)
    inner = attention * (values[..., None, :] - reads[..., None])
    on = hard["head_output"].sel(head="+") + schema.setting_of(run)["bias"] > 0
    pull = (ev.labels(hard) * ev.loss_slopes(hard) * on).transpose(*dims[:3])
    return np.einsum("stn,stnqk,nka,nqb->stab", pull, inner, tokens, tokens)


def _flows(run: xr.Dataset, force: np.ndarray) -> np.ndarray:
    """Right-hand sides of Appendix B.2 for all three tables, by table first."""
    score, keys, queries = (_matrix(run, name) for name in TABLES)
    turned = force.swapaxes(-1, -2)
    key_part = force @ score.swapaxes(-1, -2)
    query_part = turned @ score
    return np.stack(
        [
            force @ queries + keys @ force,
            key_part + key_part.swapaxes(-1, -2),
            query_part + query_part.swapaxes(-1, -2),
        ]
    )


def _recorded(run: xr.Dataset) -> np.ndarray:
    return np.stack([_matrix(run, name) for name in RATES])


def _as_table(run: xr.Dataset, values: np.ndarray) -> xr.DataArray:
    dims = ("table", "seed", "time", "key", "query")
    return xr.DataArray(
        values, dims=dims, coords={"seed": run["seed"], "time": run["time"]}
    ).transpose("seed", "time", ...)


def _update_error(run: xr.Dataset, *, weight: float) -> xr.DataArray:
    """Weighted right-hand sides less recorded rates, over the largest rate then."""
    rates = _recorded(run)
    largest = np.abs(rates).max(axis=(0, 3, 4), keepdims=True)
    # Later records, which the mask leaves out, have no rates.
    scale = np.where(largest > 0, largest, 1.0)
    return _as_table(run, (weight * _flows(run, _force(run)) - rates) / scale)


_in_stage_two = partial(ev.during, number=1, closed="left")

UNIFORM = np.block(
    [
        [np.zeros((2, 2)), 4 / 9 * np.array([[1.0, -1.0], [-1.0, 1.0]])],
        [-2 / 9 * np.array([[1.0, -1.0], [-1.0, 1.0]]), np.zeros((2, 2))],
    ]
)
"""The printed force at uniform attention, over g w_c: key c1, c2, v1, v2 by query."""


def _uniform_force(run: xr.Dataset, weight: float) -> np.ndarray:
    size = weight * 0.5 * ev.group_value(run).values  # g = 1/2, since f = 0
    return size[:, None, None, None] * UNIFORM


def _start_error(run: xr.Dataset, *, weight: float) -> xr.DataArray:
    """Weighted displays of Appendix E.5 less recorded rates, over g ω² w_c."""
    displayed = _flows(run, _uniform_force(run, weight))
    unit = 0.5 * ev.omega_of(run) ** 2 * ev.group_value(run).values
    return _as_table(run, (displayed - _recorded(run)) / unit[:, None, None, None])


def _uniform_error(run: xr.Dataset) -> xr.DataArray:
    """A quarter of the displays less recorded rates, over each table's largest rate."""
    rates = _recorded(run)
    largest = np.abs(rates).max(axis=(3, 4), keepdims=True)
    scale = np.where(largest > 0, largest, 1.0)
    error = _flows(run, _uniform_force(run, MEAN)) - rates
    return abs(_as_table(run, error / scale))


def _at_t1(run: xr.Dataset) -> xr.DataArray:
    start = ev.stage_end(run, 0)
    return _in_stage_two(run) & (run["time"] <= start)


def _is_uniform(run: xr.Dataset) -> xr.DataArray:
    """While the main score is at most 0.01, after T1."""
    small = ~(ev.entry(run, "score", "c1", "v1") > 0.01)
    return ev.during(run, 1, closed="right") & small


_claim = partial(
    ev.of_ladder,
    kind=c.Kind.IDENTITY,
    under=(*STAGE_ONE, "T1"),
    survives=EARLY,
)
_fails = partial(_claim, expected=c.Verdict.FAILS)
_FOURFOLD = c.named(mutate.scale(ALL, RATES, 4.0))
_MEAN = (
    "The sum over the four conflicting samples must be their mean: every rate is a "
    "quarter of the printed one."
)
EXPANDED = "sums over the samples off the rates, over the largest rate"
DISPLAYED = "displays off the rates at T1, over g ω² w_c"

UPDATES = (
    _claim(
        id="B-B.2",
        place="Appendix B.2, in stage 2",
        statement="Scores and self-scores move by the conditional mean of B.2 over the "
        "conflicting samples.",
        judge=c.Equal(
            "B.2 off the rates, over the largest rate",
            partial(_update_error, weight=MEAN),
            ROUNDING,
            when=_in_stage_two,
        ),
        predicate="all 48 entries at every record of stage 2; B.2 from the recorded "
        "attention, outputs, neurons and tables",
        inert={
            "head_output": "only whether H + b is positive is read",
        },
    ),
    _fails(
        id="B-E.5-displays",
        place="Appendices E.5.1 to E.5.3",
        statement="At T1 the rates of all scores and self-scores are those displayed: "
        "±(8/9) g ω² w_c for group keys and class queries, half of it and of the other "
        "sign for class keys and group queries, 0 for all others.",
        judge=c.Equal(DISPLAYED, partial(_start_error, weight=SUM), 1e-9, when=_at_t1),
        predicate="all 48 entries; 1e-9 is the flow's error. The displays as functions "
        "of scores and self-scores: force (4/9, −2/9) g w_c",
        correction=c.Correction(
            c.CorrectionKind.CONSTANT,
            _MEAN,
            c.Equal(
                f"a quarter of the {DISPLAYED}",
                partial(_start_error, weight=MEAN),
                1e-9,
                when=_at_t1,
            ),
        ),
        mends=_FOURFOLD,
        inert=dict.fromkeys(
            ("key_self_score", "query_self_score"),
            "a change of the self-scores alone does not make the printed display right",
        ),
        witness=c.Witness(
            "witnesses/rates.py", {"displays off": (f"omega=0.1: {DISPLAYED}",)}
        ),
    ),
    _claim(
        id="B-E.5-uniform",
        origin="ours",
        kind=c.Kind.UNIVERSAL,
        under=STAGE_TWO,
        place="Appendices E.5.1 to E.5.3, after T1",
        statement=(
            "While attention is nearly uniform, the rate of every score and "
            "self-score is a quarter of what E.5 displays, read as a function of "
            "scores and self-scores."
        ),
        judge=c.AtMost(
            "a quarter of the displays off the rates, over each table's largest rate",
            _uniform_error,
            0.02,
            when=_is_uniform,
            period="while the main score is at most 0.01",
        ),
        predicate="attention then differs from 1/3 by less than 1%; a rate has "
        "attention twice",
    ),
    _fails(
        id="B-E.7-updates",
        place="Appendices E.6 and E.7",
        statement="All through stage 2 the rates of scores and self-scores are the "
        "displayed sums over the four conflicting samples, with a factor g, as far as "
        "these displays are legible in the text that we read.",
        under=STAGE_TWO,
        judge=c.Equal(
            EXPANDED, partial(_update_error, weight=SUM), ROUNDING, when=_in_stage_two
        ),
        predicate="all 48 entries at every record of stage 2, from recorded attention, "
        "outputs, neurons and tables. Entries whose display is illegible are "
        "compared with the form of the others, which is ours",
        source="our runs at infinite width (deterministic): exactly four times the "
        "rates. Signs and orders do not change, nor does any lemma",
        correction=c.Correction(
            c.CorrectionKind.CONSTANT,
            _MEAN,
            c.Equal(
                f"a quarter of the {EXPANDED}",
                partial(_update_error, weight=MEAN),
                ROUNDING,
                when=_in_stage_two,
            ),
        ),
        mends=_FOURFOLD,
        witness=c.Witness(
            "witnesses/signs.py", {"updates off": (f"omega=0.1: {EXPANDED}",)}
        ),
    ),
)
