"""Derivatives of each sample's output by the tables of a form."""

from functools import singledispatch

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.models.forms import AbstractFrame, State
from attnflow.models.forms.frames import DenseFrame, GatherFrame
from attnflow.models.systems import Training
from attnflow.models.tables import Pairs


def require_heads(frame: AbstractFrame) -> None:
    """Raise where blocks are not heads.

    A quotient's state moves within its symmetry alone, and so do its derivatives;
    curvature also asks about directions that break it.
    """
    if not isinstance(frame, DenseFrame | GatherFrame):
        raise ValueError(
            f"Curvature is not known on a {type(frame).__name__}: the directions that "
            "break the symmetry of a quotient are not in its state. Use the data "
            "without the quotient (population='exact')."
        )
    if not frame.orthonormal:
        raise ValueError(
            "Curvature is told in orthonormal coordinates of the tokens' span, and "
            "this form keeps the tokens themselves. Use form='transport', under a "
            "rule that commutes with rotations."
        )


class SampleTables(eqx.Module):
    """`D_n = ∂f_n/∂scores` and `z_n = ∂f_n/∂values`, on the basis."""

    scores: Float[Array, "samples blocks basis basis"]
    values: Float[Array, "samples blocks basis"]


def output_derivatives(system: Training, state: State) -> SampleTables:
    """`D_n` and `z_n` of every sample.

    An output depends on its own sample's pairs alone, so that one sweep back from the
    heads' outputs gives the derivatives of them all. The readout tells its slope
    itself, since training takes it by its convention at a kink.
    """
    require_heads(system.form.frame)
    return send_back(system.form.frame, pair_derivatives(system, state))


def pair_derivatives(system: Training, state: State) -> Pairs:
    """The derivatives of each sample's output by its own pairs."""

    def heads(pairs: Pairs) -> Array:
        return system.problem.head_outputs(pairs, system.data)

    found, back = jax.vjp(heads, system.pairs(state))
    slope = system.problem.readout.slope(found)
    return back(slope)[0]


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
def _(frame: GatherFrame, pairs: Pairs) -> SampleTables:
    keys, queries = frame.coordinates[frame.key], frame.coordinates[frame.query]
    return SampleTables(
        jnp.einsum("nhqk,nkr,nqs->nhrs", pairs.scores, keys, queries),
        pairs.values @ keys,
    )
