"""Exact failure probabilities of the bounds on a single product, norm or count."""

import math
from collections.abc import Sequence

import numpy as np
from scipy import integrate, stats


def reach(width: float, argument: float) -> float:
    """`sqrt(4/m · log c) + 4/m · log c`, the bound of Lemma H.2 with c = 2/δ."""
    part = 4 / width * math.log(argument)
    return math.sqrt(part) + part


def norm_failure(width: int, delta: float) -> float:
    """P(| |w|² − 1 | >= bound) for w ~ N(0, I/m), by the chi-squared distribution."""
    bound = reach(width, 2 / delta)
    law = stats.chi2(width)
    return float(law.sf(width * (1 + bound)) + law.cdf(width * (1 - bound)))


def product_failure(width: int, delta: float) -> float:
    """P(|w·u| >= bound) for independent w, u ~ N(0, I/m).

    Conditionally on |u| = x / sqrt(m), where x has a chi distribution, w·u is normal
    with standard deviation x / m.
    """
    bound = reach(width, 2 / delta)

    def density(x: float) -> float:
        return float(stats.chi.pdf(x, width) * 2 * stats.norm.sf(bound * width / x))

    # The chi distribution has a standard deviation below 1 and normal tails.
    middle = math.sqrt(width)
    low, high = max(middle - 12, 1e-12), middle + 12
    return integrate.quad(density, low, high, epsabs=0, epsrel=1e-9, limit=200)[0]


def count_failure(neurons: int, delta: float) -> float:
    """P(a sign's count leaves `m1 (1/2 ± sqrt(2 log(4/δ) / m1))`), Lemma D.6.

    The counts of + and − leave together, so that one binomial distribution suffices.
    """
    spread = math.sqrt(2 * math.log(4 / delta) / neurons)
    counts = np.arange(neurons + 1)
    outside = np.abs(counts / neurons - 0.5) > spread
    return float(stats.binom.pmf(counts, neurons, 0.5)[outside].sum())


def drawn_failures(
    width: int, deltas: Sequence[float], draws: int, *, stream: Sequence[int]
) -> tuple[list[float], list[float]]:
    """Fractions of random pairs that violate the two bounds of Lemma H.2, by δ."""
    generator = np.random.default_rng(stream)
    w, u = generator.standard_normal((2, draws, width)) / math.sqrt(width)
    norms = np.abs(np.square(w).sum(axis=1) - 1)
    products = np.abs((w * u).sum(axis=1))
    bounds = [reach(width, 2 / delta) for delta in deltas]
    return (
        [float((norms >= bound).mean()) for bound in bounds],
        [float((products >= bound).mean()) for bound in bounds],
    )
