"""Stages of a `signgd` run: the paper's formulas beside detected times.

Times are steps of the run. Where the learning rate grows (the lattice), formulas are
converted to steps, and notes also have times in units of the first learning rate.
"""

from attnflow.papers.signgd.stages.attended_tokens import winners as winners
from attnflow.papers.signgd.stages.attended_tokens import (
    with_attended_noise as with_attended_noise,
)
from attnflow.papers.signgd.stages.clock import clock_of as clock_of
from attnflow.papers.signgd.stages.clock import steps_at as steps_at
from attnflow.papers.signgd.stages.events import all_follow as all_follow
from attnflow.papers.signgd.stages.events import attention_leaves as attention_leaves
from attnflow.papers.signgd.stages.events import clock_times as clock_times
from attnflow.papers.signgd.stages.events import keys_follow as keys_follow
from attnflow.papers.signgd.stages.events import keys_turn as keys_turn
from attnflow.papers.signgd.stages.events import minority as minority
from attnflow.papers.signgd.stages.events import noise_aligned as noise_aligned
from attnflow.papers.signgd.stages.events import queries_follow as queries_follow
from attnflow.papers.signgd.stages.events import queries_turn as queries_turn
from attnflow.papers.signgd.stages.events import signals_voted as signals_voted
from attnflow.papers.signgd.stages.events import softmax_yields as softmax_yields
from attnflow.papers.signgd.stages.events import turned_share as turned_share
from attnflow.papers.signgd.stages.events import two_cycles as two_cycles
from attnflow.papers.signgd.stages.events import values_positive as values_positive
from attnflow.papers.signgd.stages.first_layer import first_layer as first_layer
from attnflow.papers.signgd.stages.first_layer import lost_signs as lost_signs
from attnflow.papers.signgd.stages.first_layer import signs_end as signs_end
from attnflow.papers.signgd.stages.table import stage_formulas as stage_formulas
from attnflow.papers.signgd.stages.table import stage_table as stage_table
