"""Stages of a run of `scansnap`: formulas and detectors."""

from attnflow.papers.scansnap.stages.events import attention_snap as attention_snap
from attnflow.papers.scansnap.stages.events import decoder_snap as decoder_snap
from attnflow.papers.scansnap.stages.events import frozen as frozen
from attnflow.papers.scansnap.stages.events import slow_growth as slow_growth
from attnflow.papers.scansnap.stages.formulas import stage_times as stage_times
from attnflow.papers.scansnap.stages.table import stage_table as stage_table
