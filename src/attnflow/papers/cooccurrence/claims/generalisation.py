"""Generalisation loss after training, over the number of samples (Theorem 3.3)."""

import numpy as np
import xarray as xr

from attnflow.claims import (
    Claim,
    Evidence,
    Exact,
    Finding,
    LargeEnough,
    Scope,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims import quiet
from attnflow.papers.cooccurrence.claims.evidence import (
    CONDITION,
    NOISE_FREE,
    at_end,
    noise_free,
    whole,
)

ALL = mutate.EVERY
SAMPLES = (60.0, 120.0, 240.0, 600.0, 6e3, 6e4)
LENGTHS = (5, 10)
LEVELS = (1e-5, 2e-6, 1e-7)
"""Training losses at which the test loss is compared; it must fall along them."""
LEAST_POWER = 0.1
UNIFORM = 1e-4
_QUIET = {
    f"n={n:g}, L={length}": noise_free(n, length) for length in LENGTHS for n in SAMPLES
}
_NOISY = "m=131072"


def _at_levels(run: xr.Dataset) -> np.ndarray:
    """The test loss where the training loss is at each of `LEVELS`."""
    loss = quiet.quiet_rows(run)["loss"].values
    logs = np.log(quiet.test_loss(run))
    return np.exp(np.interp(-np.log(LEVELS), -np.log(loss), logs))


def _power(losses: np.ndarray) -> float:
    """Exponent with which the test loss follows the training loss, between `LEVELS`."""
    return float(np.log(losses[-1] / losses[0]) / np.log(LEVELS[-1] / LEVELS[0]))


def _uniform_error(run: xr.Dataset) -> float:
    """Largest difference between outputs and sums of readouts, on training samples."""
    rows = quiet.quiet_rows(run)
    margins = quiet.LABELS * quiet.outputs(rows["value"], quiet.size_of(run)[1])
    return float(np.abs(quiet.margins(rows) - margins).max())


def _judge_test(evidence: Evidence) -> Finding:
    runs = {quiet.size_of(run): run for n, run in evidence.items() if n != _NOISY}
    tests = {size: _at_levels(run) for size, run in runs.items()}
    error = max(_uniform_error(run) for run in runs.values())
    checks = [
        LargeEnough(
            SAMPLES,
            tuple(_power(tests[n, length]) >= LEAST_POWER for n in SAMPLES),
            f"the test loss falls with the training loss, L = {length}",
        )
        for length in LENGTHS
    ]
    numbers = {}
    for length in LENGTHS:
        table = np.array([tests[n, length] for n in SAMPLES])
        numbers[f"L = {length}: power"] = [_power(row) for row in table]
        for level, column in zip(LEVELS[1:], table.T[1:], strict=True):
            numbers[f"L = {length}: test loss at {level:g}"] = column
    noisy = at_end(evidence[_NOISY])
    numbers["with noise, n = 60, L = 5, at 7.6e-6"] = noisy["test_loss"].values
    numbers["its accuracy"] = noisy["test_accuracy"].values
    uniform = Exact(error, UNIFORM, "outputs against sums of readouts")
    return Finding((uniform, *checks), numbers)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="A-Thm3.3-test",
        place="Theorem 3.3, first item; Section F.10",
        statement="At T* the generalisation loss is at most 1/poly(m) too.",
        system=NOISE_FREE,
        needs={**_QUIET, _NOISY: whole(131072)},
        judge=_judge_test,
        scope=Scope.THEOREM,
        expected=Verdict.HOLDS,
        predicate="for n large enough at L = 5 and L = 10, over n = 60 … 6e4: from "
        f"training loss {LEVELS[0]:g} to {LEVELS[-1]:g} the test loss falls at least "
        f"like its power {LEAST_POWER:g}. Without noise at m = 1e6, over all fresh "
        f"samples exactly: outputs are sums of readouts to {UNIFORM:g}, as attention "
        "stays uniform",
        conditions=f"{CONDITION}, but m = 1e6 and n = 60 … 6e4: n ≥ ~L² is what "
        "matters, of which n = 60 is 2.4 L² at L = 5 and 0.6 L² at L = 10",
        source="our runs, those without noise (nothing is drawn) and one of seeds "
        "200–202: not at n = 12 L, where the test loss stays at 0.03 and 0.13; from "
        "n = 24 L on at both lengths",
        mutations=named(
            mutate.constant(ALL, "value"),
            mutate.both(
                *(mutate.scale(f"n={n:g}, L=5", "loss", 1e3) for n in SAMPLES[-2:])
            ),
            mutate.negate("n=60000, L=10", "value"),
        ),
    ),
)
