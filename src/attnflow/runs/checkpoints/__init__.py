"""Checkpoints of a user's training, as a run with our observables."""

from attnflow.runs.checkpoints.inputs import initial_weights as initial_weights
from attnflow.runs.checkpoints.inputs import samples as samples
from attnflow.runs.checkpoints.inputs import times as times
from attnflow.runs.checkpoints.observe import observe as observe
from attnflow.runs.checkpoints.transformer_lens import (
    transformer_lens as transformer_lens,
)
