import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import attnflow as af

NAMES = sorted(af._HOMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_resolves_and_is_documented(name):
    found = getattr(af, name)
    assert not inspect.ismodule(found)
    assert found.__doc__


def test_readers_and_type_checkers_see_the_same_names():
    tree = ast.parse(Path(af.__file__).read_text("utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: node.module
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == af._HOMES
    assert set(NAMES) <= set(dir(af))


def test_importing_is_light():
    code = (
        "import sys, attnflow\n"
        "heavy = {'jax', 'xarray', 'numpy', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_submodules_do_not_hide_names():
    code = (
        "import attnflow.papers.citation, attnflow as af\n"
        "from attnflow.schema.declarations import Request\n"
        "assert callable(af.paper) and callable(af.citation) and af.Request is Request"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_names():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = af.nothing
