"""Benchmarks: the reduced form, plain weights and PyTorch side by side.

Equal trajectories are checked first; then the three are timed in turns, in one
process that is pinned to one core.
"""

from attnflow.cli.benchmarks.harness import Case as Case
from attnflow.cli.benchmarks.harness import cases as cases
from attnflow.cli.benchmarks.harness import run_case as run_case
