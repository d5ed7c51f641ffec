"""Quotients against the forms that they stand for, along whole runs."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.core import assert_same_to_rounding

from attnflow.data import CooccurrenceOrbits, CooccurrenceTask, PrivateTokens
from attnflow.models.forms import Form, basis_of, symmetry_of
from attnflow.models.forms.frames import frame_of
from attnflow.models.forms.quotient import PrivateSymmetry, quotient_frame
from attnflow.models.forms.scores import Gram
from attnflow.models.forms.values import ChainGram
from attnflow.models.problem import Logistic, Problem
from attnflow.models.systems import Training

pytestmark = pytest.mark.cpus

WIDTH, GAIN, RATE, STEPS = 64, 16.0, 0.02, 600
KEY, VALUE, READOUT = 40.0, 0.02, 8.0


def _system(frame, data, *, blocks, scores, values):
    """A system without noise: Gram matrices are multiples of the identity."""
    form = Form(frame, Gram(), ChainGram(jnp.array([GAIN])), "gram")
    problem = Problem(loss=Logistic(), score_scale=WIDTH**-0.5)
    gram = jnp.diag(jnp.array([*[VALUE] * values, READOUT]))
    state = {
        "scores": jnp.broadcast_to(
            KEY * jnp.eye(2 * scores), (blocks, *[2 * scores] * 2)
        ),
        "values": gram[None],
    }
    return Training(form, problem, data, data.probability, ("scores", "values")), state


def _descend(system, state):
    def step(state, _):
        updates = jax.tree.map(lambda d: RATE * d, system.direction(state))
        return system.move(state, updates), system.problem.outputs(
            system.pairs(state), system.data
        )

    return jax.lax.scan(step, state, length=STEPS)


@pytest.fixture(params=[0, 1], ids=["two fillers", "all fillers"])
def pair(precise, request):
    """An explicit training set, and its orbits without and with test samples."""
    explicit = CooccurrenceTask(60, 5, 183, "distinct").sequences(key=jax.random.key(0))
    rank = basis_of(explicit).rank
    full = _system(
        frame_of(explicit, basis_of(explicit)),
        explicit,
        blocks=1,
        scores=rank,
        values=rank,
    )
    task = CooccurrenceOrbits(60, 5, test_samples=request.param)
    orbits = task.sequences()
    symmetry = symmetry_of(task.symmetry, orbits)
    small = _system(
        quotient_frame(orbits, symmetry),
        orbits,
        blocks=symmetry.blocks,
        scores=symmetry.size,
        values=symmetry.size,
    )
    return full, small


def test_private_tokens_follow_the_explicit_training_set(pair):
    full, small = pair
    state, outputs = jax.jit(lambda: _descend(*full))()
    reduced, representatives = jax.jit(lambda: _descend(*small))()
    kinds = np.asarray(full[0].data.group)
    # Outputs of order ten, and rounding of 600 steps.
    assert np.abs(outputs - representatives[:, kinds]).max() < 1e-12
    assert np.abs(outputs[-1]).min() > 3
    ours = small[0].form.frame.shown(small[0].form.tables(reduced))
    theirs = full[0].form.frame.shown(full[0].form.tables(state))
    shown = _like_shown(full[0].data)
    scores = np.asarray(theirs.scores[0])[np.ix_(shown, shown)]
    assert np.abs(ours.scores[0] - scores).max() < 1e-12 * np.abs(scores).max()
    assert np.abs(scores).max() > 1
    values = np.asarray(theirs.values[0])[shown]
    assert np.abs(ours.values[0] - values).max() < 1e-12 * np.abs(values).max()
    # And wrong multiplicities are seen.
    quotient, start = small
    wrong = quotient.form.frame.score_multiplicity.at[1, 3, 3].multiply(1.1)
    quotient = eqx.tree_at(lambda s: s.form.frame.score_multiplicity, quotient, wrong)
    _, representatives = jax.jit(lambda: _descend(quotient, start))()
    assert np.abs(outputs - representatives[:, kinds]).max() > 1e-6


def _like_shown(data):
    """The named tokens, and the first filler of the first sample of each type."""
    kinds, keys = np.asarray(data.group), np.asarray(data.key)
    named = {0: 3, 1: 2, 2: 2, 3: 1}
    return [
        0,
        1,
        2,
        *(keys[np.flatnonzero(kinds == kind)[0]][named[kind]] for kind in range(4)),
    ]


@pytest.mark.parametrize("counts, private", [((3, 1), (2, 3)), ((2, 4), (1, 0))])
def test_rows_are_those_of_the_commutant(counts, private):
    law = PrivateTokens(2, counts, private, copies=max(counts))
    symmetry = PrivateSymmetry(law)
    places = law.places()
    kept = [0, 1] + [2 + i for i, (k, s, _) in enumerate(places) if s < counts[k]]
    grid = np.broadcast_arrays(np.array(kept)[:, None], np.array(kept)[None, :])
    lift = symmetry.score_rows(*grid)[:, :, 0]
    draw = np.random.default_rng(0)

    def full(blocks):
        return lift @ blocks.reshape(-1)

    def blocks():
        entries = draw.standard_normal((3, symmetry.size, symmetry.size))
        entries[1:] *= np.eye(symmetry.size)
        # A kind without private tokens has a row that nothing reads or moves.
        there = np.array([1, 1, *(r > 0 for r in private)], float)
        return entries * there[:, None] * there

    first, other = blocks(), blocks()
    product = np.stack([a @ b for a, b in zip(first, other, strict=True)])
    assert np.abs(full(first) @ full(other) - full(product)).max() < 1e-13
    eye = np.broadcast_to(np.eye(symmetry.size), first.shape)
    # Sums over all entries of the blocks, with coefficients below one.
    assert_same_to_rounding(full(eye), np.eye(len(kept)), roundings=lift.shape[-1])
