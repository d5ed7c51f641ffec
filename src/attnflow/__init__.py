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
    from attnflow.schema.outcome import Outcome as Outcome
    from attnflow.papers.citation import citation as citation
    from attnflow.claims import Claim as Claim
    from attnflow.claims import Scope as Scope
    from attnflow.claims import Verdict as Verdict
    from attnflow.observables.curvature import Widths as Widths
    from attnflow.observables.curvature import hessian_spectrum as hessian_spectrum
    from attnflow.observables.curvature import linearised as linearised
    from attnflow.observables.curvature import sharpness as sharpness
    from attnflow.observables.curvature import tangent_kernel as tangent_kernel
    from attnflow.observables.curvature import widths_of as widths_of
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
    from attnflow.training import Grid as Grid
    from attnflow.training import Reach as Reach
    from attnflow.training import Stage as Stage
    from attnflow.training import precise as precise
    from attnflow.experiments import Builder as Builder
    from attnflow.experiments import Computation as Computation
    from attnflow.experiments import EpsilonWarning as EpsilonWarning
    from attnflow.experiments import Experiment as Experiment
    from attnflow.experiments import LearningRateWarning as LearningRateWarning
    from attnflow.experiments import Task as Task
    from attnflow.experiments import run_batch as run_batch
    from attnflow.experiments import run_cells as run_cells
    from attnflow.models.forms import Chain as Chain
    from attnflow.models.forms import ClassMeans as ClassMeans
    from attnflow.models.forms import Initial as Initial
    from attnflow.models.forms import Neurons as Neurons
    from attnflow.models.forms import Vector as Vector
    from attnflow.experiments.mixing import mix as mix
    from attnflow.runs.checkpoints import initial_weights as initial_weights
    from attnflow.runs.checkpoints import observe as observe
    from attnflow.runs.checkpoints import samples as samples
    from attnflow.runs.checkpoints import times as times
    from attnflow.schema.declarations import Exhibit as Exhibit
    from attnflow.schema.declarations import Note as Note
    from attnflow.papers.base import Paper as Paper
    from attnflow.schema.declarations import Recipe as Recipe
    from attnflow.schema.declarations import Request as Request
    from attnflow.papers.base import texts_of as texts_of
    from attnflow.papers import paper as paper
    from attnflow.models.problem import Exponential as Exponential
    from attnflow.models.problem import Linear as Linear
    from attnflow.models.problem import Logistic as Logistic
    from attnflow.models.problem import Problem as Problem
    from attnflow.models.problem import ReluPair as ReluPair
    from attnflow.models.problem import Squared as Squared
    from attnflow.training.rules import Adam as Adam
    from attnflow.training.rules import Batches as Batches
    from attnflow.training.rules import CosineDecay as CosineDecay
    from attnflow.training.rules import Flow as Flow
    from attnflow.training.rules import GradientDescent as GradientDescent
    from attnflow.training.rules import LinearDecay as LinearDecay
    from attnflow.training.rules import Momentum as Momentum
    from attnflow.training.rules import Muon as Muon
    from attnflow.training.rules import NormalisedDescent as NormalisedDescent
    from attnflow.training.rules import PowerDecay as PowerDecay
    from attnflow.training.rules import SignGD as SignGD
    from attnflow.training.rules import StepDecay as StepDecay
    from attnflow.training.rules import Warmup as Warmup
    from attnflow.runs.runner import Runner as Runner
    from attnflow.runs.runner import run as run
    from attnflow.runs.store import Store as Store
    from attnflow.runs.store import export_netcdf as export_netcdf
    from attnflow.runs.store import read_run_file as read_run_file
    from attnflow.sweeps.sweep import sweep as sweep

from attnflow._version import __version__ as __version__

_HOMES = {
    "Outcome": "attnflow.schema.outcome",
    "citation": "attnflow.papers.citation",
    "Claim": "attnflow.claims",
    "Scope": "attnflow.claims",
    "Verdict": "attnflow.claims",
    "Widths": "attnflow.observables.curvature",
    "hessian_spectrum": "attnflow.observables.curvature",
    "linearised": "attnflow.observables.curvature",
    "sharpness": "attnflow.observables.curvature",
    "tangent_kernel": "attnflow.observables.curvature",
    "widths_of": "attnflow.observables.curvature",
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
    "Grid": "attnflow.training",
    "Reach": "attnflow.training",
    "Stage": "attnflow.training",
    "precise": "attnflow.training",
    "Builder": "attnflow.experiments",
    "Computation": "attnflow.experiments",
    "EpsilonWarning": "attnflow.experiments",
    "Experiment": "attnflow.experiments",
    "LearningRateWarning": "attnflow.experiments",
    "Task": "attnflow.experiments",
    "run_batch": "attnflow.experiments",
    "run_cells": "attnflow.experiments",
    "Chain": "attnflow.models.forms",
    "ClassMeans": "attnflow.models.forms",
    "Initial": "attnflow.models.forms",
    "Neurons": "attnflow.models.forms",
    "Vector": "attnflow.models.forms",
    "mix": "attnflow.experiments.mixing",
    "initial_weights": "attnflow.runs.checkpoints",
    "observe": "attnflow.runs.checkpoints",
    "samples": "attnflow.runs.checkpoints",
    "times": "attnflow.runs.checkpoints",
    "Exhibit": "attnflow.schema.declarations",
    "Note": "attnflow.schema.declarations",
    "Paper": "attnflow.schema.declarations",
    "Recipe": "attnflow.schema.declarations",
    "Request": "attnflow.schema.declarations",
    "texts_of": "attnflow.schema.declarations",
    "paper": "attnflow.papers",
    "Exponential": "attnflow.models.problem",
    "Linear": "attnflow.models.problem",
    "Logistic": "attnflow.models.problem",
    "Problem": "attnflow.models.problem",
    "ReluPair": "attnflow.models.problem",
    "Squared": "attnflow.models.problem",
    "Adam": "attnflow.training.rules",
    "Batches": "attnflow.training.rules",
    "CosineDecay": "attnflow.training.rules",
    "Flow": "attnflow.training.rules",
    "GradientDescent": "attnflow.training.rules",
    "LinearDecay": "attnflow.training.rules",
    "Momentum": "attnflow.training.rules",
    "Muon": "attnflow.training.rules",
    "NormalisedDescent": "attnflow.training.rules",
    "PowerDecay": "attnflow.training.rules",
    "SignGD": "attnflow.training.rules",
    "StepDecay": "attnflow.training.rules",
    "Warmup": "attnflow.training.rules",
    "Runner": "attnflow.runs.runner",
    "run": "attnflow.runs.runner",
    "Store": "attnflow.runs.store",
    "export_netcdf": "attnflow.runs.store",
    "read_run_file": "attnflow.runs.store",
    "sweep": "attnflow.sweeps.sweep",
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
    `af.paper` would be a function before and a module after. (`from attnflow.schema.declarations
    import Request` does not ask the package, and works as always.)
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
