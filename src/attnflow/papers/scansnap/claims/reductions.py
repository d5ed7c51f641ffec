"""Claims of ours on exact identities of gradient flow in J: E-R-4 and E-R-6."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import schema
from attnflow.claims import Claim, Equal, Kind, Verdict
from attnflow.papers.scansnap.claims.evidence import FLOW_RUN, J, flow
from attnflow.papers.scansnap.claims.snapping import SCALED_J
from attnflow.schema.installation import xr

BALANCE = {
    "balance": flow(
        "classes",
        record=("score", "value_square", "attention_unit", "backprop"),
        records=4001,
        until=50.0,
        score_rate=0.7,
    )
}


def _apart(*runs: xr.Dataset) -> np.ndarray:
    """Scores at the same η_Y t less those of the first run, over the largest."""
    first, *others = (run["score"].values for run in runs)
    return np.array([scores - first for scores in others]) / np.abs(first).max()


def _imbalance(run: xr.Dataset) -> xr.DataArray:
    """The change of z/η_Z − |Y|²/(2η_Y) over the integral of its velocity, less 1."""
    setting = schema.setting_of(run)
    unit, back = run["attention_unit"], run["backprop"]
    level = (unit * back).sum("token")
    right = -(unit**2 * level).mean("class")
    square = run["value_square"] / (2 * setting["value_rate"])
    left = run["score"].isel(query=0, drop=True) / setting["score_rate"] - square
    change = left.isel(time=-1, drop=True) - left.isel(time=0, drop=True)
    return change / right.integrate("time") - 1


_claim = partial(
    Claim,
    kind=Kind.IDENTITY,
    system=J,
    expected=Verdict.HOLDS,
    source=FLOW_RUN,
    origin="ours",
)
CLAIMS = (
    _claim(
        id="E-R-4",
        place="Section 6",
        statement=(
            "A flow depends on η_Y, η_Z and t only through η_Y t and η_Y/η_Z: larger "
            "rates at a fixed ratio amount to a later time and nothing else."
        ),
        under=(),
        needs=SCALED_J,
        judge=Equal(
            "scores at the same η_Y t less those of the first, over the largest",
            _apart,
            1e-8,
            together=True,
        ),
        predicate="η_Y = η_Z = 0.1, 0.3, 1, 3; the flow's rtol is 1e-10 per step",
        settings="K = 10, M = 1000, one common token, to η_Y t = 10⁵",
    ),
    _claim(
        id="E-R-6",
        place="Lemma 1",
        statement="d/dt [z_l/η_Z − |Y_l|²/(2η_Y)] = −(1/K) Σ_n f_nl² (f_n · g_n) for "
        "every token, with one query.",
        under=("queries",),
        needs=BALANCE,
        judge=Equal("the change to t = 50 over the integral, less 1", _imbalance, 1e-4),
        predicate="the trapezoidal rule on 4001 records, second order in a step of "
        "0.003 in ln t",
        settings="K = 2, M = 100, one common token, η_Y = 1, η_Z = 0.7",
    ),
)
