"""Checkpoints with the names and shapes of TransformerLens, by its equations."""

import warnings

import numpy as np
import pytest

import attnflow as af
from attnflow.models.problem import Linear, Logistic, Problem
from attnflow.runs.checkpoints.observe import ModelMismatchWarning

HEADS, WORDS, MODEL, HEAD, LENGTH = 2, 5, 6, 3, 4
U = np.array([1.0, -1.0, 0.0])


def state(seed, **changes):
    draw = np.random.default_rng(seed)
    shapes = {
        "embed.W_E": (WORDS, MODEL),
        "pos_embed.W_pos": (LENGTH, MODEL),
        "blocks.0.attn.W_Q": (HEADS, MODEL, HEAD),
        "blocks.0.attn.W_K": (HEADS, MODEL, HEAD),
        "blocks.0.attn.W_V": (HEADS, MODEL, HEAD),
        "blocks.0.attn.W_O": (HEADS, HEAD, MODEL),
        "blocks.0.attn.b_Q": None,
        "unembed.W_U": (MODEL, 3),
        "unembed.b_U": None,
    }
    drawn = {
        n: draw.standard_normal(s or 1) * (s is not None) for n, s in shapes.items()
    }
    return {**drawn, **changes}


def words(seed=9, samples=7):
    draw = np.random.default_rng(seed)
    return draw.integers(0, WORDS, (samples, LENGTH)), draw.choice([-1.0, 1.0], samples)


def by_equations(arrays, word):
    """The difference of two logits at the last position, read of attention alone."""
    attn = {n.rpartition(".")[2]: array for n, array in arrays.items()}
    x = attn["W_E"][word] + attn["W_pos"]
    q, k, v = (
        np.einsum("nld,hde->nhle", x, attn[name]) for name in ("W_Q", "W_K", "W_V")
    )
    scores = q[:, :, -1:] @ k.swapaxes(-1, -2) / np.sqrt(HEAD)
    paid = np.exp(scores - scores.max(-1, keepdims=True))
    z = (paid / paid.sum(-1, keepdims=True)) @ v
    out = np.einsum("nhqe,hed->nd", z, attn["W_O"])
    return out @ attn["W_U"] @ U


def samples(word, label):
    """Words and positions as unit vectors side by side, the last position asks."""
    tokens = np.zeros((WORDS * LENGTH, WORDS + LENGTH))
    for t in range(WORDS):
        for i in range(LENGTH):
            tokens[t * LENGTH + i, [t, WORDS + i]] = 1
    key = word * LENGTH + np.arange(LENGTH)
    return {"tokens": tokens, "key": key, "query": key[:, -1:], "label": label}


@pytest.mark.parametrize("values", ["chain", "vector"])
def test_outputs_are_those_of_the_equations(values):
    word, label = words()
    states = {step: state(step) for step in (0, 10)}
    outputs = np.stack([by_equations(one, word) for one in states.values()])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelMismatchWarning)
        run = af.observe(
            Problem(Linear(HEADS), Logistic(), 0.7),
            states,
            names=af.transformer_lens(U, values=values, score_scale=0.7),
            data=samples(word, label),
            outputs=outputs,
            record=["output", "loss"],
        )
    np.testing.assert_allclose(run["output"][0], outputs, rtol=1e-12, atol=1e-12)
    loss = np.logaddexp(0, -label * outputs).mean(1)
    np.testing.assert_allclose(run["loss"][0], loss, rtol=1e-12)


def test_fixed_embeddings_are_tokens():
    """Without positions, and with names that have no modules before them."""
    word, label = words()
    one = {n.rpartition(".")[2]: x for n, x in state(3).items()}
    one["W_pos"] = np.zeros((LENGTH, MODEL))
    run = af.observe(
        Problem(Linear(HEADS)),
        {0: one},
        names=af.transformer_lens(U, embedding="fixed"),
        data={
            "tokens": one["W_E"],
            "key": word,
            "query": word[:, -1:],
            "label": label,
        },
        record=["output"],
    )
    expected = by_equations(one, word)
    np.testing.assert_allclose(run["output"][0, 0], expected, rtol=1e-12, atol=1e-12)


def test_another_scale_of_scores_is_seen():
    word, label = words()
    one = state(0)
    with pytest.warns(ModelMismatchWarning):
        af.observe(
            Problem(Linear(HEADS)),
            {0: one},
            names=af.transformer_lens(U, scale=1.0),
            data=samples(word, label),
            outputs=by_equations(one, word)[None],
        )


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"blocks.0.attn.b_Q": np.ones(3)}, {}, "b_Q, which is not zero"),
        ({"ln_final.w": np.ones(3)}, {}, "ln_final.w, which is not zero"),
        ({}, {"embedding": "fixed"}, "W_pos is not zero"),
        ({"unembed.W_U": np.ones((MODEL, 2))}, {}, "one for each column"),
    ],
)
def test_what_it_does_not_know(changes, options, message):
    names = af.transformer_lens(U, **options)
    with pytest.raises(ValueError, match=message):
        for source in names.values():
            source(state(0, **changes))
    lacking = {n: x for n, x in state(0).items() if n != "embed.W_E"}
    with pytest.raises(ValueError, match=r"no embed\.W_E"):
        af.transformer_lens(U)["W_K"](lacking)
