"""Figures of `vit`: drawing, values, and sentences that can fail."""

import json
from typing import ClassVar

import numpy as np
import pytest
import xarray as xr
from matplotlib.contour import ContourSet

from attnflow import figures, schema
from attnflow.figures.exhibits import stage_times
from attnflow.papers.vit import PAPER
from attnflow.papers.vit import boundary as b
from attnflow.papers.vit.figures import control, dynamics, phase_map, stage_order
from attnflow.papers.vit.figures.figure1 import trend
from attnflow.papers.vit.stages import STAGES
from attnflow.testing import ExhibitProtocol, frozen, reordered, replaced
from tests.papers.vit.courses import course

pytestmark = pytest.mark.filterwarnings(
    # Labels of the map are drawn, as the paper draws them.
    "ignore::attnflow.data.noisy_patches.OneClassWarning"
)

# Changes of a run; each sentence must fail under some of them.


def level(run):
    """One test loss everywhere."""
    return replaced(run, lambda table: 0 * table + 0.7, "test_loss")


def lower(run):
    """Test losses a tenth of what they are."""
    return replaced(run, lambda table: table / 10, "test_loss")


def mirrored(run):
    """Samples and SNRs exchanged for their opposites."""
    return reordered(run, "test_loss", snr=slice(None, None, -1))


def steeper(run):
    """SNRs that fall faster with the length of samples, as if M mattered."""
    if "snr" not in run.dims:
        return run
    factor = schema.setting_of(run)["length"]
    return run.assign_coords(snr=run["snr"] * factor)


def another_exponent(run):
    """Losses of N samples at those of 1/N."""
    if "samples" not in run.dims:
        return run
    return run.assign_coords(samples=1 / run["samples"].values[::-1])


def same_steps(run):
    """Every cell takes as long as every other."""
    return replaced(run, lambda table: 0 * table + 10, "end_time")


def late(run):
    """Runs that end a thousand times later."""
    return replaced(run, lambda table: 1000 * table, "end_time")


def wrong_sides(run):
    """Test samples on the other side."""
    return replaced(run, lambda table: 1 - table, "test_accuracy")


def exchanged(run):
    """Signal and strong noise change places, and values their signs."""
    changed = replaced(run, lambda table: -table, "pair_value")
    names = [n for n in ("attention", "pair_score") if n in run]
    if not names:
        return changed
    order = [1, 0, *range(2, run.sizes["key_position"])]
    return changed.assign({n: run[n].isel(key_position=order) for n in names})


def stronger_signal(run):
    """Formulas of a signal that outweighs all noise."""
    setting = schema.setting_of(run)
    setting |= {n: 1e9 for n in ("signal", "strength") if n in setting}
    return run.assign_attrs(setting=json.dumps(setting))


def unfinished(run):
    """Runs that end before they were to."""
    return replaced(run, lambda table: xr.full_like(table, "finished"), "outcome")


def misplaced(run):
    """Noise a row further down."""
    return reordered(run, "noise", row=np.roll(np.arange(28), 1))


def faint_digits(run):
    """Digits that are fainter where noise is to be stronger."""
    factor = schema.setting_of(run).get("snr", 1.0)
    return replaced(run, lambda table: factor * table, "digit")


def loud(run):
    """Images with noise a hundred times as strong."""
    return (
        run.assign(shown=run["shown"] + 100 * run["noise"]) if "noise" in run else run
    )


def half_attended(run):
    """Half of all attention, from the start."""
    return replaced(run, lambda table: table / 2, "attention")


CHANGES = (
    unfinished,
    misplaced,
    faint_digits,
    loud,
    level,
    lower,
    mirrored,
    steeper,
    another_exponent,
    same_steps,
    late,
    wrong_sides,
    frozen,
    exchanged,
    stronger_signal,
    half_attended,
)


class TestExhibits(ExhibitProtocol):
    slow: ClassVar = {exhibit.id for exhibit in PAPER.exhibits}
    changes = CHANGES


def test_the_headline_comes_first():
    assert PAPER.exhibits[0].id == PAPER.headline == "figure1a"


# A map by hand: linear in SNR around N · SNR² = 1000, a seed with another constant.

COUNTS, RATIOS = np.arange(6.0, 21.0, 2.0), np.linspace(0.5, 16.5, 17)


def hand_map(*constants):
    crossings = np.sqrt(np.array(constants)[:, None] / COUNTS)
    losses = b.CUT - 0.05 * (RATIOS - crossings[..., None])
    return xr.Dataset(
        {
            "test_loss": (("seed", "samples", "snr"), losses),
            "end_time": (("seed", "samples", "snr"), 0 * losses + 7),
        },
        {"seed": np.arange(len(constants)), "samples": COUNTS, "snr": RATIOS},
        {"setting": json.dumps({"sigma_p": 0.2, "sigma_strong": 4.0, "length": 16})},
    )


def test_the_law_of_a_known_map():
    losses = b.losses(hand_map(1000.0))
    law = b.law(losses)
    assert law["exponent of SNR in N"] == pytest.approx(-0.5)
    assert law["N·SNR²"] == pytest.approx(1000.0)
    assert law["cells that agree with 1000"] == 1.0
    assert 900 < law["N·SNR² that parts most cells"] < 1100
    assert b.steps(hand_map(1000.0))["median"] == 7
    along = b.along(b.losses(hand_map(800.0)), 0.0025)
    assert along == pytest.approx({f"N = {n:g}": 2.0 for n in COUNTS})


def test_the_mean_map_is_cut_and_not_the_mean_of_cuts():
    run = hand_map(600.0, 1400.0)
    middle = (np.sqrt(600.0) + np.sqrt(1400.0)) ** 2 / 4
    assert b.law(b.losses(run))["N·SNR²"] == pytest.approx(middle)
    assert control.middle(run) == pytest.approx(middle)
    assert b.strong_ratio(run) == pytest.approx(0.0025)
    low, high = b.fit(b.losses(run)).constant_interval
    assert low == pytest.approx(600.0) and high == pytest.approx(1400.0)


def test_cells_on_the_wrong_side_are_counted():
    table = b.losses(hand_map(1000.0)).copy(deep=True)
    table[0, 0, 0] = 0.0
    assert b.agreeing(table) == pytest.approx(1 - 1 / (len(COUNTS) * len(RATIOS)))


def test_the_curve_is_drawn_where_an_axis_begins_below_zero():
    """A few coarse cells have margins that reach there, where nothing may warn."""
    table = b.losses(hand_map(1000.0))
    _, grid = figures.panels()
    panel = phase_map.loss_map(of=lambda evidence: table, level=None, curves=())
    panel.draw(grid[0, 0], table)
    grid[0, 0].set(xlim=(-1.0, 16.0), ylim=(-1.0, 21.0))
    phase_map.CUT.draw(grid[0, 0], table)
    paper = phase_map.PAPER
    figures.frontier(grid[0, 0], paper.side, paper.label)
    (curve,) = (c for c in grid[0, 0].collections if isinstance(c, ContourSet))
    (path,) = curve.get_paths()
    snr, count = path.vertices.T
    np.testing.assert_allclose(count * snr**2, 1000.0, rtol=0.02)


def test_trends():
    assert trend(np.array([3.0, 2.0, 1.0])) == -1.0
    assert trend(np.array([1.0, 1.0, 1.0])) == 0.0
    assert trend(np.array([3.0, 1.0, 2.0])) == pytest.approx(-1 / 3)


def test_tokens_are_pooled_by_their_kind():
    """In the hand-written course the signal's value is t/1000, noise's 1/10000."""
    shows = dynamics.FIGURE3.shows
    run = course(seeds=2)
    run = run.assign(pair_score=run["attention"])
    table = shows.table(dict.fromkeys(dynamics.READINGS, run))["values, w_O fixed"]
    np.testing.assert_allclose(table["μ"].sel(time=500.0), 0.5)
    np.testing.assert_allclose(table["ξ_2"], 1e-4)
    np.testing.assert_allclose(table["ξ_3 and further"], -1e-4)


def test_the_printed_order_needs_every_stage():
    def in_order(run, names):
        times = stage_times(
            STAGES["benign"][name].row(run) for name in STAGES["benign"]
        )
        return stage_order.in_order({name: times[name] for name in names})

    names = list(stage_order.ROWS)
    assert in_order(course(), names)
    assert not in_order(course(), names[::-1])
    assert not in_order(course("harmful"), names)
