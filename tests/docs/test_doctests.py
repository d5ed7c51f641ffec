"""Examples of docstrings become code blocks in the reference."""

import pytest

pytest.importorskip("griffe")

from tools.documentation.doctests import fenced

TEXT = """Say what it is.

!!! example

    >>> for i in range(2):
    ...     print(i)
    0
    1
    >>> 2
    2

Then more text.
"""


def test_a_doctest_gets_a_fence_with_its_indent():
    lines = fenced(TEXT).splitlines()
    first, last = lines.index("    ```pycon"), lines.index("    ```")
    assert lines[first + 1 : last] == TEXT.splitlines()[4:10]
    assert lines[last + 1 :] == ["", "Then more text."]


def test_other_text_is_left_alone():
    assert fenced("a > b\n> quoted\n") == "a > b\n> quoted\n"
