"""The stage table of a run."""

import xarray as xr

from attnflow import schema
from attnflow.claims.stages import StageRow
from attnflow.papers.mixture.stages.algorithm import algorithm_rows
from attnflow.papers.mixture.stages.simultaneous import simultaneous_rows
from attnflow.schema.dims import TIME


def stage_table(run: xr.Dataset) -> list[StageRow]:
    """The stage table of a run; empty if nothing was trained."""
    if TIME not in run.dims:
        return []
    setting = schema.setting_of(run)
    rows = simultaneous_rows if "steps" in setting else algorithm_rows
    return rows(run, setting)
