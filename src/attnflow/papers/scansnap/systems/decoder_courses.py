"""Courses of the decoder alone: closed forms, flows, and couplings of classes."""

import itertools
from collections.abc import Sequence

import numpy as np
import xarray as xr
from scipy.integrate import cumulative_simpson, solve_ivp
from scipy.optimize import root_scalar

from attnflow.papers.scansnap._types import Setting
from attnflow.papers.scansnap.computations import Assumption, Couplings, DecoderCourses
from attnflow.papers.scansnap.systems.decoder import Decoder, log_odds
from attnflow.papers.scansnap.systems.fixed_features import (
    equal_correlations,
    train_decoder,
)


def decoder_courses(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Log-odds u = M h by flow and in closed form, and γ, by vocabulary and time.

    Times are in units of K/η_Y. `upper_root` and `lower_root` are where e^u and
    (M − 1)u meet, found by bisection.
    """
    plan = DecoderCourses(**setting)
    vocabularies = plan.vocabularies
    times = np.geomspace(plan.first, plan.last, plan.records)
    integrated = np.array([_integrate_log_odds(M, times) for M in vocabularies])
    closed = np.array([log_odds(times, M, 1.0) for M in vocabularies])
    sizes = np.array(vocabularies, float)[:, None]
    errors = (sizes - 1) / (sizes - 1 + np.exp(integrated))
    roots = np.array([_roots(M) for M in vocabularies])
    dims = ("seed", "vocabulary", "clock")
    variables = {
        "log_odds": (dims, integrated),
        "closed": (dims, closed),
        "speed": (dims, (sizes - 1) / sizes * integrated * errors),
        "error_norm": (dims, errors * np.sqrt(sizes / (sizes - 1))),
        "lower_root": (dims[:2], roots[:, 0]),
        "upper_root": (dims[:2], roots[:, 1]),
    }
    # Nothing is random here: all seeds are equal.
    every = {
        name: (axes, np.repeat(values[None], len(seeds), axis=0))
        for name, (axes, values) in variables.items()
    }
    return xr.Dataset(every, {"vocabulary": list(vocabularies), "clock": times})


def _integrate_log_odds(vocabulary: float, times: np.ndarray) -> np.ndarray:
    solution = solve_ivp(
        lambda _, u: vocabulary / (vocabulary - 1 + np.exp(u)),
        (0.0, float(times[-1])),
        [0.0],
        method="DOP853",
        t_eval=times,
        rtol=1e-12,
        atol=1e-14,
    )
    return solution.y[0]


def _roots(vocabulary: float) -> tuple[float, float]:
    def residual(u: float) -> float:
        return float(u - np.log(vocabulary - 1) - np.log(u))

    # The lower root is near 1/M: the tolerance must be relative to it.
    ends = ((1e-12, 1.0), (1.0, 10 * float(np.log(vocabulary))))
    lower, upper = (root_scalar(residual, bracket=end, xtol=1e-30).root for end in ends)
    return float(lower), float(upper)


def couplings(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Couplings of classes under the decoder's true gradient, by set-up and time.

    `true` is the coefficient of f_k in g_n (k ≠ n) under the true gradient,
    `confusion` what the integral of claim E-R-11 gives for it, `modified` Theorem 1's;
    `own_other` and `own_unseen` are margins of logits.
    """
    plan = Couplings(**setting)
    clocks = np.array(plan.clocks)
    axes = {
        "classes": plan.classes,
        "vocabularies": plan.vocabularies,
        "correlations": plan.correlations,
    }
    cases = zip(plan.classes, plan.vocabularies, plan.correlations, strict=True)
    setups = [_setup(*case, clocks=clocks) for case in cases]
    dims = ("seed", "case", "clock")
    return xr.Dataset(
        {
            name: (
                dims,
                np.repeat([[setup[name] for setup in setups]], len(seeds), axis=0),
            )
            for name in setups[0]
        },
        {
            "clock": clocks,
            **{name: ("case", list(values)) for name, values in axes.items()},
        },
    )


DENSE = 2000


def _setup(
    classes: int, vocabulary: int, rho: float, *, clocks: np.ndarray
) -> dict[str, np.ndarray]:
    gram = equal_correlations(classes, rho)
    # Simpson's rule over the dense times gives E-R-11's integral; ends are kept exact.
    dense = np.union1d(np.linspace(0, clocks[-1], DENSE), clocks)
    dense = np.union1d(dense, np.geomspace(1e-3, clocks[-1], DENSE))
    course = train_decoder(gram, vocabulary, 1.0, classes * dense)
    at = np.searchsorted(dense, clocks)
    share, weights = course.shares(), course.weights
    integral = cumulative_simpson(share, x=dense, axis=0, initial=0)
    both = np.einsum("tc,tc,c->t", share[at, 0], integral[at, 1], weights)
    confusion = dense[at] * share[at, 0, 1] + integral[at, 1, 0] - both
    decoder = Decoder(classes, vocabulary, value_rate=1.0, score_rate=1.0)
    others = vocabulary - 1
    ends = np.full(classes, -vocabulary / others**2)
    ends[0] = 1 + 1 / others
    modified = np.linalg.solve(gram, ends)[1] * decoder.speed(classes * clocks)
    own_other, own_unseen = course.margins()
    return {
        "true": course.coupling()[at, 0, 1],
        "confusion": -confusion,
        "modified": modified,
        "own_other": own_other[at],
        "own_unseen": own_unseen[at],
    }


def assumption(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Largest |λ_i(E)| under Assumption 2 with equal correlations, by K and M.

    `largest` is the largest |λ_i| at the smallest correlation with |λ_i| ≥ 6/√M.
    """
    plan = Assumption(**setting)
    classes, ratios = plan.classes, plan.ratios
    largest = np.zeros((1, len(classes), len(ratios)))
    for (i, K), (j, ratio) in itertools.product(enumerate(classes), enumerate(ratios)):
        rho = 6 / np.sqrt(ratio * K**2)
        excess = equal_correlations(K, rho) - np.eye(K)
        largest[0, i, j] = np.abs(np.linalg.eigvalsh(excess)).max()
    dims = ("seed", "classes", "ratio")
    return xr.Dataset(
        {"largest": (dims, np.repeat(largest, len(seeds), axis=0))},
        {"classes": list(classes), "ratio": list(ratios)},
    )
