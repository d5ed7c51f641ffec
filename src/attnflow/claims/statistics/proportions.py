"""Confidence intervals of a proportion, for fixed or sequential numbers of seeds."""

from collections.abc import Callable

import numpy as np

from attnflow.schema.libraries import scipy

Interval = tuple[float, float]


def lower_bound(held: int, seeds: int, *, level: float = 0.95) -> float:
    """The one-sided Clopper–Pearson lower bound of a proportion.

    The p with P[Binomial(seeds, p) ≥ held] = 1 − level, and 0 where held = 0.

    !!! example

        ```python
        lower_bound(10, 10)  # 0.741: 0.05 ** (1 / 10)
        ```
    """
    _check(held, seeds)
    if held == 0:
        return 0.0
    return float(scipy.special.betaincinv(held, seeds - held + 1, 1.0 - level))


def upper_bound(held: int, seeds: int, *, level: float = 0.95) -> float:
    """The one-sided Clopper–Pearson upper bound of a proportion.

    The p with P[Binomial(seeds, p) ≤ held] = 1 − level, and 1 where held = seeds.

    !!! example

        ```python
        upper_bound(0, 60)  # 0.0487: no failure in 60 makes 5% of them unlikely
        ```
    """
    _check(held, seeds)
    if held == seeds:
        return 1.0
    return float(scipy.special.betaincinv(held + 1, seeds - held, level))


def clopper_pearson(held: int, seeds: int, *, level: float = 0.95) -> Interval:
    """The two-sided Clopper–Pearson interval of a proportion.

    Each side is a one-sided bound at (1 + level) / 2, so that the interval covers
    the true proportion in at least `level` of all experiments with a fixed number of
    `seeds`, whatever it is.

    !!! example

        ```python
        clopper_pearson(5, 5)  # (0.478, 1.0)
        ```

    ??? cite

        C. J. Clopper and E. S. Pearson, The use of confidence or fiducial limits
        illustrated in the case of the binomial, Biometrika 26 (1934) 404–413.
    """
    one_sided = (1.0 + level) / 2.0
    low = lower_bound(held, seeds, level=one_sided)
    return low, upper_bound(held, seeds, level=one_sided)


def confidence_sequence(held: int, seeds: int, *, level: float = 0.95) -> Interval:
    """An interval of a proportion that stays valid however the seeds were stopped.

    With h = `held` of n = `seeds` and the mixture Beta(½, ½) over alternatives,

        M_n(p) = B(½ + h, ½ + n − h) / (B(½, ½) · p^h · (1 − p)^(n − h))

    is a martingale of mean 1 under p, so that by Ville's inequality it ever reaches
    1 / (1 − level) with probability at most 1 − level. The interval is where it has
    not. One may look after every seed and stop when one likes; the price is an
    interval wider than that of `clopper_pearson`.

    !!! example

        ```python
        confidence_sequence(5, 5)  # (0.415, 1.0)
        ```

    ??? cite

        H. Robbins, Statistical methods related to the law of the iterated logarithm,
        Ann. Math. Statist. 41 (1970) 1397–1409; S. R. Howard, A. Ramdas, J. McAuliffe
        and J. Sekhon, Time-uniform, nonparametric, nonasymptotic confidence
        sequences, Ann. Statist. 49 (2021) 1055–1080.
    """
    _check(held, seeds)
    mixture = scipy.special.betaln(
        0.5 + held, 0.5 + seeds - held
    ) - scipy.special.betaln(0.5, 0.5)
    threshold = -np.log1p(-level)

    def excess(p: float) -> float:
        miss = scipy.special.xlogy(held, p) + scipy.special.xlog1py(seeds - held, -p)
        return float(mixture - miss - threshold)

    peak = held / seeds
    low = 0.0 if held == 0 else _root(excess, 0.0, peak)
    high = 1.0 if held == seeds else _root(excess, 1.0, peak)
    return low, high


def _root(excess: Callable[[float], float], end: float, peak: float) -> float:
    """Where `excess` changes sign between `end`, where it is infinite, and `peak`."""
    solution = scipy.optimize.root_scalar(
        lambda p: min(excess(p), 1e300), bracket=(end, peak), method="brentq"
    )
    return float(solution.root)


def _check(held: int, seeds: int) -> None:
    if seeds < 1 or not 0 <= held <= seeds:
        raise ValueError(
            f"held={held} of seeds={seeds} is no proportion: give 0 <= held <= seeds "
            "with at least one seed."
        )
