"""Experiments whose observables are checked, and which observables need what."""

import jax
import numpy as np

import attnflow
from attnflow.models.forms import Chain, Initial, Neurons
from attnflow.models.forms.initial import draw_weights

PLAIN = {"W_K", "W_Q", "w"}
NEURONS = {
    "neuron_value",
    "neuron_value_rate",
    "neuron_gram_change",
    "largest_neuron_gram_change",
}
CHAIN = {
    "value_self_score",
    "value_self_score_rate",
    "readout_gain",
    "readout_gain_rate",
    "readout_part_rate",
    "inner_part_rate",
    "largest_value_self_score_change",
}
ROWS = {"key_neuron", "query_neuron"}
WEIGHT_CHANGES = {"key_weight_change", "query_weight_change"}
COORDINATES = {
    "log_mean_key_gradient",
    "log_mean_query_gradient",
    "zero_signs",
    "tied_signs",
    "signs_count",
}
TEST = {
    "test_loss",
    "test_accuracy",
    "test_loss_by_group",
    "test_accuracy_by_group",
    "test_margin",
    "test_attention",
    "test_pair_value",
}
CHAINS = {
    "trained output": Chain(7, 0.3, 0.5),
    "neurons": Neurons(7, 9, 0.3, 0.3, 0.4, "law"),
}


def drawn(values, *, heads=2, embed=4, seed=0):
    """A law of initial weights with these values, and a draw of it."""
    initial = Initial(width=11, omega=0.4, values=values)
    with attnflow.precise():
        weights = draw_weights(initial, heads, embed, key=jax.random.key(seed))
        return initial, {name: np.asarray(w) for name, w in weights.items()}
