"""`exp` and what comes of it: `expm1`, `tanh` and `logistic`.

With `k` the nearest integer of `x / log 2` and `r = x − k log 2`, `exp x` is
`2ᵏ · (1 + expm1 r)`, and `expm1 r = r + r²/2 + r³ (1/6 + …)` with the first two terms
as pairs: the error of the sum is some 2⁻⁵⁹ before it is rounded to float64.
"""

import math
from fractions import Fraction

from attnflow.browser.libm.doubled import (
    Pair,
    exact_product,
    exact_sum,
    ordered_sum,
    polynomial,
    ratio,
)
from attnflow.browser.wasm.nodes import (
    Node,
    binary,
    choice,
    compare,
    constant,
    convert,
    equal,
    from_bits,
    unary,
)

# log 2 with 21 zeros at the end, so that its products with k are exact; and the rest.
LOG2_HIGH, LOG2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Beyond these, exp is 0 or infinite.
LOWEST, HIGHEST = -746.0, 710.0
# 0.3466¹⁵/15! lies below 2⁻⁶², where log 2 / 2 < 0.3466.
EXPONENTIAL = tuple(1 / math.factorial(n) for n in range(3, 15))
SMALL_TANH = 0.25


def _tanh_series(count: int) -> tuple[float, ...]:
    """Coefficients of x³, x⁵, … in tanh x, by `tanh' = 1 − tanh²`."""
    series = [Fraction(1)]
    for n in range(1, count + 1):
        terms = (series[i] * series[n - 1 - i] for i in range(n))
        square = sum(terms, Fraction(0))
        series.append(-square / (2 * n + 1))
    return tuple(float(x) for x in series[1:])


# (0.25 / (π/2))²² is 3e-18.
TANH = _tanh_series(11)


def power_of_two(k: Node) -> Node:
    """`2ᵏ` for an i64 from −1022 to 1023."""
    return from_bits((k + 1023) << 52)


def scaled(x: Node, k: Node) -> Node:
    """`2ᵏ x` for an i64, rounded once; the result may be subnormal or infinite."""
    half = binary("shr_s", k, 1)
    return x * power_of_two(half) * power_of_two(k - half)


def reduced(x: Node, low: Node | None = None) -> tuple[Node, Pair]:
    """`k` as i64 and `expm1 r` as a pair, where `x + low = k log 2 + r`."""
    x = binary("max", binary("min", x, HIGHEST), LOWEST)
    k = unary("nearest", x * (1 / math.log(2)))
    high = x - k * LOG2_HIGH
    rest = k * LOG2_LOW if low is None else k * LOG2_LOW - low
    r = high - rest
    tail = (high - r) - rest
    square, error = exact_product(r, r)
    cube = square * r * polynomial(r, EXPONENTIAL)
    first, lost = ordered_sum(r, square * 0.5)
    small = lost + (error * 0.5 + (cube + (tail + tail * r)))
    return convert("i64.trunc_sat_f64_s", "i64", k), ordered_sum(first, small)


def with_one(pair: Pair) -> Pair:
    """One more than a pair."""
    total, error = exact_sum(constant(1.0), pair[0])
    return ordered_sum(total, error + pair[1])


def exponential(x: Node, low: Node | None = None) -> Node:
    """`exp(x + low)`."""
    k, rest = reduced(x, low)
    high, tail = with_one(rest)
    return scaled(high + tail, k)


def exponential_less_one(x: Node) -> Node:
    """`exp(x) − 1`."""
    k, rest = reduced(x)
    high, tail = with_one(rest)
    # From exp 50 on, one is below the last place, and so is exp(−50) below one.
    inside = compare("lt", unary("abs", x), 50.0)
    scale = choice(inside, power_of_two(choice(inside, k, constant(0, "i64"))), 0.0)
    total, error = exact_sum(scale * high, constant(-1.0))
    middle = total + (error + scale * tail)
    near = choice(equal(k, 0), rest[0] + rest[1], middle)
    far = scaled(high + tail, k)
    tiny = compare("lt", unary("abs", x), 2.0**-54)
    return choice(tiny, x, choice(compare("ge", x, 50.0), far, near))


def hyperbolic_tangent(x: Node) -> Node:
    """`tanh x = (1 − e) / (1 + e)` with `e = exp(−2|x|)`, or its series near 0."""
    size = unary("abs", x)
    e = _decaying(size * 2.0)
    top, error = exact_sum(constant(1.0), -e[0])
    high, low = ratio((top, error - e[1]), with_one(e))
    square = x * x
    near = size + size * square * polynomial(square, TANH)
    # NaN compares as not small, and passes through unchanged.
    small = compare("lt", size, SMALL_TANH)
    return binary("copysign", choice(small, near, high + low), x)


def logistic(x: Node) -> Node:
    """`1 / (1 + exp(−x))`, and `e / (1 + e)` with `e = exp x` for negative x."""
    e = _decaying(unary("abs", x))
    negative = compare("lt", x, 0.0)
    top = choice(negative, e[0], 1.0), choice(negative, e[1], 0.0)
    high, low = ratio(top, with_one(e))
    # Beyond 700 the products of a ratio are subnormal, and 1 + e is 1.
    return choice(compare("lt", x, -700.0), e[0] + e[1], high + low)


def _decaying(size: Node) -> Pair:
    """`exp(−size)` as a pair."""
    k, rest = reduced(-size)
    high, low = with_one(rest)
    return scaled(high, k), scaled(low, k)
