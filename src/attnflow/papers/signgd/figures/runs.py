"""Requests for the runs that figures share, and remarks for their captions."""

from attnflow.papers.signgd._types import Overrides
from attnflow.schema.declarations import Request

ROWS = ("a", "b", "c", "d")
"""Table 3's settings."""
BETAS1 = (0.9, 0.5, 0.0)
BETAS2 = (0.9, 0.95, 0.99, 0.999)
SEEDS = 3

LIGHT = (
    "loss",
    "value",
    "key_neuron",
    "query_neuron",
    "attention",
    "test_loss",
    "test_accuracy",
    "log_mean_key_gradient",
    "log_mean_query_gradient",
)
"""Observables for comparing optimisers, without tie counts, which compile slowly."""
START = ("value", "key_neuron", "query_neuron")

FEWER_STEPS: Overrides = {"steps": 1100, "record": LIGHT}
"""For `--quick`: fewer steps at the paper's sizes, so that times stay comparable."""
LESS_RECORDED: Overrides = {"record": LIGHT}
"""For `--quick`, where late losses are needed."""
SMALLER: Overrides = {"embed": 1200}
"""For `--quick`: fewer coordinates of noise."""


def signgd(row: str = "a") -> Request:
    """SignGD in a row of Table 3; five seeds of row (a), which most figures show."""
    seeds = 5 if row == "a" else SEEDS
    quick = LESS_RECORDED if row in ("a", "d") else FEWER_STEPS
    return Request(f"setting-{row}", seeds=seeds, quick=quick, quick_seeds=1)


def slow_start(row: str = "a") -> Request:
    """The first two steps of SignGD, each in a thousand small ones."""
    overrides = {"row": row, "record": START, "test_samples": 0}
    return Request("slow-start", overrides, seeds=SEEDS, quick_seeds=1)


def adam(beta1: float = 0.9, beta2: float = 0.999, *, row: str = "a") -> Request:
    """Adam; one seed in sweeps, where curves of different seeds coincide."""
    overrides = {"row": row, "beta1": beta1, "beta2": beta2, "record": LIGHT}
    seeds = SEEDS if row == "a" and beta2 == BETAS2[-1] else 1
    # Which gradients ε outweighs depends on d: smaller runs end otherwise.
    return Request("adam", overrides, seeds=seeds, quick_seeds=1)


def descent(rate: float, *, row: str = "a") -> Request:
    """Gradient descent at a learning rate."""
    overrides = {"row": row, "learning_rate": rate, "record": LIGHT}
    return Request("gd", overrides, seeds=SEEDS if row == "a" else 1, quick_seeds=1)


def long_samples(experiment: str) -> Request:
    """An experiment on samples of ten tokens, five of them noise."""
    return Request(experiment, {"record": LIGHT}, seeds=1, quick=SMALLER)


HEADS = Request("heads4", {"record": LIGHT}, seeds=1)
LATTICE = Request("lattice", {"records": 4001}, seeds=10, quick_seeds=3)

ATTENTION = "s21 and s11 are the attention of noise and of signals to the signal."
"""For captions."""

SEEDS_SILENT = (
    "Seeds are not stated. Ours are 0, 1, …; pictures of one neuron show seed 0."
)
PRECISION_SILENT = (
    "The precision of the experiments is not stated. Ours have exact signs at any size "
    "of the gradient."
)
SILENT = (SEEDS_SILENT, PRECISION_SILENT)
"""Of most figures."""
BETA2_SILENT = "β2 of Figure 2 is not stated. We take 0.999, the default of B.1."
