"""Vision transformer on noisy digits: settings, and a small run."""

import numpy as np
import pytest

import attnflow as af
from attnflow.papers.vit.deep_experiments import digits
from attnflow.papers.vit.deep_settings import DigitImage, Digits


def test_the_papers_model_and_data():
    model = digits(Digits(snr=0.2)).model
    assert (model.network.layers, model.network.heads) == (2, 4)
    assert model.task.factors == (pytest.approx(1 / 6), pytest.approx(5 / 6))
    assert (model.task.border, model.task.length) == (4, 4)
    assert len(model.task.digits) == model.network.classes == 10


def test_heads_share_the_width():
    with pytest.raises(ValueError, match="evenly"):
        digits(Digits(width=30))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"steps": 0}, "at least one"),
        ({"records": 0}, "at least one"),
        ({"target": -0.1}, "0 to make all steps"),
    ],
)
def test_wrong_settings(wrong, said):
    with pytest.raises(ValueError, match=said):
        Digits(**wrong)


def test_images_are_counted_from_0():
    with pytest.raises(ValueError, match="place is -1"):
        DigitImage(place=-1)


def test_training_ends_at_a_loss_or_after_all_steps():
    until = digits(Digits(target=0.2, look=25)).stages[0].until
    assert (until.scalar, until.level, until.direction) == ("loss", 0.2, "down")
    assert (until.every, until.horizon) == (25, Digits().steps)
    assert digits(Digits(target=0.0, steps=70)).stages[0].until == 70.0


@pytest.mark.slow
def test_a_small_run(data_at_hand):
    small = {"samples": 100, "test_samples": 50, "batch": 20, "width": 8, "hidden": 8}
    run = af.run(
        "vit/mnist", store=False, steps=40, target=0.0, records=2, patch=7, **small
    )
    assert run["time"].values.tolist() == [0, 20, 40]
    assert run["loss"][0, 0] == pytest.approx(np.log(10), rel=0.1)
    assert (run["loss"][:, -1] < run["loss"][:, 0] - 0.1).all()
    assert run["attention_to_noise"].sizes == {"seed": 1, "time": 3, "layer": 2}
