"""The table of environment variables is that of the code."""

import ast
import re

from tests.docs.blocks import ROOT

SOURCE = ROOT / "src/attnflow"
OURS = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+_?|PYTHON[A-Z]+CODE")


def read_by_the_code():
    """Names that modules which read `os.environ` have as constants."""
    names = set()
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        if not any(getattr(n, "attr", "") == "environ" for n in ast.walk(tree)):
            continue
        if "witnesses" in path.parts or "benchmarks" in path.parts:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                is_name = OURS.fullmatch(node.value) and node.value[:3] != "SC_"
                names |= {node.value} if is_name else set()
    return names


def named_by_the_page():
    text = (ROOT / "docs/environment.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[^|]*) \|", text, re.M)
    return {name for row in rows for name in re.findall(r"`([A-Z_0-9]+)`", row)}


def test_the_table_is_complete():
    assert named_by_the_page() == read_by_the_code()
