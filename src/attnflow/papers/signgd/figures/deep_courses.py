"""Figures 14 and 15: the first layer of deeper models along training."""

from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from attnflow import _dims
from attnflow.paper import Evidence, Exhibit, Request
from attnflow.papers.signgd import stages
from attnflow.papers.signgd.deep_runs import (
    PLAIN,
    Blocks,
    course,
    models,
    name_of,
    smaller,
)
from attnflow.papers.signgd.deep_settings import READINGS
from attnflow.papers.signgd.figures import deep_panels as panels
from attnflow.papers.signgd.figures.readings import at_step
from attnflow.papers.signgd.figures.runs import SEEDS_SILENT
from attnflow.papers.signgd.stages import series

EMBED = 600
SIZE = {**smaller(EMBED), "steps": 400, "every": 10}
PAPERS_OWN = "attnflow run signgd/stack steps=2000 every=10"
WAYS = (*READINGS, PLAIN)
LEAST_FLOAT32 = -45.0


def _needs(shown: tuple[Blocks, ...]) -> dict[str, Request]:
    return {
        name_of(model, way): course(
            model, "full" if way == PLAIN else way, plain=way == PLAIN, size=SIZE
        )
        for model in shown
        for way in WAYS
    }


def _numbers(run: xr.Dataset) -> dict[str, float]:
    """What became of the stages and of the gradients in one run."""
    first = stages.first_layer(run)
    vote = series.voted(first)
    found = {
        "pairs of one sign at t = 10": at_step(series.aligned(first), 10),
        "neurons with signals by vote, most": vote.max(_dims.TIME),
        "neurons with signals by vote, at the end": vote.isel(time=-1),
        "outvoted queries that turn, most": panels.turning(first).max(_dims.TIME),
        "log10 mean |gradient| of queries at the end": panels.gradient(first).isel(
            time=-1
        ),
        "mean |update| / η at the end": panels.moving(first).isel(time=-1),
    }
    return {name: float(np.median(value)) for name, value in found.items()}


def _values(shown: tuple[Blocks, ...], evidence: Evidence) -> dict[str, Any]:
    return {
        model.short: {way: _numbers(evidence[name_of(model, way)]) for way in WAYS}
        for model in shown
    }


def _seen(shown: tuple[Blocks, ...], evidence: Evidence) -> dict[str, bool]:
    found = _values(shown, evidence)
    return {}


def _exhibit(number: int, shown: tuple[Blocks, ...], says: str) -> Exhibit:
    return Exhibit(
        id=f"figure{number}",
        kind="figure",
        title=f"Figure {number}: deeper models",
        caption=says,
        needs=_needs(shown),
        draw=partial(panels.draw, shown),
        values=partial(_values, shown),
        seen=partial(_seen, shown),
        silent=(SEEDS_SILENT,),
    )


FIGURE14 = _exhibit(14, models(residual=True), "")
FIGURE15 = _exhibit(15, models(residual=False), "")
