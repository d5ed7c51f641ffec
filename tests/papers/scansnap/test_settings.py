import numpy as np
import pytest

from attnflow.experiments import Computation
from attnflow.papers.scansnap import PAPER, experiments, settings
from attnflow.training.rules import Adam, Flow, Momentum


def built(id, **changes):
    recipe = PAPER.recipe(id)
    return recipe.experiment(recipe.with_overrides(changes))


def test_every_experiment_can_be_built():
    for recipe in PAPER.recipes:
        found = recipe.experiment(recipe.setting)
        assert found.paper == "scansnap"
        if not isinstance(found, Computation):
            # J, Q or C; real text is of none of them.
            deep = recipe.id.startswith("wikitext")
            assert found.model.system[0] in ("a" if deep else "JQC")


def test_syn_small():
    found = built("figure4-right")
    assert found.model.task.size == 34
    rules = found.stages[0].rule
    assert rules == {"scores": Momentum(1.0), "values": Momentum(10.0)}
    assert (found.model.length, found.model.batch, found.model.steps) == (128, 128, 100)
    assert found.model.score_start == found.model.value_start == 0
    adam = built("figure5", score_rate=0.5, value_rate=0.5).stages[0].rule
    assert adam == {"scores": Adam(0.5), "values": Adam(0.5)}


def test_syn_medium():
    found = built("syn-medium", queries=10)
    assert found.model.task.size == 240
    assert found.model.score_start == pytest.approx(240**-0.5)
    assert built("syn-medium", score_start=0.0).model.score_start == 0


def test_a_part_without_a_rate_stays():
    found = built("figure4-left", score_rate=0.0)
    assert found.stages[0].trains == ("values",)


def test_flows():
    found = built("figure3", vocabulary=10**9)
    assert found.is_flow and isinstance(found.stages[0].rule, Flow)
    assert found.model.task.size == 10**9
    own = built("figure3", own_queries=True).model.task
    assert (own.queries, own.classes_per_query) == (10, 1)


def test_given_classes():
    task = experiments.given_classes(settings.Given())
    assert task.vocabulary == 100
    np.testing.assert_array_equal(task.table[0, :3], [0.5, 0.5, 0])
    apart = experiments.given_classes(settings.Given(query=(0, 1)))
    assert apart.query == (3, 4)


def test_scales():
    printed = experiments.scale_of(settings.Scalar())
    assert printed == pytest.approx(4.85**2 / 10)
    ours = experiments.scale_of(settings.Scalar(printed=False))
    assert ours == pytest.approx(4.85**2 / 9)
    assert experiments.scale_of(settings.Scalar(scale=3.0)) == 3.0


@pytest.mark.parametrize(
    ("id", "changes", "said"),
    [
        ("figure4-left", {"score_rate": -1.0}, "must not be negative"),
        ("figure4-left", {"score_rate": 0.0, "value_rate": 0.0}, "nor both zero"),
        ("figure3", {"value_rate": -2.0}, "must not be negative"),
        ("figure3", {"score_rate": 0.0, "value_rate": 0.0}, "nor both zero"),
        ("figure4-left", {"length": 1}, "length is 1"),
        ("figure4-left", {"batch": 0}, "batch is 0"),
        ("figure4-left", {"momentum": 1.0}, "momentum is 1"),
        ("figure4-left", {"queries": 0}, "queries is 0"),
        ("figure4-left", {"common": -1}, "common is -1"),
        ("figure4-left", {"length": "none", "stream": "published"}, "set length"),
        ("figure6", {"length": 1}, "length is 1"),
        ("figure6", {"score_rates": (1.0, -1.0)}, "must be positive"),
        ("figure6", {"ratios": ()}, "at least one"),
        ("figure6", {"queries": (0,)}, "must be positive"),
        ("decomposition", {"momentum": 1.0}, "momentum is 1"),
        ("decomposition", {"ratio": 0.0}, "must be positive"),
        ("figure8", {"value_rates": (0.0,)}, "must be positive"),
        ("figure3", {"until": 0.0}, "until is 0"),
        ("figure3", {"vocabulary": 50}, "vocabulary is 50"),
        ("figure3", {"distinct": (0.5, -0.1)}, "positive and finite"),
        ("figure9", {"scale": -1.0}, "positive C0"),
        ("classes", {"probability": (0.5, 0.4, 0.0, 0.1, 0.0, 0.9)}, "sum to 0.9"),
        ("classes", {"probability": (0.0, 0.0, 0.0, 0.1, 0.0, 0.9)}, "no support"),
        ("classes", {"probability": (0.5, 0.5, 0.1)}, "as many for each class"),
        ("classes", {"query": (0, 2)}, r"queries \[4\] belong to no class"),
        ("classes", {"vocabulary": 4}, "at least as many tokens"),
    ],
)
def test_bad_settings(id, changes, said):
    with pytest.raises(ValueError, match=said):
        built(id, **changes)


def test_no_batch_loss_without_batches():
    assert "batch_loss" in built("figure4-left").observables
    assert "batch_loss" not in built("figure4-left", length="none").observables
