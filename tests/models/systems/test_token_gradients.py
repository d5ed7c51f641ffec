"""Forces of next-token prediction against autodiff of the definitions."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.models.systems.token_cases import (
    MODELS,
    alike,
    apart,
    mean_loss,
    sequence_loss,
    unlike,
)

from attnflow.data.class_counts import draw_counts, support_of
from attnflow.data.sequence_classes import SequenceClasses
from attnflow.models.forms.token_classes import token_form
from attnflow.models.problem.next_token import NextToken
from attnflow.models.systems import block_layout
from attnflow.models.systems.next_token import (
    BatchTables,
    Rates,
    TokenTables,
    TokenWeights,
    draw_weights,
    weight_tables,
)

pytestmark = pytest.mark.usefixtures("precise")
# Sums of a few hundred products of numbers of order one.
ROUNDING = 1e-13


def drawn_tables(size, seed=0):
    draw = np.random.default_rng(seed)
    names = ("scores", "values")
    return {n: jnp.asarray(draw.standard_normal((size, size))) for n in names}


def rates():
    return Rates(jnp.asarray(0.7), jnp.asarray(1.3))


def compiled(function, state):
    """What a function gives; compiled as one, in a tenth of the time of its parts."""
    return eqx.filter_jit(function)(state)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("case", [alike, unlike])
def test_long_sequences(model, case):
    task = case().sequence_classes()
    form = token_form("joint", task, residual=True)
    system = TokenTables(form.frame, NextToken(**MODELS[model]), rates())
    tables = drawn_tables(task.vocabulary)
    theirs = partial(mean_loss, task, model)
    loss, slope = compiled(jax.value_and_grad(theirs), tables)
    pull = {name: -table for name, table in slope.items()}
    direction, moved, losses = compiled(
        lambda t: (system.direction(t), system.velocity(0.0, t), system.forces(t).loss),
        tables,
    )
    assert apart(pull, direction) < ROUNDING
    assert float(losses.mean()) == pytest.approx(float(loss), rel=ROUNDING)
    scaled = {"scores": 0.7 * pull["scores"], "values": 1.3 * pull["values"]}
    assert apart(scaled, moved) < ROUNDING


def batch_of(task, seed=4, samples=40, length=9):
    """A batch by its counts, and the same as sequences in some order."""
    draw = np.random.default_rng(seed)
    counts = draw_counts(task, steps=1, batch=samples, length=length, generator=draw)
    rows = [
        draw.permutation(np.repeat(support_of(task)[n], c[: len(support_of(task)[n])]))
        for n, c in zip(counts.label[0], counts.counts[0], strict=True)
    ]
    return counts, np.array(rows)


@pytest.mark.parametrize("model", MODELS)
def test_batches_are_their_counts(model):
    task = plain().sequence_classes()
    counts, sequences = batch_of(task)
    form = token_form("joint", task, residual=True)
    system = BatchTables(
        form.frame,
        NextToken(**MODELS[model]),
        jnp.asarray(counts.label),
        jnp.asarray(counts.counts),
    )
    tables = drawn_tables(task.vocabulary)
    state = {**tables, "step": jnp.asarray(0)}

    def loss(tables):
        return sequence_loss(task, model, tables, counts.label[0], sequences)

    theirs, slope = compiled(jax.value_and_grad(loss), tables)
    pull = jax.tree.map(jnp.negative, slope)
    direction, batch_loss = compiled(
        lambda s: (system.direction(s), system.batch_loss(s)), state
    )
    assert apart(pull, direction) < ROUNDING
    assert float(batch_loss) == pytest.approx(float(theirs))


def scattered():
    """Classes of unequal supports, whose tokens stand in no order."""
    table = np.zeros((8, 20))
    draw = np.random.default_rng(6)
    for n in range(8):
        mine = draw.choice(10, size=draw.integers(1, 5), replace=False)
        table[n, mine] = draw.dirichlet(np.ones(len(mine)))
    return SequenceClasses(
        probability=tuple(map(tuple, (table / table.sum(1, keepdims=True)).tolist())),
        query=(11, 11, 11, 0, 11, 0, 11, 11)
        if not table[[3, 5], 0].any()
        else (11,) * 8,
        next_token=tuple(range(12, 20)),
    )


def plain():
    return alike(common_tokens=(), distinct_tokens=(), vocabulary=None)


def both_ways(task, counts, name):
    """One batch as it comes and sorted into blocks, and random tables."""
    form = token_form(name, task)
    arrays = jnp.asarray(counts.label), jnp.asarray(counts.counts)
    block = block_layout.block_of(np.asarray(form.frame.query))
    widths = block_layout.block_widths([counts.label], block, len(form.columns))
    fast = block_layout.block_batches(form.frame, counts, widths=widths)
    draw = np.random.default_rng(1)
    shapes = form.frame.shapes
    tables = {n: jnp.asarray(draw.standard_normal(s)) for n, s in shapes.items()}
    return BatchTables(form.frame, NextToken(), *arrays), fast, tables


@pytest.mark.parametrize("name", ["joint", "merged-outputs"])
@pytest.mark.parametrize("case", [plain, scattered])
@pytest.mark.parametrize("classes_per_block", [1, 2])
def test_blocks_are_batches(name, case, classes_per_block, monkeypatch):
    monkeypatch.setattr(block_layout, "CLASSES_PER_BLOCK", classes_per_block)
    task = case().sequence_classes()
    counts, _ = batch_of(task, samples=17)
    slow, fast, tables = both_ways(task, counts, name)
    state, split = {**tables, "step": jnp.asarray(0)}, fast.begin(tables)
    mine, loss = compiled(lambda s: (fast.direction(s), fast.batch_loss(s)), split)
    theirs, same = compiled(lambda s: (slow.direction(s), slow.batch_loss(s)), state)
    assert apart(theirs, fast.tables(mine)) < ROUNDING
    assert apart(tables, fast.tables(split)) == 0
    assert float(loss) == pytest.approx(float(same))


def test_blocks_are_batches_where_scores_are_far_apart():
    """A block's largest score may be far above those of all tokens of a sample."""
    task = plain().sequence_classes()
    counts, _ = batch_of(task, samples=17)
    slow, fast, tables = both_ways(task, counts, "active")
    tables["scores"] *= 400
    mine = compiled(lambda s: fast.direction(s), fast.begin(tables))
    state = {**tables, "step": jnp.asarray(0)}
    theirs = compiled(lambda s: slow.direction(s), state)
    # Where attention is on one token, forces on scores are small differences of
    # products of the size of forces on values.
    size = float(jnp.abs(theirs["values"]).max())
    for name, force in fast.tables(mine).items():
        assert float(jnp.abs(force - theirs[name]).max()) < ROUNDING * size


def test_beyond_the_last_batch_it_is_used_again():
    task = plain().sequence_classes()
    counts, _ = batch_of(task)
    form = token_form("active", task)
    arrays = jnp.asarray(counts.label), jnp.asarray(counts.counts)
    system = BatchTables(form.frame, NextToken(), *arrays)
    late = {**form.frame.zeros(), "step": jnp.asarray(7)}
    early = {**late, "step": jnp.asarray(0)}
    pulls = [compiled(system.direction, state)["values"] for state in (early, late)]
    np.testing.assert_array_equal(*pulls)
    assert float(jnp.abs(pulls[0]).max()) > 0


def test_plain_weights():
    task = unlike()
    form = token_form("joint", task)
    system = TokenWeights(TokenTables(form.frame, NextToken(), rates()), rates())
    state = draw_weights(task.vocabulary, 5, np.random.default_rng(2))
    U, W_V = state["values"]["U"], state["values"]["W_V"]
    W_Q, W_K = state["scores"]["W_Q"], state["scores"]["W_K"]
    tables = compiled(system.tables, state)
    np.testing.assert_allclose(tables["values"], U @ W_V.T @ U.T, rtol=1e-12)
    np.testing.assert_allclose(
        tables["scores"], U @ W_Q @ W_K.T @ U.T / np.sqrt(5), rtol=1e-11, atol=1e-14
    )
    slope = jax.grad(lambda s: -mean_loss(task, "l2", weight_tables(s)))
    pull, direction = compiled(lambda s: (slope(s), system.direction(s)), state)
    for part in pull:
        assert apart(pull[part], direction[part]) < ROUNDING


def test_gradients_of_a_loss_that_is_all_but_gone():
    """The pull on the label keeps its digits where one minus its share has none."""
    task = unlike()
    form = token_form("token-classes", task)
    tables = form.frame.zeros()
    values = tables["values"].at[:, :3].add(jnp.asarray([[40.0, 0, 0]]))
    system = TokenTables(form.frame, NextToken(), rates())
    force = compiled(system.forces, {**tables, "values": values})
    assert 0 < float(force.loss[0]) < 1e-14
    assert float(jnp.abs(force.values[:, 0]).max()) > 0
    first = compiled(system.forces, {**tables, "values": values.at[:, 1:].add(-5.0)})
    assert float(first.loss[0] / force.loss[0]) < 0.1
