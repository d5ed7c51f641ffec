"""The tangent kernel of the full model at any width, and its lazy training."""

from collections.abc import Mapping
from functools import singledispatch

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float, PyTree

from attnflow.models.forms import (
    AbstractForm,
    AbstractFrame,
    AbstractPart,
    PromptFrame,
    State,
    TokenForm,
)
from attnflow.models.forms.base import is_apart
from attnflow.models.forms.frames import (
    AbstractHeadFrame,
    DenseFrame,
    GatherFrame,
    PlaceFrame,
)
from attnflow.models.forms.shared import SharedForm
from attnflow.models.forms.tokens import TokenChain, TokenScores
from attnflow.models.problem import AbstractLoss
from attnflow.models.systems import Training
from attnflow.models.tables import Pairs
from attnflow.training import require_precise

Rates = Mapping[str, Array | float]
Kernel = Float[Array, "samples other_samples"]
Outputs = Float[Array, " samples"]
# Up to this many entries of all samples' derivatives by the scores, the kernel is
# written out; beyond, only products with it are taken.
DENSE_ENTRIES = 2**17


def tangent_kernel(
    system: Training, state: State, *, rates: Rates | None = None
) -> Kernel:
    """Neural tangent kernel, `K[n, n'] = ∇θ f_n · ∇θ f_n'` over all trained weights θ.

    The outputs see the weights through the tables alone, and a force on a table moves
    it through its own weights alone. With `D_n = ∂f_n/∂scores`, `z_n = ∂f_n/∂values`,

        K[n, n'] = Σ_heads  tr(D_n A_Q D_n'ᵀ) + tr(D_nᵀ A_K D_n')      keys, queries
                          + g z_n · z_n'                               linear values
                          or  b z_n · z_n' + g z_nᵀ A_V z_n'           a chain

    with the self-scores `A_K = W_Kᵀ W_K`, `A_Q`, the chain's `A_V = W_Vᵀ W_V` and
    `b = |β|²`, and the gain g. Each line is `⟨D_n, G D_n'⟩`, where G D is the rate at
    which the part's table moves under the force D: a form knows it by its velocity,
    which is how it is computed here, for every part that moves by gradient flow.

    **Arguments:**

    - `rates`: what the line of each trained part is multiplied by, such as learning
      rates of parts; 1 without it.

    **Returns:** a symmetric matrix over all samples of `system.data`, also those of
    probability 0 in this stage of training.
    """
    require_precise()
    require_whole_parts(system)
    if isinstance(system.form, TokenForm):
        return _token_kernel(system, system.form, state, rates=rates)
    derivatives = output_derivatives(system, state)
    total = jnp.zeros((len(system.data.label),) * 2)
    for name in system.trained:
        force = own_force(system.form, name, getattr(derivatives, name))
        moved = table_rates(system.form.part(name), state[name], force)
        count = len(force)
        rate = 1.0 if rates is None else rates[name]
        total += rate * force.reshape(count, -1) @ moved.reshape(count, -1).T
    return (total + total.T) / 2


def table_rates(
    part: AbstractPart, state: PyTree, forces: Float[Array, "samples ..."]
) -> Float[Array, "samples ..."]:
    """`G D_n`: how a part's table moves under each of several forces."""

    def rate(force: Array) -> Array:
        return jax.jvp(part.table, (state,), (part.velocity(state, force),))[1]

    return jax.vmap(rate)(forces)


def own_force(form: AbstractForm, name: str, force: Array) -> Array:
    """The force on a part's own blocks: a sum over heads that share one of scores."""
    if name == "scores" and isinstance(form, SharedForm):
        return force.sum(axis=-3, keepdims=True)
    return force


def refuse_quotient(frame: AbstractFrame) -> None:
    """Raise where blocks are not heads.

    A quotient's state moves within its symmetry alone, and so do its derivatives;
    curvature also asks about directions that break it.
    """
    if not isinstance(frame, AbstractHeadFrame | PromptFrame):
        raise ValueError(
            f"Curvature is not known on a {type(frame).__name__}: the directions that "
            "break the symmetry of a quotient are not in its state. Use the data "
            "without the quotient (population='exact')."
        )


def require_heads(frame: AbstractFrame) -> None:
    """Raise where blocks are not heads, or the basis is not orthonormal."""
    refuse_quotient(frame)
    if not isinstance(frame, AbstractHeadFrame) or not frame.orthonormal:
        raise ValueError(
            "The tangent kernel is computed in orthonormal coordinates of the tokens' "
            "span, and this form keeps the tokens themselves. Use form='transport', "
            "under a rule that commutes with rotations."
        )


class SampleTables(eqx.Module):
    """`D_n = ∂f_n/∂scores` and `z_n = ∂f_n/∂values`, on the basis."""

    scores: Float[Array, "samples blocks *table"]
    values: Float[Array, "samples blocks columns"]


def output_derivatives(system: Training, state: State) -> SampleTables:
    """`D_n` and `z_n` of every sample.

    An output depends on its own sample's pairs alone, so that one sweep back from the
    heads' outputs gives the derivatives of them all. The readout gives its slope
    itself, since training takes it by its convention at a kink.
    """
    frame = system.form.frame
    if isinstance(frame, PromptFrame):
        return SampleTables(*frame.sent_back(pair_derivatives(system, state)))
    require_heads(system.form.frame)
    return send_back(system.form.frame, pair_derivatives(system, state))


def pair_derivatives(system: Training, state: State) -> Pairs:
    """The derivatives of each sample's output by its own pairs."""

    def heads(pairs: Pairs) -> Array:
        return system.problem.head_outputs(pairs, system.data)

    outputs, back = jax.vjp(heads, system.pairs(state))
    return back(system.problem.readout.slope(outputs, system.data.label))[0]


@singledispatch
def send_back(frame: AbstractFrame, pairs: Pairs) -> SampleTables:
    """Derivatives by each sample's own pairs, as derivatives by the tables."""
    raise ValueError(f"No way back is known for a {type(frame).__name__}.")


@send_back.register
def _(frame: DenseFrame, pairs: Pairs) -> SampleTables:
    samples, heads, queries, keys = pairs.scores.shape
    rank = frame.value_map.shape[-1]
    by_pair = frame.score_map.reshape(samples, queries * keys, rank**2)
    flat = pairs.scores.reshape(samples, heads, queries * keys)
    return SampleTables(
        (flat @ by_pair).reshape(samples, heads, rank, rank),
        pairs.values @ frame.value_map.reshape(samples, keys, rank),
    )


@send_back.register
def _(frame: PlaceFrame, pairs: Pairs) -> SampleTables:
    return SampleTables(
        jnp.einsum("nhqk,nkr,nqs->nhrs", pairs.scores, frame.keys, frame.queries),
        pairs.values @ frame.keys,
    )


@send_back.register
def _(frame: GatherFrame, pairs: Pairs) -> SampleTables:
    keys, queries = frame.coordinates[frame.key], frame.coordinates[frame.query]
    return SampleTables(
        jnp.einsum("nhqk,nkr,nqs->nhrs", pairs.scores, keys, queries),
        pairs.values @ keys,
    )


def _token_kernel(
    system: Training, form: TokenForm, state: State, *, rates: Rates | None = None
) -> Kernel:
    """`K[n, n']` of a form over tokens, from derivatives at samples' positions.

    With `D_n = ∂f_n/∂scores` at the pairs of sample n, the gradient by `W_K` is
    `Σ (D_n q)_k x_kᵀ` over its keys, and two of them have the product
    `Σ ⟨(D_n q)_k, (D_n' q)_k'⟩ G[k, k']`; likewise for queries and values.
    """
    derivatives = pair_derivatives(system, state)
    total = jnp.zeros((len(system.data.label),) * 2)
    if "scores" in system.trained:
        scores = _of_scores(form.scores, state["scores"], derivatives.scores)
        total += scores * (1.0 if rates is None else rates["scores"])
    if "values" in system.trained:
        values = _of_values(form, state["values"], derivatives.values)
        total += values * (1.0 if rates is None else rates["values"])
    return (total + total.T) / 2


def _of_scores(part: TokenScores, state: PyTree, derivative: Array) -> Kernel:
    keys, queries = part.seen(state)
    by_key = jnp.einsum("nhqk,hnqc->hnkc", derivative, queries)
    by_query = jnp.einsum("nhqk,hnkc->hnqc", derivative, keys)
    return _products(by_key, part.gram, part.keys.token) + _products(
        by_query, part.gram, part.queries.token
    )


def _of_values(form: TokenForm, state: PyTree, derivative: Array) -> Kernel:
    part, gram = form.values, form.scores.gram
    z, token = derivative.swapaxes(0, 1)[..., None], part.keys.token
    if not isinstance(part, TokenChain):
        return _products(jnp.sqrt(part.gain)[:, None, None, None] * z, gram, token)
    read = jnp.einsum("hnkl,hnkc->hnc", z, part.keys.pick(state["rows"]))
    by_rows = _products(z * state["output"][:, None, None, :], gram, token)
    return by_rows + jnp.einsum("h,hnc,hmc->nm", part.gain, read, read)


def _products(
    vectors: Float[Array, "heads samples positions columns"],
    gram: Float[Array, "tokens tokens"],
    token: Array,
) -> Kernel:
    """`Σ ⟨v_nk, v_n'k'⟩ G[k, k']` over heads and positions."""
    heads, samples, positions, columns = vectors.shape
    rows = jnp.moveaxis(vectors, 0, 2).reshape(samples * positions, heads * columns)
    flat = token.reshape(-1)
    each = (rows @ rows.T) * gram[flat[:, None], flat]
    return each.reshape(samples, positions, samples, positions).sum(axis=(1, 3))


class Linearised(eqx.Module):
    """The outputs of a model that is linear in its weights, under gradient flow.

    Around weights θ₀ the linearised model is `f_n(θ₀) + ∇f_n(θ₀) · (θ − θ₀)`; its
    gradient flow closes in the outputs,

        df_n/dt = Σ_n' K[n, n'] · p_n' · c(f_n', y_n'),     c = −∂l/∂f,

    with the tangent kernel K at θ₀ and the samples' probabilities p in training. The
    state is f, `(samples,)`; `attnflow.training.flow` runs it as any other system.
    """

    kernel: Float[Array, "samples other_samples"]
    loss: AbstractLoss
    label: Outputs
    probability: Outputs

    def velocity(self, t: ArrayLike, outputs: Outputs) -> Outputs:
        """`K (p · c(f))`."""
        sign, log = self.loss.pull(outputs, self.label)
        return self.kernel @ (self.probability * sign * jnp.exp(log))

    def mean_loss(self, outputs: Outputs) -> Float[Array, ""]:
        """The loss that training minimises."""
        return jnp.sum(self.probability * self.loss(outputs, self.label))


def linearised(system: Training, state: State) -> tuple[Linearised, Outputs]:
    """The linearised (lazy) model around a state, and its initial state: outputs there.

    It agrees with real training to first order in time, for all samples (those of
    probability 0 are moved by the others), and for as long as the kernel stays.
    """
    lazy = Linearised(
        kernel=tangent_kernel(system, state),
        loss=system.problem.loss,
        label=system.problem.target(system.data),
        probability=system.probability,
    )
    return lazy, system.problem.outputs(system.pairs(state), system.data)


def require_whole_parts(system: Training) -> None:
    """Raise where weights of a part are trained apart from the rest of it."""
    if is_apart(system.trained):
        raise ValueError(
            f"What is trained is {', '.join(system.trained)}, and curvature is known "
            "where all weights of a part are trained together: train 'scores', "
            "'values' or both."
        )


def require_kernel(system: Training) -> None:
    """Raise where a form does not know the tangent kernel."""
    require_whole_parts(system)
    if not isinstance(system.form, TokenForm) and not isinstance(
        system.form.frame, PromptFrame
    ):
        require_heads(system.form.frame)


def output_curvature(
    system: Training, state: State, outputs: Float[Array, " samples"] | None = None
) -> Float[Array, " samples"]:
    """The diagonal of H, `p_n l''_n`, at the model's own outputs or at given ones."""
    if outputs is None:
        outputs = system.problem.outputs(system.pairs(state), system.data)

    def total(values: Array) -> Array:
        return system.problem.loss(values, system.problem.target(system.data)).sum()

    # The loss of a sample sees its own output alone: one product gives the diagonal.
    second = jax.jvp(jax.grad(total), (outputs,), (jnp.ones_like(outputs),))[1]
    return system.probability * second


def is_small(system: Training) -> bool:
    """Whether the kernel of all samples is cheap to write out."""
    frame = system.form.frame
    if isinstance(system.form, TokenForm) or isinstance(frame, PromptFrame):
        return True
    assert isinstance(frame, AbstractHeadFrame)
    rank = frame.shown_coordinates.shape[-1]
    entries = system.data.label.shape[-1] * system.problem.heads * rank**2
    return entries <= DENSE_ENTRIES
