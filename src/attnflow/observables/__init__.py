"""Observables: named functions of a system in one state."""

from attnflow.observables import neurons as neurons
from attnflow.observables.registry import OBSERVABLES as OBSERVABLES
from attnflow.observables.registry import Observable as Observable
from attnflow.observables.registry import find as find
from attnflow.observables.registry import observable as observable
from attnflow.observables.scalar import Scalar as Scalar
from attnflow.observables.scalar import parse as parse
from attnflow.observables.view import View as View
