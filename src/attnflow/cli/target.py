"""What a command is about: `PAPER`, `PAPER/NAME`, or every paper."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnflow.papers.base import Paper


def chosen_papers(target: str | None) -> "list[tuple[Paper, str | None]]":
    """The papers of a target, each with the name after the slash, if there is one."""
    from attnflow.papers import paper, papers

    if target is None:
        return [(found, None) for found in papers().values()]
    slug, slash, name = target.partition("/")
    if slash and not name:
        raise ValueError(
            f"{target!r} ends in a slash. Write {slug}, or a name after it."
        )
    return [(paper(slug), name or None)]


def overrides(texts: Sequence[str]) -> dict[str, str]:
    """Settings from texts such as `width=64`."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ValueError(f"{text!r} is no setting. Write it as width=64.")
        if name in found:
            raise ValueError(f"{name} is set twice. Give it once.")
        found[name] = value
    return found


def names(text: str | None) -> list[str] | None:
    """Names from a text such as `loss,attention`."""
    if text is None:
        return None
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise ValueError(f"{text!r} names nothing. Write for example loss,attention.")
    return found


def times(text: str | None) -> list[float] | None:
    """Times from a text such as `0,10,100`."""
    try:
        found = [float(name) for name in names(text) or ()]
    except ValueError:
        raise ValueError(
            f"--at {text!r} is no list of times. Write for example --at 0,10,100."
        ) from None
    return found or None
