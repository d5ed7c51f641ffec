"""What claims need: no run takes the name of another."""

import ast
import importlib
import pkgutil

import pytest

from attnflow.papers import SLUGS


def modules(slug):
    """The modules of a paper's claims."""
    package = importlib.import_module(f"attnflow.papers.{slug}.claims")
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield importlib.import_module(found.name)


def merged(module):
    """Dictionaries of `needs=` that put several together, as code."""
    with open(module.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        given = isinstance(node, ast.keyword) and node.arg == "needs"
        if given and isinstance(node.value, ast.Dict) and None in node.value.keys:
            yield node.value


def evaluated(node, module):
    return eval(compile(ast.Expression(node), module.__file__, "eval"), vars(module))


def names_of(node, module):
    """All names that go into a dictionary, those that are written over included."""
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            yield from evaluated(value, module)
        else:
            yield evaluated(key, module)


@pytest.mark.parametrize("slug", SLUGS)
def test_runs_that_are_put_together_keep_their_names_apart(slug):
    found = [
        (f"{module.__name__}:{node.lineno}", list(names_of(node, module)))
        for module in modules(slug)
        for node in merged(module)
    ]
    assert found
    assert [place for place, names in found if len(set(names)) < len(names)] == []
