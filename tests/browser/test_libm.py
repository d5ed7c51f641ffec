"""Elementary functions against mpmath: below one unit in the last place."""

import ctypes
import ctypes.util
import math
import struct

import mpmath
import numpy as np
import pytest

from attnflow.browser import libm
from attnflow.browser.host import Instance
from attnflow.browser.wasm.module import module

mpmath.mp.prec = 200
EXACT = {
    "exp": mpmath.exp,
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "log1p": mpmath.log1p,
    "logistic": lambda x: 1 / (1 + mpmath.exp(-x)),
    "tanh": mpmath.tanh,
    "pow": mpmath.power,
}
LIMITS = {
    "exp": [(math.inf, math.inf), (-math.inf, 0.0), (710.0, math.inf), (-746.0, 0.0)],
    "expm1": [(math.inf, math.inf), (-math.inf, -1.0), (-0.0, -0.0), (5e-324, 5e-324)],
    "log": [(0.0, -math.inf), (math.inf, math.inf), (-1.0, math.nan), (1.0, 0.0)],
    "log1p": [(-1.0, -math.inf), (math.inf, math.inf), (-2.0, math.nan), (-0.0, -0.0)],
    "logistic": [(math.inf, 1.0), (-math.inf, 0.0), (0.0, 0.5)],
    "tanh": [(math.inf, 1.0), (-math.inf, -1.0), (-0.0, -0.0), (5e-324, 5e-324)],
}
SIZES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 1e300, math.inf, math.nan)
SPECIAL = [sign * size for sign in (1, -1) for size in SIZES]


@pytest.fixture(scope="module")
def functions():
    return Instance(module([libm.function(n, exported=True) for n in EXACT], cells=1))


def error(value, exact):
    """By how many units in the last place of the exact result a value is off."""
    if abs(exact) >= mpmath.mpf(2) ** 1024 * (1 - mpmath.mpf(2) ** -54):
        return 0.0 if abs(value) == math.inf else math.inf
    size = abs(float(exact))
    unit = math.ulp(size) if size < 2.0**1023 else 2.0**971
    return float(abs(mpmath.mpf(value) - exact) / unit)


def spread(seed, count):
    """Numbers of both signs over all magnitudes, and around those in common use."""
    draw = np.random.default_rng(seed)
    signs = draw.choice([-1.0, 1.0], count)
    return np.concatenate(
        [
            signs * 10 ** draw.uniform(-20, 3, count),
            draw.uniform(-2, 2, count),
            draw.uniform(-760, 720, count),
            signs[:200] * 10 ** draw.uniform(-323, 308, 200),
            np.array([2.0**-1074, 2.0**-1022, 709.782712893384, -745.13, 0.25]),
        ]
    )


@pytest.mark.parametrize("name", sorted(LIMITS))
def test_below_one_unit_in_the_last_place(functions, name):
    xs = spread(0, 300)
    if name.startswith("log") and name != "logistic":
        xs = np.abs(xs) if name == "log" else xs[xs > -1]
    errors = [error(functions.call(name, x), EXACT[name](mpmath.mpf(x))) for x in xs]
    assert max(errors) < 0.6, xs[int(np.argmax(errors))]


def test_powers_below_one_unit_in_the_last_place(functions):
    draw = np.random.default_rng(1)
    bases = 10 ** np.concatenate(
        [draw.uniform(-3, 3, 400), draw.uniform(-300, 300, 100)]
    )
    exponents = draw.uniform(-1, 1, 500) * 10 ** draw.uniform(-3, 2, 500)
    near_one = 1 + draw.uniform(-1e-8, 1e-8, 200)
    large = draw.uniform(-7e10, 7e10, 200)
    worst = 0.0
    for x, y in zip(
        np.append(bases, near_one), np.append(exponents, large), strict=True
    ):
        exact = mpmath.power(mpmath.mpf(x), mpmath.mpf(y))
        if exact > mpmath.mpf(2) ** -1080:
            worst = max(worst, error(functions.call("pow", x, y), exact))
    assert worst < 0.8


@pytest.mark.parametrize("name", sorted(LIMITS))
def test_limits(functions, name):
    for x, value in [*LIMITS[name], (math.nan, math.nan)]:
        result = functions.call(name, x)
        both_nan = math.isnan(result) and math.isnan(value)
        assert both_nan or struct.pack("d", result) == struct.pack("d", value), x


def test_powers_of_special_numbers_are_those_of_c(functions):
    power = ctypes.CDLL(ctypes.util.find_library("m")).pow
    power.argtypes, power.restype = [ctypes.c_double] * 2, ctypes.c_double
    for x in SPECIAL:
        for y in SPECIAL:
            expected, result = power(x, y), functions.call("pow", x, y)
            if math.isnan(expected):
                assert math.isnan(result), (x, y)
            else:
                assert math.isclose(result, expected, rel_tol=1e-15), (x, y)
                assert math.copysign(1, result) == math.copysign(1, expected), (x, y)
