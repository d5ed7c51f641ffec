"""Confidence intervals of a proportion."""

from attnflow.schema.installation import scipy

Interval = tuple[float, float]


def lower_bound(held: int, seeds: int, *, level: float = 0.95) -> float:
    """The one-sided Clopper–Pearson lower bound of a proportion.

    The p with P[Binomial(seeds, p) ≥ held] = 1 − level, and 0 where held = 0.

    `lower_bound(10, 10)` is 0.741: 0.05 ** (1 / 10).
    """
    _check(held, seeds)
    if held == 0:
        return 0.0
    return float(scipy.special.betaincinv(held, seeds - held + 1, 1.0 - level))


def upper_bound(held: int, seeds: int, *, level: float = 0.95) -> float:
    """The one-sided Clopper–Pearson upper bound of a proportion.

    The p with P[Binomial(seeds, p) ≤ held] = 1 − level, and 1 where held = seeds.

    `upper_bound(0, 60)` is 0.0487: no failure in 60 makes 5% of them unlikely.
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

    `clopper_pearson(5, 5)` is `(0.478, 1.0)`.

    ??? cite

        C. J. Clopper and E. S. Pearson, The use of confidence or fiducial limits
        illustrated in the case of the binomial, Biometrika 26 (1934) 404–413.
    """
    one_sided = (1.0 + level) / 2.0
    low = lower_bound(held, seeds, level=one_sided)
    return low, upper_bound(held, seeds, level=one_sided)


def _check(held: int, seeds: int) -> None:
    if seeds < 1 or not 0 <= held <= seeds:
        raise ValueError(
            f"held={held} of seeds={seeds} is not a proportion: give 0 <= held <= "
            "seeds with at least one seed."
        )
