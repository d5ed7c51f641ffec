"""The tutorial's files as its page prints them, over what `new-paper` writes."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "your-own-paper.md"
BLOCK = re.compile(
    r"`(?P<file>[\w./]+\.(?:py|toml))`(?P<part>, these lines)?:\n\n"
    r"```\w+\n(?P<text>.*?)```\n",
    re.DOTALL,
)


def blocks():
    """File, whether only some of its lines are printed, and the text."""
    blocks = BLOCK.finditer(PAGE.read_text("utf-8"))
    return [(m["file"], bool(m["part"]), m["text"]) for m in blocks]


def apply(home):
    """Put what the page prints into the package in `home`."""
    for file, is_part, text in blocks():
        place = home / file
        place.write_text(_changed(place.read_text(), text) if is_part else text)


def _changed(old, new):
    """The file, with each line of `new` in the place of the one that sets the same."""
    for line in new.splitlines():
        name = re.match(r"\s*\w+ ?=", line)
        assert name is not None, line
        old, count = re.subn(rf"(?m)^{name[0]}.*$", lambda m, line=line: line, old)
        assert count == 1, line
    return old


def register(home, slug, package):
    """The metadata of an installed package beside its sources."""
    metadata = home / "src" / f"{slug}-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Name: {slug}\nVersion: 0.1.0\n")
    points = f"[attnflow.papers]\n{slug} = {package}:PAPER\n"
    (metadata / "entry_points.txt").write_text(points)
