"""Runs that others trained: their weights or tables through our observables."""

from attnflow.observing.beginnings import initial_weights as initial_weights
from attnflow.observing.beginnings import samples as samples
from attnflow.observing.beginnings import times as times
from attnflow.observing.observe import observe as observe
