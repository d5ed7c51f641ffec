"""Computations: signs that autodiff loses, sizes of Adam's updates, initial draws.

Each is a function of a setting of `computations` and of seeds.
"""

from attnflow.papers.signgd.systems.draws import draws as draws
from attnflow.papers.signgd.systems.naive_signs import naive_signs as naive_signs
from attnflow.papers.signgd.systems.updates import updates as updates
