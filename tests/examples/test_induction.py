"""Two layers, in the plain form, held to their authors' program step by step."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from attnflow.experiments import run as train

EXAMPLE = "induction"
FILES = Path(os.environ.get("ATTNFLOW_DATA", "none"), "references")
PATHS = sorted(FILES.glob("two-layer-induction*.npz"))


@pytest.mark.parametrize("path", PATHS or [None])
def test_equals_the_authors_program(example, path):
    """Every series of the file, at every update."""
    if path is None:
        pytest.skip("no reference trajectories beside the clone (ATTNFLOW_DATA)")
    f = np.load(path)

    @dataclass(frozen=True)
    class Given(example.Induction):
        def sample(self, *, key):
            return {
                "tokens": f["tokens_train"],
                "next": f["next_train"],
                "validation_tokens": f["tokens_validation"],
                "validation_next": f["next_validation"],
            }

    steps, heads = int(f["num_steps"]), int(f["heads"])
    model = Given(
        samples=len(f["next_train"]),
        length=f["tokens_train"].shape[1],
        vocabulary=int(f["vocabulary"]),
        heads=heads,
        degree=int(f["degrees"].sum(1).max()),
    )
    np.testing.assert_array_equal(model.degrees, f["degrees"])
    first = {"W": f["W"][0], "C": f["C"][0], "a": f["a"][0]}
    drawn = model.draw(key=np.zeros(2, np.uint32))
    for name, array in (drawn["scores"] | drawn["values"]).items():
        np.testing.assert_array_equal(array, first[name])
    plan = example.train(example.Setting(float(f["learning_rate"]), steps), model)
    run = train(plan, at=range(steps + 1), weights=first).isel(seed=0)
    assert run.attrs["form"] == "weights"
    series = {"loss": "loss", "validation_loss": "validation_loss"}
    series |= {"C": "feature_weight", "a": "scale"}
    errors = {n: np.abs(run[ours].values - f[n]).max() for n, ours in series.items()}
    late = run["first_layer"].sel(time=f["W_steps"]).values
    errors["W"] = np.abs(late - f["W"]).max()
    assert max(errors.values()) < 1e-10, errors


def test_the_feature_of_both_parents_wins(example):
    plan = example.train(example.Setting(), replace(example.Induction(), samples=90))
    run = train(plan).isel(seed=0)
    top = np.abs(run["feature_weight"].values[-1]).argmax()
    assert run["feature"].values[top] == "0110"
    assert float(run["loss"][-1]) < float(run["loss"][0]) - 0.1
