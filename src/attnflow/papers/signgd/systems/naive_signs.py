"""How many signs of gradients autodiff loses, in float32 and in float64.

The plain model, with one value vector v in the place of its neurons, which all move
alike, is

    f(X) = Σ_l ⟨v, X softmax(Xᵀ W_Kᵀ W_Q x_l)⟩.

The backward pass of a softmax subtracts numbers that agree to all digits as soon as the
least weight is below the unit roundoff, and later everything underflows.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from attnflow.models.forms import CoordinateForm
from attnflow.models.systems import Training
from attnflow.papers.signgd.settings import Train
from attnflow.papers.signgd.systems.weights_along import Along, weights_along

PRECISIONS = ("float32", "float64", "exact")
SIDES = {"key": "W_K", "query": "W_Q"}


def naive_signs(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """Shares of `wrong` and of `zero` signs, over the coordinates that data cover.

    For `exact`, signs from gradients with a scale of their own, `wrong` is the share
    that lies within rounding of a tie, and so could be wrong.
    """
    steps = tuple(setting["at_steps"])
    plan = Train(row=setting["row"], embed=setting["embed"])
    found = np.stack([_of_seed(plan, seed, steps) for seed in seeds])
    dims = ("seed", "step", "precision", "side")
    return xr.Dataset(
        {"wrong": (dims, found[..., 0]), "zero": (dims, found[..., 1])},
        {"step": list(steps), "precision": list(PRECISIONS), "side": list(SIDES)},
    )


def _of_seed(plan: Train, seed: int, steps: tuple[int, ...]) -> np.ndarray:
    """`(steps, precisions, sides, 2)`."""
    along = weights_along(plan, seed, steps)
    samples = _samples(along)
    return np.stack([_at_step(along, k, samples) for k in range(len(steps))])


def _at_step(along: Along, place: int, samples: tuple[Array, Array]) -> np.ndarray:
    state = along.at(place)
    exact, error = _exact(along.system, state)
    weights = {**state["scores"], "v": _value(along.system, state)}
    naive = [descent_signs(weights, *samples, p) for p in PRECISIONS[:2]]
    rows = [[_shares(signs[w], exact[w]) for w in SIDES.values()] for signs in naive]
    tied = {w: np.abs(exact[w]) <= error[w] for w in SIDES.values()}
    rows.append(
        [
            [float((tied[w] & (exact[w] != 0)).mean()), float((exact[w] == 0).mean())]
            for w in SIDES.values()
        ]
    )
    return np.array(rows)


def _shares(naive: np.ndarray, exact: np.ndarray) -> list[float]:
    """How many signs are wrong, and how many are zero that should not be."""
    zero = (naive == 0) & (exact != 0)
    return [float(((naive != np.sign(exact)) & ~zero).mean()), float(zero.mean())]


@eqx.filter_jit
def _pulls(system: Training, state: Any) -> tuple[dict[str, Array], dict[str, Array]]:
    """Mantissas of minus the gradients, and how far rounding may move them."""
    form = _form(system)
    errors = form.gradient_errors(system.problem, state, system.trained_on)
    found = system.gradients(state)["scores"]
    return {name: part.mantissa for name, part in found.items()}, errors["scores"]


def _exact(system: Training, state: Any) -> tuple[dict, dict]:
    found, errors = _pulls(system, state)
    return _of_one_head(found), _of_one_head(errors)


def _of_one_head(parts: dict[str, Array]) -> dict[str, np.ndarray]:
    return {name: np.asarray(part)[0] for name, part in parts.items()}


def _value(system: Training, state: Any) -> Array:
    """The mean value vector on covered coordinates."""
    readout = _form(system).values.readout
    return jnp.einsum("hcn,hn->hc", state["values"]["W_V"], readout)


def _samples(along: Along) -> tuple[Array, Array]:
    """Token vectors by position, on covered coordinates, and labels."""
    scores = _form(along.system).scores
    at, count = scores.positions, along.states["scores"]["W_K"].shape[2]
    # A step of each column alone adds to the tokens what they have in it.
    entries = scores.columns.push(jnp.eye(count)[None])[0]
    return entries[at.key] * at.key_sign[..., None], along.system.data.label


def _form(system: Training) -> CoordinateForm:
    assert isinstance(system.form, CoordinateForm)
    return system.form


def descent_signs(
    weights: dict[str, Array], tokens: Array, label: Array, precision: str
) -> dict[str, np.ndarray]:
    """Signs of minus the gradients by W_K and W_Q, by autodiff in one precision."""
    moved = jax.tree.map(lambda x: x.astype(precision), (weights, tokens, label))
    own = {name: weight[0] for name, weight in moved[0].items()}
    slope = _slope(own, *moved[1:])
    return {name: -np.sign(np.asarray(slope[name])) for name in SIDES.values()}


def loss(
    weights: dict[str, Array],
    tokens: Float[Array, "samples length columns"],
    label: Float[Array, " samples"],
) -> Float[Array, ""]:
    """The mean logistic loss of the plain model; weights are `(columns, neurons)`."""
    keys, queries = tokens @ weights["W_K"], tokens @ weights["W_Q"]
    weight = jax.nn.softmax(queries @ keys.swapaxes(1, 2), axis=-1)
    outputs = (weight @ (tokens @ weights["v"])[..., None]).sum(axis=(1, 2))
    return jax.nn.softplus(-label * outputs).mean()


_slope = jax.jit(jax.grad(loss))
