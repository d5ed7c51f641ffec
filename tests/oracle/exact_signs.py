"""Signs of every gradient coordinate in interval arithmetic: certain, or refused.

The chain rule of the transformer of paper C is carried out term by term on intervals
that hold the true numbers (mpmath's, whose exponents know no bounds), with as many bits
as it takes for every interval to lie on one side of zero. Neither cancellation nor
underflow can hide a sign. Floats that come in are taken as exact.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from mpmath import iv, mp

FEWEST_BITS, MOST_BITS = 128, 16384


class Products(NamedTuple):
    """Inner products of weights with the tokens of every sample.

    - `keys`, `queries`: `(heads, neurons, samples, length)`.
    - `values`: `(heads, banks, samples, length)`, of every value neuron.
    - `head`: `(heads, banks)`; the value of a token is Σ head · values.
    """

    keys: np.ndarray
    queries: np.ndarray
    values: np.ndarray
    head: np.ndarray


Signs = dict[str, np.ndarray]


def signs_of_weights(
    weights: dict[str, np.ndarray], head: np.ndarray, x: np.ndarray, y: np.ndarray
) -> Signs:
    """Signs of the gradient at weights as those of `signgd_torch`.

    `head` is `(heads, 2, neurons)`. Returned are `W_K`, `W_Q`, `W_V` in the shapes of
    the weights, and `theta` in that of the head.
    """
    found = _certain(lambda: _gradients(_products(weights, head, x), x, y))
    return _in_banks(found, head.shape)


def gradients_of_weights(
    weights: dict[str, np.ndarray], head: np.ndarray, x: np.ndarray, y: np.ndarray
) -> dict[str, np.ndarray]:
    """Gradients of the mean loss as numbers of mpmath, to its working precision.

    Names and shapes are those of `signs_of_weights`; weights may be such numbers too.
    """
    before, iv.prec = iv.prec, mp.prec
    try:
        found = _gradients(_products(weights, head, x), x, y)
    finally:
        iv.prec = before
    middle = np.vectorize(lambda g: mp.mpf(g.mid) / len(y), otypes=[object])
    made = {name: middle(table) for name, table in found.items()}
    return _in_banks(made, head.shape)


def _products(
    weights: dict[str, np.ndarray], head: np.ndarray, x: np.ndarray
) -> Products:
    banks = weights["W_V"].reshape(len(head), -1, x.shape[-1])
    return Products(
        _project(weights["W_K"], x),
        _project(weights["W_Q"], x),
        _project(banks, x),
        _exact(head.reshape(len(head), -1)),
    )


def _in_banks(found: Signs, shape: tuple[int, ...]) -> Signs:
    """Value neurons by class again."""
    banks = found["W_V"].reshape(*shape, -1)
    return {**found, "W_V": banks, "theta": found["theta"].reshape(shape)}


def signs_of_products(
    keys: np.ndarray,
    queries: np.ndarray,
    value: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
) -> Signs:
    """Signs of the gradient where only products with tokens are known.

    `keys`, `queries`: `(heads, neurons, samples, length)`; `value`: `(heads, samples,
    length)`. `W_V` is then that of one vector per head, `(heads, 1, embed)`.
    """

    def products() -> Products:
        head = np.ones((len(value), 1))
        tables = (keys, queries, value[:, None], head)
        return Products(*(_exact(table) for table in tables))

    return _certain(lambda: _gradients(products(), x, y))


def _certain(compute: Callable[[], dict[str, np.ndarray]]) -> Signs:
    """Signs with as many bits as it takes."""
    before, bits = iv.prec, FEWEST_BITS
    try:
        while bits <= MOST_BITS:
            iv.prec = bits
            found = {name: _signs(table) for name, table in compute().items()}
            if all((table != _UNKNOWN).all() for table in found.values()):
                return found
            bits *= 2
    finally:
        iv.prec = before
    raise ValueError(
        f"A gradient coordinate is not told from zero by {MOST_BITS} bits: a tie."
    )


_UNKNOWN = 2


def _signs(table: np.ndarray) -> np.ndarray:
    return np.vectorize(_sign, otypes=[int])(table)


def _sign(number: Any) -> int:
    if number > 0:
        return 1
    if number < 0:
        return -1
    return 0 if number.delta == 0 else _UNKNOWN


_exact = np.vectorize(iv.mpf, otypes=[object])
_exponential = np.vectorize(iv.exp, otypes=[object])


def _project(weights: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Products `(heads, rows, samples, length)`, over the tokens' support alone."""
    heads, rows, _ = weights.shape
    made = np.empty((heads, rows, *x.shape[:2]), object)
    for place in np.ndindex(*x.shape[:2]):
        support = np.flatnonzero(x[place])
        token = _exact(x[place][support])
        made[..., *place] = _exact(weights[..., support]) @ token
    return made


def _gradients(at: Products, x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Gradients of n times the mean logistic loss, by the chain rule."""
    value = np.einsum("hb,hbil->hil", at.head, at.values)
    scores = np.einsum("hmil,hmia->hila", at.queries, at.keys)
    odds = _exponential(scores)
    attention = odds / odds.sum(axis=-1, keepdims=True)
    read = attention.sum(axis=2)
    outputs = (read * value).sum(axis=(0, 2))
    labels = _exact(y)
    slope = -labels / (1 + _exponential(labels * outputs))
    # From here on, arrays are derivatives by what their names say.
    by_attention = (slope[:, None] * value)[:, :, None, :]
    mean = (attention * by_attention).sum(axis=-1, keepdims=True)
    by_scores = attention * (by_attention - mean)
    by_queries = np.einsum("hila,hmia->hmil", by_scores, at.keys)
    by_keys = np.einsum("hila,hmil->hmia", by_scores, at.queries)
    by_value = slope[:, None] * read
    by_values = at.head[:, :, None, None] * by_value[:, None]
    return {
        "W_K": _pull(by_keys, x),
        "W_Q": _pull(by_queries, x),
        "W_V": _pull(by_values, x),
        "theta": (at.values * by_value[:, None]).sum(axis=(2, 3)),
    }


def _pull(by_products: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Derivatives by weights, `(heads, rows, embed)`; zero on uncovered places."""
    heads, rows = by_products.shape[:2]
    flat = by_products.reshape(heads, rows, -1)
    tokens = x.reshape(-1, x.shape[-1])
    made = np.full((heads, rows, x.shape[-1]), iv.mpf(0), object)
    for place in range(x.shape[-1]):
        support = np.flatnonzero(tokens[:, place])
        if support.size:
            made[..., place] = flat[..., support] @ _exact(tokens[support, place])
    return made
