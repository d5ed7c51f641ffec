"""Claims: a statement of a paper, the runs it needs, and a predicate that can fail.

A claim's `judge` turns evidence (named runs) into a `Finding`; a `Finding` carries
what was measured and one of the decision rules of `attnflow.claims.decide`, which
alone turns it into a verdict. So a paper states what it measures and against what,
and never decides for itself what counts as `holds`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

import xarray as xr

from attnflow.paper import Request

Evidence = Mapping[str, xr.Dataset]
Mutation = Callable[[Evidence], Evidence]


class Verdict(str, Enum):
    """The answers that a claim can get."""

    HOLDS = "holds"
    FAILS = "fails"
    HOLDS_CORRECTED = "holds-corrected"
    INCONCLUSIVE = "inconclusive"
    UNCHECKED = "unchecked"

    def __str__(self) -> str:
        return self.value


class Scope(str, Enum):
    """How near to the paper's own conditions a verdict was reached."""

    THEOREM = "theorem"
    EXPERIMENT = "experiment"
    BEYOND = "beyond"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Exact:
    """An equality or inequality of a deterministic run, decided by arithmetic.

    Holds where `error <= tolerance`. `counterexample` says that a failure is exact
    and so decides `fails` at any scope.
    """

    error: float
    tolerance: float
    what: str
    counterexample: bool = False


@dataclass(frozen=True)
class Seeds:
    """A property of each seed: `held` and `margin` (positive where it holds).

    `margin` is in units of the claim's declared scale. Holds where
    `sum(held) >= q * len(held)`.
    """

    held: tuple[bool, ...]
    margin: tuple[float, ...]
    what: str
    q: float = 0.9


@dataclass(frozen=True)
class Ladder:
    """An asymptotic statement: measured / predicted along a ladder of sizes.

    `kind` is `theta`, `theta-tilde`, `O`, `O-tilde`, `Omega` or `o(1)`. `size` grows
    in the direction of the limit. `constant` bounds sup r / inf r for `theta`.
    `log_of` holds, for the tilde kinds, the quantity whose logarithm may enter.
    """

    size: tuple[float, ...]
    ratio: tuple[float, ...]
    kind: Literal["theta", "theta-tilde", "O", "O-tilde", "Omega", "o(1)"]
    what: str
    constant: float = 10.0
    log_of: tuple[float, ...] = ()


@dataclass(frozen=True)
class Slope:
    """A fitted log-log (or semi-log) slope against the one that is stated.

    Holds where the fitted slope lies within `tolerance` of `expected`; the bootstrap
    interval is reported beside it. x and y are what is fitted, already transformed.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    expected: float
    tolerance: float
    what: str


@dataclass(frozen=True)
class Unchecked:
    """Nothing could be measured, and why."""

    reason: str


Measurement = Exact | Seeds | Ladder | Slope | Unchecked


@dataclass(frozen=True)
class Finding:
    """What a claim's judge returns.

    **Arguments:**

    - `checks`: measurements that must all hold.
    - `numbers`: what to print beside the verdict, name → number or list.
    """

    checks: tuple[Measurement, ...]
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Correction:
    """A statement that holds where the printed one does not."""

    statement: str
    judge: Callable[[Evidence], Finding]


@dataclass(frozen=True)
class Claim:
    """One statement of a paper as an executable check.

    **Arguments:**

    - `id`: such as `B-Thm4.1-T2`.
    - `place`: where the paper says it; `statement`: in our words.
    - `system`: the dynamical system that it speaks of.
    - `needs`: named runs; `judge`: evidence → finding.
    - `expected`: the recorded verdict, and `source` of that record.
    - `conditions`: the theorem's conditions, in words with the constants that we put
      in, and `scope`: what they make of the setting at hand.
    - `predicate`: the check in words, with its tolerance and where that comes from.
    - `mutations`: changes of the evidence under which the claim must not hold.
    - `correction`: what is tried where the printed statement fails.
    """

    id: str
    place: str
    statement: str
    system: str
    needs: Mapping[str, Request]
    judge: Callable[[Evidence], Finding]
    predicate: str
    expected: Verdict
    source: str
    scope: Scope
    mutations: Mapping[str, Mutation]
    conditions: str = "none"
    origin: Literal["paper", "ours"] = "paper"
    correction: Correction | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Z]-[A-Za-z0-9.\-]+", self.id):
            raise ValueError(f"{self.id!r} is no claim id: write it as B-Thm4.1-T2.")
        if not self.mutations:
            raise ValueError(f"{self.id} has no mutation: a claim must be able to fail.")
