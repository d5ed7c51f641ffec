"""Drift of what training conserves: a self-test of every run.

| part | conserved by gradient flow |
|---|---|
| transport | `N K Nᵀ`, `K = diag(I, −I)`; for a chain `K = diag(I, −1/gain)`, |
| | and so for the rows of neurons that are carried along |
| Gram | the spectrum of `K⁻¹ P`, by its first two power sums |
| weights | `W_K W_Kᵀ − W_Q W_Qᵀ`; `W_V W_Vᵀ − w_O w_Oᵀ`; `W_V W_Vᵀ − Wᵀ W` |

A small drift does not bound the error of a run, but a large one shows that it is wrong.

Next-token training conserves the sums of every row of Y and of Z, by flow and by
descent, since pulls on logits sum to zero and so do pushes on scores. With
multiplicities of 10⁸ the sums themselves lose that many digits.
"""

from collections.abc import Mapping
from functools import singledispatch
from typing import Protocol, runtime_checkable

import jax
import numpy as np
from jaxtyping import Array, PyTree
from numpy.typing import ArrayLike

from attnflow.models.forms import AbstractForm, AbstractPart, State
from attnflow.models.forms.neurons import NeuronTransport
from attnflow.models.forms.prompt import PromptScores, SeenChain
from attnflow.models.forms.scores import Gram, Transport
from attnflow.models.forms.values import ChainGram, ChainTransport
from attnflow.models.forms.weights import ChainWeights, NeuronWeights, ScoreWeights
from attnflow.training.programs import put


@runtime_checkable
class TableWeights(Protocol):
    """A frame of next-token tables: how many tokens each row and column stands for."""

    weight: Array
    column_weight: Array


def drift(form: AbstractForm, before: State, after: State) -> float:
    """The largest relative drift over both parts and all heads between two states."""
    return max(
        part_drift(form.scores, before["scores"], after["scores"]),
        part_drift(form.values, before["values"], after["values"]),
    )


@singledispatch
def part_drift(part: AbstractPart, before: PyTree, after: PyTree) -> float:
    """The drift of one part; 0 for parts that have nothing to lose.

    Scores alone at infinite width conserve by construction, and values that are
    linear in one set of weights have no law.
    """
    return 0.0


@part_drift.register
def _(part: Transport, before: PyTree, after: PyTree) -> float:
    pairs = zip(np.asarray(before), np.asarray(after), strict=True)
    return max(transport_drift(n, m, _halves(n.shape[1])) for n, m in pairs)


@part_drift.register
def _(part: ChainTransport, before: PyTree, after: PyTree) -> float:
    return _chain_drift(part.gain, before, after)


@part_drift.register
def _(part: SeenChain, before: PyTree, after: PyTree) -> float:
    return _chain_drift(part.chain.gain, before["factor"], after["factor"])


@part_drift.register
def _(part: PromptScores, before: PyTree, after: PyTree) -> float:
    return part_drift(part.column, before, after)


@part_drift.register
def _(part: NeuronTransport, before: PyTree, after: PyTree) -> float:
    return max(
        _chain_drift(part.gain, before["factor"], after["factor"]),
        _chain_drift(part.gain, *(part.rows(_arrays(s)) for s in (before, after))),
    )


def _arrays(state: PyTree) -> PyTree:
    return jax.tree.map(put, state)


def _chain_drift(gain: Array, before: PyTree, after: PyTree) -> float:
    blocks = zip(np.asarray(before), np.asarray(after), np.asarray(gain), strict=True)
    return max(transport_drift(n, m, _last(n.shape[1], -1 / g)) for n, m, g in blocks)


@part_drift.register
def _(part: Gram, before: PyTree, after: PyTree) -> float:
    pairs = zip(np.asarray(before), np.asarray(after), strict=True)
    return max(gram_drift(p, q, _halves(len(p))) for p, q in pairs)


@part_drift.register
def _(part: ChainGram, before: PyTree, after: PyTree) -> float:
    # `K⁻¹ P` with K⁻¹ = diag(I, −gain) is similar to a matrix without large entries
    # once β is measured in units of sqrt(gain).
    drifts = []
    for p, q, gain in zip(
        np.asarray(before), np.asarray(after), np.asarray(part.gain), strict=True
    ):
        unit = _last(len(p), 1 / np.sqrt(gain))
        scale = np.outer(unit, unit)
        drifts.append(gram_drift(p * scale, q * scale, _last(len(p), -1.0)))
    return max(drifts)


@part_drift.register
def _(part: ScoreWeights, before: PyTree, after: PyTree) -> float:
    return balance_drift(before["W_K"], before["W_Q"], after["W_K"], after["W_Q"])


@part_drift.register
def _(part: ChainWeights, before: PyTree, after: PyTree) -> float:
    states = [
        np.asarray(x) for s in (before, after) for x in (s["W_V"], s["w_O"][..., None])
    ]
    return balance_drift(*states)


@part_drift.register
def _(part: NeuronWeights, before: PyTree, after: PyTree) -> float:
    states = [
        x
        for s in (before, after)
        for x in (np.asarray(s["W_V"]), np.asarray(s["W"]).swapaxes(-1, -2))
    ]
    return balance_drift(*states)


def transport_drift(
    before: np.ndarray, after: np.ndarray, diagonal: np.ndarray
) -> float:
    """Change of `N K Nᵀ` relative to the size of its terms, K diagonal."""
    change = (after * diagonal) @ after.T - (before * diagonal) @ before.T
    return float(np.abs(change).max() / ((after**2) @ np.abs(diagonal)).max())


def gram_drift(before: np.ndarray, after: np.ndarray, diagonal: np.ndarray) -> float:
    """Change of `tr K⁻¹P` and `tr (K⁻¹P)²`, relative to the size of P.

    Power sums stand for the spectrum: eigenvalues of a matrix that is not symmetric
    are ill-conditioned where they meet.
    """
    first, last = diagonal[:, None] * before, diagonal[:, None] * after
    scale = np.abs(after).max()
    linear = abs(np.trace(last) - np.trace(first)) / scale
    square = abs(np.sum(last * last.T) - np.sum(first * first.T)) / scale**2
    return float(max(linear, square))


def balance_drift(
    first_before: ArrayLike,
    second_before: ArrayLike,
    first_after: ArrayLike,
    second_after: ArrayLike,
) -> float:
    """Change of `A Aᵀ − B Bᵀ`, relative to the size of its terms."""

    def square(x: ArrayLike) -> np.ndarray:
        x = np.asarray(x)
        return x @ x.swapaxes(-1, -2)

    before = square(first_before) - square(second_before)
    after = square(first_after) - square(second_after)
    scale = np.abs(square(first_after)).max()
    return float(np.abs(after - before).max() / scale)


def _halves(size: int) -> np.ndarray:
    return np.repeat([1.0, -1.0], size // 2)


def _last(size: int, entry: float) -> np.ndarray:
    diagonal = np.ones(size)
    diagonal[-1] = entry
    return diagonal


def table_drift(
    frame: TableWeights, before: Mapping[str, Array], after: Mapping[str, Array]
) -> float:
    """The largest change of a row's sum, relative to the sum of its entries' sizes."""
    weights = {"scores": frame.weight, "values": frame.column_weight}
    return max(
        _sum_drift(np.asarray(w), np.asarray(before[n]), np.asarray(after[n]))
        for n, w in weights.items()
    )


def _sum_drift(weight: np.ndarray, before: np.ndarray, after: np.ndarray) -> float:
    size = np.maximum(np.abs(after), np.abs(before)) @ weight
    change = np.abs((after - before) @ weight)
    moved = size > 0
    return float((change[moved] / size[moved]).max()) if moved.any() else 0.0
