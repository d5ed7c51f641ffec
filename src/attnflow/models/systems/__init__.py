"""Dynamical systems: a form under a problem's forces, or written directly."""

from attnflow.models.systems.training import Training as Training
