"""The papers: one folder each, found by name and imported when asked for."""

import importlib
from typing import TYPE_CHECKING

from attnflow._suggest import look_up

if TYPE_CHECKING:
    from attnflow.paper import Paper

# The first is what the demo shows: its headline is computed in half a minute.
SLUGS = ("mixture", "cooccurrence", "signgd", "vit", "scansnap")


def paper(slug: str) -> "Paper":
    """The paper with this short name."""
    look_up("paper", slug, dict.fromkeys(SLUGS))
    return importlib.import_module(f"attnflow.papers.{slug}").PAPER


def papers() -> "dict[str, Paper]":
    """All papers by their short names."""
    return {slug: paper(slug) for slug in SLUGS}
