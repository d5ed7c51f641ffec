"""Stages of a `vit` run: the paper's formulas beside detected times."""

from attnflow.papers.vit.stages.events import attention_won as attention_won
from attnflow.papers.vit.stages.events import loss_reached as loss_reached
from attnflow.papers.vit.stages.events import values_grown as values_grown
from attnflow.papers.vit.stages.events import values_separate as values_separate
from attnflow.papers.vit.stages.formulas import Time as Time
from attnflow.papers.vit.stages.formulas import benign as benign
from attnflow.papers.vit.stages.formulas import harmful as harmful
from attnflow.papers.vit.stages.series import Regime as Regime
from attnflow.papers.vit.stages.series import attention_to as attention_to
from attnflow.papers.vit.stages.series import regime_of as regime_of
from attnflow.papers.vit.stages.series import values_at as values_at
from attnflow.papers.vit.stages.table import stage_rows as stage_rows
from attnflow.papers.vit.stages.table import stage_table as stage_table
