"""Keys and queries that begin at scales of their own, at zero, or as they are given."""

import numpy as np
import pytest
from tests.core import experiment, given_weights, largest_difference

from attnflow.data import MixtureTask, PromptQuery, random
from attnflow.experiments import run
from attnflow.models.forms import Initial, Scores, Vector
from attnflow.models.forms.scores import score_factor
from attnflow.papers.mix import MIX
from attnflow.training import Stage
from attnflow.training.rules import Flow, GradientDescent

pytestmark = pytest.mark.cpus

PROMPT = Initial(16, values=Vector(0.1), scores=Scores(keys=1.0, queries=0.0))
GIVEN = Scores.given(**{n: given_weights()[n] for n in ("W_K", "W_Q")})


@pytest.mark.parametrize("form", ["gram", "transport", "tokens"])
def test_random_keys_and_a_prompt_of_zero(form):
    changes = {"task": PromptQuery(MixtureTask()), "initial": PROMPT}
    plain, ours = (run(experiment(form=f, **changes)) for f in ("weights", form))
    scores = ours["score"].values[0]
    assert not scores[0].any() and np.abs(scores[-1]).max() > 0.1
    # Ten times what plain weights round in two hundred steps.
    assert largest_difference(plain, ours).max() < 10 * 200 * np.finfo(float).eps


def test_scales_of_keys_and_queries():
    initial = Initial("infinite", scores=Scores(keys=0.5, queries=0.2))
    factor = score_factor(initial, 1, 2, key=random.key(0))
    assert np.array_equal(np.diag(factor[0]), [0.5, 0.5, 0.2, 0.2])
    alike = Initial("infinite", 0.3, scores=Scores(0.3, 0.3))
    runs = [
        run(experiment(initial=i, until=20)) for i in (Initial("infinite", 0.3), alike)
    ]
    assert largest_difference(*runs).max() == 0


def test_given_weights_are_part_of_the_record():
    initial = Initial(16, scores=GIVEN, values=Vector(0.1))
    first, second = run(experiment(initial=initial, until=5), seeds=(0, 1)).score.values
    assert np.array_equal(first[0], second[0]) and np.abs(first[0]).max() > 0
    assert not np.array_equal(first[-1], second[-1])
    with pytest.raises(ValueError, match=r"must have \(2, 8, 4\)"):
        run(experiment(initial=Initial(8, scores=GIVEN), until=5))


@pytest.mark.parametrize(
    ("initial", "trains", "is_stuck"),
    [
        (Initial(omega=0.0), ("scores",), True),
        (Initial(omega=0.0), ("values",), False),
        (Initial(omega=0.0, merged=True), ("scores",), False),
        (PROMPT, ("scores", "values"), False),
        (PROMPT, ("queries",), False),
        (PROMPT, ("keys", "values"), True),
        (Initial(16, 0.0, scores=GIVEN), ("scores",), False),
    ],
)
def test_zero_is_refused_only_where_attention_cannot_start(initial, trains, is_stuck):
    stages = (Stage(GradientDescent(0.1), 2, trains),)
    if is_stuck:
        with pytest.raises(ValueError, match="never starts to move"):
            experiment(initial=initial, stages=stages, until=2)
    else:
        run(experiment(initial=initial, stages=stages, until=2))


def test_what_does_not_fit():
    with pytest.raises(ValueError, match="not negative"):
        Scores(keys=-1.0)
    with pytest.raises(ValueError, match="merged matrix has neither"):
        Initial(merged=True, scores=Scores())
    apart = Initial("infinite", scores=Scores(0.5, 0.2))
    with pytest.raises(ValueError, match="begin alike"):
        run(experiment(initial=apart, rule=Flow(), form="infinite", until=1.0))


def test_settings_say_it():
    recipe = MIX.recipe("mixture")
    fields = {"query": "prompt", "key_omega": 1.0, "query_omega": 0.0, "rule": "flow"}
    initial = recipe.experiment(recipe.with_overrides(fields)).initial
    assert initial.scales == (1.0, 0.0)
