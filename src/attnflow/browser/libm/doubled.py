"""Sums and products of float64 with their rounding errors: a number as two of them.

A pair `(high, low)` stands for `high + low`, `low` being below the last place of
`high`. WebAssembly has no fused multiplication and addition, so that a product is
split (T. J. Dekker, 1971).
"""

from collections.abc import Sequence

from attnflow.browser.wasm.nodes import Node, constant

Pair = tuple[Node, Node]
SPLIT = 2.0**27 + 1


def exact_sum(a: Node, b: Node) -> Pair:
    """The sum of two numbers and its error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def ordered_sum(a: Node, b: Node) -> Pair:
    """The same where `a` is 0 or not the smaller of the two."""
    total = a + b
    return total, b - (total - a)


def exact_product(a: Node, b: Node) -> Pair:
    """The product of two numbers and its error."""
    product = a * b
    (a, tail_a), (b, tail_b) = _halves(a), _halves(b)
    error = ((a * b - product) + a * tail_b + tail_a * b) + tail_a * tail_b
    return product, error


def ratio(top: Pair, bottom: Pair) -> Pair:
    """The quotient of two pairs."""
    high = top[0] / bottom[0]
    product, error = exact_product(high, bottom[0])
    rest = ((top[0] - product) - error) + (top[1] - high * bottom[1])
    return high, rest / bottom[0]


def polynomial(x: Node, coefficients: Sequence[float]) -> Node:
    """`Σ coefficients[n] · xⁿ`, by Horner's rule."""
    total = constant(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total


def _halves(a: Node) -> Pair:
    """The upper and the lower bits of a number, whose products are exact."""
    large = a * SPLIT
    high = large - (large - a)
    return high, a - high
