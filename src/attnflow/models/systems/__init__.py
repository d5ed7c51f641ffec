"""Dynamical systems: a form under a problem's forces, or written directly."""

from attnflow.models.systems.training import DescentSystem as DescentSystem
from attnflow.models.systems.training import FlowSystem as FlowSystem
from attnflow.models.systems.training import Training as Training
