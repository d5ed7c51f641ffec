import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import attnflow as af

STUB = ast.parse(Path(af.__file__).with_suffix(".pyi").read_text("utf-8"))
IMPORTS = [node for node in STUB.body if isinstance(node, ast.ImportFrom)]
HOMES = {
    alias.name: f"attnflow.{node.module}" for node in IMPORTS for alias in node.names
}
"""The names that attnflow exports, with the modules from which they come."""

NAMES = sorted(HOMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_resolves_and_is_documented(name):
    found = getattr(af, name)
    assert not inspect.ismodule(found)
    assert found.__doc__


def test_readers_and_type_checkers_see_the_same_names():
    """The stub is what type checkers read and what is loaded: there is no second list.

    Only `X as X` exports a name of a stub.
    """
    assert STUB.body == IMPORTS
    assert all(node.level == 1 for node in IMPORTS)
    aliases = [alias for node in IMPORTS for alias in node.names]
    assert all(alias.asname == alias.name for alias in aliases)
    assert len(aliases) == len(HOMES)
    assert set(NAMES) == set(af.__all__) <= set(dir(af))
    for name, home in HOMES.items():
        assert getattr(af, name) is getattr(importlib.import_module(home), name)


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
    with pytest.raises(AttributeError, match="No attnflow attribute nothing"):
        _ = af.nothing
