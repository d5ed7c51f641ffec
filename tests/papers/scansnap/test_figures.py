"""Figures of `scansnap`: drawing, numbers, and sentences that can fail."""

import json
import subprocess
import sys
from typing import ClassVar

import numpy as np
import pytest
import xarray as xr

from attnflow import schema
from attnflow.papers.scansnap import PAPER
from attnflow.papers.scansnap.figures import (
    attention,
    figure6,
    published,
    readings,
    recall,
    runs,
)
from attnflow.testing import ExhibitProtocol, frozen, reordered, replaced

FAST = {"figure8", "figure9"}
"""Closed forms, and a system of one number."""

# Changes of a run, under some of which each thing that is seen must vanish.


def steady(run):
    """Attention moves evenly from its first record to its last."""
    if "time" not in run.dims:
        return run

    def even(table):
        if "time" not in table.dims:
            return table
        share = xr.DataArray(np.linspace(0, 1, run.sizes["time"]), dims="time")
        first, last = table.isel(time=0), table.isel(time=-1)
        mixed = (1 - share) * first.drop_vars("time") + share * last.drop_vars("time")
        return table.copy(data=mixed.transpose(*table.dims).values)

    return replaced(run, even, "distinct_entropy", "common_mass")


def other_favourites(run):
    """Tokens of every kind in the opposite order."""
    return reordered(run, "attention_per_class", token=slice(None, None, -1))


def level(run):
    """One entropy and one recall everywhere."""
    names = ("mean_distinct_entropy", "recall")
    return replaced(run, lambda table: 0 * table + 0.7, *names)


def rules_exchanged(run):
    """Heavy ball for plain descent."""
    return reordered(run, "mean_distinct_entropy", momentum=[1, 0])


def below(run):
    """Steps below the flow."""
    if "discrete" not in run:
        return run
    return run.assign(discrete=run["continuous"], continuous=run["discrete"])


def another_power(run):
    """B in proportion to the learning rate."""
    rate = schema.setting_of(run).get("score_rate", 1.0)
    return replaced(run, lambda table: rate * table, "drive_integral")


def costly(run):
    """A cost that grows with the vocabulary, and sums that are not conserved."""
    size = schema.setting_of(run).get("vocabulary", 1)
    seconds = run.attrs["wall_seconds"] * size
    changed = replaced(run, lambda table: 0 * table + 1, "drift")
    return changed.assign_attrs(wall_seconds=seconds, compile_seconds=0.0)


def weaker(run):
    """Half of the true coupling of classes."""
    return replaced(run, lambda table: table / 2, "true")


def losers_win(run):
    """Distinct tokens that gain attention lose it, and the other way round."""
    return replaced(run, lambda table: -table, "slowest_distinct")


CHANGES = (
    frozen,
    steady,
    other_favourites,
    level,
    rules_exchanged,
    below,
    another_power,
    costly,
    weaker,
    losers_win,
)


class TestExhibits(ExhibitProtocol):
    slow: ClassVar = {exhibit.id for exhibit in PAPER.exhibits} - FAST
    changes = CHANGES


def test_each_exhibit_says_of_which_system_it_is():
    for exhibit in PAPER.exhibits:
        caption = exhibit.caption.replace("System", "system")
        named = [letter for letter in "JQC" if f"system {letter}" in caption]
        # Networks on text have weights of their own, and are none of the three.
        others = ("systems Q and C", "WikiText")
        assert named or any(text in exhibit.caption for text in others), exhibit.id


def test_without_pytorch_our_own_numbers_are_drawn_and_that_is_said():
    code = (
        "import json, sys\n"
        "sys.modules['torch'] = None\n"
        "from attnflow.papers.scansnap import PAPER\n"
        "e = PAPER.exhibit('figure6')\n"
        "streams = {r.overrides['stream'] for r in e.needs.values()}\n"
        "print(json.dumps([sorted(streams), e.printed, ' '.join(e.silent)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    streams, printed, silent = json.loads(done.stdout)
    assert streams == ["own"] and printed == {}
    assert "PyTorch" in silent and "attnflow[torch]" in silent


# Readings of hand-made tables.


def hand_grid(queries, stream="published", steps=100):
    """A panel of Figure 6 whose ten seeds have the published means and spreads."""
    means = np.array(published.MEANS.get(queries, published.MEANS[3]))
    spreads = np.array(published.SPREADS.get(queries, published.SPREADS[3]))
    unit = np.linspace(-1, 1, 10)
    unit = unit / unit.std(ddof=1)
    table = means + unit[:, None, None] * spreads
    setting = {"batch": 128, "steps": steps, "stream": stream}
    return xr.Dataset(
        {"mean_distinct_entropy": (("seed", "score_rate", "ratio"), table)},
        {"score_rate": [0.5, 1.0, 2.0, 3.0], "ratio": [1.0, 2.0, 5.0, 10.0]},
        {"setting": json.dumps(setting)},
    ).expand_dims("queries")


def grid_of(**options):
    return {runs.panel_name(q): hand_grid(q, **options) for q in runs.PANELS}


def digits(evidence):
    answers = figure6.FIGURE6.display(evidence).checks()
    return [answer for text, answer in answers.items() if "digits" in text]


def test_means_and_spreads_are_read_off_and_compared():
    evidence = grid_of()
    means, spreads = figure6.statistics(evidence, 5).values()
    np.testing.assert_allclose(means, published.MEANS[5], atol=1e-12)
    np.testing.assert_allclose(spreads, published.SPREADS[5], atol=1e-12)
    assert digits(evidence) == [True]
    shifted = {
        n: r.assign(mean_distinct_entropy=r["mean_distinct_entropy"] + 0.001)
        for n, r in evidence.items()
    }
    assert digits(shifted) == [False]


@pytest.mark.parametrize("options", [{"stream": "own"}, {"steps": 50}])
def test_digits_are_compared_of_whole_replays_alone(options):
    assert digits(grid_of(**options)) == []


def test_recall_is_read_off_along_either_axis():
    table = np.arange(4 * 4 * 3, dtype=float).reshape(1, 1, 4, 4, 3)
    run = xr.Dataset(
        {"recall": (("seed", "queries", "score_rate", "ratio", "threshold"), table)},
        {
            "score_rate": [0.5, 1.0, 2.0, 3.0],
            "ratio": [1.0, 2.0, 5.0, 10.0],
            "threshold": [1.0, 2.0, 3.0],
        },
    )
    evidence = {runs.panel_name(1): run}
    by_ratio = recall.recalls(evidence, 1, recall.RATIO)
    np.testing.assert_array_equal(by_ratio.values[0], table[0, 0, 1])
    by_rate = recall.recalls(evidence, 1, recall.RATE)
    np.testing.assert_array_equal(by_rate.values[0], table[0, 0, :, 1])


def test_a_curve_is_read_off_by_the_logarithm_of_time():
    curve = xr.DataArray([0.0, 1.0, 3.0], {"time": [0.0, 1.0, 100.0]}, "time")
    assert readings.at(curve, 10.0) == pytest.approx(2.0)
    assert readings.reach(curve, 0.9) == 1.0
    assert np.isnan(readings.reach(curve, 4.0))


def test_favourites_are_among_a_class_s_own_tokens():
    tokens = ["common0", "distinct0@0", "distinct1@0", "distinct0@1", "distinct1@1"]
    rows = [[0.9, 0.02, 0.08, 0, 0], [0.9, 0, 0, 0.06, 0.04]]
    run = xr.Dataset(
        {"attention_per_class": (("seed", "time", "class", "token"), [[rows]])},
        {"token": tokens, "time": [0.0], "class": ["next0", "next1"]},
    )
    assert attention.favourite(run, 0).tolist() == [1]
    assert attention.favourite(run, 1).tolist() == [0]
    assert attention.is_common(run).tolist() == [True, False, False, False, False]


def test_what_each_of_three_changes():
    base = np.zeros((1, 2, 2, 2, 2))
    base[:, 1] -= 3.0
    base[:, :, 1] -= 1.0
    base[:, :, :, 1] -= 0.5
    dims = ("seed", "momentum", "batches", "uniform", "score_rate")
    run = xr.Dataset(
        {"mean_distinct_entropy": (dims, base)},
        {
            "momentum": ["plain descent", "heavy ball"],
            "batches": ["long sequences", "batches"],
            "uniform": ["zero", "uniform"],
            "score_rate": [0.5, 3.0],
        },
    )
    numbers = PAPER.exhibit("decomposition").display({"parts": run}).values()
    rates = ("η_Z = 0.5", "η_Z = 3")
    assert numbers["change by momentum"] == pytest.approx(dict.fromkeys(rates, -3.0))
    assert numbers["change by batches"] == pytest.approx(dict.fromkeys(rates, -1.0))
    by_start = numbers["change by uniform start"]
    assert by_start == pytest.approx(dict.fromkeys(rates, -0.5))
