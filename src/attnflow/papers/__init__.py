"""The papers: one folder each, found by name and imported when asked for.

Beside them stand papers that other packages register; see `attnflow new-paper`.
"""

import importlib
from typing import TYPE_CHECKING

from attnflow.papers import registered
from attnflow.schema.installation import package_of
from attnflow.schema.settings import look_up

if TYPE_CHECKING:
    from attnflow.papers.base import Paper

# The first is what the demo shows: its headline is computed in half a minute.
SLUGS = ("mixture", "cooccurrence", "signgd", "vit", "scansnap")
TAKEN = (*SLUGS, "mix")
"""Names that no other package's paper can have; `mix` is for mixed experiments."""


def paper(slug: str) -> "Paper":
    """The paper with this short name, ours or another package's."""
    if slug in SLUGS:
        return importlib.import_module(_ours(slug)).PAPER
    others = registered.of_others(TAKEN)
    look_up("paper", slug, dict.fromkeys((*SLUGS, *others)))
    return registered.load(slug, others[slug])


def papers() -> "dict[str, Paper]":
    """All papers by their short names: ours, then those of other packages.

    A paper of another package that cannot be loaded is left out, with a warning.
    """
    ours = {slug: paper(slug) for slug in SLUGS}
    return ours | registered.usable(TAKEN)


def select_papers(target: str | None) -> "list[tuple[Paper, str | None]]":
    """The papers of `PAPER`, `PAPER/NAME` or, for `None`, all; each with that name."""
    if target is None:
        return [(every, None) for every in papers().values()]
    slug, slash, name = target.partition("/")
    if slash and not name:
        raise ValueError(
            f"{target!r} ends in a slash. Write {slug}, or a name after it."
        )
    return [(paper(slug), name or None)]


def module_of(slug: str) -> str:
    """The name of the module in which a paper is."""
    return _ours(slug) if slug in SLUGS else package_of(slug) or _ours(slug)


def _ours(slug: str) -> str:
    return f"attnflow.papers.{slug}"
