"""Names of one-layer models of TransformerLens, as `observe` takes them.

A model of one layer without MLP and normalisation has, in the names and shapes of
TransformerLens (rows meet the vector on their left),

| name | shape |
|---|---|
| `embed.W_E`, `pos_embed.W_pos` | (words, d_model), (positions, d_model) |
| `blocks.0.attn.W_Q`, `W_K`, `W_V` | (heads, d_model, d_head) |
| `blocks.0.attn.W_O` | (heads, d_head, d_model) |
| `unembed.W_U` | (d_model, outputs) |

With E the rows of `W_E`, and below them those of `W_pos`, scores and the output along
a direction u of outputs are

    s(query, key) = (E W_Q)ᵀ (E W_K) / √d_head,     value = E W_V W_O W_U u,

so that tokens are unit vectors of words (beside those of positions, as
`Positions(task, "sum")` has them), and embeddings may be trained like all else.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from attnflow.runs.checkpoints.states import State, as_array

LAYER = "blocks.0.attn."
# Without these a value is linear in its token, and attention in both of its own.
ABSENT = ("b_Q", "b_K", "b_V", "b_O", "b_U", "mlp.", "ln", "blocks.1.")


def transformer_lens(
    outputs: Sequence[float],
    *,
    values: Literal["chain", "vector"] = "chain",
    embedding: Literal["trained", "fixed"] = "trained",
    scale: float | None = None,
    score_scale: float = 1.0,
) -> dict[str, Callable[[State], np.ndarray]]:
    """TransformerLens checkpoints: the map of weight names, `names=` of `observe`.

    **Arguments:**

    - `outputs`: u, by which the columns of `W_U` are summed to one output: `(1, -1)`
      for the difference of two logits.
    - `values`: `chain` (`W_V` and `w_O`, for `Chain(d_head, …)`), or `vector` (`w`).
    - `embedding`: `trained`, where tokens are unit vectors of words and positions; or
      `fixed`, where tokens are the rows of `W_E` themselves, and `W_pos` is refused.
    - `scale`: what scores are multiplied by, `1/√d_head` unless the model's
      `attn_scale` is another; `score_scale`: that of the experiment or problem.

    **Returns:** functions of a state by our names. Queries carry the whole scale.
    Biases other than zero, norms, MLPs and further layers are refused, and what the
    residual stream adds at the query is not in our output: give `outputs=` to
    `observe`, which compares them.
    """
    lens = _Lens(np.asarray(outputs, float), embedding, scale, score_scale)
    chain = {"W_V": lens.rows("W_V"), "w_O": lens.read}
    both = {"W_K": lens.rows("W_K"), "W_Q": lens.queries}
    return {**both, **(chain if values == "chain" else {"w": lens.vector})}


class _Lens:
    """Arrays of a state, by their names with or without those of their modules."""

    def __init__(
        self, outputs: np.ndarray, embedding: str, scale: float | None, ours: float
    ):
        self.outputs, self.embedding = outputs, embedding
        self.scale, self.ours = scale, ours

    def rows(self, name: str) -> Callable[[State], np.ndarray]:
        """`(E W)ᵀ` of each head."""

        def of(state: State) -> np.ndarray:
            _check(state)
            weight = _array(state, LAYER + name)
            if self.embedding == "fixed":
                _refuse_positions(state)
                return weight.swapaxes(1, 2)
            return (_embedding(state) @ weight).swapaxes(1, 2)

        return of

    def queries(self, state: State) -> np.ndarray:
        """Those of `W_Q`, times the scale of scores over that of the experiment."""
        width = _array(state, LAYER + "W_Q").shape[-1]
        scale = 1 / np.sqrt(width) if self.scale is None else self.scale
        return scale / self.ours * self.rows("W_Q")(state)

    def read(self, state: State) -> np.ndarray:
        """`W_O W_U u` of each head."""
        unembed = _array(state, "unembed.W_U")
        if unembed.shape[1:] != self.outputs.shape:
            raise ValueError(
                f"W_U has shape {unembed.shape} and outputs has {len(self.outputs)} "
                "entries: give one for each column of W_U, as in (1, -1)."
            )
        return _array(state, LAYER + "W_O") @ (unembed @ self.outputs)

    def vector(self, state: State) -> np.ndarray:
        """`E W_V W_O W_U u` of each head."""
        return np.einsum("hmd,hm->hd", self.rows("W_V")(state), self.read(state))


def _array(state: State, name: str) -> np.ndarray:
    """The array of this name, whose modules may be left out."""
    short = name.rpartition(".")[2]
    for known in (name, short):
        if known in state:
            return as_array(state[known])
    raise ValueError(
        f"The checkpoint has no {name} (nor {short}), which a one-layer model of "
        f"TransformerLens has; its arrays are {', '.join(sorted(state))}."
    )


def _has(state: State, name: str) -> bool:
    return name in state or name.rpartition(".")[2] in state


def _embedding(state: State) -> np.ndarray:
    """Rows of words, and below them those of positions."""
    words = _array(state, "embed.W_E")
    if not _has(state, "pos_embed.W_pos"):
        return words
    return np.concatenate([words, _array(state, "pos_embed.W_pos")])


def _refuse_positions(state: State) -> None:
    if _has(state, "pos_embed.W_pos") and _array(state, "pos_embed.W_pos").any():
        raise ValueError(
            "W_pos is not zero, and tokens that are the rows of W_E know no position: "
            "use embedding='trained' with Positions(task, 'sum')."
        )


def _check(state: State) -> None:
    """Refuse what a layer of attention alone does not have."""
    for name, array in state.items():
        odd = next((part for part in ABSENT if part in name), None)
        # Norms that are folded leave nothing; biases of zero do nothing.
        if odd is not None and as_array(array).any():
            raise ValueError(
                f"The checkpoint has {name}, which is not zero: this adapter knows one "
                "layer of attention without biases, norms and MLP. Fold them "
                "(fold_ln, fold_value_biases) or write a LossModel (docs/what-fits.md)."
            )
