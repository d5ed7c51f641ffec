"""J, Q and C against what is known of them exactly, and against each other."""

import numpy as np
import pytest

from attnflow.experiment import run
from attnflow.papers.scansnap import PAPER
from attnflow.papers.scansnap.experiments import scale_of
from attnflow.papers.scansnap.systems.decoder import Decoder

TOP = "distinct9@0"


def made(id, seeds=(0,), **changes):
    recipe = PAPER.recipe(id)
    return run(recipe.experiment(recipe.with_overrides(changes)), seeds=seeds)


def test_figure_3_in_three_systems():
    """The dominant token's growth by t = 10⁵, as the sheet's prototypes have it."""
    expected = {0.5: (44.9, 1.110, 1.150, 1.0064), 10.0: (12.0, 1.067, 1.104, 1.0105)}
    for rate, (bound, quasi, printed, joint) in expected.items():
        scalar = made("figure3-c", value_rate=rate)
        assert scalar.attrs["system"].startswith("C")
        assert np.exp(2 * float(scalar["drive_integral"][0, -1])) == pytest.approx(
            bound, abs=0.05
        )
        runs = {
            "Q": made("figure3-q", value_rate=rate),
            "Q printed": made("figure3-q", value_rate=rate, per_class=False),
            "J": made("figure3", value_rate=rate),
        }
        for name, value in (("Q", quasi), ("Q printed", printed), ("J", joint)):
            found = runs[name]
            assert found.attrs["system"].startswith(name[0])
            z = found["score"].sel(token=TOP).isel(seed=0, time=-1, query=0)
            assert np.exp(2 * float(z)) == pytest.approx(value, abs=5e-4)
            assert float(found["drift"][0]) < 1e-12


def test_the_scalar_model_is_its_closed_form():
    found = made("figure9", score_rate=0.3, value_rate=0.3)
    decoder = Decoder(10, 1000, value_rate=0.3, score_rate=0.3)
    scale = scale_of(PAPER.recipe("figure9").setting)
    assert scale == pytest.approx(2.352, abs=5e-4)
    exact = decoder.drive_integral(found["time"].values, scale)
    np.testing.assert_allclose(found["drive_integral"][0], exact, atol=1e-9)
    np.testing.assert_allclose(
        found["attention_speed"][0], decoder.speed(found["time"].values), rtol=1e-8
    )
    assert float(decoder.drive_integral(decoder.snap, scale)) == pytest.approx(
        1.6401, abs=5e-5
    )


def test_the_law_of_relative_gains_is_exact_in_q():
    """Theorem 3: r(t) = r(0) χ(t), and all distinct scores follow from one."""
    found = made("figure3-q", value_rate=2.0).isel(seed=0, query=0)
    f = found["attention_unit"].isel({"class": 0})
    z = found["score"]
    for other in ("distinct0@0", "distinct5@0"):
        gain = (f.sel(token=TOP) / f.sel(token=other)) ** 2 - 1
        growth = np.exp(2 * z.sel(token=TOP))
        np.testing.assert_allclose(gain, gain[0] * growth, rtol=1e-9)


def test_the_drive_in_q():
    """ξ is Σ γβ f·f', with β from the gradient that the decoder gives."""
    found = made(
        "classes",
        system="Q",
        record=("drive", "coupling", "gram", "attention_speed", "loss"),
        until=200.0,
    ).isel(seed=0)
    coupling, gram = found["coupling"].values[1:], found["gram"].values[1:]
    beside = ~np.eye(2, dtype=bool)
    drive = -(coupling * gram * beside).sum(axis=2)
    np.testing.assert_allclose(found["drive"].values[1:], drive, rtol=1e-7, atol=1e-12)
    assert (drive > 0).all()


def test_only_scale_and_ratio_matter_to_a_flow():
    """R4: rates and time enter through η_Y t and η_Y/η_Z."""
    slow = made("figure3", score_rate=0.5, value_rate=2.0, until=1e3)
    fast = made("figure3", score_rate=5.0, value_rate=20.0, until=1e2)
    np.testing.assert_allclose(
        slow["score"].isel(time=-1), fast["score"].isel(time=-1), rtol=1e-8
    )


def test_distinct_scores_sum_to_the_common_one():
    """R5: Σ z of a class's distinct tokens is −z of the common token over K."""
    found = made("figure3", score_rate=2.0).isel(seed=0, time=-1, query=0)["score"]
    mine = [str(t) for t in found["token"].values if str(t).endswith("@3")]
    common = float(found.sel(token="common0"))
    assert common < 0
    assert float(found.sel(token=mine).sum()) == pytest.approx(-common / 10, rel=1e-9)


def test_identity_of_scores_and_values():
    """R6: d/dt [z/η_Z − |Y|²/(2η_Y)] = −(1/K) Σ f² (f · g), by quadrature."""
    names = ("score", "value_square", "attention_unit", "backprop")
    found = made(
        "classes", record=names, records=4001, until=50.0, score_rate=0.7
    ).isel(seed=0)
    f, g = found["attention_unit"].values, found["backprop"].values
    level = (f * g).sum(axis=2, keepdims=True)
    right = -(f**2 * level).sum(axis=1) / 2
    left = found["score"].values[:, 0] / 0.7 - found["value_square"].values / 2
    area = np.trapezoid(right, found["time"].values, axis=0)
    # The grid is 4000 intervals, even in log t.
    np.testing.assert_allclose(left[-1] - left[0], area, rtol=1e-4)


def test_vocabularies_of_any_size():
    """A flow to 10⁶ is the same work at 10³ and at 10⁹ tokens."""
    for vocabulary in (10**3, 10**6, 10**9):
        found = made("figure3", vocabulary=vocabulary, until=1e6, score_rate=1.0)
        assert found.attrs["form"] == "symmetric"
        assert str(found["outcome"].values[0]) == "finished"
        # The loss is K/(η_Y t) once classes are told apart.
        assert float(found["loss"][0, -1]) == pytest.approx(1e-5, rel=0.05)
        # Sums of 10⁹ terms lose as many digits.
        assert float(found["drift"][0]) < 1e-16 * vocabulary * 1e3
        assert np.isfinite(found["score"].values).all()


def test_systems_of_time_have_no_steps_and_no_given_tables():
    with pytest.raises(ValueError, match="positive one"):
        made("figure3-q", value_rate=0.0)
    with pytest.raises(ValueError, match="use system=J"):
        made("figure3-q", residual="plain")
    recipe = PAPER.recipe("figure3-q")
    with pytest.raises(ValueError, match="begins at zero"):
        run(recipe.experiment(recipe.setting), weights={"scores": np.zeros((2, 2))})
