"""`log` and what comes of it: `log1p` and `pow`.

A number is `2ᵏ (1 + f)` with `1 + f` between `√½` and `√2`. With `s = f / (2 + f)`,
`log(1 + f) = 2s (1 + s²/3 + s⁴/5 + …)`; `s` and `s²/3` are pairs, so that the logarithm
is good to some 2⁻⁶⁵, which `pow` multiplies by as much as 745.
"""

import math

from attnflow.browser.libm.doubled import (
    Pair,
    exact_product,
    exact_sum,
    ordered_sum,
    polynomial,
    ratio,
)
from attnflow.browser.libm.exponential import (
    HIGHEST,
    LOG2_HIGH,
    LOG2_LOW,
    LOWEST,
    exponential,
    power_of_two,
)
from attnflow.browser.wasm.nodes import (
    Node,
    binary,
    bits,
    choice,
    compare,
    constant,
    convert,
    equal,
    from_bits,
    negation,
    unary,
)

THIRD = (1 / 3, 1.8503717077085942e-17)
# s² < 0.0295, and 0.0295¹⁴ is below 2⁻⁷⁰.
SERIES = tuple(1 / (2 * n + 1) for n in range(2, 15))
# The upper half of √½, one's exponent above it, and the mask of a mantissa.
ROOT_HALF = 0x3FE6A09E << 32
LIFT = (0x3FF00000 << 32) - ROOT_HALF
MANTISSA = (1 << 52) - 1
SMALLEST_NORMAL = 2.0**-1022
# log x is 0 or at least 2⁻⁵³: from here on, xʸ is 0, 1 or infinite.
LARGEST_POWER = 2.0**65


def logarithm(x: Node) -> Node:
    """`log x`."""
    high, low = _pair(x)
    return _with_limits(x, high + low, zero=0.0)


def logarithm_of_one_and(x: Node) -> Node:
    """`log(1 + x)`."""
    total, error = exact_sum(constant(1.0), x)
    k, f = _mantissa(total)
    # Scaled by less than 2⁻¹⁰⁰⁰, the error is negligible.
    least = choice(compare("gt", k, 1000), constant(1000, "i64"), k)
    f = ordered_sum(f, error * power_of_two(constant(0, "i64") - least))
    high, low = _sum(k, f)
    tiny = compare("lt", unary("abs", x), 2.0**-54)
    return choice(tiny, x, _with_limits(x, high + low, zero=-1.0))


def power(x: Node, y: Node) -> Node:
    """`xʸ`, as in C."""
    size = unary("abs", x)
    high, low = _pair(size)
    y = binary("max", binary("min", y, LARGEST_POWER), -LARGEST_POWER)
    product, error = exact_product(y, high)
    inside = compare("lt", unary("abs", product), -LOWEST)
    rest = choice(inside, error + y * low, 0.0)
    magnitude = exponential(binary("min", product, HIGHEST), rest)
    extreme = equal(size, 0.0) | equal(size, math.inf)
    vanishes = compare("ne", compare("gt", size, 1.0), compare("gt", y, 0.0))
    magnitude = choice(extreme, choice(vanishes, 0.0, math.inf), magnitude)
    # NaN to the power of 0 is 1, as in C; otherwise NaN stays NaN.
    magnitude = choice(compare("ne", x, x) | compare("ne", y, y), x + y, magnitude)
    whole = equal(unary("floor", y), y)
    half = y * 0.5
    odd = whole & compare("ne", unary("floor", half), half)
    negative = compare("lt", bits(x), constant(0, "i64"))
    signed = choice(negative & odd, -magnitude, magnitude)
    undefined = compare("lt", x, 0.0) & negation(whole) & negation(extreme)
    one = equal(y, 0.0) | equal(x, 1.0)
    return choice(one, 1.0, choice(undefined, math.nan, signed))


def _with_limits(x: Node, inside: Node, *, zero: float) -> Node:
    """A logarithm that is −∞ at `zero`, and none below it."""
    above = choice(equal(x, math.inf), math.inf, inside)
    at_least = choice(equal(x, zero), -math.inf, above)
    return choice(compare("ge", x, zero), at_least, math.nan)


def _pair(x: Node) -> Pair:
    """`log x` as a pair, for positive numbers that may be subnormal."""
    subnormal = compare("lt", x, SMALLEST_NORMAL)
    k, f = _mantissa(choice(subnormal, x * 2.0**54, x))
    lower = choice(subnormal, constant(54, "i64"), constant(0, "i64"))
    return _sum(k - lower, (f, constant(0.0)))


def _mantissa(x: Node) -> tuple[Node, Node]:
    """`k` as i64 and `f`, where a normal number is `2ᵏ (1 + f)`."""
    lifted = bits(x) + LIFT
    k = (lifted >> 52) - 1023
    return k, from_bits((lifted & MANTISSA) + ROOT_HALF) - 1.0


def _sum(k: Node, f: Pair) -> Pair:
    """`k log 2 + log(1 + f)`."""
    count = convert("f64.convert_i64_s", "f64", k)
    high, low = _log_of_one_and(f)
    total, error = exact_sum(count * LOG2_HIGH, high)
    return ordered_sum(total, error + (low + count * LOG2_LOW))


def _log_of_one_and(f: Pair) -> Pair:
    """`log(1 + f)` for f between √½ − 1 and √2 − 1."""
    bottom, error = ordered_sum(constant(2.0), f[0])
    s, s_low = ratio(f, (bottom, error + f[1]))
    square, square_low = exact_product(s, s)
    square_low = square_low + (s * s_low) * 2.0
    third, third_low = exact_product(square, constant(THIRD[0]))
    third_low = third_low + (square * THIRD[1] + square_low * THIRD[0])
    u, lost = ordered_sum(third, square * square * polynomial(square, SERIES))
    product, low = exact_product(s, u)
    low = low + (s * (lost + third_low) + s_low * u)
    total, rest = ordered_sum(s, product)
    return total * 2.0, (rest + (s_low + low)) * 2.0
