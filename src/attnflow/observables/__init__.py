"""Observables: named functions of a system in one state."""

# Each of these registers the observables of its topic.
from attnflow.observables import model as model
from attnflow.observables import weights as weights
from attnflow.observables.model import OF_SAMPLES as OF_SAMPLES
from attnflow.observables.registry import OBSERVABLES as OBSERVABLES
from attnflow.observables.registry import Observable as Observable
from attnflow.observables.registry import Scalar as Scalar
from attnflow.observables.registry import find as find
from attnflow.observables.registry import observable as observable
from attnflow.observables.registry import parse as parse
from attnflow.observables.view import View as View
