"""The oracles of paper C held to each other, and to derivatives by many digits."""

import jax
import numpy as np
import pytest

torch = pytest.importorskip("torch")
mpmath = pytest.importorskip("mpmath")

import attnflow  # noqa: E402
from attnflow.data import SignalNoiseTask  # noqa: E402
from tests.oracle import exact_signs, signgd_torch  # noqa: E402

pytestmark = pytest.mark.cpus

EMBED, RATE = 60, 1e-3


def drawn(seed=0, samples=6, embed=EMBED, support=12, length=2):
    """Raw tokens and labels."""
    task = SignalNoiseTask(samples, embed, support, length=length)
    with attnflow.precise():
        data = task.sequences(key=jax.random.key(seed))
        return np.asarray(data.tokens)[np.asarray(data.key)], np.asarray(data.label)


def initial(heads=1, trained_head=False, embed=EMBED, width=8, neurons=4):
    weights = signgd_torch.draw_weights(
        embed=embed, width=width, neurons=neurons, scale=0.1 / embed**0.5, heads=heads
    )
    return signgd_torch.with_trained_head(weights) if trained_head else weights


def exact(weights, x, y):
    head = weights.get("theta", signgd_torch.fixed_head(weights))
    return exact_signs.signs_of_weights(weights, head, x, y)


def after(weights, x, y, steps, dtype=torch.float64):
    """The weights after some steps of SignGD by autograd."""
    rule = signgd_torch.sign_descent(RATE)
    course = signgd_torch.train(
        weights, x, y, rule, steps=steps, every=steps, dtype=dtype
    )
    return {name: rows[-1].astype(float) for name, rows in course.weights.items()}


def differing(weights, x, y, dtype=torch.float64):
    """How many signs autograd has otherwise, and how many are zero there alone."""
    found = signgd_torch.gradients(weights, x, y, dtype)
    wanted = exact(weights, x, y)
    wrong = sum((np.sign(found[n]) != wanted[n]).sum() for n in found)
    lost = sum(((found[n] == 0) & (wanted[n] != 0)).sum() for n in found)
    return wrong, lost


@pytest.mark.parametrize("steps", [0, 40])
@pytest.mark.parametrize(
    "variant", [{}, {"heads": 3}, {"trained_head": True}, {"length": 10}]
)
def test_autograd_has_the_exact_signs_early(variant, steps):
    length = variant.get("length", 2)
    x, y = drawn(length=length, support=12 if length == 2 else 4)
    weights = initial(**{k: v for k, v in variant.items() if k != "length"})
    if steps:
        weights = after(weights, x, y, steps)
    assert differing(weights, x, y) == (0, 0)


def test_autograd_loses_signs_late():
    """Single precision loses them first, and by underflow to zero in the end."""
    x, y = drawn()
    weights = after(initial(), x, y, 700)
    wrong, _ = differing(weights, x, y)
    wrong_single, lost_single = differing(weights, x, y, torch.float32)
    assert 0 < wrong < wrong_single
    assert lost_single > 0


def precise_loss(weights, x, y):
    """The sum of logistic losses in mpmath, from exact inner products."""
    exp, log = mpmath.exp, mpmath.log
    total = mpmath.mpf(0)
    theta = weights.get("theta", signgd_torch.fixed_head(weights))
    for tokens, label in zip(x, y, strict=True):
        output = mpmath.mpf(0)
        for head in range(len(weights["W_K"])):
            keys, queries = (weights[n][head] @ tokens.T for n in ("W_K", "W_Q"))
            values = np.einsum(
                "jr,jrd,ld->l", theta[head], weights["W_V"][head], tokens
            )
            for query in queries.T:
                odds = [exp(key @ query) for key in keys.T]
                output += sum(o * v for o, v in zip(odds, values, strict=True)) / sum(
                    odds
                )
        total += log(1 + exp(-label * output))
    return total


@pytest.mark.parametrize("variant", [{}, {"heads": 2, "trained_head": True}])
def test_differences_of_the_loss_have_the_exact_signs(variant):
    """Late, where autograd has lost some: by differences with thousands of digits."""
    x, y = drawn(samples=2, embed=7, support=4)
    big = np.vectorize(mpmath.mpf, otypes=[object])
    weights = initial(embed=7, width=2, neurons=2, **variant)
    weights = {
        name: w + 30 * np.sign(w) * np.abs(w).max() for name, w in weights.items()
    }
    wanted = exact(weights, x, y)
    assert differing(weights, x, y)[0] > 0
    with mpmath.workprec(3000):
        tokens, precise = big(x), {name: big(w) for name, w in weights.items()}
        # The smallest gradients are some 2^-770 here.
        step = mpmath.mpf(2) ** -1200
        start = precise_loss(precise, tokens, y)
        for name, table in precise.items():
            for place in np.ndindex(table.shape):
                kept = table[place]
                table[place] = kept + step
                slope = (precise_loss(precise, tokens, y) - start) / step
                table[place] = kept
                found = 0 if abs(slope) < mpmath.mpf(2) ** -900 else mpmath.sign(slope)
                assert found == wanted[name][place], (name, place)


def test_products_tell_the_same_as_weights():
    x, y = drawn()
    weights = after(initial(heads=2), x, y, 100)
    wanted = exact(weights, x, y)
    tokens = x.reshape(-1, EMBED)
    seen = signgd_torch.on_tokens(weights, tokens)
    shape = (*x.shape[:2],)
    found = exact_signs.signs_of_products(
        seen["key_neuron"].reshape(2, 8, *shape),
        seen["query_neuron"].reshape(2, 8, *shape),
        seen["value"].reshape(2, *shape),
        x,
        y,
    )
    for name in ("W_K", "W_Q"):
        np.testing.assert_array_equal(found[name], wanted[name])
    # Neurons of class −1 move against those of class +1.
    np.testing.assert_array_equal(found["W_V"][:, 0], wanted["W_V"][:, 0, 0])
    np.testing.assert_array_equal(wanted["W_V"][:, 0], -wanted["W_V"][:, 1])


def test_ties_are_refused_and_zeros_are_known(monkeypatch):
    monkeypatch.setattr(exact_signs, "MOST_BITS", 512)
    x, y = drawn(samples=2)
    weights = initial()
    weights["W_K"] = 0 * weights["W_K"]
    assert not exact(weights, x, y)["W_Q"].any()
    # Samples that differ in a coordinate's sign alone, which no weight sees yet.
    weights, place = initial(), np.flatnonzero(x[0, 1])[0]
    x[1] = x[0]
    x[1, 1, place] *= -1
    for table in weights.values():
        table[..., place] = 0
    with pytest.raises(ValueError, match="512 bits: a tie"):
        exact(weights, x, np.ones(2))
