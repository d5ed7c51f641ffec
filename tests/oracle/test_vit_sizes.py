"""The transformer of paper D at Section 6's own sizes against PyTorch, whole runs."""

import numpy as np
import pytest

pytest.importorskip("torch")

from attnflow.experiments import members, run
from attnflow.papers.vit import PAPER
from tests.core import mostly_slow
from tests.oracle import vit_torch
from tests.oracle.test_vit import ours, raw, relative

SEEN = ("loss", "pair_score", "pair_value", "test_loss", "test_margin")
READOUTS = ("default16-trained", "default-fixed")


@pytest.mark.usefixtures("precise")
@pytest.mark.filterwarnings("ignore::attnflow.experiments.LearningRateWarning")
@pytest.mark.parametrize("readout", mostly_slow(READOUTS, "default16-trained"))
@pytest.mark.parametrize(
    ("samples", "snr"),
    [(4, 10.0), pytest.param(20, 5.0, marks=pytest.mark.slow)],
)
def test_section_six(samples, snr, readout):
    recipe = PAPER.recipe("figure1")
    sizes = {"samples": samples, "snr": snr, "readout": readout, "record": SEEN}
    made = recipe.experiment(
        recipe.with_overrides({**sizes, "classes": "equal", "steps": 200, "dense": 200})
    )
    data, other = (
        members.samples_of(made, 0, None),
        members.test_samples_of(made, 0, None),
    )
    weights = vit_torch.draw_weights(embed=1024, key_width=512, value_width=512, seed=0)
    if readout == "default-fixed":
        weights["w_O"] *= 16
    course = vit_torch.train(
        weights,
        raw(data),
        raw(other),
        rate=0.1,
        steps=200,
        trained=readout.endswith("trained"),
        target=0.01,
    )
    found = run(made, weights=ours(weights))
    assert found.attrs["form"] == "tokens"
    steps = len(course.loss) - 1
    # Long enough for the loss to fall to its target, where both stop.
    assert float(found["end_time"][0]) == steps and 3 < steps < 200
    seen = {name: found[name].values[0, : steps + 1] for name in SEEN}
    assert relative(seen["loss"], course.loss) <= 1e-12
    assert relative(seen["test_loss"], course.test_loss) <= 1e-12
    assert relative(seen["pair_score"][:, :, 0], course.score) <= 1e-10
    assert relative(seen["pair_value"][:, :, 0], course.value) <= 1e-10
    margin = np.asarray(other.label) * course.test_output
    assert relative(seen["test_margin"], margin) <= 1e-10
