"""Observables: named functions of a system in one state."""

# Each of these registers the observables of its topic.
from attnflow.observables import changes as changes
from attnflow.observables import held_out as held_out
from attnflow.observables import neurons as neurons
from attnflow.observables import outputs as outputs
from attnflow.observables import rates as rates
from attnflow.observables import rows as rows
from attnflow.observables import sharpness as sharpness
from attnflow.observables import signs as signs
from attnflow.observables import tables as tables
from attnflow.observables.registry import OBSERVABLES as OBSERVABLES
from attnflow.observables.registry import Observable as Observable
from attnflow.observables.registry import find as find
from attnflow.observables.registry import observable as observable
from attnflow.observables.scalar import Scalar as Scalar
from attnflow.observables.scalar import parse as parse
from attnflow.observables.view import View as View
