"""Papers that other packages register: loaded, checked, and never in the way."""

import re
import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

from attnflow.schema.installation import distribution_of, registered

if TYPE_CHECKING:
    from attnflow.papers.base import Paper

PREFIX = re.compile(r"[A-Z][A-Za-z0-9]{1,11}")
"""What ids of claims begin with: single letters are those of attnflow's own papers."""


class BrokenPaper(ValueError):
    """A registered paper that cannot be used; the message says why."""


class BrokenPaperWarning(UserWarning):
    """Somebody's paper is left out of a list, and why."""


def load(slug: str, points: Sequence[EntryPoint]) -> "Paper":
    """The paper that another package registers under this name, checked."""
    if len(points) > 1:
        owners = " and ".join(map(distribution_of, points))
        raise BrokenPaper(
            f"The paper {slug!r} is registered {len(points)} times, by {owners}: "
            "rename all but one of them in their pyproject.toml, or uninstall them."
        )
    point = points[0]
    try:
        paper = point.load()
    # Whatever a stranger's module raises, even an exit, must not end the program.
    except (Exception, SystemExit) as error:
        raise BrokenPaper(
            f"The paper {slug!r} of {distribution_of(point)} cannot be loaded from "
            f"{point.value}: {type(error).__name__}: {error}. Mend that package, or "
            "uninstall it."
        ) from error
    _check(slug, point, paper)
    return paper


def usable(ours: tuple[str, ...]) -> "dict[str, Paper]":
    """The papers of other packages; a warning for each that cannot be used."""
    papers = {}
    for slug, points in registered().items():
        try:
            _check_free(slug, points, ours)
            papers[slug] = load(slug, points)
        except BrokenPaper as error:
            warnings.warn(f"{error}", BrokenPaperWarning, stacklevel=3)
    return papers


def of_others(ours: tuple[str, ...]) -> Mapping[str, tuple[EntryPoint, ...]]:
    """Entry points by short name, without those that claim a name of `ours`."""
    return {slug: p for slug, p in registered().items() if slug not in ours}


def _check_free(slug: str, points: Sequence[EntryPoint], ours: tuple[str, ...]) -> None:
    if slug in ours:
        owners = " and ".join(map(distribution_of, points))
        raise BrokenPaper(
            f"A paper {slug!r} is registered by {owners}, but attnflow has experiments "
            "of this name, which stay. Give the other one another name in its "
            "pyproject.toml."
        )


def _check(slug: str, point: EntryPoint, paper: object) -> None:
    from attnflow.papers.base import Paper

    who = f"The paper {slug!r} of {distribution_of(point)}"
    if not isinstance(paper, Paper):
        raise BrokenPaper(
            f"{who}: {point.value} is of type {type(paper).__name__}, not an "
            "attnflow.Paper. Let the entry point name the Paper itself."
        )
    if paper.slug != slug:
        raise BrokenPaper(
            f"{who} calls itself {paper.slug!r}. Use one name in its pyproject.toml "
            "and in its Paper."
        )
    if not PREFIX.fullmatch(paper.letter):
        raise BrokenPaper(
            f"{who} has letter={paper.letter!r}. Ids of its claims must begin with a "
            "word of its own, of 2 to 12 letters or digits with a capital first, such "
            "as letter='Needle': single letters are attnflow's."
        )
