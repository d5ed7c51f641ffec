"""Claims: a statement of a paper, its kind, the runs it needs, and a judge.

A claim's `judge` turns evidence (named runs) into a `Finding`: checks, each of which
carries numbers. The rules of `attnflow.claims.decision` turn checks into a verdict by
the claim's `kind`, so that a paper states what it compares with what, and never decides
for itself what counts as `holds`.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from attnflow.claims.checks import Finding
from attnflow.schema.declarations import Evidence, Request
from attnflow.schema.facts import AbstractPresentable, Facts

Mutation = Callable[[Evidence], Evidence]
_ID = re.compile(r"[A-Z][A-Za-z0-9]{0,11}-[A-Za-z0-9.\-]+")


class Kind(StrEnum):
    """The kind of statement that a paper makes, which fixes the rule of its verdict."""

    IDENTITY = "identity"
    UNIVERSAL = "universal"
    PROBABILITY = "probability"
    ASYMPTOTIC = "asymptotic"
    OBSERVATION = "observation"


class Verdict(StrEnum):
    """The verdict on a statement: holds, fails, inconclusive or unchecked."""

    HOLDS = "holds"
    FAILS = "fails"
    INCONCLUSIVE = "inconclusive"
    UNCHECKED = "unchecked"


class Scope(StrEnum):
    """How near the judged runs are to the conditions of the statement."""

    THEOREM = "theorem"
    EXPERIMENT = "experiment"
    BEYOND = "beyond"


class CorrectionKind(StrEnum):
    """What a correction changes in the printed statement."""

    TYPO = "typo"
    CONSTANT = "constant"
    CONDITION = "condition"
    WEAKER = "weaker"
    OPPOSITE = "opposite"


Judge = Callable[[Evidence], Finding]
Origin = Literal["paper", "ours"]
"""Who states a claim."""


@dataclass(frozen=True)
class Correction:
    """A statement in the place of the printed one, with a verdict of its own.

    **Arguments:**

    - `kind`: what it changes. `condition`: true under a stated stronger condition;
      `weaker`: a weaker statement is true; `opposite`: the contrary is true.
    - `statement`: in our words; `judge`: evidence → finding.
    - `expected`: the recorded verdict.
    - `claim_kind`: the kind of the corrected statement, where it is another one than
      the claim's; `delta` likewise.
    """

    kind: CorrectionKind
    statement: str
    judge: Judge
    expected: Verdict = Verdict.HOLDS
    claim_kind: Kind | None = None
    delta: float | None = None


@dataclass(frozen=True)
class Witness:
    """A script that arrives at numbers of a claim without any code of attnflow.

    **Arguments:**

    - `script`: its path inside the paper's package, such as `witnesses/norms.py`. It
      prints a line `name = number` for each number.
    - `numbers`: by the name that the script prints, where the claim's own number is in
      what its judge prints: names of mappings and indices of lists, such as
      `("margins", "own_other")` or `("c", 0)`. They must agree to the last digit that
      the script prints.
    """

    script: str
    numbers: Mapping[str, tuple[str | int, ...]]

    def __post_init__(self) -> None:
        for name, path in self.numbers.items():
            if isinstance(path, str):
                raise TypeError(
                    f"The path of {name!r} is the text {path!r}. Write a tuple of its "
                    f"parts: ({path!r},)."
                )


@dataclass(frozen=True, repr=False)
class Claim(AbstractPresentable):
    """One statement of a paper as an executable check.

    **Arguments:**

    - `id`: such as `B-Thm4.1-T2`; what comes first is the paper's `letter`.
    - `place`: where the paper says it; `statement`: in our words.
    - `kind`: of statement, which fixes the rule; `delta`: the probability of failure
      that a statement of kind `probability` allows.
    - `system`: the dynamical system that it is about.
    - `needs`: named runs; `judge`: evidence → finding.
    - `under`: names of those items of the paper's conditions that the statement
      assumes, `()` where it assumes none; `judged`: names of the runs that must meet
      them (all of them where it is empty; the others are for comparison).
    - `expected`: the recorded verdict on the printed statement, and `source` of that
      record.
    - `predicate`: the check in words, with its tolerance and where that comes from.
    - `settings`: the runs' settings in words.
    - `mutations`: changes of the evidence under which it must not hold, beside the
      generated ones; `mends`: changes under which a failing claim holds.
    - `inert`: variables that the judge reads and that do not matter, with the reason.
    - `survives`: of `untrained`, `cut` and `holes`, those runs on which it may hold,
      with the reason.
    - `correction`: the statement that is judged beside the printed one.
    - `witness`: a program of its own for its numbers; or `no_witness`: why there is
      none for a claim that needs one.
    """

    id: str
    place: str
    statement: str
    kind: Kind
    system: str
    needs: Mapping[str, Request]
    judge: Judge
    expected: Verdict
    source: str
    under: tuple[str, ...]
    predicate: str = ""
    delta: float | None = None
    judged: tuple[str, ...] = ()
    settings: str = ""
    mutations: Mapping[str, Mutation] = field(default_factory=dict)
    mends: Mapping[str, Mutation] = field(default_factory=dict)
    inert: Mapping[str, str] = field(default_factory=dict)
    survives: Mapping[str, str] = field(default_factory=dict)
    origin: Origin = "paper"
    correction: Correction | None = None
    witness: Witness | None = None
    no_witness: str = ""

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise ValueError(
                f"{self.id!r} is not a claim id: write it as B-Thm4.1-T2, the paper's "
                "letter (or a word of up to 12 letters or digits with a capital "
                "first), a hyphen, and then letters, digits, dots and hyphens."
            )
        unknown = set(self.judged) - set(self.needs)
        if unknown:
            raise ValueError(
                f"{self.id} judges the runs {sorted(unknown)}, which it does not need. "
                f"It needs {sorted(self.needs)}."
            )
        if self.witness is not None and self.no_witness:
            raise ValueError(
                f"{self.id} has the witness {self.witness.script} and says why it has "
                "none: leave no_witness out."
            )

    @property
    def needs_witness(self) -> bool:
        """Whether it goes against its statement: one program is not enough for that."""
        return self.expected is Verdict.FAILS or self.correction is not None

    @property
    def check(self) -> str:
        """The check in words: those of the judge's records, and the predicate."""
        words = getattr(self.judge, "words", None)
        parts = (words() if words else "", self.predicate)
        return "; ".join(part for part in parts if part)

    def facts(self) -> Facts:
        """What is claimed, under which conditions, and how it is judged."""
        runs = Counter(request.experiment for request in self.needs.values())
        without = f"none: {self.no_witness}" if self.no_witness else "none"
        correction = "none"
        if self.correction:
            correction = (
                f"{self.correction.kind}, {self.correction.expected}: "
                f"{self.correction.statement}"
            )
        return Facts(
            f"{self.id} ({self.place})",
            (
                ("statement", self.statement),
                ("kind", str(self.kind)),
                ("system", self.system),
                ("assumes", ", ".join(self.under) or "no condition"),
                ("judged by", self.check),
                ("recorded", f"{self.expected}, {self.source}"),
                ("stated by", {"paper": "the paper", "ours": "us"}[self.origin]),
                ("correction", correction),
                ("runs", ", ".join(f"{count} of {id}" for id, count in runs.items())),
                ("witness", self.witness.script if self.witness else without),
            ),
        )
