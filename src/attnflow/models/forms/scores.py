"""Reduced scores: keys and queries on the tokens' span, at every width.

With the force D on the scores and `Ω = [[0, D], [Dᵀ, 0]]`, minus the gradient moves
`[W_K W_Q]` by `[W_K W_Q] Ω`: a path of small matrices (`Transport`), or their Gram
matrix (`Gram`), follows it exactly. Of one merged key–query matrix the score of key x
and query y is `xᵀ W_KQ y`. Minus the gradient is `E D Eᵀ`, for an orthonormal basis of
the tokens' span as columns of E, so that the scores on the basis move by D itself: they
are closed, and what lies outside the span is never seen.
"""

from typing import ClassVar, NamedTuple, NoReturn

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from attnflow.data.random import Key
from attnflow.data.token_sequences import on_device
from attnflow.models.forms.base import (
    AbstractColumns,
    AbstractLengths,
    AbstractMatrices,
    AbstractReducedPart,
    AbstractScores,
    Arrays,
    BasisVectors,
    Matrices,
    SelfScores,
    Weights,
    decays,
    memory_refusal,
    rotation_refusal,
)
from attnflow.models.forms.initial import Initial
from attnflow.models.forms.initial_values import (
    Draw,
    bartlett_factor,
    draw_entries,
    gram_of,
    shortened,
)
from attnflow.models.forms.weights import AbstractWeights, ScoreWeights
from attnflow.training.rules import Flow, Rule

BuiltScores = tuple[AbstractScores, Array | Arrays]
_NO_DESCENT = (
    "Discrete steps leave the manifold (J P)² = ω⁴ I on which the scores alone "
    "determine the self-scores. Use form='gram' or 'transport', which take infinite "
    "width as well."
)

_NO_DECAY = (
    "Weights that decay leave the manifold (J P)² = ω⁴ I on which the scores alone "
    "determine the self-scores. Use form='gram' or 'transport', which take infinite "
    "width as well."
)


class PairForce(NamedTuple):
    """A force on pair scores, where their tokens are the basis.

    `keys` and `queries` are columns of the state at the positions of samples, and
    `key`, `query` the tokens there.
    """

    force: Float[Array, "samples heads queries keys"]
    keys: Float[Array, "heads samples keys rows"]
    queries: Float[Array, "heads samples queries rows"]
    key: Int[Array, "samples keys"]
    query: Int[Array, "samples queries"]


class Transport(AbstractColumns, AbstractReducedPart, AbstractScores, AbstractMatrices):
    """`[W_K W_Q](t) = [W_K W_Q](0) · M(t)` on the tokens' span, carried as `N = F M`.

    With the force D on the scores and `Ω = [[0, D], [Dᵀ, 0]]`, minus the gradient of
    the weights is `[W_K W_Q] Ω`, so that M moves by `M Ω` at every width. The width
    enters through a factor F of the initial Gram matrix `FᵀF` alone: given weights, a
    Wishart draw, or ω times the identity. Tables need `N = F M` only, which moves by
    `N Ω` and starts as F. Exact for every rule that is linear in gradients and weights.
    The state is N, `(heads, rows, 2r)` with at most 2r rows.
    """

    first: ClassVar[str] = "W_K"
    second: ClassVar[str] = "W_Q"

    def table(self, state: Array) -> Array:
        """`S[key, query]` per head."""
        keys, queries = jnp.split(state, 2, axis=-1)
        return keys.swapaxes(-1, -2) @ queries

    def self_scores(self, state: Array) -> SelfScores:
        """Inner products of keys with keys and of queries with queries."""
        keys, queries = jnp.split(state, 2, axis=-1)
        return SelfScores(
            keys.swapaxes(-1, -2) @ keys, queries.swapaxes(-1, -2) @ queries
        )

    def columns(self, state: Array) -> tuple[Array, Array]:
        """Those of keys and those of queries, `(heads, basis, rows)`."""
        keys, queries = jnp.split(state.swapaxes(-1, -2), 2, axis=-2)
        return keys, queries

    def velocity(self, state: Array, force: Array | PairForce) -> Array:
        """`N Ω`."""
        if isinstance(force, PairForce):
            return _pulled(state, force)
        keys, queries = jnp.split(state, 2, axis=-1)
        return jnp.concatenate(
            [queries @ force.swapaxes(-1, -2), keys @ force], axis=-1
        )

    def matrices(self, update: Array) -> Matrices:
        """The columns of keys and those of queries."""
        keys, queries = jnp.split(update, 2, axis=-1)
        return {"W_K": keys, "W_Q": queries}

    def from_matrices(self, matrices: Matrices) -> Array:
        """Both side by side."""
        return jnp.concatenate([matrices["W_K"], matrices["W_Q"]], axis=-1)


def _pulled(state: Array, force: PairForce) -> Array:
    """`N Ω`, summed over the pairs of samples."""
    pull, keys, queries, key, query = force
    rank = state.shape[-1] // 2
    by_key = jnp.einsum("nhqk,hnqc->hnkc", pull, queries)
    by_query = jnp.einsum("nhqk,hnkc->hnqc", pull, keys)
    columns = jnp.zeros_like(state.swapaxes(-1, -2))
    columns = columns.at[:, key].add(by_key).at[:, query + rank].add(by_query)
    return columns.swapaxes(-1, -2)


class Gram(AbstractColumns, AbstractScores, AbstractLengths):
    """`P = [[A_K, S], [Sᵀ, A_Q]]`, the Gram matrix of keys and queries, per head.

    Under gradient flow `dP/dt = P Ω + Ω P`, and one step of gradient descent is
    `P ← (I + ηΩ) P (I + ηΩ)`, all orders of the step included, with
    `Ω = [[0, D], [Dᵀ, 0]]`. A rule is shown Ω and answers with ηΩ, so that it must have
    no memory; decay of all weights is a multiple of the identity. Columns of an update
    belong to keys and to queries: `P ← (I + U)ᵀ P (I + U)` where these have rules of
    their own. The state is P, `(heads, 2r, 2r)`.
    """

    first: ClassVar[str] = "W_K"
    second: ClassVar[str] = "W_Q"

    def table(self, state: Array) -> Array:
        """`S[key, query]` per head."""
        rank = state.shape[-1] // 2
        return state[..., :rank, rank:]

    def self_scores(self, state: Array) -> SelfScores:
        """Inner products of keys with keys and of queries with queries."""
        rank = state.shape[-1] // 2
        return SelfScores(state[..., :rank, :rank], state[..., rank:, rank:])

    def velocity(self, state: Array, force: Array) -> Array:
        """`P Ω + Ω P`."""
        half = state @ generator(force)
        return half + half.swapaxes(-1, -2)

    def direction(self, state: Array, force: Array) -> Array:
        """`Ω`, of which a step is a multiple."""
        return generator(force)

    def move(self, state: Array, update: Array) -> Array:
        """`(I + U) P (I + U)`."""
        half = state + state @ update
        return half + update @ half

    def move_apart(self, state: Array, update: Array) -> Array:
        """`(I + U)ᵀ P (I + U)`, where U need not be symmetric."""
        half = state + state @ update
        return half + update.swapaxes(-1, -2) @ half

    def unit(self, state: Array) -> Array:
        """The identity."""
        return identity_like(state)

    def flow(self, state: Array, update: Array) -> Array:
        """`P U + Uᵀ P`."""
        half = state @ update
        return half + half.swapaxes(-1, -2)

    def refuses(self, rule: Rule) -> str | None:
        """Gram matrices forget the directions that a memory would need."""
        return rotation_refusal(rule) or memory_refusal(rule)

    def square(self, state: Array, direction: Array) -> Array:
        """`tr(Ωᵀ P Ω)`."""
        return (direction * (state @ direction)).sum()


class InfiniteWidth(AbstractScores):
    """Scores alone, at infinite width, under gradient flow.

    From `P(0) = ω² I` the flow keeps `(J P)² = ω⁴ I`, hence
    `A_K = (ω⁴ I + S Sᵀ)^½`, `A_Q = (ω⁴ I + Sᵀ S)^½` and `dS/dt = D A_Q + A_K D`. The
    roots are taken by the singular values of S: a root of `S Sᵀ` would lose ω⁴ against
    the rounding of the largest singular value squared. The state is S.
    """

    omega: Float[Array, ""]

    def table(self, state: Array) -> Array:
        """The state itself."""
        return state

    def self_scores(self, state: Array) -> SelfScores:
        """Both roots, from one singular value decomposition."""
        left, sizes, right = jnp.linalg.svd(state)
        root = jnp.hypot(self.omega**2, sizes)[..., None, :]
        return SelfScores(
            (left * root) @ left.swapaxes(-1, -2),
            (right.swapaxes(-1, -2) * root) @ right,
        )

    def velocity(self, state: Array, force: Array) -> Array:
        """`D A_Q + A_K D`."""
        roots = self.self_scores(state)
        return force @ roots.query + roots.key @ force

    def direction(self, state: Array, force: Array) -> Array:
        """Never called: every descent rule is refused."""
        raise ValueError(_NO_DESCENT)

    def move(self, state: Array, update: Array) -> Array:
        """Never called: every descent rule is refused."""
        raise ValueError(_NO_DESCENT)

    def refuses(self, rule: Rule) -> str | None:
        """Only gradient flow without decay stays on the manifold."""
        if isinstance(rule, Flow) and not decays(rule):
            return None
        return _NO_DECAY if isinstance(rule, Flow) else _NO_DESCENT


def identity_like(matrices: Array) -> Array:
    """An identity for each of several square matrices."""
    return jnp.broadcast_to(jnp.eye(matrices.shape[-1]), matrices.shape)


def generator(force: Array) -> Array:
    """`Ω = [[0, D], [Dᵀ, 0]]`."""
    zero = jnp.zeros_like(force)
    top = jnp.concatenate([zero, force], axis=-1)
    bottom = jnp.concatenate([force.swapaxes(-1, -2), zero], axis=-1)
    return jnp.concatenate([top, bottom], axis=-2)


class MergedWeights(AbstractWeights, AbstractScores):
    """The matrix itself: `{"W_KQ": (heads, embed, embed)}`, rows for keys."""

    basis: Float[Array, "basis embed"]

    def table(self, state: Arrays) -> Array:
        """`S[key, query]` per head."""
        return jnp.einsum("kd,hde,qe->hkq", self.basis, state["W_KQ"], self.basis)

    def self_scores(self, state: Arrays) -> SelfScores:
        """There are none."""
        _refuse_self_scores()


class MergedTable(AbstractReducedPart, AbstractScores, AbstractMatrices):
    """The scores of the basis; the state is the table, `(heads, r, r)`."""

    def table(self, state: Array) -> Array:
        """The state itself."""
        return state

    def self_scores(self, state: Array) -> SelfScores:
        """There are none."""
        _refuse_self_scores()

    def velocity(self, state: Array, force: Array) -> Array:
        """The force."""
        return force

    def matrices(self, update: Array) -> Matrices:
        """The table itself."""
        return {"W_KQ": update}

    def from_matrices(self, matrices: Matrices) -> Array:
        """The table itself."""
        return matrices["W_KQ"]


def factor_of(
    weights: Weights, basis: BasisVectors
) -> Float[np.ndarray, "heads rows columns"]:
    """A factor F with `FᵀF` the Gram matrix of `[W_K E, W_Q E]`, at most 2r rows."""
    span = np.asarray(basis).T
    both = [np.asarray(weights[name]) @ span for name in ("W_K", "W_Q")]
    return shortened(np.concatenate(both, axis=-1))


def score_factor(
    initial: Initial, heads: int, rank: int, *, key: Key, draw: Draw = "bartlett"
) -> Float[np.ndarray, "heads rows columns"]:
    """A drawn factor of the Gram matrix of keys and queries, or the expected one, ω I.

    At infinite width every draw is as expected.
    """
    omega = initial.scale_by_column(rank)
    if initial.width == "infinite" or draw != "bartlett":
        return omega * np.tile(np.eye(2 * rank), (heads, 1, 1))
    factor = bartlett_factor(initial.width, 2 * rank, heads, key=key)
    return factor * (omega / np.sqrt(initial.width))


def plain_scores(weights: Weights, basis: BasisVectors) -> BuiltScores:
    """The part that holds the weights, and its state."""
    if "W_KQ" in weights:
        return MergedWeights(on_device(basis)), on_device({"W_KQ": weights["W_KQ"]})
    both = on_device({name: weights[name] for name in ("W_K", "W_Q")})
    return ScoreWeights(on_device(basis)), both


def reduced_scores(
    name: str, initial: Initial, weights: Weights, basis: BasisVectors
) -> BuiltScores:
    """The part of a reduced form for given weights, and its state."""
    if "W_KQ" in weights:
        return MergedTable(), on_device(plain_table(weights, basis))
    return _of_factor(name, initial, factor_of(weights, basis))


def plain_table(
    weights: Weights, basis: BasisVectors
) -> Float[np.ndarray, "heads basis basis"]:
    """The scores on the basis."""
    span = np.asarray(basis)
    return span @ np.asarray(weights["W_KQ"]) @ span.T


def sampled_scores(
    name: str, initial: Initial, heads: int, rank: int, *, key: Key, draw: Draw
) -> BuiltScores:
    """The part of a reduced form in law, without drawing weights, and its state.

    A rotation does not change the law of a merged matrix: its scores on the basis are
    drawn themselves.
    """
    if initial.merged:
        scale = 0.0 if draw == "expected" else initial.omega
        shape = (heads, rank, rank)
        table = draw_entries("normal", scale, shape, key=key)
        return MergedTable(), on_device(table)
    factor = score_factor(initial, heads, rank, key=key, draw=draw)
    return _of_factor(name, initial, factor)


def check_scores(name: str, initial: Initial, weights: Weights | None) -> None:
    """Raise where a form does not know initial scores of this kind."""
    if initial.shared and name in ("quotient", "tokens", "prompt"):
        raise ValueError(
            f"form={name!r} has scores for each head, and here all share one "
            "attention. Use form='gram' or 'transport'."
        )
    if initial.merged:
        if name in ("infinite", "quotient", "tokens"):
            raise ValueError(
                f"form={name!r} is about keys and queries of some width, and one "
                "merged matrix has none. Use form='gram' or 'transport', which both "
                "take its scores on the tokens' span."
            )
        return
    if name == "infinite" and not initial.is_alike:
        raise ValueError(
            "form='infinite' keeps scores alone, which close where keys and queries "
            "begin alike. Use form='gram' or 'transport', which take infinite width "
            "as well."
        )
    infinite = initial.width == "infinite" and weights is None
    if name == "infinite" and not infinite:
        raise ValueError(
            "form='infinite' keeps scores alone, which close only at infinite width "
            f"and without given weights; width is {initial.width}. Set it to infinite."
        )
    if name == "weights" and infinite:
        raise ValueError(
            "There are no weights at infinite width: use form='gram' or 'transport', "
            "or a finite width."
        )


def _of_factor(
    name: str, initial: Initial, factor: Float[np.ndarray, "heads rows columns"]
) -> BuiltScores:
    if name == "transport":
        return Transport(), on_device(factor)
    if name == "gram":
        return Gram(), on_device(gram_of(factor))
    rank = factor.shape[-1] // 2
    omega = on_device(np.array(initial.omega, float))
    return InfiniteWidth(omega), on_device(np.zeros((len(factor), rank, rank)))


def _refuse_self_scores() -> NoReturn:
    raise ValueError(
        "One merged key–query matrix has no keys and queries of its own, so that there "
        "are no self-scores. Record the scores alone, or use merged=False."
    )
