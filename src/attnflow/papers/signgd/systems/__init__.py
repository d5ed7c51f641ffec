"""Computations on single weights along a run: lost signs, sizes of Adam's updates.

Each is a function of a setting of `computations` and of seeds.
"""

from attnflow.papers.signgd.systems.naive_signs import naive_signs as naive_signs
from attnflow.papers.signgd.systems.updates import updates as updates
