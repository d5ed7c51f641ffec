"""Claims: a statement of a paper, the runs it needs, and a predicate that can fail.

A claim's `judge` turns evidence (named runs) into a `Finding`: checks, each of which
carries numbers and belongs to one of the rules of `attnflow.claims.decision`. Those
alone make verdicts, so that a paper states what it compares with what, and never
decides for itself what counts as `holds`.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

import numpy as np
import xarray as xr

from attnflow.schema.declarations import Evidence, Numbers, Request
from attnflow.schema.facts import AbstractPresentable, Facts

Mutation = Callable[[Evidence], Evidence]
_ID = re.compile(r"[A-Z][A-Za-z0-9]{0,11}-[A-Za-z0-9.\-]+")


class Verdict(StrEnum):
    """The answers that a claim can get."""

    HOLDS = "holds"
    FAILS = "fails"
    HOLDS_CORRECTED = "holds-corrected"
    INCONCLUSIVE = "inconclusive"
    UNCHECKED = "unchecked"


class Scope(StrEnum):
    """How near the runs behind a verdict are to the paper's conditions."""

    THEOREM = "theorem"
    EXPERIMENT = "experiment"
    BEYOND = "beyond"


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

    def __post_init__(self) -> None:
        if not 0.0 <= self.tolerance < float("inf"):
            raise ValueError(
                f"The tolerance of {self.what!r} is {self.tolerance}: give a finite "
                "number that is not negative."
            )


@dataclass(frozen=True)
class Seeds:
    """A property of each seed: `held` and `margin` (positive where it holds).

    `margin` is in units of the claim's declared scale. Holds where
    `sum(held) >= q * len(held)`. `on_demand` says that seeds were drawn until
    somebody stopped: an anytime-valid interval is reported then. `per_seed` makes one
    from margins.
    """

    held: tuple[bool, ...]
    margin: tuple[float, ...]
    what: str
    q: float = 0.9
    on_demand: bool = False

    def __post_init__(self) -> None:
        _check_lengths(self.what, held=self.held, margin=self.margin)
        if not 0.0 < self.q <= 1.0:
            raise ValueError(f"q={self.q} of {self.what!r}: give 0 < q <= 1.")
        for held, margin in zip(self.held, self.margin, strict=True):
            if (held and margin < 0.0) or (not held and margin > 0.0):
                raise ValueError(
                    f"{self.what!r} has a seed with held={held} and margin={margin}: "
                    "a margin is positive where the property holds."
                )


def per_seed(
    margin: xr.DataArray | np.ndarray,
    what: str,
    q: float = 0.9,
    *,
    strict: bool = False,
) -> Seeds:
    """The check of a property that a seed has where its margin is not negative.

    A margin that is not a number is not known, and so the property does not hold.

    **Arguments:**

    - `margin`: a number for each seed, in units of the claim's scale.
    - `what`: the property in words; `q`: the share of seeds that must have it.
    - `strict`: it must be positive.

    !!! example

        >>> import numpy as np
        >>> from attnflow.claims import per_seed
        >>> per_seed(np.array([0.5, 0.0, np.nan]), "values come first").held
        (True, True, False)
    """
    known = np.nan_to_num(np.asarray(margin, float), nan=-1.0)
    held = known > 0 if strict else known >= 0
    return Seeds(tuple(held.tolist()), tuple(known.tolist()), what, q)


@dataclass(frozen=True)
class Ladder:
    """An asymptotic statement: measured / predicted along a ladder of sizes.

    `size` grows in the direction of the limit. `constant` bounds sup r / inf r for
    `theta`, r's growth over its first rung for `O`, its fall for `Omega`. `log_of`
    holds, for the tilde kinds, the numbers whose logarithm may enter (the sizes
    where it is empty), at most to the power `max_log_power`. `seeds` says how many
    stand behind each rung.
    """

    size: tuple[float, ...]
    ratio: tuple[float, ...]
    kind: Literal[
        "theta", "theta-tilde", "O", "O-tilde", "Omega", "Omega-tilde", "o(1)"
    ]
    what: str
    constant: float = 10.0
    log_of: tuple[float, ...] = ()
    max_log_power: float = 2.0
    seeds: int = 1

    def __post_init__(self) -> None:
        _check_lengths(self.what, size=self.size, ratio=self.ratio)
        if self.log_of:
            _check_lengths(self.what, size=self.size, log_of=self.log_of)
        if not self.constant > 1.0:
            raise ValueError(f"constant={self.constant} of {self.what!r}: give > 1.")


@dataclass(frozen=True)
class Slope:
    """A fitted log-log (or semi-log) slope against the stated one.

    Holds where the fitted slope lies within `tolerance` of `expected`; the bootstrap
    interval is reported beside it. x and y are already transformed, in the order of
    the ladder: the point nearest to the limit comes last.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    expected: float
    tolerance: float
    what: str
    seeds: int = 1

    def __post_init__(self) -> None:
        _check_lengths(self.what, x=self.x, y=self.y)
        if not self.tolerance > 0.0:
            raise ValueError(f"tolerance={self.tolerance} of {self.what!r}: give > 0.")


@dataclass(frozen=True)
class HighProbability:
    """`With probability at least 1 − delta`: failures in draws, along a ladder.

    Holds where the one-sided 95% bound on the failures of the last (the largest) rung
    is at most `delta`. One rung suffices.
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

    Holds where the largest two rungs or more have it; the smallest rung from which
    all larger ones have it is reported.
    """

    size: tuple[float, ...]
    held: tuple[bool, ...]
    what: str
    seeds: int = 1

    def __post_init__(self) -> None:
        _check_lengths(self.what, size=self.size, held=self.held)


@dataclass(frozen=True)
class Unchecked:
    """The reason why nothing could be checked."""

    reason: str


Measurement = Exact | Seeds | Ladder | Slope | HighProbability | LargeEnough | Unchecked


@dataclass(frozen=True)
class Finding:
    """What a claim's judge returns.

    **Arguments:**

    - `checks`: must all hold.
    - `numbers`: what to print beside the verdict, name → number or list.
    """

    checks: tuple[Measurement, ...]
    numbers: Numbers = field(default_factory=dict)


@dataclass(frozen=True)
class Correction:
    """A statement that holds where the printed one does not."""

    statement: str
    judge: Callable[[Evidence], Finding]


@dataclass(frozen=True, repr=False)
class Claim(AbstractPresentable):
    """One statement of a paper as an executable check.

    **Arguments:**

    - `id`: such as `B-Thm4.1-T2`; what comes first is the paper's `letter`.
    - `place`: where the paper says it; `statement`: in our words.
    - `system`: the dynamical system that it is about.
    - `needs`: named runs; `judge`: evidence → finding.
    - `expected`: the recorded verdict, and `source` of that record.
    - `conditions`: the theorem's conditions, in words with the constants that we put
      in, and `scope`: how near the runs' settings are to them.
    - `predicate`: the check in words, with its tolerance and where that comes from.
    - `mutations`: changes of the evidence under which the claim must not hold.
    - `correction`: the statement that is judged where the printed one does not hold.
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
        if not _ID.fullmatch(self.id):
            raise ValueError(
                f"{self.id!r} is no claim id: write it as B-Thm4.1-T2, the paper's "
                "letter (or a word of up to 12 letters or digits with a capital "
                "first), a hyphen, and then letters, digits, dots and hyphens."
            )
        if not self.mutations:
            raise ValueError(
                f"{self.id} has no mutation: a claim must be able to fail."
            )

    def facts(self) -> Facts:
        """What is claimed, under which conditions, and how it is judged."""
        correction = self.correction.statement if self.correction else "none"
        runs = Counter(request.experiment for request in self.needs.values())
        return Facts(
            f"{self.id} ({self.place})",
            (
                ("statement", self.statement),
                ("system", self.system),
                ("conditions", self.conditions),
                ("judged by", self.predicate),
                ("recorded", f"{self.expected}, {self.source}"),
                ("scope", f"{self.scope}"),
                ("stated by", {"paper": "the paper", "ours": "us"}[self.origin]),
                ("correction", correction),
                ("runs", ", ".join(f"{count} of {id}" for id, count in runs.items())),
                ("broken by", "; ".join(self.mutations)),
            ),
        )


def _check_lengths(what: str, **columns: Sequence[float]) -> None:
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"{what!r} has columns of lengths {lengths}: make them equal.")
