"""Initial weights of the paper's experiment, shared by several runs."""

import numpy as np

from attnflow.data import random
from attnflow.models.forms.initial import draw_weights
from attnflow.papers.cooccurrence.experiments import train
from attnflow.papers.cooccurrence.settings import Train

Weights = dict[str, np.ndarray]


def weights_of(plan: Train, seed: int) -> Weights:
    """Weight matrices by name, with an axis for the only head."""
    initial = train(plan).initial
    weights = draw_weights(initial, 1, plan.embed, key=random.key(seed))
    return {name: np.asarray(array) for name, array in weights.items()}
