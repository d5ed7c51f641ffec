"""Elementary functions in WebAssembly, to less than one unit in the last place.

Engines have none, and those of browsers differ. These are made of additions,
multiplications, divisions and bits alone, which are the same on every machine.
"""

from collections.abc import Callable

from attnflow.browser.libm.exponential import (
    exponential,
    exponential_less_one,
    hyperbolic_tangent,
    logistic,
)
from attnflow.browser.libm.logarithm import logarithm, logarithm_of_one_and, power
from attnflow.browser.wasm.nodes import Function, Local, Node, Return

FUNCTIONS: dict[str, tuple[int, Callable[..., Node]]] = {
    "exp": (1, exponential),
    "expm1": (1, exponential_less_one),
    "log": (1, logarithm),
    "log1p": (1, logarithm_of_one_and),
    "logistic": (1, logistic),
    "tanh": (1, hyperbolic_tangent),
    "pow": (2, power),
}
"""How many arguments each has, and its expression."""


def function(name: str, *, exported: bool = False) -> Function:
    """An elementary function as a function of a module."""
    count, expression = FUNCTIONS[name]
    params = tuple(Local("f64") for _ in range(count))
    body = [Return(expression(*params))]
    return Function(name, params, "f64", list(body), exported)
