"""Figure 2: attention maps of the positive head at the end of training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attnflow import figures
from attnflow.papers.mixture.figures.runs import FINITE, SILENT_TRAINING, Numbers
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAMPLES = {
    "X1++": "c1 v1 v2",
    "X1+-": "c1 v1 -v2",
    "X1-+": "c1 -v1 v2",
    "X1--": "c1 -v1 -v2",
}
"""The samples of group 1, as the paper names them and by their tokens."""


def _map(evidence: Evidence, sample: str) -> xr.DataArray:
    """Final attention p(key | query), mean over seeds."""
    last = evidence["run"]["attention_at_end"].isel(stage=-1)
    return last.sel(head="+", sample=sample).mean("seed")


def draw(evidence: Evidence) -> Figure:
    """One attention map per sample of group 1, with queries as rows."""
    maps = {name: _map(evidence, sample) for name, sample in SAMPLES.items()}
    return figures.heatmap_grid(maps, bar_label="attention $p$(key | query)")


def values(evidence: Evidence) -> Numbers:
    """Attention of each query on the group token c1."""
    return {
        f"attention on c1, {name}": dict(
            zip(
                sample.split(),
                _map(evidence, sample).isel(key_position=0).values.tolist(),
                strict=True,
            )
        )
        for name, sample in SAMPLES.items()
    }


def _class_queries(evidence: Evidence, name: str) -> xr.DataArray:
    """Attention of both class queries on c1, per seed."""
    last = evidence["run"]["attention_at_end"].isel(stage=-1, key_position=0)
    return last.sel(head="+", sample=SAMPLES[name]).isel(query_position=slice(1, None))


def checks(evidence: Evidence) -> dict[str, bool]:
    """Whether class queries attend to c1 on X1+- and not on X1-+."""
    positive, negative = (_class_queries(evidence, name) for name in ("X1+-", "X1-+"))
    return {
        "on X1+- both class queries put more than half of their attention on c1": bool(
            (positive > 0.5).all()
        ),
        "on X1-+ they put less than half of a uniform share on it": bool(
            (negative < 1 / 6).all()
        ),
    }


FIGURE2 = Exhibit(
    id="figure2",
    kind="figure",
    title="Figure 2: attention of the positive head on samples of group 1",
    caption=(
        "At the end of training; rows are queries, columns keys, and each row sums to "
        "one (mean over seeds). On the positive conflicting sample (c1, v1, −v2) class "
        "queries attend to the group token, whose value is positive; on the negative "
        "one (c1, −v1, v2) they do not. The negative head does the opposite."
    ),
    needs={"run": FINITE},
    draw=draw,
    values=values,
    checks=checks,
    silent=(
        *SILENT_TRAINING,
        "The step of the maps is not stated: we show the end of training.",
    ),
)
