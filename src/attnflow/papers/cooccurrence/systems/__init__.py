"""Computations of `cooccurrence` that do not train with the forms of the core.

Each is a function of a setting in `computations` and of seeds.
"""

from attnflow.papers.cooccurrence.systems.conformance import conformance as conformance
from attnflow.papers.cooccurrence.systems.conservation import (
    conservation as conservation,
)
from attnflow.papers.cooccurrence.systems.counts_machine import token_svm as token_svm
from attnflow.papers.cooccurrence.systems.hand_gradients import gradients as gradients
from attnflow.papers.cooccurrence.systems.initial_bounds import (
    concentration as concentration,
)
from attnflow.papers.cooccurrence.systems.six_variables import appendix_c as appendix_c
