"""A claim under changes of its runs: which of them make it fail, which mend it."""

from collections.abc import Mapping
from dataclasses import dataclass

from attnflow.claims import Claim, Evidence, Rule, Verdict
from attnflow.claims.base import Judge, Mutation
from attnflow.claims.judgement import corrected_rule_of, rule_of
from attnflow.claims.trials import attempt, try_out

ERROR = "no verdict"
"""What is said where a judge ends in an error on changed runs."""


@dataclass(frozen=True)
class Tried:
    """The verdicts on a statement under changes of the runs it was judged on.

    **Arguments:**

    - `statement`: `as printed`, or `as corrected` where that one holds.
    - `failing`: generated changes under which it fails; `changes`: how many were tried.
    - `inert`: variables that it reads and that no change of makes matter.
    - `unknown`: verdicts on runs that are untrained, cut, or have holes.
    - `mutations`: verdicts under the changes that the claim itself names; `mends`: of
      the printed statement under those that are to mend it.
    """

    statement: str
    failing: tuple[str, ...]
    changes: int
    inert: tuple[str, ...]
    unknown: Mapping[str, str]
    mutations: Mapping[str, str]
    mends: Mapping[str, str]


def try_claim(claim: Claim, evidence: Evidence) -> Tried:
    """Try the statement that holds: the printed one, or else its correction."""
    statement, judge, rule = _statement(claim)
    trial = try_out(judge, rule, evidence)
    counts = [*map(len, trial.variables.values()), len(trial.settings)]
    return Tried(
        statement,
        trial.failing,
        sum(counts),
        trial.inert,
        {name: _word(verdict) for name, verdict in trial.unknown.items()},
        _verdicts(judge, rule, evidence, claim.mutations),
        _verdicts(claim.judge, rule_of(claim), evidence, claim.mends),
    )


def _statement(claim: Claim) -> tuple[str, Judge, Rule]:
    if claim.expected is Verdict.HOLDS or claim.correction is None:
        return "as printed", claim.judge, rule_of(claim)
    return "as corrected", claim.correction.judge, corrected_rule_of(claim)


def _verdicts(
    judge: Judge, rule: Rule, evidence: Evidence, changes: Mapping[str, Mutation]
) -> dict[str, str]:
    return {
        name: _word(attempt(judge, rule, evidence, change))
        for name, change in changes.items()
    }


def _word(verdict: Verdict | None) -> str:
    return ERROR if verdict is None else str(verdict)
