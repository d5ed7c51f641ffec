"""Which stages a run has."""

import xarray as xr

from attnflow import schema
from attnflow.claims.stages import StageRow
from attnflow.papers.mixture.stages.algorithm import algorithm_rows
from attnflow.papers.mixture.stages.together import together_rows
from attnflow.schema.dims import TIME


def stage_table(run: xr.Dataset) -> list[StageRow]:
    """The stages of a run; none where nothing was trained."""
    if TIME not in run.dims:
        return []
    setting = schema.setting_of(run)
    rows = together_rows if "steps" in setting else algorithm_rows
    return rows(run, setting)
