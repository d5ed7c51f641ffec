"""Initial weights of the paper's run, drawn beforehand and given to several runs."""

import jax
import numpy as np

from attnflow.models.forms.initial import draw_weights
from attnflow.papers.cooccurrence.experiments import train
from attnflow.papers.cooccurrence.settings import Train

Weights = dict[str, np.ndarray]


def weights_of(plan: Train, seed: int) -> Weights:
    """Whole matrices by name, with the axis of the only head."""
    initial = train(plan).initial
    drawn = draw_weights(initial, 1, plan.embed, key=jax.random.key(seed))
    return {name: np.asarray(array) for name, array in drawn.items()}
