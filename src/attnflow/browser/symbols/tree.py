"""Trees of tuples, lists and dicts: arguments of functions."""

from collections.abc import Callable, Iterator
from typing import Any


def mapped(tree: Any, function: Callable[[Any], Any]) -> Any:
    """The tree of tuples, lists and dicts with a function of its leaves."""
    if type(tree) in (tuple, list):
        return type(tree)(mapped(x, function) for x in tree)
    if type(tree) is dict:
        return {name: mapped(x, function) for name, x in tree.items()}
    return function(tree)


def leaves(tree: Any) -> Iterator[Any]:
    """The leaves of a tree, in their order."""
    if type(tree) in (tuple, list):
        for x in tree:
            yield from leaves(x)
    elif type(tree) is dict:
        yield from leaves(list(tree.values()))
    else:
        yield tree
