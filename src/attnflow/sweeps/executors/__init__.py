"""Executors: what computes the batches of a sweep."""

from attnflow.sweeps.executors.base import Executor as Executor
from attnflow.sweeps.executors.choose import choose_executor as choose_executor
from attnflow.sweeps.executors.here import Here as Here
from attnflow.sweeps.executors.local import Local as Local
