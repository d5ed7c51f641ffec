"""The parts of a model and of training that can be mixed, by the names one types."""

from attnflow.experiments.mixing.options import Choice, Slot, own_fields
from attnflow.models.forms import Chain, ClassMeans, Neurons, Vector
from attnflow.models.problem import Exponential, Linear, Logistic, ReluPair, Squared
from attnflow.training.rules import RULES

READOUTS = Slot(
    "readout",
    {
        "linear": Choice(Linear, {"heads": "heads"}),
        "relu-pair": Choice(ReluPair, {"bias": "bias"}),
    },
)

LOSSES = Slot(
    "loss",
    {
        "logistic": Choice(Logistic, {}),
        "exponential": Choice(Exponential, {}),
        "squared": Choice(Squared, {}),
    },
)

_SCALE = {"value_scale": "scale", "law": "law"}
_CHAIN = {"value_width": "width", **_SCALE, "output_scale": "output_scale"}
VALUES = Slot(
    "values",
    {
        "vector": Choice(Vector, _SCALE),
        "chain": Choice(Chain, {**_CHAIN, "output_trained": "trained"}),
        "neurons": Choice(
            Neurons, {**_CHAIN, "neurons": "count", "inner_scale": "inner_scale"}
        ),
        "class-means": Choice(ClassMeans, {**_SCALE, "neurons": "count"}),
    },
)

# What a solver or an iteration is made of in detail is set from Python.
_DETAILS = (
    "solver",
    "max_steps",
    "interpolate",
    "scale",
    "orthogonal",
    "iterations",
    "coefficients",
    "cutoff",
    "schedule",
)
RULE = Slot("rule", {name: own_fields(kind, *_DETAILS) for name, kind in RULES.items()})
