"""Lines of tokens, types of samples and scores, and the clock b0·t of several runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from attnflow.claims.stages import select
from attnflow.papers.cooccurrence.stages import clock
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr

TOKENS: dict[str, dict[str, Any]] = {
    "mu1": {"kind": "signal"},
    "mu2": {"kind": "signal", "shade": 1},
    "mu3": {"kind": "common"},
}
"""Named tokens, each with the fields of its lines, as the following have."""
TYPES: dict[str, dict[str, Any]] = {
    "both": {"kind": "easy", "label": "both targets"},
    "first": {"kind": "hard", "label": "mu1 alone"},
    "second": {"kind": "hard", "shade": 1, "label": "mu2 alone"},
    "neither": {"kind": "noise", "label": "neither"},
}
"""Types of samples."""
ONE_TARGET = ("first", "second")
PAIRS: dict[str, dict[str, Any]] = {
    "mu1, mu2": {"kind": "match"},
    "mu2, mu1": {"kind": "match", "shade": 1},
    "mu3, mu1": {"kind": "mismatch"},
    "mu3, mu2": {"kind": "mismatch", "shade": 1},
}
"""The scores (key, query) that the paper names."""

READOUT = r"readout $G(\mu) = a^{\top} W\, W_V\,\mu$"
SCORE = r"score $\mu_i^{\top} W_K^{\top} W_Q\,\mu_j$"
CLOCK = r"training time $b_0 t$"


def size_name(letter: str, size: float) -> str:
    """Label of a size in mathematics, such as m = 32 768 or n = 10^7."""
    exponent = round(np.log10(size))
    if size >= 1e6 and np.isclose(size, 10.0**exponent):
        return f"${letter} = 10^{{{exponent}}}$"
    grouped = f"{size:,.0f}" if size >= 10_000 else f"{size:.0f}"
    return f"${letter} = " + grouped.replace(",", r"\,") + "$"


def class_shares(run: xr.Dataset) -> xr.DataArray:
    """Shares Σ_k / Σ of the logistic weights of each type, by group."""
    return run["pull_by_group"] / run["pull_by_group"].sum("group")


def on_clock(
    of: str | Callable[[xr.Dataset], xr.DataArray], **labels: str
) -> Callable[[xr.Dataset], xr.DataArray]:
    """The function from a run to a series with b0·t as its time, alike for all seeds.

    Seeds differ in b0, so that each is interpolated between its records, linearly in
    log t; after a seed's last record values are NaN. Time 0 is left out.

    **Arguments:**

    - `of`: a selector such as `value[0,mu1]`, or a function of the run.
    - `labels`: of dims that such a function leaves.
    """

    def series(run: xr.Dataset) -> xr.DataArray:
        table = select(run, of) if isinstance(of, str) else of(run).sel(labels)
        clocks, rows, recorded = (
            each.transpose(SEED, TIME).values[:, 1:]
            for each in (clock(run), table, run["recorded"])
        )
        times = np.median(clocks, axis=0)
        aside = {"left": np.nan, "right": np.nan}
        clocked = [
            np.interp(np.log(times), np.log(own[known]), row[known], **aside)
            for own, row, known in zip(clocks, rows, recorded, strict=True)
        ]
        return xr.DataArray(clocked, {SEED: run[SEED], TIME: times}, (SEED, TIME))

    return series
