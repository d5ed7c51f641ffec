"""Noisy digits under a vision transformer: settings, and a small run."""

import numpy as np
import pytest

import attnflow as af
from attnflow.papers.vit.deep_experiments import digits
from attnflow.papers.vit.deep_settings import Digits


def test_the_papers_model_and_data():
    model = digits(Digits(snr=0.2)).model
    assert (model.network.layers, model.network.heads) == (2, 4)
    assert model.task.factors == (pytest.approx(1 / 6), pytest.approx(5 / 6))
    assert (model.task.border, model.task.length) == (4, 49)
    assert len(model.task.digits) == model.network.classes == 10


def test_heads_share_the_width():
    with pytest.raises(ValueError, match="evenly"):
        digits(Digits(width=30))


@pytest.mark.parametrize("name", ["steps", "records"])
def test_wrong_settings(name):
    with pytest.raises(ValueError, match="at least one"):
        Digits(**{name: 0})


@pytest.mark.slow
def test_a_small_run(data_at_hand):
    small = {"samples": 100, "test_samples": 50, "batch": 20, "width": 8, "hidden": 8}
    run = af.run("vit/mnist", store=False, steps=40, records=2, patch=7, **small)
    assert run["time"].values.tolist() == [0, 20, 40]
    assert run["loss"][0, 0] == pytest.approx(np.log(10), rel=0.1)
    assert (run["loss"][:, -1] < run["loss"][:, 0] - 0.1).all()
    assert run["attention_to_noise"].sizes == {"seed": 1, "time": 3, "layer": 2}
