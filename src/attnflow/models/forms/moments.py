"""Moments: linear attention under the squared loss, at a cost without samples.

With key coordinates K, query coordinates Q and masses m of a sample, linear attention
outputs a number that is linear in the tensor `Θ = Σ_heads S ⊗ v` of its two tables:

    f = ⟨Θ, Z⟩,     Z[r, s, t] = scale · Σ_q ω_q Q[q, s] Σ_k m_qk K[k, r] K[k, t].

So the mean of `factor · (f − y)²` over samples sees two moments of them alone,
`C = E Z ⊗ Z` and `b = E y Z`, and its forces are `−2 factor (C Θ − b)`, contracted with
v for the scores and with S for the values. A step costs r⁶ products for the rank r of
the tokens, whatever the number and length of samples.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnflow.data import Sequences
from attnflow.data.token_sequences import on_device
from attnflow.models.forms.base import (
    AbstractForm,
    AbstractFrame,
    AbstractPart,
    AbstractScores,
    AbstractTableForm,
    Forces,
    Form,
    State,
)
from attnflow.models.problem import Linear, Problem, Squared
from attnflow.models.problem.base import pair_mass
from attnflow.models.tables import Pairs, Tables

# C has r⁶ entries: 4 MB at this rank.
LARGEST_RANK = 9


class MomentForm(AbstractTableForm):
    """A form whose forces come from moments of the samples."""

    frame: AbstractFrame
    scores: AbstractScores
    values: AbstractPart
    square: Float[Array, "cubed_basis cubed_basis"]
    line: Float[Array, " cubed_basis"]
    test_frame: AbstractFrame | None = None
    name: str = eqx.field(static=True, default="moments")
    normalised: bool = eqx.field(static=True, default=False)
    careful: bool = eqx.field(static=True, default=False)

    def pairs(self, state: State) -> Pairs:
        """Pair scores and values of every sample."""
        return self.frame.pairs(self.tables(state))

    def forces(
        self,
        problem: Problem,
        state: State,
        data: Sequences,
        *,
        normalised: bool = False,
    ) -> Tables:
        """Minus the gradient of the mean loss by the tables."""
        scores, values = self.tables(state)
        assert isinstance(problem.loss, Squared)
        tensor = jnp.einsum("hrs,ht->rst", scores, values)
        rest = self.line - self.square @ tensor.reshape(-1)
        pull = 2 * problem.loss.factor * rest.reshape(tensor.shape)
        return Tables(
            jnp.einsum("rst,ht->hrs", pull, values),
            jnp.einsum("rst,hrs->ht", pull, scores),
        )

    def part_forces(
        self, problem: Problem, state: State, data: Sequences
    ) -> tuple[Forces, None]:
        """The forces on the tables."""
        return self.forces(problem, state, data)._asdict(), None

    def flow_forces(self, problem: Problem, state: State, data: Sequences) -> Forces:
        """The forces on the tables."""
        return self.forces(problem, state, data)._asdict()


def with_moments(
    form: AbstractForm, problem: Problem, data: Sequences, coordinates: Array
) -> MomentForm:
    """A form with moments of samples in the place of samples.

    `coordinates` are those of the tokens on the form's basis.
    """
    assert isinstance(form, Form)
    reason = moment_refusal(problem, data)
    if reason is not None:
        raise ValueError(f"form='moments' is not exact here: {reason}")
    sums = _tensors(problem, data, np.asarray(coordinates))
    share = np.asarray(data.probability)
    square = (sums * share[:, None]).T @ sums
    line = (share * np.asarray(data.label)) @ sums
    return MomentForm(
        frame=form.frame,
        scores=form.scores,
        values=form.values,
        square=on_device(square),
        line=on_device(line),
        test_frame=form.test_frame,
    )


def moment_refusal(problem: Problem, data: Sequences) -> str | None:
    """Why moments do not know this loss on these samples; `None` if they do."""
    if problem.law != "linear" or not isinstance(problem.readout, Linear):
        return "outputs are linear in a tensor of the tables for linear attention alone"
    if not isinstance(problem.loss, Squared):
        return "only the squared loss sees two moments of the samples and no others"
    if data.payload is not None:
        return "payloads are no part of the tensor"
    return None


def _tensors(
    problem: Problem, data: Sequences, tokens: np.ndarray
) -> Float[np.ndarray, "samples cubed_basis"]:
    """Z of every sample, in a row."""
    keys, queries = tokens[np.asarray(data.key)], tokens[np.asarray(data.query)]
    mass = np.asarray(pair_mass(data))
    # (samples, queries or 1, keys)
    mass = mass[:, None, :] if mass.ndim == 2 else mass[:, 0]
    squares = np.einsum("nqk,nkr,nkt->nqrt", mass, keys, keys, optimize=True)
    weight = float(problem.score_scale) * np.asarray(data.query_weight)
    squares = np.broadcast_to(squares, (*weight.shape, *squares.shape[2:]))
    sums = np.einsum("nq,nqs,nqrt->nrst", weight, queries, squares, optimize=True)
    return sums.reshape(len(sums), -1)
