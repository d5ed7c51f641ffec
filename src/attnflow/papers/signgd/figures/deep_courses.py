"""Figures 14 and 15: training dynamics of the first layer of deeper models."""

from collections.abc import Callable
from functools import partial

import numpy as np
import xarray as xr

from attnflow.papers.signgd import stages
from attnflow.papers.signgd.deep_runs import (
    NEAREST,
    PLAIN,
    Blocks,
    course,
    models,
    name_of,
    smaller,
)
from attnflow.papers.signgd.deep_settings import READINGS
from attnflow.papers.signgd.figures import deep_panels as panels
from attnflow.papers.signgd.figures.runs import SEEDS_SILENT
from attnflow.papers.signgd.figures.statistics import at_step
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.dims import TIME

EMBED = 600
SIZE = {**smaller(EMBED), "steps": 400, "every": 10}
WAYS = (*READINGS, PLAIN)
VOTED = 50
"""By this step the vote on signals is over."""

Table = dict[str, dict[str, dict[str, float]]]


def _needs(stacks: tuple[Blocks, ...]) -> dict[str, Request]:
    return {
        name_of(model, way): course(model, way, size=SIZE)
        for model in stacks
        for way in WAYS
    }


def numbers(run: xr.Dataset) -> dict[str, float]:
    """Statistics of the stages and of the gradients of one run, medians over seeds."""
    first = stages.first_layer(run)
    vote, end = series.voted(first), {TIME: -1}
    statistics = {
        "pairs of one sign at t = 20": at_step(series.aligned(first), 20),
        "signals by vote, most": vote.max(TIME),
        "signals by vote, least from t = 50": vote.sel(time=slice(VOTED, None)).min(
            TIME
        ),
        "outvoted queries that turn, most": panels.turning(first).max(TIME),
        "signals' attention to signals at the end": panels.signal_attention(first).isel(
            end
        ),
        "log10 mean |gradient| of queries, least": panels.gradient(first).min(TIME),
        "mean |update| / η at the end": panels.moving(first).isel(end),
        "share of zero signs at the end": first["zero_signs"].isel(end),
    }
    return {name: float(np.median(value)) for name, value in statistics.items()}


def _values(stacks: tuple[Blocks, ...], evidence: Evidence) -> Table:
    return {
        model.short: {way: numbers(evidence[name_of(model, way)]) for way in WAYS}
        for model in stacks
    }


def _all(table: Table, way: str, name: str, holds: Callable[[float], bool]) -> bool:
    """Whether a statistic satisfies `holds` in every model, by one reading."""
    return all(holds(by_way[way][name]) for by_way in table.values())


def _seen_with(stacks: tuple[Blocks, ...], evidence: Evidence) -> dict[str, bool]:
    """Statements on Figure 14, by the reading that reproduces them, and by others."""
    table, nearest = _values(stacks, evidence), NEAREST[True]
    bare = {m.short: table[m.short] for m in stacks if not m.mlp}
    deepest = table[stacks[-1].short][PLAIN]
    least_vote = "signals by vote, least from t = 50"
    return {
        "`mean`, stage II: more than 90% of pairs have one sign at t = 20": _all(
            table, nearest, "pairs of one sign at t = 20", lambda share: share > 0.9
        ),
        "`mean`, stage III: signals of 90% of neurons are by vote at some time": _all(
            table, nearest, "signals by vote, most", lambda share: share >= 0.9
        ),
        "`mean`, stage IV: without MLP more than 90% of outvoted queries turn": _all(
            bare, nearest, "outvoted queries that turn, most", lambda share: share > 0.9
        ),
        "in plain float32, 3 layers with MLP end without updates": (
            deepest["mean |update| / η at the end"] == 0
        ),
        "`full` and `damped`, without MLP: signals turn, half are by vote no more": all(
            _all(bare, way, least_vote, lambda share: share < 0.5)
            for way in ("full", "damped")
        ),
    }


def _seen_without(stacks: tuple[Blocks, ...], evidence: Evidence) -> dict[str, bool]:
    """Statements on Figure 15, by the reading that reproduces most of them."""
    table, nearest = _values(stacks, evidence), NEAREST[False]
    return {
        "`full`, stage II: more than 85% of pairs have one sign at t = 20": _all(
            table, nearest, "pairs of one sign at t = 20", lambda share: share > 0.85
        ),
        "`full`: with 2 layers signals end with more than half of attention on "
        "signals": table[stacks[0].short][nearest][
            "signals' attention to signals at the end"
        ]
        > 0.55,
        "in plain float32 every model ends without updates": _all(
            table, PLAIN, "mean |update| / η at the end", lambda share: share == 0
        ),
    }


_CAPTION = (
    f"Setting (a) at d = {EMBED}, seed 0, SignGD at a learning rate at which events "
    "keep the steps of d = 2000 (the paper's size: attnflow run signgd/stack "
    "steps=2000 every=10). The paper does not define its blocks: each reading is "
    "reported and not judged. Top: one neuron of the first layer, by the reading "
    "`{nearest}`, which is closest to the paper; dotted: the same reading by plain "
    "autograd in float32. In all other curves gradients do not underflow with the "
    "loss; mean |update| is η times the fraction of weights with a sign. "
)


def _exhibit(
    number: int,
    *,
    residual: bool,
    says: str,
    seen: Callable[[tuple[Blocks, ...], Evidence], dict[str, bool]],
) -> Exhibit:
    stacks = models(residual=residual)
    has = "with" if residual else "without"
    return Exhibit(
        id=f"figure{number}",
        kind="figure",
        title=f"Figure {number}: deeper models {has} residual connections",
        caption=_CAPTION.format(nearest=NEAREST[residual]) + says,
        needs=_needs(stacks),
        silent=(
            SEEDS_SILENT,
            *(f"Blocks, reading `{name}`: {text}." for name, text in READINGS.items()),
        ),
        draw=partial(panels.draw, stacks),
        values=partial(_values, stacks),
        seen=partial(seen, stacks),
    )


FIGURE14 = _exhibit(
    14,
    residual=True,
    says="Claimed: all four stages, of which the last halts midway, earlier with MLP, "
    "because gradients are rounded to zero. With `mean`, outvoted queries turn without "
    "MLP; with MLP some begin to turn in plain float32 and then halt, and hardly any "
    "do with exact signs.",
    seen=_seen_with,
)
FIGURE15 = _exhibit(
    15,
    residual=False,
    says="Claimed: signs align and signals are opposite at first; then signals attend "
    "to signals more, and the dynamics becomes irregular. With `full` they attend more "
    "without MLP; with `mean` nothing is irregular, and all four stages occur.",
    seen=_seen_without,
)
