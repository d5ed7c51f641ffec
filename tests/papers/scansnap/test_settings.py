import numpy as np
import pytest

from attnflow.experiments import Computation
from attnflow.papers.scansnap import PAPER, experiments, settings
from attnflow.papers.scansnap.stages.formulas import scale_of
from attnflow.training.rules import Adam, Flow, Momentum


def build(id, **changes):
    recipe = PAPER.recipe(id)
    return recipe.experiment(recipe.with_overrides(changes))


def test_every_experiment_can_be_built():
    for recipe in PAPER.recipes:
        experiment = recipe.experiment(recipe.setting)
        assert experiment.paper == "scansnap"
        if not isinstance(experiment, Computation):
            # J, Q or C; real text is of none of them.
            deep = recipe.id.startswith("wikitext")
            assert experiment.model.system[0] in ("a" if deep else "JQC")


def test_syn_small():
    experiment = build("figure4-right")
    assert experiment.model.task.size == 34
    rules = experiment.stages[0].rule
    assert rules == {"scores": Momentum(1.0), "values": Momentum(10.0)}
    assert (
        experiment.model.length,
        experiment.model.batch,
        experiment.model.steps,
    ) == (128, 128, 100)
    assert experiment.model.score_start == experiment.model.value_start == 0
    adam = build("figure5", score_rate=0.5, value_rate=0.5).stages[0].rule
    assert adam == {"scores": Adam(0.5), "values": Adam(0.5)}


def test_syn_medium():
    experiment = build("syn-medium", queries=10)
    assert experiment.model.task.size == 240
    assert experiment.model.score_start == pytest.approx(240**-0.5)
    assert build("syn-medium", score_start=0.0).model.score_start == 0


def test_a_part_without_a_rate_stays():
    experiment = build("figure4-left", score_rate=0.0)
    assert experiment.stages[0].trains == ("values",)


def test_flows():
    experiment = build("figure3", vocabulary=10**9)
    assert experiment.is_flow and isinstance(experiment.stages[0].rule, Flow)
    assert experiment.model.task.size == 10**9
    task = build("figure3", own_queries=True).model.task
    assert (task.queries, task.classes_per_query) == (10, 1)


def test_general_classes():
    task = experiments.general_classes(settings.Given())
    assert task.vocabulary == 100
    np.testing.assert_array_equal(task.table[0, :3], [0.5, 0.5, 0])
    separate = experiments.general_classes(settings.Given(query=(0, 1)))
    assert separate.query == (3, 4)


def test_scales():
    printed = scale_of(vars(settings.Scalar()))
    assert printed == pytest.approx(4.85**2 / 10)
    ours = scale_of(vars(settings.Scalar(printed=False)))
    assert ours == pytest.approx(4.85**2 / 9)
    assert scale_of(vars(settings.Scalar(scale=3.0))) == 3.0


@pytest.mark.parametrize(
    ("id", "changes", "said"),
    [
        ("figure4-left", {"score_rate": -1.0}, "a number from 0"),
        ("figure4-left", {"score_rate": 0.0, "value_rate": 0.0}, "nor both zero"),
        ("figure3", {"value_rate": -2.0}, "a number from 0"),
        ("figure3", {"score_rate": 0.0, "value_rate": 0.0}, "nor both zero"),
        ("figure4-left", {"length": 1}, "length is 1"),
        ("figure4-left", {"batch": 0}, "an integer from 1"),
        ("figure4-left", {"momentum": 1.0}, "from 0, below 1"),
        ("figure4-left", {"queries": 0}, "an integer from 1"),
        ("figure4-left", {"common": -1}, "an integer from 0"),
        ("figure4-left", {"length": "none", "stream": "published"}, "set length"),
        ("figure6", {"length": 1}, "length is 1"),
        ("figure6", {"score_rates": (1.0, -1.0)}, "numbers above 0"),
        ("figure6", {"ratios": ()}, "at least 1"),
        ("figure6", {"queries": (0,)}, "integers from 1"),
        ("decomposition", {"momentum": 1.0}, "from 0, below 1"),
        ("decomposition", {"ratio": 0.0}, "a number above 0"),
        ("figure8", {"value_rates": (0.0,)}, "numbers above 0"),
        ("figure8", {"vocabularies": (1, 30)}, "M of at least 2"),
        ("figure3", {"until": 0.0}, "until is 0"),
        ("figure3", {"vocabulary": 50}, "vocabulary is 50"),
        ("figure3", {"distinct": (0.5, -0.1)}, "numbers above 0"),
        ("figure9", {"scale": -1.0}, "a number from 0"),
        ("classes", {"probability": (0.5, 0.4, 0.0, 0.1, 0.0, 0.9)}, "sum to 0.9"),
        ("classes", {"probability": (0.0, 0.0, 0.0, 0.1, 0.0, 0.9)}, "no support"),
        ("classes", {"probability": (0.5, 0.5, 0.1)}, "as many for each class"),
        ("classes", {"query": (0, 2)}, r"queries \[4\] belong to no class"),
        ("classes", {"vocabulary": 4}, "at least as many tokens"),
    ],
)
def test_bad_settings(id, changes, said):
    with pytest.raises(ValueError, match=said):
        build(id, **changes)


def test_no_batch_loss_without_batches():
    assert "batch_loss" in build("figure4-left").observables
    assert "batch_loss" not in build("figure4-left", length="none").observables
