"""Cells of a map: each as it is alone, and as few programs as shapes."""

from dataclasses import replace

import numpy as np
import pytest

from attnflow.data.noisy_patches import NoisyPatchesTask, OneClassWarning
from attnflow.experiments import Experiment, run, run_cells
from attnflow.experiments.course import Observe
from attnflow.models.forms import Chain, Initial
from attnflow.models.problem import Linear, Logistic, Problem
from attnflow.training import Grid, Reach, Stage
from attnflow.training.rules import GradientDescent
from tests.core import assert_same_to_rounding

TASK = NoisyPatchesTask(
    samples=4, length=4, embed=40, signal=3.0, weak=0.2, strong=0.6, test_samples=5
)
SEEN = ("loss", "test_loss", "test_accuracy")
pytestmark = [
    pytest.mark.cpus,
    pytest.mark.filterwarnings("ignore::attnflow.experiments.LearningRateWarning"),
]


def plan(**task):
    stage = Stage(GradientDescent(0.3), Reach("loss", 0.1, 400.0, "down"))
    return Experiment(
        "vit",
        "test",
        {},
        task=replace(TASK, **{"classes": "equal", **task}),
        problem=Problem(Linear(1), Logistic()),
        initial=Initial(60, 0.4, Chain(30, 0.1, 0.3), law="uniform"),
        stages=(stage,),
        grid=Grid(points=(400.0,)),
        observables=SEEN,
    )


def test_cells_are_the_runs_that_they_stand_for():
    sizes = [(2, 2.0), (2, 4.0), (4, 2.0), (4, 4.0)]
    cells = [plan(samples=n, signal=s, room=4) for n, s in sizes]
    result = run_cells(cells, seeds=(3, 1))
    assert dict(result.sizes) == {"seed": 2, "cell": 4}
    assert (result["cell_outcome"] == "event").all()
    for number, (samples, signal) in enumerate(sizes):
        alone = run(plan(samples=samples, signal=signal), seeds=(3, 1))
        mine = result.isel(cell=number)
        np.testing.assert_array_equal(mine["end_time"], alone["end_time"])
        for name in SEEN:
            expected = alone[f"{name}_at_end"].isel(stage=0)
            # Idle samples change the order of sums: over 40 coordinates, 24 tokens,
            # and 4 samples of 16 pairs. Scores and values are of order one.
            assert_same_to_rounding(
                mine[name],
                expected,
                roundings=40 + 24 + 64,
                steps=int(result["end_time"].max()),
                scale=1.0,
            )
    assert len(np.unique(result["end_time"])) > 2


def test_cells_of_one_shape_compile_once(monkeypatch):
    """What is recorded is called while a program is traced, and never again."""
    traced = []
    whole = Observe.__call__

    def counted(self, system, state, *seen):
        traced.append(1)
        return whole(self, system, state, *seen)

    monkeypatch.setattr(Observe, "__call__", counted)
    # After thousands of programs it may be due between two batches.
    monkeypatch.setattr("attnflow.experiments.batch.make_room", lambda: False)
    sizes = [(2, 2.0), (4, 2.0), (6, 3.0), (6, 1.0)]
    run_cells([plan(samples=n, signal=s, room=6) for n, s in sizes])
    assert len(traced) == 1
    run_cells([plan(samples=n, signal=s, room=6) for n, s in sizes], seeds=(4, 5))
    assert len(traced) == 1


def test_progress_and_one_class_are_reported():
    reports = []
    cells = [plan(samples=1, signal=s, classes="drawn") for s in (1.0, 2.0)]
    with pytest.warns(OneClassWarning, match="one class"):
        run_cells(cells, seeds=(0, 1), progress=lambda *now: reports.append(now))
    assert reports == [
        (0.25, "seed 0"),
        (0.5, "seed 0"),
        (0.75, "seed 1"),
        (1.0, "seed 1"),
    ]


def test_what_cells_cannot_record():
    odd = replace(plan(), observables=("loss", "value"))
    with pytest.raises(ValueError, match=r"\['value'\] are not scalars"):
        run_cells([odd])
    with pytest.raises(ValueError, match="the same scalars"):
        run_cells([plan(), replace(plan(), observables=("loss",))])


def test_a_cell_that_diverges_says_so():
    """A step so large that scores overflow is an outcome; other cells are kept."""
    wild = replace(
        plan(),
        stages=(Stage(GradientDescent(1e200), Reach("loss", 1e-9, 400.0, "down")),),
    )
    result = run_cells([plan(), wild, plan()])
    assert result["cell_outcome"].values[0].tolist() == ["event", "diverged", "event"]
    # One after the other by one program.
    np.testing.assert_array_equal(result["loss"][:, 0], result["loss"][:, 2])
