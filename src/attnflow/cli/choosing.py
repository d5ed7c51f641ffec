"""Which claims a command is about."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from attnflow.claims import Claim, Scope, Verdict
from attnflow.cli.target import chosen_papers
from attnflow.runs.verify import Selection
from attnflow.schema.names import did_you_mean

WORDS = (*map(str, Scope), *map(str, Verdict), "paper", "ours")


def chosen_claims(target: str | None, only: Sequence[str] = ()) -> Selection:
    """The claims of a target, by paper.

    **Arguments:**

    - `only`: of these the ones that have all of these traits: an id such as
      `B-Thm4.1*`, a scope, an origin, or a recorded verdict.
    """
    named = [
        (paper, paper.claims if id is None else (paper.claim(id),))
        for paper, id in chosen_papers(target)
    ]
    kept = [
        (paper, [c for c in claims if all(_has(c, trait) for trait in only)])
        for paper, claims in named
    ]
    if only and not any(claims for _, claims in kept):
        ids = [claim.id for _, claims in named for claim in claims]
        texts = " and ".join(map(repr, only))
        raise ValueError(
            f"None of the {len(ids)} claims is {texts}."
            f"{did_you_mean(only[0], [*ids, *WORDS])} Give an id, which may have a *, "
            f"or one of {', '.join(WORDS)}."
        )
    return [(paper, claims) for paper, claims in kept if claims]


def _has(claim: Claim, trait: str) -> bool:
    named = trait in (claim.scope, claim.origin, claim.expected)
    return named or fnmatchcase(claim.id, trait)
