"""Drift of what gradient flow conserves: a self-test of every flow run.

Under gradient flow the transport is pseudo-orthogonal, `M J Mᵀ = J` with
`J = diag(I, −I)`; the spectrum of `J P` is constant for the Gram matrix P; and
`W_K W_Kᵀ − W_Q W_Qᵀ` is for weights. A small drift does not bound the error of a run,
but a large one shows that it is wrong.
"""

from typing import Any

import numpy as np

from attnflow.forms import Form


def drift(form: Form, before: Any, after: Any) -> float:
    """The largest relative drift over the heads between two states.

    0 where the form conserves by construction (scores alone at infinite width).
    """
    first, last = before["scores"], after["scores"]
    if form.name == "transport":
        return max(transport_drift(np.asarray(m)) for m in last)
    if form.name in ("gram", "quotient"):
        pairs = zip(np.asarray(first), np.asarray(last), strict=True)
        return max(gram_drift(p, q) for p, q in pairs)
    if form.name == "weights":
        return weight_drift(first, last)
    return 0.0


def transport_drift(transport: np.ndarray) -> float:
    """`max |M J Mᵀ − J|` relative to `max |M|²`."""
    signs = _signs(len(transport))
    excess = (transport * signs) @ transport.T - np.diag(signs)
    return float(np.abs(excess).max() / np.abs(transport).max() ** 2)


def gram_drift(before: np.ndarray, after: np.ndarray) -> float:
    """Change of `tr (J P)²` and `tr J P`, relative to the size of P.

    Power sums stand for the spectrum: eigenvalues of a matrix that is not symmetric
    are ill-conditioned where they meet.
    """
    signs = _signs(len(before))[:, None]
    first, last = signs * before, signs * after
    scale = np.abs(after).max()
    linear = abs(np.trace(last) - np.trace(first)) / scale
    square = abs(np.sum(last * last.T) - np.sum(first * first.T)) / scale**2
    return float(max(linear, square))


def weight_drift(before: Any, after: Any) -> float:
    """Change of `W_K W_Kᵀ − W_Q W_Qᵀ`, relative to the size of its terms."""

    def balance(state: Any) -> np.ndarray:
        key, query = np.asarray(state["W_K"]), np.asarray(state["W_Q"])
        return key @ key.swapaxes(-1, -2) - query @ query.swapaxes(-1, -2)

    key = np.asarray(after["W_K"])
    scale = np.abs(key @ key.swapaxes(-1, -2)).max()
    return float(np.abs(balance(after) - balance(before)).max() / scale)


def _signs(size: int) -> np.ndarray:
    return np.repeat([1.0, -1.0], size // 2)
