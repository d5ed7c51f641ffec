"""What training drops: in which places, and how much of what is read there."""

import jax
import numpy as np
import pytest

from attnflow.models.deep import WordEncoder, layers, transformers

ENCODER = WordEncoder(11, length=5, embed=6, hidden=7, layers=1, heads=2)
TOKENS = np.arange(10).reshape(2, 5)


@pytest.fixture
def weights(precise):
    return ENCODER.draw(np.random.default_rng(0))


def test_places(weights, monkeypatch):
    shapes = []

    def note(state, share, key):
        shapes.append(state.shape)
        return layers.drop_entries(state, share, key)

    monkeypatch.setattr(transformers, "drop_entries", note)
    ENCODER.forward(weights, TOKENS, jax.random.key(0))
    state, attention, neurons = (2, 5, 6), (2, 2, 5, 5), (2, 5, 7)
    assert shapes == [state, attention, state, neurons, state]


def test_what_heads_pay_is_told_before_entries_are_dropped(weights):
    layer = {
        part: {
            name: array[0] for name, array in weights[part].items() if name[1] == "_"
        }
        for part in ("scores", "values")
    }
    state = np.random.default_rng(1).normal(size=(2, 5, 6))
    read, paid = layers.multihead(layer["scores"], layer["values"], state)
    doubled, same = layers.multihead(
        layer["scores"], layer["values"], state, drop=lambda paid: 2 * paid
    )
    np.testing.assert_array_equal(paid, same)
    # Biases of outputs begin at zero, so that what is read is linear in attention.
    np.testing.assert_allclose(doubled, 2 * read, rtol=1e-14)


def test_nothing_is_dropped_without_a_key(weights):
    plain = WordEncoder(11, 5, 6, 7, layers=1, heads=2, dropout=0.0)
    output, reference = (net.forward(weights, TOKENS) for net in (ENCODER, plain))
    np.testing.assert_array_equal(output.output, reference.output)
