"""Figures 14 and 15: training dynamics of the first layer of deeper models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

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
from attnflow.schema.declarations import Evidence, Exhibit, Request, Sentences
from attnflow.schema.dims import TIME
from attnflow.schema.libraries import xr

EMBED = 600
SIZE = {**smaller(EMBED), "steps": 400, "every": 10}
WAYS = (*READINGS, PLAIN)
VOTED = 50
"""By this step the vote on signals is over."""

TURN = "outvoted queries that turn, most"
ATTENTION = "signals' attention to signals at the end"
Table = dict[str, dict[str, dict[str, float]]]
Told = Callable[[tuple[Blocks, ...], Evidence], dict[str, Any]]


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
        TURN: panels.turning(first).max(TIME),
        ATTENTION: panels.signal_attention(first).isel(end),
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


SOURCE = "Appendix B.6"
STAGE_FOUR = (
    "`mean` in plain float32, stage IV: outvoted queries begin to turn in every model, "
    "more than a tenth of them at some time"
)
HALTS = "`mean` in plain float32: with MLP fewer outvoted queries turn than without"


def _stated_with(
    stacks: tuple[Blocks, ...], evidence: Evidence
) -> dict[str, Sentences]:
    """Statements of the paper on Figure 14, by the reading that is nearest to them."""
    table, nearest = _values(stacks, evidence), NEAREST[True]
    share = {model: table[model.short][PLAIN][TURN] for model in stacks}
    bare = [share[model] for model in stacks if not model.mlp]
    deepest = table[stacks[-1].short][PLAIN]
    sentences = {
        "`mean`, stage II: more than 90% of pairs have one sign at t = 20": _all(
            table, nearest, "pairs of one sign at t = 20", lambda share: share > 0.9
        ),
        "`mean`, stage III: signals of 90% of neurons are by vote at some time": _all(
            table, nearest, "signals by vote, most", lambda share: share >= 0.9
        ),
        STAGE_FOUR: min(share.values()) > 0.1,
        HALTS: max(share[m] for m in stacks if m.mlp) < min(bare),
        "gradients are rounded to zero: in plain float32, 3 layers with MLP end "
        "without updates": deepest["mean |update| / η at the end"] == 0,
    }
    return {SOURCE: sentences}


def _checks_with(stacks: tuple[Blocks, ...], evidence: Evidence) -> dict[str, bool]:
    """What the signs would do without rounding, and by other readings."""
    table, nearest = _values(stacks, evidence), NEAREST[True]
    bare = {m.short: table[m.short] for m in stacks if not m.mlp}
    least_vote = "signals by vote, least from t = 50"
    return {
        "`mean`, exact signs, without MLP: 90% of outvoted queries or more turn": _all(
            bare, nearest, TURN, lambda share: share > 0.9
        ),
        "`full` and `damped`, without MLP: signals turn, half are by vote no more": all(
            _all(bare, way, least_vote, lambda share: share < 0.5)
            for way in ("full", "damped")
        ),
    }


OPPOSED = "`full`: query and key signals have opposite signs in 90% of neurons at first"
ATTENDED = "`full`: signals end with more than half of their attention on signals"


def _stated_without(
    stacks: tuple[Blocks, ...], evidence: Evidence
) -> dict[str, Sentences]:
    """Statements of the paper on Figure 15, by the reading nearest to them."""
    table, nearest = _values(stacks, evidence), NEAREST[False]
    sentences = {
        "`full`, stage II: more than 85% of pairs have one sign at t = 20": _all(
            table, nearest, "pairs of one sign at t = 20", lambda share: share > 0.85
        ),
        OPPOSED: _all(
            table, nearest, "signals by vote, most", lambda share: share >= 0.9
        ),
        ATTENDED: _all(table, nearest, ATTENTION, lambda share: share > 0.55),
    }
    return {SOURCE: sentences}


def _checks_without(stacks: tuple[Blocks, ...], evidence: Evidence) -> dict[str, bool]:
    """Where signals attend to signals, and what rounding does."""
    table, nearest = _values(stacks, evidence), NEAREST[False]
    return {
        "`full`: with 2 layers signals end with more than half of attention on "
        "signals": table[stacks[0].short][nearest][ATTENTION] > 0.55,
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
    stated: Told,
    checks: Told,
    differs: Mapping[str, str] = MappingProxyType({}),
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
        stated=partial(stated, stacks),
        checks=partial(checks, stacks),
        differs=differs,
    )


FIGURE14 = _exhibit(
    14,
    residual=True,
    says="Claimed: all four stages, of which the last halts midway, earlier with MLP, "
    "because gradients are rounded to zero. With `mean`, outvoted queries turn without "
    "MLP; with MLP some begin to turn in plain float32 and then halt, and hardly any "
    "do with exact signs.",
    stated=_stated_with,
    checks=_checks_with,
)
FIGURE15 = _exhibit(
    15,
    residual=False,
    says="Claimed: signs align and signals are opposite at first; then signals attend "
    "to signals more, and the dynamics becomes irregular. With `full` they attend more "
    "without MLP; with `mean` nothing is irregular, and all four stages occur.",
    stated=_stated_without,
    checks=_checks_without,
    differs={ATTENDED: "they do without MLP, and not with it"},
)
