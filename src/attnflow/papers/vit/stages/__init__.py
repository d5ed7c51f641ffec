"""Stages of a `vit` run: the paper's formulas beside detected times."""

from attnflow.papers.vit.stages.formulas import FORMULAS as FORMULAS
from attnflow.papers.vit.stages.formulas import benign as benign
from attnflow.papers.vit.stages.formulas import harmful as harmful
from attnflow.papers.vit.stages.records import STAGES as STAGES
from attnflow.papers.vit.stages.records import loss_reached as loss_reached
from attnflow.papers.vit.stages.records import stage_table as stage_table
from attnflow.papers.vit.stages.series import WINNER as WINNER
from attnflow.papers.vit.stages.series import attention_to as attention_to
from attnflow.papers.vit.stages.series import largest_value as largest_value
from attnflow.papers.vit.stages.series import others as others
from attnflow.papers.vit.stages.series import regime_of as regime_of
from attnflow.papers.vit.stages.series import values_at as values_at
