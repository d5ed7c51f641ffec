"""Where descent leaves the flow, on a quadratic that is known."""

import numpy as np
import pytest

from attnflow.figures.swept import RateMap, left_over_stable
from attnflow.figures.swept.rate_map import departure, stable_rates
from tests.figures.swept.synthetic import swept

TIME = 0.5
SHARP = np.array([1.0, 2.0, 4.0])
COUNTS = (2, 3, 4, 6, 8, 12, 16, 32, 64, 128)
RATES = RateMap(
    "figure1",
    time=TIME,
    counts=COUNTS,
    key="scale",
    values=list(SHARP),
    named="scale",
    settings={},
    seeds=2,
    quick_counts=(2, 4),
    quick_values=[1.0],
)
MAP = RATES.map("rates", about="of a quadratic.", within=(0.02, 0.2))


def descended(sharp, rate, count):
    """The loss λ x²/2 after so many steps from 1."""
    return 0.5 * sharp * (1 - rate * sharp) ** (2 * count)


@pytest.fixture
def evidence():
    steps = np.array(sorted(COUNTS, reverse=True))
    rates = TIME / steps
    loss = descended(SHARP[:, None], rates, steps)[..., None].repeat(2, axis=2)
    flow = (0.5 * SHARP * np.exp(-2 * SHARP * TIME))[:, None].repeat(2, axis=1)
    descent = swept({"loss": loss}, {"scale": SHARP, "learning_rate": rates}, seeds=2)
    sharp = SHARP[:, None].repeat(2, axis=1)
    named = {"loss": flow, "tangent_sharpness^max": sharp}
    return {"descent": descent, "flow": swept(named, {"scale": SHARP}, seeds=2)}


def test_all_descents_come_to_the_same_time():
    sweep = RATES.sweeps()["descent"]
    rates, steps = sweep.settings["learning_rate"], sweep.settings["steps"]
    np.testing.assert_allclose(np.multiply(rates, steps), TIME)
    assert rates == sorted(rates) and sweep.zip == (("learning_rate", "steps"),)
    reference = RATES.sweeps()["flow"].settings
    assert reference["learning_rate"] * reference["steps"] == pytest.approx(TIME)
    assert reference["learning_rate"] < rates[0] / 4
    assert RATES.sweeps()["flow"].sized(quick=True).settings["steps"] == 32


def test_the_rate_at_which_descent_leaves(evidence):
    """First-order: |L/L_flow − 1| = λ² η T, a tenth at η = 0.1/(λ² T)."""
    over = left_over_stable(evidence, "scale")
    np.testing.assert_allclose(stable_rates(evidence, "scale"), 2 / SHARP)
    places = over * 2 / SHARP
    # What is left out is of the relative order λη, which is 0.2 at most.
    np.testing.assert_allclose(places, 0.1 / (SHARP**2 * TIME), rtol=0.2)
    values = MAP.exhibit().values(evidence)
    assert values["2/λ"]["scale = 4"] == 0.5
    named = values["rate at which it leaves over 2/λ"]
    assert list(named.values()) == pytest.approx(over.tolist())


def test_what_must_be_seen_can_be_missing(evidence):
    checks = MAP.exhibit().checks
    assert all(checks(evidence).values()) and len(checks(evidence)) == 2
    sharper = evidence["flow"].copy(deep=True)
    sharper["tangent_sharpness^max"] *= 10
    assert not all(checks({**evidence, "flow": sharper}).values())
    near = evidence["descent"].copy(deep=True)
    near["loss"][:] = evidence["flow"]["loss"]
    assert not any(checks({**evidence, "descent": near}).values())


def test_what_diverges_is_far_and_what_failed_is_nowhere(evidence):
    descent = evidence["descent"].copy(deep=True)
    descent["loss"][0, :2] = np.nan
    descent["outcome"][0, 0] = "diverged"
    descent["outcome"][0, 1] = "failed"
    table = departure({**evidence, "descent": descent}, "scale")
    assert table.dims == ("scale", "learning_rate", "seed")
    assert (table[0, 0] == 1.0).all() and np.isnan(table[0, 1]).all()


def test_the_curve_is_drawn_at_two_over_the_sharpness(evidence):
    ax = MAP.exhibit().draw(evidence).axes[0]
    (contour,) = [c for c in ax.collections if hasattr(c, "levels")]
    rate, scale = contour.get_paths()[0].vertices.T
    inside = (scale > 1) & (scale < 4)
    np.testing.assert_allclose((rate * scale)[inside], 2.0, rtol=2e-2)
