"""Runs that others trained: their weights or tables through our observables."""

from attnflow.runs.checkpoints.beginnings import initial_weights as initial_weights
from attnflow.runs.checkpoints.beginnings import samples as samples
from attnflow.runs.checkpoints.beginnings import times as times
from attnflow.runs.checkpoints.observe import observe as observe
