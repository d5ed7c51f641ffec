import random
import sys

import numpy as np
import pytest
from scipy.stats import chi2

from attnflow.data.class_counts import draw_counts, published_draws
from attnflow.data.sequence_classes import SequenceClasses
from attnflow.schema.installation import MissingData
from tests.data.test_sequence_classes import small

torch = pytest.importorskip("torch")


def as_drawn(task, seed, steps, batch, length):
    """The draws one by one, with PyTorch's own layers and multinomial."""
    random.seed(seed)
    torch.manual_seed(seed + 2)
    size = task.vocabulary
    layers = [torch.nn.Linear(size, size, bias=False) for _ in range(2)]
    rows = [np.flatnonzero(p) for p in task.table]
    weights = [
        torch.tensor(p[k], dtype=torch.float32)
        for p, k in zip(task.table, rows, strict=True)
    ]
    label, counts = [], []
    for _ in range(steps * batch):
        n = random.choice(range(task.classes))
        tokens = torch.multinomial(weights[n], length - 1, replacement=True)
        label.append(n)
        counts.append(torch.bincount(tokens, minlength=max(map(len, rows))).numpy())
    tables = [layer.weight.detach().numpy().astype(float) for layer in layers]
    return tables, np.array(label), np.array(counts)


def uneven():
    """Unequal supports, and entries that no grid of cells tells apart."""
    return SequenceClasses(
        probability=((0.6, 0.39999, 5e-6, 5e-6, 0, 0), (0.25, 0, 0.75, 0, 0, 0)),
        query=(4, 4),
        next_token=(4, 5),
    )


@pytest.mark.parametrize("case", [lambda: small(3, 2).sequence_classes(), uneven])
def test_all_draws_at_once_are_the_draws_one_by_one(case):
    task = case()
    state = random.getstate(), torch.get_rng_state()
    try:
        (first, second), label, counts = as_drawn(task, 5, 4, 32, 128)
    finally:
        random.setstate(state[0])
        torch.set_rng_state(state[1])
    tables, drawn = published_draws(task, 5, steps=4, batch=32, length=128)
    np.testing.assert_array_equal(drawn.label.ravel(), label)
    np.testing.assert_array_equal(drawn.counts.reshape(len(counts), -1), counts)
    # The layers' bound is √3 · √(1/3)/√M there and 1/√M here: one rounding.
    np.testing.assert_allclose(tables["values"], first.T, rtol=3e-7)
    np.testing.assert_allclose(tables["scores"], second, rtol=3e-7)


def test_both_streams_draw_from_the_same_law():
    """Two-sample χ² of all tokens' counts, class by class, in both streams."""
    task = small(2, 1).sequence_classes()
    sizes = {"steps": 60, "batch": 64, "length": 50}
    own = draw_counts(task, **sizes, generator=np.random.default_rng(8))
    _, theirs = published_draws(task, 8, **sizes)
    for n in range(2):
        pair = [
            drawn.counts[drawn.label == n].sum(axis=0, dtype=float)
            for drawn in (own, theirs)
        ]
        total = pair[0] + pair[1]
        shares = [p.sum() / total.sum() for p in pair]
        apart = sum(
            ((p - s * total) ** 2 / (s * total)).sum()
            for p, s in zip(pair, shares, strict=True)
        )
        # A fair pair is further apart once in a million.
        assert apart < chi2.isf(1e-6, 19)
    assert abs(np.mean(own.label) - np.mean(theirs.label)) < 5 / np.sqrt(2 * 3840)


def test_the_seed_of_the_process_is_left_alone():
    before = torch.get_rng_state(), random.getstate()
    published_draws(small().sequence_classes(), 1, steps=1, batch=2, length=3)
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == random.getstate()


def test_without_pytorch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingData, match=r"attnflow\[torch\]"):
        published_draws(small().sequence_classes(), 1, steps=1, batch=2, length=3)
