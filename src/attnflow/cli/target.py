"""What a command is about: papers, exhibits, claims, settings, names and times."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnflow.claims import Claim
    from attnflow.runs.verify import Selection


def overrides(texts: Sequence[str]) -> dict[str, str]:
    """Settings from texts such as `width=64`."""
    settings: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ValueError(f"{text!r} is no setting. Write it as width=64.")
        if name in settings:
            raise ValueError(f"{name} is set twice. Give it once.")
        settings[name] = value
    return settings


def names(text: str | None) -> list[str] | None:
    """Names from a text such as `loss,attention`."""
    if text is None:
        return None
    parts = [name.strip() for name in text.split(",") if name.strip()]
    if not parts:
        raise ValueError(f"{text!r} names nothing. Write for example loss,attention.")
    return parts


def times(text: str | None) -> list[float] | None:
    """Times from a text such as `0,10,100`."""
    try:
        numbers = [float(name) for name in names(text) or ()]
    except ValueError:
        raise ValueError(
            f"--at {text!r} is no list of times. Write for example --at 0,10,100."
        ) from None
    return numbers or None


def chosen_claims(target: str | None, only: Sequence[str] = ()) -> "Selection":
    """The claims of a target, by paper.

    `only` are traits that they all must have: an id such as `B-Thm4.1*`, a scope, an
    origin, or a recorded verdict.
    """
    from attnflow.claims import Scope, Verdict
    from attnflow.papers import select_papers
    from attnflow.schema.settings import did_you_mean

    every = [
        (paper, paper.claims if id is None else (paper.claim(id),))
        for paper, id in select_papers(target)
    ]
    kept = [
        (paper, [c for c in claims if all(_has(c, trait) for trait in only)])
        for paper, claims in every
    ]
    if only and not any(claims for _, claims in kept):
        ids = [claim.id for _, claims in every for claim in claims]
        words = (*map(str, Scope), *map(str, Verdict), "paper", "ours")
        raise ValueError(
            f"None of the {len(ids)} claims is {' and '.join(map(repr, only))}."
            f"{did_you_mean(only[0], [*ids, *words])} Give an id, which may have a *, "
            f"or one of {', '.join(words)}."
        )
    return [(paper, claims) for paper, claims in kept if claims]


def _has(claim: "Claim", trait: str) -> bool:
    traits = (claim.scope, claim.origin, claim.expected)
    return trait in traits or fnmatchcase(claim.id, trait)
