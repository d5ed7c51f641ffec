"""What the single rows (neurons) of keys and queries see of tokens."""

import jax.numpy as jnp
from jaxtyping import Array

from attnflow.models.forms import AbstractRows
from attnflow.observables.registry import observable
from attnflow.observables.view import View


@observable("head", "neuron", "token", about="what each row of W_K sees of a token")
def key_neuron(view: View) -> Array:  # noqa: D103
    return _shown(view, "key")


@observable("head", "neuron", "token", about="what each row of W_Q sees of a token")
def query_neuron(view: View) -> Array:  # noqa: D103
    return _shown(view, "query")


def _shown(view: View, side: str) -> Array:
    part = view.system.form.scores
    if not isinstance(part, AbstractRows):
        raise ValueError(
            f"Single rows of keys and queries are not known to {type(part).__name__}: "
            "use form='weights', 'coordinates' or 'signs'."
        )
    rows = getattr(part.rows(view.state["scores"]), side)
    shown = view.system.form.frame.shown_coordinates  # pyright: ignore
    return jnp.einsum("tr,hrn->hnt", shown, rows)
