"""How shallow transformers learn, exactly where that is possible.

A paper is a set of experiments, figures and tables, and claims; look at one, run one
of its experiments, check what it claims:

    >>> import attnflow as af
    >>> af.paper("mixture").recipe("figure1").title
    'All weights together by gradient descent'
    >>> run = af.run("mixture/figure1", steps=20, records=3, store=False)
    >>> dict(run["loss"].sizes)
    {'seed': 1, 'time': 3}
    >>> str(af.paper("mixture").claims["B-L6.1"].expected)
    'holds-corrected'

| to | use |
|---|---|
| see what there is | `af.paper(slug)`, and `.claims`, `.recipes`, `.exhibits` of it |
| run an experiment | `af.run(name, seeds=…, setting=…)`: an `xarray.Dataset` |
| read a run | `run.attnflow`; `attnflow.schema` says what is in it |
| check claims | `af.paper(slug).claims.verify(seeds=5)` |
| map a setting | `af.sweep(name, omega="0.01..1:9:log")` |
| build your own | `af.Builder`, `af.Task`, `af.sequences`, `af.Problem`, `af.Initial` |
| write a paper of your own | `attnflow new-paper NAME`; docs/your-own-paper.md |
| cite | `af.citation(slug)` |

The names below are imported when they are first used, so that `attnflow --help`
and everything that only reads runs stay free of JAX.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnflow._outcome import Outcome as Outcome
    from attnflow.citation import citation as citation
    from attnflow.claims import Claim as Claim
    from attnflow.claims import Scope as Scope
    from attnflow.claims import Verdict as Verdict
    from attnflow.curvature import Widths as Widths
    from attnflow.curvature import hessian_spectrum as hessian_spectrum
    from attnflow.curvature import linearised as linearised
    from attnflow.curvature import sharpness as sharpness
    from attnflow.curvature import tangent_kernel as tangent_kernel
    from attnflow.curvature import widths_of as widths_of
    from attnflow.data import CooccurrenceOrbits as CooccurrenceOrbits
    from attnflow.data import CooccurrenceTask as CooccurrenceTask
    from attnflow.data import DisjointNoiseTask as DisjointNoiseTask
    from attnflow.data import InContextTask as InContextTask
    from attnflow.data import MixtureTask as MixtureTask
    from attnflow.data import NoisyLabels as NoisyLabels
    from attnflow.data import NoisyPatchesTask as NoisyPatchesTask
    from attnflow.data import Positions as Positions
    from attnflow.data import PromptQuery as PromptQuery
    from attnflow.data import Sequences as Sequences
    from attnflow.data import SignalNoiseTask as SignalNoiseTask
    from attnflow.data import from_arrays as from_arrays
    from attnflow.data import sequences as sequences
    from attnflow.dynamics import Grid as Grid
    from attnflow.dynamics import Reach as Reach
    from attnflow.dynamics import Stage as Stage
    from attnflow.dynamics import precise as precise
    from attnflow.experiment import Builder as Builder
    from attnflow.experiment import Computation as Computation
    from attnflow.experiment import EpsilonWarning as EpsilonWarning
    from attnflow.experiment import Experiment as Experiment
    from attnflow.experiment import LearningRateWarning as LearningRateWarning
    from attnflow.experiment import Task as Task
    from attnflow.experiment import run_batch as run_batch
    from attnflow.experiment import run_cells as run_cells
    from attnflow.forms import Chain as Chain
    from attnflow.forms import ClassMeans as ClassMeans
    from attnflow.forms import Initial as Initial
    from attnflow.forms import Neurons as Neurons
    from attnflow.forms import Vector as Vector
    from attnflow.mixing import mix as mix
    from attnflow.observing import initial_weights as initial_weights
    from attnflow.observing import observe as observe
    from attnflow.observing import samples as samples
    from attnflow.observing import times as times
    from attnflow.paper import Exhibit as Exhibit
    from attnflow.paper import Note as Note
    from attnflow.paper import Paper as Paper
    from attnflow.paper import Recipe as Recipe
    from attnflow.paper import Request as Request
    from attnflow.paper import texts_of as texts_of
    from attnflow.papers import paper as paper
    from attnflow.problem import Exponential as Exponential
    from attnflow.problem import Linear as Linear
    from attnflow.problem import Logistic as Logistic
    from attnflow.problem import Problem as Problem
    from attnflow.problem import ReluPair as ReluPair
    from attnflow.problem import Squared as Squared
    from attnflow.rules import Adam as Adam
    from attnflow.rules import Batches as Batches
    from attnflow.rules import CosineDecay as CosineDecay
    from attnflow.rules import Flow as Flow
    from attnflow.rules import GradientDescent as GradientDescent
    from attnflow.rules import LinearDecay as LinearDecay
    from attnflow.rules import Momentum as Momentum
    from attnflow.rules import Muon as Muon
    from attnflow.rules import NormalisedDescent as NormalisedDescent
    from attnflow.rules import PowerDecay as PowerDecay
    from attnflow.rules import SignGD as SignGD
    from attnflow.rules import StepDecay as StepDecay
    from attnflow.rules import Warmup as Warmup
    from attnflow.runner import Runner as Runner
    from attnflow.runner import run as run
    from attnflow.store import Store as Store
    from attnflow.store import export_netcdf as export_netcdf
    from attnflow.store import read_run_file as read_run_file
    from attnflow.sweeping import sweep as sweep

from attnflow._version import __version__ as __version__

_HOMES = {
    "Outcome": "attnflow._outcome",
    "citation": "attnflow.citation",
    "Claim": "attnflow.claims",
    "Scope": "attnflow.claims",
    "Verdict": "attnflow.claims",
    "Widths": "attnflow.curvature",
    "hessian_spectrum": "attnflow.curvature",
    "linearised": "attnflow.curvature",
    "sharpness": "attnflow.curvature",
    "tangent_kernel": "attnflow.curvature",
    "widths_of": "attnflow.curvature",
    "CooccurrenceOrbits": "attnflow.data",
    "CooccurrenceTask": "attnflow.data",
    "DisjointNoiseTask": "attnflow.data",
    "InContextTask": "attnflow.data",
    "MixtureTask": "attnflow.data",
    "NoisyLabels": "attnflow.data",
    "NoisyPatchesTask": "attnflow.data",
    "Positions": "attnflow.data",
    "PromptQuery": "attnflow.data",
    "Sequences": "attnflow.data",
    "SignalNoiseTask": "attnflow.data",
    "from_arrays": "attnflow.data",
    "sequences": "attnflow.data",
    "Grid": "attnflow.dynamics",
    "Reach": "attnflow.dynamics",
    "Stage": "attnflow.dynamics",
    "precise": "attnflow.dynamics",
    "Builder": "attnflow.experiment",
    "Computation": "attnflow.experiment",
    "EpsilonWarning": "attnflow.experiment",
    "Experiment": "attnflow.experiment",
    "LearningRateWarning": "attnflow.experiment",
    "Task": "attnflow.experiment",
    "run_batch": "attnflow.experiment",
    "run_cells": "attnflow.experiment",
    "Chain": "attnflow.forms",
    "ClassMeans": "attnflow.forms",
    "Initial": "attnflow.forms",
    "Neurons": "attnflow.forms",
    "Vector": "attnflow.forms",
    "mix": "attnflow.mixing",
    "initial_weights": "attnflow.observing",
    "observe": "attnflow.observing",
    "samples": "attnflow.observing",
    "times": "attnflow.observing",
    "Exhibit": "attnflow.paper",
    "Note": "attnflow.paper",
    "Paper": "attnflow.paper",
    "Recipe": "attnflow.paper",
    "Request": "attnflow.paper",
    "texts_of": "attnflow.paper",
    "paper": "attnflow.papers",
    "Exponential": "attnflow.problem",
    "Linear": "attnflow.problem",
    "Logistic": "attnflow.problem",
    "Problem": "attnflow.problem",
    "ReluPair": "attnflow.problem",
    "Squared": "attnflow.problem",
    "Adam": "attnflow.rules",
    "Batches": "attnflow.rules",
    "CosineDecay": "attnflow.rules",
    "Flow": "attnflow.rules",
    "GradientDescent": "attnflow.rules",
    "LinearDecay": "attnflow.rules",
    "Momentum": "attnflow.rules",
    "Muon": "attnflow.rules",
    "NormalisedDescent": "attnflow.rules",
    "PowerDecay": "attnflow.rules",
    "SignGD": "attnflow.rules",
    "StepDecay": "attnflow.rules",
    "Warmup": "attnflow.rules",
    "Runner": "attnflow.runner",
    "run": "attnflow.runner",
    "Store": "attnflow.store",
    "export_netcdf": "attnflow.store",
    "read_run_file": "attnflow.store",
    "sweep": "attnflow.sweeping",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({"__version__", *_HOMES})


class _Package(ModuleType):
    """The package, on which a public name wins over a submodule of that name.

    Python binds a submodule to its package when it is first imported, so that
    `af.paper` would be a function before and a module after. (`from attnflow.paper
    import Request` does not ask the package, and works as always.)
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
