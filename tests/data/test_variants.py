"""Tasks around other tasks: prompts, positions, labels with noise."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from attnflow.data import (
    CooccurrenceTask,
    DisjointNoiseTask,
    MixtureTask,
    NoisyLabels,
    Positions,
    PromptQuery,
)
from attnflow.experiments import run
from attnflow.models.forms import Initial
from attnflow.training.rules import SignGD
from tests.core import experiment, largest_difference

pytestmark = pytest.mark.usefixtures("precise")
KEY = jax.random.key(0)
SET = CooccurrenceTask(samples=6, embed=16, test_samples=4)


def test_a_prompt_is_the_only_query_and_no_key():
    plain, data = MixtureTask().sequences(), PromptQuery(MixtureTask(), 2.0).sequences()
    count = len(plain.vectors)
    assert (np.asarray(data.query) == count).all() and data.query.shape == (8, 1)
    np.testing.assert_array_equal(data.key, plain.key)
    gram = np.asarray(data.tokens @ data.tokens.T)
    assert gram[count, count] == 4.0 and not gram[count, :count].any()
    np.testing.assert_array_equal(
        gram[:count, :count], np.asarray(plain.tokens @ plain.tokens.T)
    )
    assert data.shown_names == (*plain.shown_names, "prompt")


def test_the_other_task_draws_what_it_would_draw_by_itself():
    plain = SET.sequences(key=KEY)
    for task in (PromptQuery(SET), NoisyLabels(SET, 0.5)):
        np.testing.assert_array_equal(task.sequences(key=KEY).key, plain.key)
        assert task.test_sequences(key=KEY) is not None
    assert PromptQuery(replace(SET, test_samples=0)).test_sequences(key=KEY) is None


def test_a_sum_is_its_word_and_its_position():
    data = Positions(MixtureTask(), length=0.5).sequences()
    tokens, names = np.asarray(data.tokens), list(data.names)
    word, path = names.index("-v2"), names.index("at 3")
    pair = tokens[names.index("-v2@3")]
    np.testing.assert_array_equal(pair, tokens[word] + tokens[path])
    assert tokens[word] @ tokens[path] == 0.0
    assert tokens[path] @ tokens[path] == 0.25
    assert data.shown_names == ("c1", "c2", "v1", "v2", "at 1", "at 2", "at 3")
    first = [names[i] for i in np.asarray(data.key)[0]]
    plain = MixtureTask().sequences()
    words = plain.sample_names()[0].split()
    assert first == [f"{word}@{i + 1}" for i, word in enumerate(words)]
    np.testing.assert_array_equal(data.key, data.query)


def test_products_are_unrelated():
    data = Positions(MixtureTask(), "product").sequences()
    tokens, names = np.asarray(data.tokens), list(data.names)
    one, same, other = (tokens[names.index(n)] for n in ("v1@1", "v1@2", "-v1@1"))
    assert [one @ one, one @ same, one @ other] == [1.0, 0.0, -1.0]
    assert len(names) == 6 * 3


def test_shuffled_samples_hold_the_same_words():
    plain = MixtureTask(population=40).sequences(key=KEY)
    task = Positions(MixtureTask(population=40), order="shuffled")
    data = task.sequences(key=KEY)
    words = [
        [pair.split("@")[0] for pair in row.split()] for row in data.sample_names()
    ]
    expected = [row.split() for row in plain.sample_names()]
    assert [sorted(row) for row in words] == [sorted(row) for row in expected]
    assert words != expected
    assert Positions(MixtureTask(), order="shuffled").random


def test_a_prompt_stands_at_no_position():
    data = PromptQuery(Positions(MixtureTask())).sequences()
    assert [data.names[i] for i in np.unique(data.query)] == ["prompt"]
    below = Positions(PromptQuery(MixtureTask())).sequences()
    assert [below.names[i] for i in np.unique(below.query)] == ["prompt"]
    with pytest.raises(ValueError, match="have no position"):
        Positions(PromptQuery(MixtureTask()), "product").sequences()


def test_labels_of_a_population():
    data = NoisyLabels(MixtureTask(), 0.2, 0.5).sequences()
    plain = MixtureTask().sequences()
    assert len(data.label) == 4 * len(plain.label)
    # Of the first sample: four labels by their probabilities.
    mine = np.arange(4) * len(plain.label)
    label, share = np.asarray(data.label)[mine], np.asarray(data.probability)[mine]
    own = float(plain.label[0])
    expected = {own + 0.5: 0.4, own - 0.5: 0.4, -own + 0.5: 0.1, -own - 0.5: 0.1}
    actual = dict(zip(label.tolist(), (share * 8).tolist(), strict=True))
    assert actual == pytest.approx(expected)


def test_labels_of_a_training_set():
    task = MixtureTask(population=2000)
    plain, data = (t.sequences(key=KEY) for t in (task, NoisyLabels(task, 0.2)))
    rate = float((np.asarray(plain.label) != np.asarray(data.label)).mean())
    assert abs(rate - 0.2) < 5 * np.sqrt(0.2 * 0.8 / 2000)
    added = NoisyLabels(task, deviation=0.3).sequences(key=KEY).label - plain.label
    # The deviation of a deviation of n normal numbers is σ / sqrt(2 n).
    assert abs(float(added.std()) - 0.3) < 5 * 0.3 / np.sqrt(4000)
    test = NoisyLabels(SET, 1.0).test_sequences(key=KEY)
    np.testing.assert_array_equal(test.label, SET.test_sequences(key=KEY).label)


def test_noisy_orbits_are_the_noisy_population():
    infinite = Initial(width="infinite", omega=0.3)
    full, orbits = (
        run(
            experiment(
                initial=infinite,
                task=NoisyLabels(MixtureTask(population=p), 0.2),
                until=100,
            )
        )
        for p in ("exact", "orbits")
    )
    assert orbits.attrs["form"] == "quotient"
    assert largest_difference(full, orbits).max() < 2e-14


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PromptQuery(MixtureTask(), 0.0), "length is 0.0"),
        (lambda: PromptQuery(MixtureTask(population="orbits")), "one sample per orbit"),
        (lambda: Positions(MixtureTask(population="orbits")), "one sample per orbit"),
        (lambda: Positions(MixtureTask(), "odd"), "how is 'odd'"),
        (lambda: Positions(MixtureTask(), order="odd"), "order is 'odd'"),
        (lambda: NoisyLabels(MixtureTask(), 1.5), "flip is 1.5"),
        (lambda: NoisyLabels(MixtureTask(), deviation=-1.0), "deviation is -1.0"),
        (
            lambda: PromptQuery(PromptQuery(MixtureTask())).sequences(),
            "a token 'prompt' already",
        ),
        (
            lambda: PromptQuery(DisjointNoiseTask()).sequences(key=KEY),
            "Use explicit vectors",
        ),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.slow
def test_prompts_under_a_rule_by_coordinates():
    """A prompt has a coordinate of its own, so that signs are exact as well."""
    changes = {"task": PromptQuery(MixtureTask()), "rule": SignGD(1e-3), "until": 50}
    runs = [run(experiment(form=form, **changes)) for form in ("auto", "weights")]
    assert runs[0].attrs["form"] == "signs"
    assert largest_difference(*runs).max() < 1e-14
