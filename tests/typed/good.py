"""A program of a user that is typed strictly, against the installed package."""

from pathlib import Path

import numpy as np
import xarray as xr

import attnflow as af
from attnflow import figures
from attnflow.claims import ClaimsTable, Row, Verdict


def last_loss(name: str, width: int) -> float:
    """The loss at the end, averaged over seeds."""
    run = af.run(name, seeds=2, width=width)
    return float(run["loss"].isel(time=-1).mean())


def failing(slug: str, *ids: str) -> list[str]:
    """Ids of claims that fail."""
    table: ClaimsTable = af.paper(slug).claims.verify(*ids, seeds=3, workers=0)
    rows: list[Row] = [row for row in table if row.verdict is Verdict.FAILS]
    return [row.id for row in rows]


def draw(run: xr.Dataset, folder: Path) -> Path:
    """Attention as it moves."""
    animation = figures.animate(run, fixed={"head": "+"}, frames=30)
    return animation.save(folder / "attention.gif")


def own_run() -> xr.Dataset:
    """An experiment of one's own."""
    rule = af.GradientDescent(0.1)
    experiment = af.mix(af.MixtureTask(2, 3), rule, 100.0)
    return af.run(experiment, seeds=[0, 1], store=False)


def sweep() -> xr.Dataset:
    """A map over two settings."""
    return af.sweep("mixture/figure1", omega="0.01..1:3:log", width=[64, 128])


def tokens() -> int:
    """How many tokens a sample has."""
    data: af.Sequences = af.MixtureTask(2, 3).sequences()
    return int(np.asarray(data.tokens).shape[-1])


def texts() -> str:
    """What to cite, and the version."""
    version: str = af.__version__
    return f"{af.citation('mixture')} {version}"
