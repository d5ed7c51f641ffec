"""Code blocks of Markdown pages: found, run, and their output compared.

Python blocks of a page share one namespace, in their order; a `text` block right after
one of them is what it prints. In `console` blocks lines after a command are its output,
of which a line `...` stands for any number of lines. A comment before a block says what
is special about it: `<!-- slow -->`, or `<!-- not run: why -->`.
"""

import contextlib
import io
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.M | re.S,
)
NUMBER = re.compile(r"[-+]?\d+(?:\.(\d+))?(?:e([-+]?\d+))?")


@dataclass(frozen=True)
class Block:
    """A fenced block, with its mark and what follows it as its output."""

    language: str
    text: str
    mark: str
    output: str | None = None

    @property
    def runs(self) -> bool:
        return not self.mark.startswith("not run: ")

    @property
    def slow(self) -> bool:
        return self.mark == "slow"


def pages():
    """Every page that people read, by its path in the repository."""
    paths = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    paths += (ROOT / "src/attnflow/papers").glob("*/README.md")
    return sorted(path.relative_to(ROOT).as_posix() for path in paths)


def blocks_of(page):
    """The blocks of a page in their order."""
    text = (ROOT / page).read_text("utf-8")
    matches = list(BLOCK.finditer(text))
    blocks = []
    for i, match in enumerate(matches):
        output = None
        if match["language"] == "python" and i + 1 < len(matches):
            after = matches[i + 1]
            if (
                after["language"] == "text"
                and not text[match.end() : after.start()].strip()
            ):
                output = after["text"]
        blocks.append(
            Block(match["language"], match["text"], match["mark"] or "", output)
        )
    return blocks


def run_page(page):
    """Run the Python blocks of a page; give each with what it printed."""
    space = {"__name__": "page"}
    for block in blocks_of(page):
        if block.language != "python" or not block.runs:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block.text, page, "exec"), space)
        yield block, printed.getvalue()


def commands_of(block):
    """The commands of a block, each with the output that is shown of it."""
    commands, outputs = [], []
    for line in block.text.replace("\\\n", " ").splitlines():
        start = "$ " if block.language == "console" else ""
        if line.startswith(f"{start}attnflow "):
            commands.append(line.removeprefix(start).partition("  #")[0].strip())
            outputs.append([])
        elif commands and block.language == "console":
            outputs[-1].append(line)
    return list(zip(commands, map("\n".join, outputs), strict=True))


def difference(printed, shown):
    """The first place where what was printed is not what is shown; `None` if none."""
    parts = re.split(r"(?m)^\.\.\.$", shown.strip("\n"))
    found, position = printed.split(), 0
    for i, part in enumerate(parts):
        wanted = part.split()
        places = range(position, len(found) - len(wanted) + 1)
        if i == 0:
            places = places[:1]
        if i and i == len(parts) - 1:
            places = places[-1:]
        ends = [p + len(wanted) for p in places if _alike(found[p:], wanted)]
        if not ends:
            return f"{' '.join(wanted)}\nis not in\n{' '.join(found[position:])}"
        position = ends[0]
    if len(parts) == 1 and position != len(found):
        return f"also printed: {' '.join(found[position:])}"
    return None


def _alike(found, wanted):
    return all(same(f, w) for f, w in zip(found, wanted, strict=False))


def same(found, wanted):
    """Equal words, or words whose numbers differ by little."""
    if found == wanted:
        return True
    if NUMBER.sub("#", found) != NUMBER.sub("#", wanted):
        return False
    pairs = zip(NUMBER.finditer(found), NUMBER.finditer(wanted), strict=True)
    return all(_near(f, w) for f, w in pairs)


def _near(found, wanted):
    """Two of the last digit; of whole numbers, which are mostly times, one in 100."""
    if len(found[1] or "") != len(wanted[1] or ""):
        return False
    unit = 10.0 ** (int(wanted[2] or 0) - len(wanted[1] or ""))
    allowed = 2 * unit if wanted[1] or wanted[2] else abs(float(wanted[0])) / 100
    return abs(float(found[0]) - float(wanted[0])) <= allowed


def rewrite(page):
    """Put what the blocks of a page print in the place of what is shown; returns it."""
    text = (ROOT / page).read_text("utf-8")
    for block, printed in run_page(page):
        shown = f"{block.text}```\n\n```text\n"
        if block.output is not None and difference(printed, block.output):
            old, new = (f"{shown}{output}```" for output in (block.output, printed))
            assert text.count(old) == 1, old
            text = text.replace(old, new)
    (ROOT / page).write_text(text, "utf-8")


if __name__ == "__main__":
    # `python -m tests.docs.blocks docs/index.md`: the numbers of this machine.
    import sys

    for page in sys.argv[1:]:
        rewrite(page)
