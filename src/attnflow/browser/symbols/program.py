"""Programs of symbols: the same operations as functions of numbers and arrays."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from attnflow.browser.symbols.namesakes import function_of, namesake
from attnflow.browser.symbols.symbol import Symbol, is_symbol
from attnflow.browser.symbols.tree import leaves, mapped


class Program:
    """Some symbols as a function of numbers and of the arrays that went into them."""

    def __init__(self, outputs: Sequence[Symbol]):
        self.outputs = list(outputs)
        self.arrays: list[np.ndarray] = []
        self._order: list[Symbol] = []
        self._seen: dict[int, Any] = {}
        for symbol in self.outputs:
            self._visit(symbol)

    def _visit(self, symbol: Symbol) -> None:
        waiting: list[tuple[Any, bool]] = [(symbol, False)]
        while waiting:
            item, ready = waiting.pop()
            if id(item) in self._seen and not ready:
                continue
            if not is_symbol(item):
                if type(item) is np.ndarray and item.size > 1 and item.dtype == float:
                    self._seen[id(item)] = item
                    self.arrays.append(item)
                continue
            parts = list(leaves((item.node.args, item.node.options)))
            if not ready:
                waiting.append((item, True))
                waiting.extend((part, False) for part in parts)
            elif id(item) not in self._seen:
                self._seen[id(item)] = item
                self._order.append(item)

    def signature(self) -> str:
        """A text that is the same for programs that differ in arrays alone."""
        places = {id(x): f"@{n}" for n, x in enumerate(self._order)}
        shapes = {id(a): f"#{n}{a.shape}" for n, a in enumerate(self.arrays)}

        def word(x: Any) -> Any:
            return places.get(id(x)) or shapes.get(id(x)) or _text(x)

        nodes = [
            (s.node.name, s.node.part, mapped((s.node.args, s.node.options), word))
            for s in self._order
        ]
        return repr((nodes, [places[id(s)] for s in self.outputs]))

    def __call__(self, numbers: dict[str, Any], arrays: Sequence[Any]) -> list[Any]:
        """The outputs, by functions of `jax.numpy`."""
        known = {id(a): given for a, given in zip(self.arrays, arrays, strict=True)}
        return [jnp.asarray(x) for x in self._outputs(numbers, known, _traced)]

    def values(self, numbers: dict[str, float]) -> list[Any]:
        """The outputs, by NumPy."""
        return self._outputs(numbers, {}, function_of)

    def _outputs(
        self,
        numbers: Mapping[str, Any],
        known: dict[int, Any],
        function: Callable[[str], Callable[..., Any]],
    ) -> list[Any]:
        def read(x: Any) -> Any:
            return known.get(id(x), x)

        for symbol in self._order:
            node = symbol.node
            if node.name == "number":
                known[id(symbol)] = numbers[node.args[0]]
                continue
            args, options = mapped(node.args, read), mapped(node.options, read)
            result = function(node.name)(*args, **options)
            known[id(symbol)] = result if node.part is None else result[node.part]
        return [known[id(symbol)] for symbol in self.outputs]


def _traced(name: str) -> Callable[..., Any]:
    """The function of `jax.numpy`; lists of numbers are arrays to it."""
    function = namesake(name)
    if name not in ("concatenate", "stack"):
        return function
    return lambda parts, *args, **options: function(
        [jnp.asarray(part) for part in parts], *args, **options
    )


def _text(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return f"{x.dtype}{x.shape}{x.tobytes().hex()}"
    return repr(x)
