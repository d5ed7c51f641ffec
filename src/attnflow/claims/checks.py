"""Checks: the numbers that a judge finds, one record for each way to compare them.

The rules of `attnflow.claims.decision` turn them into verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from attnflow.schema.declarations import Numbers
from attnflow.schema.installation import xr


@dataclass(frozen=True)
class Exact:
    """An equality or a bound of a deterministic object, decided by arithmetic.

    `tolerance` is derived from arithmetic: rounding, or the solver's own tolerance.
    """

    error: float
    tolerance: float
    what: str

    def __post_init__(self) -> None:
        if not 0.0 <= self.tolerance < float("inf"):
            raise ValueError(
                f"The tolerance of {self.what!r} is {self.tolerance}: give a finite "
                "number that is not negative."
            )


ROUNDING = 1e-9
"""Violations below this are rounding: forms follow weights to 1e-10 along a run."""


@dataclass(frozen=True)
class Seeds:
    """A property of each seed, by its margin: positive where the seed has it.

    `margin` is in units of the claim's own scale, and NaN where it is not known. A
    seed violates the statement where its margin is below −`rounding`. With `strict` a
    margin of 0 is not enough.
    """

    margin: tuple[float, ...]
    what: str
    rounding: float = ROUNDING
    strict: bool = False

    def __post_init__(self) -> None:
        if not 0.0 <= self.rounding < float("inf"):
            raise ValueError(
                f"rounding={self.rounding} of {self.what!r}: give a finite number that "
                "is not negative."
            )

    @property
    def held(self) -> tuple[bool, ...]:
        """Whether each seed has the property; not where that is unknown."""
        return tuple(m > 0 if self.strict else m >= 0 for m in self.margin)

    @property
    def violated(self) -> tuple[bool, ...]:
        """Whether each seed has the contrary, beyond numerical error."""
        return tuple(m < -self.rounding for m in self.margin)


def per_seed(
    margin: xr.DataArray | np.ndarray,
    what: str,
    *,
    rounding: float = ROUNDING,
    strict: bool = False,
) -> Seeds:
    """The check of a property that a seed has where its margin is not negative.

    **Arguments:**

    - `margin`: a number for each seed, in units of the claim's scale; NaN: not known.
    - `what`: the property in words.
    - `rounding`: the numerical error of a margin; `strict`: it must be positive.

    !!! example

        >>> import numpy as np
        >>> from attnflow.claims import per_seed
        >>> per_seed(np.array([0.5, 0.0, np.nan]), "values come first").held
        (True, True, False)
    """
    numbers = np.asarray(margin, float).reshape(-1)
    return Seeds(tuple(numbers.tolist()), what, rounding, strict)


@dataclass(frozen=True)
class Ladder:
    """An asymptotic statement: measured / predicted along a ladder of sizes.

    `size` grows in the direction of the limit. `constant` bounds sup r / inf r for
    `theta`, r's growth over its first rung for `O`, its fall for `Omega`. For the
    tilde kinds a logarithm of the size may enter, at most to the power
    `max_log_power`. `seeds` says how many stand behind each rung, `axis` what the size
    is.
    """

    size: tuple[float, ...]
    ratio: tuple[float, ...]
    kind: Literal[
        "theta", "theta-tilde", "O", "O-tilde", "Omega", "Omega-tilde", "o(1)"
    ]
    what: str
    constant: float = 10.0
    max_log_power: float = 2.0
    seeds: int = 1
    axis: str = "size"

    def __post_init__(self) -> None:
        _check_lengths(self.what, size=self.size, ratio=self.ratio)
        if not self.constant > 1.0:
            raise ValueError(f"constant={self.constant} of {self.what!r}: give > 1.")


@dataclass(frozen=True)
class Slope:
    """A fitted log-log (or semi-log) slope against the stated one.

    Holds where the fitted slope lies within `tolerance` of `expected`; the bootstrap
    interval is reported beside it. x and y are already transformed, in the order of
    the ladder: the point nearest to the limit comes last; `axes` are their names.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    expected: float
    tolerance: float
    what: str
    seeds: int = 1
    axes: tuple[str, str] = ("x, as fitted", "y, as fitted")

    def __post_init__(self) -> None:
        _check_lengths(self.what, x=self.x, y=self.y)
        if not self.tolerance > 0.0:
            raise ValueError(f"tolerance={self.tolerance} of {self.what!r}: give > 0.")


@dataclass(frozen=True)
class Estimate:
    """A number estimated from all seeds together, against the stated one.

    Holds where it lies within `tolerance` of `expected`, fails where its whole 95%
    `interval` lies beyond.
    """

    value: float
    interval: tuple[float, float]
    expected: float
    tolerance: float
    what: str
    seeds: int = 1

    def __post_init__(self) -> None:
        if not self.tolerance > 0.0:
            raise ValueError(f"tolerance={self.tolerance} of {self.what!r}: give > 0.")


@dataclass(frozen=True)
class HighProbability:
    """Failures in draws, along a ladder of sizes, where at most `delta` may fail.

    The largest size, which comes last, decides. One suffices.
    """

    failures: tuple[int, ...]
    draws: tuple[int, ...]
    delta: float
    what: str

    def __post_init__(self) -> None:
        _check_lengths(self.what, failures=self.failures, draws=self.draws)
        if not (self.draws and 0.0 < self.delta < 1.0):
            raise ValueError(
                f"{self.what!r} has {len(self.draws)} rungs and delta={self.delta}: "
                "give at least one rung, and 0 < delta < 1."
            )


@dataclass(frozen=True)
class LargeEnough:
    """`For all sizes that are large enough`: whether each rung has a property.

    `None` in `held` means that it is not known.

    Holds where the largest two rungs or more have it; the smallest rung from which
    all larger ones have it is reported. `axis` says what the size is.
    """

    size: tuple[float, ...]
    held: tuple[bool | None, ...]
    what: str
    seeds: int = 1
    axis: str = "size"

    def __post_init__(self) -> None:
        _check_lengths(self.what, size=self.size, held=self.held)


@dataclass(frozen=True)
class Unchecked:
    """The reason why nothing could be checked."""

    reason: str


Measurement = (
    Exact
    | Seeds
    | Ladder
    | Slope
    | Estimate
    | HighProbability
    | LargeEnough
    | Unchecked
)


@dataclass(frozen=True)
class Finding:
    """What a claim's judge returns.

    **Arguments:**

    - `checks`: must all hold.
    - `numbers`: what to print beside the verdict, name → number or list.
    """

    checks: tuple[Measurement, ...]
    numbers: Numbers = field(default_factory=dict)


def _check_lengths(what: str, **columns: Sequence[float | None]) -> None:
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"{what!r} has columns of lengths {lengths}: make them equal.")
