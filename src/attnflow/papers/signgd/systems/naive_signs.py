"""Gradient signs that autodiff loses along a SignGD run, in float32 and float64.

The plain model, with one value vector v in place of the value neurons, which all move
alike, is

    f(X) = Σ_l ⟨v, X softmax(Xᵀ W_Kᵀ W_Q x_l)⟩.

The backward pass of a softmax subtracts numbers that agree to all digits as soon as the
smallest weight is below the unit roundoff; later everything underflows.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from attnflow.models.forms import CoordinateForm
from attnflow.models.systems import Training
from attnflow.papers.signgd._types import Fields
from attnflow.papers.signgd.settings import Train
from attnflow.papers.signgd.systems.weights_along import Along, Weights, weights_along

PRECISIONS = ("float32", "float64", "exact")
SIDES = {"key": "W_K", "query": "W_Q"}


def naive_signs(setting: Fields, seeds: Sequence[int]) -> xr.Dataset:
    """Fractions of `wrong` and of `zero` signs, over the coordinates that data cover.

    For `exact`, signs of gradients that carry their scale, `wrong` is the fraction that
    lies within rounding of a tie, and so could be wrong.
    """
    steps = tuple(setting["at_steps"])
    plan = Train(row=setting["row"], embed=setting["embed"])
    shares = np.stack([_of_seed(plan, seed, steps) for seed in seeds])
    dims = ("seed", "step", "precision", "side")
    return xr.Dataset(
        {"wrong": (dims, shares[..., 0]), "zero": (dims, shares[..., 1])},
        {"step": list(steps), "precision": list(PRECISIONS), "side": list(SIDES)},
    )


def _of_seed(plan: Train, seed: int, steps: tuple[int, ...]) -> np.ndarray:
    """`(steps, precisions, sides, 2)`."""
    along = weights_along(plan, seed, steps)
    samples = _samples(along)
    return np.stack([_at_step(along, k, samples) for k in range(len(steps))])


def _at_step(along: Along, index: int, samples: tuple[Array, Array]) -> np.ndarray:
    state = along.at(index)
    exact, error = _exact(along.system, state)
    weights = {**state["scores"], "v": _value(along.system, state)}
    # The form has room for more columns than this draw covers.
    covered = np.asarray((samples[0] != 0).any((0, 1)))
    exact, error = ({w: part[w][covered] for w in part} for part in (exact, error))
    naive = [descent_signs(weights, *samples, p) for p in PRECISIONS[:2]]
    rows = [
        [_shares(signs[w][covered], exact[w]) for w in SIDES.values()]
        for signs in naive
    ]
    tied = {w: np.abs(exact[w]) <= error[w] for w in SIDES.values()}
    rows.append(
        [
            [float((tied[w] & (exact[w] != 0)).mean()), float((exact[w] == 0).mean())]
            for w in SIDES.values()
        ]
    )
    return np.array(rows)


def _shares(naive: np.ndarray, exact: np.ndarray) -> list[float]:
    """The fractions of signs that are wrong, and that are zero but should not be."""
    zero = (naive == 0) & (exact != 0)
    return [float(((naive != np.sign(exact)) & ~zero).mean()), float(zero.mean())]


@eqx.filter_jit
def _negative_gradients(
    system: Training, state: Weights
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Mantissas of the negative gradients, and bounds on their rounding errors."""
    form = _form(system)
    errors = form.gradient_errors(system.problem, state, system.trained_on)
    gradients = system.gradients(state)["scores"]
    return {name: part.mantissa for name, part in gradients.items()}, errors["scores"]


def _exact(
    system: Training, state: Weights
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    gradients, errors = _negative_gradients(system, state)
    return _of_one_head(gradients), _of_one_head(errors)


def _of_one_head(parts: dict[str, Array]) -> dict[str, np.ndarray]:
    return {name: np.asarray(part)[0] for name, part in parts.items()}


def _value(system: Training, state: Weights) -> Array:
    """The mean value vector on covered coordinates."""
    readout = _form(system).values.readout
    return jnp.einsum("hcn,hn->hc", state["values"]["W_V"], readout)


def _samples(along: Along) -> tuple[Array, Array]:
    """Token vectors by position, on covered coordinates, and labels."""
    scores = _form(along.system).scores
    at, count = scores.positions, along.states["scores"]["W_K"].shape[2]
    # A unit step of one column moves a token by its entry in that column.
    entries = scores.columns.push(jnp.eye(count)[None])[0]
    return entries[at.key] * at.key_sign[..., None], along.system.data.label


def _form(system: Training) -> CoordinateForm:
    assert isinstance(system.form, CoordinateForm)
    return system.form


def descent_signs(
    weights: dict[str, Array], tokens: Array, label: Array, precision: str
) -> dict[str, np.ndarray]:
    """Signs of the negative gradients of W_K and W_Q, by autodiff in one precision."""
    cast = jax.tree.map(lambda x: x.astype(precision), (weights, tokens, label))
    head_weights = {name: weight[0] for name, weight in cast[0].items()}
    slope = _slope(head_weights, *cast[1:])
    return {name: -np.sign(np.asarray(slope[name])) for name in SIDES.values()}


def loss(
    weights: dict[str, Array],
    tokens: Float[Array, "samples length columns"],
    label: Float[Array, " samples"],
) -> Float[Array, ""]:
    """Mean logistic loss of the plain model; weights are `(columns, neurons)`."""
    keys, queries = tokens @ weights["W_K"], tokens @ weights["W_Q"]
    weight = jax.nn.softmax(queries @ keys.swapaxes(1, 2), axis=-1)
    outputs = (weight @ (tokens @ weights["v"])[..., None]).sum(axis=(1, 2))
    return jax.nn.softplus(-label * outputs).mean()


_slope = jax.jit(jax.grad(loss))
