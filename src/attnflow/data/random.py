"""Random numbers for set-up: the streams of `jax.random`, computed by NumPy.

JAX compiles a program for every shape that is drawn, which takes longer than the draw:
another width would cost a second. These functions take the same keys and return the
same numbers, in float64 whatever JAX's precision is:

- integers, uniform numbers in [0, 1), permutations and choices to the last bit, and
  uniform numbers in other bounds up to rounding;
- normal numbers up to the error of XLA's inverse error function (2e-12 in the far
  tails, where the one here is exact to rounding), and chi-squares, which are made of
  them.

Random numbers inside a compiled loop (batches, dropout) remain `jax.random`'s.

A key is an array of two 32-bit integers. `jax.random` takes it too, and these functions
take a `jax.random.key`, of the kind `threefry2x32`, which is JAX's default.

??? cite
    Salmon, Moraes, Dror and Shaw, *Parallel random numbers: as easy as 1, 2, 3*, 2011.

    Wichura, *Algorithm AS 241: the percentage points of the normal distribution*, 1988.
"""

import math
import operator
from collections.abc import Callable
from typing import TypeAlias

import jax
import numpy as np
from jaxtyping import Bool, Float, Int, UInt32, UInt64
from numpy.typing import ArrayLike, DTypeLike

Key: TypeAlias = jax.Array | UInt32[np.ndarray, "2"]
"""A key of random numbers: two integers, or a `jax.random.key`."""
Keys: TypeAlias = UInt32[np.ndarray, "*shape 2"]
Shape = tuple[int, ...]

KIND = "threefry2x32"
"""The kind of all keys here, by its name in `jax.random.key(seed, impl=…)`."""
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = np.uint32(0x1BD11BDA)
# Counters at a time: with its two words, such a block stays in a core's cache.
BLOCK = 1 << 15

# Wichura's AS 241: the normal quantile as ratios of polynomials, highest powers first.
# SciPy has it as `erfinv`, and takes a fifth of a second to import, which most runs
# need for nothing else.
# fmt: off
CENTRE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
     45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
     133.14166789178437745, 3.387132872796366608),
    (5226.495278852545925, 28729.085735721942674, 39307.89580009271061,
     21213.794301586595867, 5394.1960214247511077, 687.1870074920579083,
     42.313330701600911252, 1.0),
)
"""Of `0.180625 − q²`, times q: probabilities 1/2 + q with |q| ≤ 0.425."""
TAIL = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
     1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055,
     4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
     0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494,
     2.05319162663775882187, 1.0),
)
"""Of `√(−log p) − 1.6`, where p is the probability beyond, above e⁻²⁵."""
FAR_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
     0.026532189526576123093, 0.29656057182850489123, 1.7848265399172913358,
     5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
     7.868691311456132591e-4, 0.0148753612908506148525, 0.13692988092273580531,
     0.59983220655588793769, 1.0),
)
"""Of `√(−log p) − 5`, below e⁻²⁵."""
# fmt: on


def key(seed: int) -> Keys:
    """The key of a seed, as `jax.random.key` gives it."""
    seed = operator.index(seed)
    if not -(2**63) <= seed < 2**63:
        raise ValueError(f"The seed {seed} has more than 64 bits: use one below 2^63.")
    return np.array([(seed >> 32) & 0xFFFFFFFF, seed & 0xFFFFFFFF], np.uint32)


def as_key(key: Key) -> Keys:
    """The two integers of a key, whichever kind it is."""
    data = key if isinstance(key, np.ndarray) else jax.random.key_data(key)
    words = np.asarray(data)
    if words.dtype != np.uint32 or words.shape[-1:] != (2,):
        raise ValueError(
            f"The key has shape {words.shape} and type {words.dtype}; it must be two "
            f"32-bit words, as jax.random.key(0, impl={KIND!r}) has."
        )
    return words


def fold_in(key: Key, number: int) -> Keys:
    """A key that a number tells from others of the same key."""
    low = operator.index(number) & 0xFFFFFFFF
    words = np.zeros(1, np.uint32), np.array([low], np.uint32)
    return np.concatenate(_threefry(as_key(key), *words))


def split(key: Key, count: int = 2) -> Keys:
    """`count` keys, along the first axis."""
    return _split(as_key(key), count)


def _split(keys: Keys, count: int) -> Keys:
    """`count` keys of every key, along a new axis before the last."""
    number = np.arange(count, dtype=np.uint32)
    return np.stack(_threefry(keys[..., None, :], np.zeros_like(number), number), -1)


def _threefry(
    keys: Keys, high: np.ndarray, low: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Two words for every counter: Threefry-2x32 with 20 rounds."""
    first, second = keys[..., 0], keys[..., 1]
    schedule = first, second, first ^ second ^ PARITY
    # Overflow is the arithmetic here; NumPy warns of it for scalars alone.
    with np.errstate(over="ignore"):
        x, y = high + first, low + second
        for group in range(5):
            for distance in ROTATIONS[group % 2]:
                x = x + y
                y = (y << np.uint32(distance)) | (y >> np.uint32(32 - distance))
                y = y ^ x
            x = x + schedule[(group + 1) % 3]
            y = y + (schedule[(group + 2) % 3] + np.uint32(group + 1))
    return x, y


def _filled(
    key: Key,
    shape: Shape,
    kind: DTypeLike,
    word: Callable[[np.ndarray, np.ndarray], object],
) -> np.ndarray:
    """An array whose entries are made of the two words of their own counters."""
    pair, size = as_key(key), math.prod(shape)
    entries: np.ndarray = np.empty(size, kind)
    for start in range(0, size, BLOCK):
        count = np.arange(start, min(start + BLOCK, size), dtype=np.uint64)
        high, low = (count >> np.uint64(32)), count & np.uint64(0xFFFFFFFF)
        words = _threefry(pair, high.astype(np.uint32), low.astype(np.uint32))
        entries[start : start + len(count)] = word(*words)
    return entries.reshape(shape)


def _join(high: np.ndarray, low: np.ndarray) -> UInt64[np.ndarray, " count"]:
    return (high.astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)


def _unit(high: np.ndarray, low: np.ndarray) -> Float[np.ndarray, "*shape"]:
    """Numbers of 52 random bits in [0, 1)."""
    # With the exponent of 1 these bits are a number in [1, 2).
    one = np.uint64(0x3FF0000000000000)
    return ((_join(high, low) >> np.uint64(12)) | one).view(np.float64) - 1.0


def uniform(
    key: Key, shape: Shape = (), low: float = 0.0, high: float = 1.0
) -> Float[np.ndarray, "*shape"]:
    """Uniform numbers in [low, high)."""
    share = _filled(key, shape, float, _unit)
    return np.maximum(low, share * (high - low) + low)


def normal(key: Key, shape: Shape = ()) -> Float[np.ndarray, "*shape"]:
    """Standard normal numbers."""
    return _filled(key, shape, float, _gaussian)


def _gaussian(high: np.ndarray, low: np.ndarray) -> Float[np.ndarray, " count"]:
    """Normal numbers, by the quantile of uniform ones in (−1, 1)."""
    least = np.nextafter(-1.0, 0.0)
    share = np.maximum(least, _unit(high, low) * (1.0 - least) + least)
    return quantile(share)


def quantile(share: Float[np.ndarray, " count"]) -> Float[np.ndarray, " count"]:
    """`√2 erf⁻¹(share)`, for numbers in (−1, 1), to a relative error of 7e-16."""
    half = 0.5 * share
    values = half * _ratio(CENTRE, 0.180625 - half**2)
    outer = np.flatnonzero(np.abs(half) > 0.425)
    root = np.sqrt(-np.log(0.5 * (1.0 - np.abs(share[outer]))))
    beyond = np.where(root <= 5, _ratio(TAIL, root - 1.6), _ratio(FAR_TAIL, root - 5))
    values[outer] = np.copysign(beyond, share[outer])
    return values


def _ratio(of: tuple[tuple[float, ...], ...], x: np.ndarray) -> np.ndarray:
    return np.polyval(of[0], x) / np.polyval(of[1], x)


def bernoulli(
    key: Key, probability: float, shape: Shape = ()
) -> Bool[np.ndarray, "*shape"]:
    """True with a probability."""
    return uniform(key, shape) < probability


def rademacher(key: Key, shape: Shape = ()) -> Int[np.ndarray, "*shape"]:
    """Signs, +1 or −1 with equal probability."""
    return 2 * bernoulli(key, 0.5, shape).astype(np.int64) - 1


def randint(key: Key, shape: Shape, low: int, high: int) -> Int[np.ndarray, "*shape"]:
    """Integers from `low` to `high − 1`.

    As in JAX, they are biased by one part in `2¹²⁸ / span`, and by `2⁶⁴ / span` where
    the span is 2³² or more, of which the lower 64 bits alone are used.
    """
    span = np.uint64(max(1, high - low))
    upper, lower = (_filled(k, shape, np.uint64, _join) for k in split(key))
    with np.errstate(over="ignore"):
        # 2⁶⁴ modulo the span; the product wraps where that is 2³² or more.
        factor = np.uint64(2**32) % span
        factor = (factor * factor) % span
        offset = ((upper % span) * factor + lower % span) % span
    return low + offset.astype(np.int64)


def permutation(key: Key, count: int) -> Int[np.ndarray, " count"]:
    """The integers below `count` in random order."""
    order, pair = np.arange(count), as_key(key)
    # One sort by 32 random bits has ties; with this many no order is preferred.
    rounds = math.ceil(3 * math.log(max(1, count)) / math.log(2**32 - 1))
    for _ in range(rounds):
        pair, mine = split(pair)
        rank = _filled(mine, (count,), np.uint32, np.bitwise_xor)
        order = order[np.argsort(rank, kind="stable")]
    return order


def choice(
    key: Key, count: int, shape: Shape, probability: ArrayLike
) -> Int[np.ndarray, "*shape"]:
    """Integers below `count`, each by its own probability, with replacement."""
    total: np.ndarray = np.cumsum(
        np.broadcast_to(np.asarray(probability, float), (count,))
    )
    drawn = total[-1] * (1.0 - uniform(key, shape))
    return np.asarray(total.searchsorted(drawn))  # pyright: ignore[reportUnknownArgumentType] # NumPy leaves it open


def chisquare(
    key: Key, freedom: ArrayLike, shape: Shape | None = None
) -> Float[np.ndarray, "*shape"]:
    """Chi-squares of any positive, not necessarily whole, degrees of freedom."""
    freedom = np.asarray(freedom, float)
    shape = freedom.shape if shape is None else shape
    halves = np.broadcast_to(freedom / 2, shape).ravel()
    return 2.0 * _gamma(split(key, halves.size), halves).reshape(shape)


def _gamma(keys: Keys, shape: Float[np.ndarray, " count"]) -> np.ndarray:
    """Gamma variables by the rejection method of Marsaglia and Tsang (2000).

    Below 1, `Γ(a) = Γ(a + 1) U^(1/a)` in law.
    """
    keys, boost = np.moveaxis(_split(keys, 2), -2, 0)
    d = np.where(shape < 1, shape + 1, shape) - 1 / 3
    cube, left = np.ones_like(d), np.arange(len(d))
    while len(left):
        keys[left], normals, shares = np.moveaxis(_split(keys[left], 3), -2, 0)
        x, v = _positive(normals, 1 / (3 * np.sqrt(d[left])))
        square, third, u = x * x, v**3, _unit(*_words(shares))
        cube[left] = third
        with np.errstate(divide="ignore"):
            bound = square / 2 + d[left] * (1 - third + np.log(third))
            rejected = (u >= 1 - 0.0331 * square * square) & (np.log(u) >= bound)
        left = left[rejected]
    share = 1 - _unit(*_words(boost))
    return d * cube * np.where(shape < 1, share ** (1 / shape), 1.0)


def _positive(keys: Keys, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normal x with `v = 1 + slope x > 0`, and that v."""
    x, v, left = np.zeros(len(keys)), -np.ones(len(keys)), np.arange(len(keys))
    while len(left):
        keys[left], mine = np.moveaxis(_split(keys[left], 2), -2, 0)
        x[left] = _gaussian(*_words(mine))
        v[left] = 1 + x[left] * slope[left]
        left = left[v[left] <= 0]
    return x, v


def _words(keys: Keys) -> tuple[np.ndarray, np.ndarray]:
    """The two words of each key's first counter."""
    zero = np.zeros(keys.shape[:-1], np.uint32)
    return _threefry(keys, zero, zero)
