"""Dynamical systems: a form under a problem's forces, or written directly."""

from attnflow.systems.base import DescentSystem as DescentSystem
from attnflow.systems.base import FlowSystem as FlowSystem
from attnflow.systems.training import Training as Training
