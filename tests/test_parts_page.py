"""What docs/parts.md prints under its blocks is what they print."""

import contextlib
import io
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.cpus

PAGE = Path(__file__).resolve().parent.parent / "docs" / "parts.md"
BLOCKS = re.findall(
    r"^## ([^\n]+)\n(?:(?!^## ).)*?```python\n(.*?)```\n\n```text\n(.*?)```",
    PAGE.read_text("utf-8"),
    re.DOTALL | re.MULTILINE,
)
FAST = "A payload per position: in-context regression"
CASES = [
    pytest.param(*block, marks=[] if block[0] == FAST else [pytest.mark.slow])
    for block in BLOCKS
]


def test_every_part_has_a_block():
    headings = re.findall(r"^## (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert [name for name, *_ in BLOCKS] == headings[:-1]
    assert FAST in headings


@pytest.mark.filterwarnings("ignore::attnflow.experiments.LearningRateWarning")
@pytest.mark.parametrize(("name", "code", "shown"), CASES)
def test_blocks_print_what_is_shown(name, code, shown):
    match = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert match is not None
    printed, space = io.StringIO(), {"__name__": "page"}
    with contextlib.redirect_stdout(printed):
        exec(match[1] + code, space)
    found, wanted = printed.getvalue().split(), shown.split()
    assert len(found) == len(wanted)
    for mine, theirs in zip(found, wanted, strict=True):
        assert same(mine, theirs), (mine, theirs)


def same(found: str, wanted: str) -> bool:
    """Equal words, or numbers up to two of their last digit."""
    number = r"[-+]?\d+(?:\.(\d+))?(?:e([-+]\d+))?[,;:]?"
    match = re.fullmatch(number, wanted)
    if match is None or re.fullmatch(number, found) is None:
        return found == wanted
    unit = 10.0 ** (int(match[2] or 0) - len(match[1] or ""))
    mine, theirs = (float(text.rstrip(",;:")) for text in (found, wanted))
    # Whole numbers are times of records, of which one may come sooner or later.
    return abs(mine - theirs) <= (2 * unit if match[1] else theirs / 4)
