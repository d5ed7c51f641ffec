"""Norms of noise and initial inner products over draws, against Lemmas C.2 to C.8.

Supports are disjoint, so that the inner products of a weight vector with μ and with the
ξ_i are independent normal numbers of deviations σ_0 and σ_0‖ξ_i‖₂, and the rest of its
squared norm is σ_0² times χ² with d − n − 1 degrees of freedom: no vector is drawn.
"""

import math
from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import xarray as xr

from attnflow.papers.signgd._types import Fields
from attnflow.papers.signgd.computations import Draws

LINES = (
    *("C.4 norm 2", "C.4 norm 1", "C.5"),
    *("C.6 norm", "C.6 signal", "C.6 noise", "C.7 signal", "C.7 noise"),
    *("C.8 norm", "C.8 signal", "C.8 noise", "C.8 largest"),
)
_STREAM = 3
"""Tells these draws from those of training runs of the same seed."""


def draws(setting: Fields, seeds: Sequence[int]) -> xr.Dataset:
    """`margin` by line: least log of the distance to its bounds, negative outside.

    - `l1_error`: the largest |‖ξ_i‖₁ − √(2/π) σ_p s| of each draw.
    - `touched`: in how many draws of supports some ξ_i covers the signal's coordinate.
    """
    sizes = Draws(**{f.name: setting[f.name] for f in fields(Draws)})
    streams = [np.random.default_rng((seed, _STREAM)) for seed in seeds]
    rows = [[_draw(sizes, stream) for _ in range(sizes.draws)] for stream in streams]
    margins = np.array([[row[0] for row in of_seed] for of_seed in rows])
    errors = np.array([[row[1] for row in of_seed] for of_seed in rows])
    touched = [_touched(sizes, stream) for stream in streams]
    return xr.Dataset(
        {
            "margin": (("seed", "draw", "line"), margins),
            "l1_error": (("seed", "draw"), errors),
            "touched": (("seed",), np.array(touched, float)),
        },
        {"line": list(LINES)},
    )


def _draw(sizes: Draws, draw: np.random.Generator) -> tuple[list[float], float]:
    n, s, delta = sizes.samples, sizes.support, sizes.delta
    sigma_p = 2 / math.sqrt(s) if sizes.sigma_p is None else sizes.sigma_p
    entries = sigma_p * draw.standard_normal((n, s))
    one, two = np.abs(entries).sum(1), np.sqrt((entries**2).sum(1))
    strength, length = sigma_p * s, sigma_p * math.sqrt(s)
    values, keys = (
        [_Weights(sizes, count, two, draw) for _ in range(2)]
        for count in (sizes.value_neurons, sizes.key_neurons)
    )
    mean = [
        (getattr(values[0], name).mean(0) - getattr(values[1], name).mean(0))
        for name in ("signal", "noise")
    ]
    m_v, m_k = sizes.value_neurons, sizes.key_neurons
    root = 2 / math.sqrt(m_v)
    margins = [
        _inside(two**2, length**2 / 2, 1.5 * length**2),
        _inside(one, strength / math.sqrt(2), strength),
        _inside(_splits(one), strength / math.sqrt(2), strength),
        *_initial(values, m_v, n, delta, length),
        _below(mean[0], root * math.sqrt(math.log(12 * m_v / delta))),
        _below(mean[1], root * math.sqrt(2 * math.log(12 * m_v * n / delta)) * length),
        *_initial(keys, m_k, n, delta, length),
        _inside_largest(keys, length),
    ]
    return margins, float(np.abs(one - math.sqrt(2 / math.pi) * strength).max())


class _Weights:
    """Weight vectors in units of σ_0: squared norms over d, and inner products."""

    def __init__(
        self, sizes: Draws, count: int, two: np.ndarray, draw: np.random.Generator
    ) -> None:
        n, d = sizes.samples, sizes.dimension
        units = draw.standard_normal((count, n + 1))
        rest = draw.chisquare(d - n - 1, count)
        self.norm = ((units**2).sum(1) + rest) / d
        self.signal, self.noise = units[:, 0], units[:, 1:] * two


def _initial(
    banks: list[_Weights], count: int, n: int, delta: float, length: float
) -> tuple[float, float, float]:
    """Norms, signals and noise of both banks, against Lemmas C.6 and C.8."""
    signal = math.sqrt(2 * math.log(12 * count / delta))
    noise = 2 * math.sqrt(math.log(12 * count * n / delta)) * length
    return (
        min(_inside(bank.norm, 0.5, 1.5) for bank in banks),
        min(_below(bank.signal, signal) for bank in banks),
        min(_below(bank.noise, noise) for bank in banks),
    )


def _inside_largest(banks: list[_Weights], length: float) -> float:
    """The lower bounds of Lemma C.8 on largest signals, and on noise of each sample."""
    return min(
        min(
            math.log(np.abs(bank.signal).max() / 0.5),
            float(np.log(np.abs(bank.noise).max(0) / (length / 4)).min()),
        )
        for bank in banks
    )


def _splits(one: np.ndarray) -> np.ndarray:
    """The least and the largest Σ_S1 ‖ξ‖₁ − Σ_S2 ‖ξ‖₁ over c, of all splits.

    |S1| − |S2| = c is 1, or 2 for an even number of samples.
    """
    surplus = 1 if len(one) % 2 else 2
    larger = (len(one) + surplus) // 2
    ordered = np.sort(one)
    least = ordered[:larger].sum() - ordered[larger:].sum()
    largest = ordered[-larger:].sum() - ordered[:-larger].sum()
    return np.array([least, largest]) / surplus


def _inside(values: np.ndarray, low: float, high: float) -> float:
    """The least log distance to two bounds; minus infinity for what is negative."""
    if values.min() <= 0:
        return -math.inf
    return float(min(np.log(values / low).min(), np.log(high / values).min()))


def _below(values: np.ndarray, bound: float) -> float:
    return math.log(bound / np.abs(values).max())


def _touched(sizes: Draws, draw: np.random.Generator) -> int:
    """In how many draws a support without replacement among d holds the first."""
    if not sizes.support_draws:
        return 0
    shape = sizes.support_draws, sizes.samples
    covered = draw.hypergeometric(1, sizes.dimension - 1, sizes.support, shape)
    return int(covered.any(axis=1).sum())
