"""The two phases of the paper's experiment, and directions of change in each.

Phase 1 ends at T1, from which on every sample is classified correctly; Phase 2 at the
end of training. Where one of them is not reached, its records are not known.
"""

from __future__ import annotations

import numpy as np

from attnflow import schema
from attnflow.claims import look
from attnflow.papers.cooccurrence import stages
from attnflow.papers.cooccurrence.claims.evidence import experiment
from attnflow.papers.cooccurrence.claims.phase_two import Signs, signed
from attnflow.papers.cooccurrence.claims.windows import at_end
from attnflow.schema.installation import xr

TEN = tuple(range(200, 210))
"""Seeds on which claims are judged; predicates were chosen on seeds 0 to 9."""
RUN = {"run": experiment(seeds=TEN)}
ONE_TARGET = ["first", "second"]


def in_first(run: xr.Dataset) -> xr.DataArray:
    """Mask of phase 1 and the first record after it."""
    inside = look.between(run, 0.0, stages.all_correct(run), closed="left")
    return inside | inside.shift(time=1, fill_value=False)


def in_second(run: xr.Dataset) -> xr.DataArray:
    """Mask of phase 2."""
    end = schema.setting_of(run)["steps"]
    return look.between(run, stages.all_correct(run), end)


def steps_of_second(run: xr.Dataset) -> xr.DataArray:
    """Mask of the steps between records of phase 2."""
    return look.both(in_second(run))


def at_last(run: xr.Dataset, name: str) -> xr.DataArray:
    """An observable at the end of training; NaN where it ends early."""
    reached = look.ends(run) >= schema.setting_of(run)["steps"] * (1 - 1e-9)
    return at_end(run, name).where(reached)


def over_mean(series: xr.DataArray, where: xr.DataArray) -> xr.DataArray:
    """A series over the size of its mean inside a mask, entry by entry."""
    return series / abs(series.where(where).mean("time"))


def moves(run: xr.Dataset, name: str, signs: Signs) -> xr.DataArray:
    """Signed steps of a table between records over their mean in phase 2."""
    steps = look.steps(signed(run[name], signs))
    return over_mean(steps, steps_of_second(run))


def falls(series: xr.DataArray, where: xr.DataArray) -> xr.DataArray:
    """Decreases of log loss from record to record, over their mean inside a mask."""
    return over_mean(-look.steps(xr.apply_ufunc(np.log, series)), where)
