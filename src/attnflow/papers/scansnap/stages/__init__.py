"""Stages of a run of `scansnap`: formulas and detectors."""

from attnflow.papers.scansnap.stages.formulas import formula_times as formula_times
from attnflow.papers.scansnap.stages.table import ATTENTION_SNAP as ATTENTION_SNAP
from attnflow.papers.scansnap.stages.table import SLOW_GROWTH as SLOW_GROWTH
from attnflow.papers.scansnap.stages.table import stage_table as stage_table
