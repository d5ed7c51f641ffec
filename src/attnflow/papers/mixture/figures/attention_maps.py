"""Figure 2: attention maps of the positive head at the end of training."""

from __future__ import annotations

from functools import partial

from attnflow import figures
from attnflow.figures.exhibits import Panels, Table, Tables
from attnflow.papers.mixture.figures.courses import FINITE, SILENT_TRAINING
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.installation import xr

SAMPLES = {
    "X1++": "c1 v1 v2",
    "X1+-": "c1 v1 -v2",
    "X1-+": "c1 -v1 v2",
    "X1--": "c1 -v1 -v2",
}
"""The samples of group 1, as the paper names them and by their tokens."""


def _every(evidence: Evidence, name: str) -> xr.DataArray:
    """Final attention p(key | query) on a sample, by seed."""
    last = evidence["run"]["attention_at_end"].isel(stage=-1)
    return last.sel(head="+", sample=SAMPLES[name])


def _map(evidence: Evidence, name: str) -> xr.DataArray:
    return _every(evidence, name).mean("seed")


def _class_queries(table: Tables, name: str) -> xr.DataArray:
    """Attention of both class queries on c1, per seed."""
    on_c1 = _every(table.runs, name).isel(key_position=0)
    return on_c1.isel(query_position=slice(1, None))


FIGURE2 = Exhibit(
    id="figure2",
    kind="figure",
    title="Figure 2: attention of the positive head on samples of group 1",
    caption=(
        "Attention maps at the end of training: rows are queries, columns keys, and "
        "each row sums to one (mean over seeds). On the positive conflicting sample "
        "(c1, v1, −v2) class queries attend to the group token, whose value is "
        "positive; on the negative one (c1, −v1, v2) they do not. The negative head "
        "does the opposite."
    ),
    needs={"run": FINITE},
    shows=Panels(tuple(Table(title=n, of=partial(_map, name=n)) for n in SAMPLES)),
    draw=lambda t: figures.heatmap_grid(t, bar_label="attention $p$(key | query)"),
    values=lambda t: {
        f"attention on c1, {name}": dict(
            zip(sample.split(), t[name].values[:, 0].tolist(), strict=True)
        )
        for name, sample in SAMPLES.items()
    },
    checks={
        "on X1+- both class queries put more than half of their attention on c1": (
            lambda t: _class_queries(t, "X1+-") > 0.5
        ),
        "on X1-+ they put less than half of a uniform share on it": (
            lambda t: _class_queries(t, "X1-+") < 1 / 6
        ),
    },
    silent=(
        *SILENT_TRAINING,
        "The step of the maps is not stated: we show the end of training.",
    ),
)
