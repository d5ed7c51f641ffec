import math

import numpy as np
import pytest
import xarray as xr

from attnflow.papers.signgd import stages
from attnflow.papers.signgd.settings import Lattice, Train
from attnflow.papers.signgd.sizes import sizes
from attnflow.papers.signgd.stages import formulas, series, stage_table
from tests.papers.signgd.courses import NEURONS, TURNS, course, doubled, with_setting

NAMES = [
    "T1",
    "T2_SGN",
    "T2",
    "T3",
    "T4-_lo",
    "T4-_hi",
    "2 T4-_hi",
    "keys follow",
    "T4",
    "all follow",
    "T_attn",
]


def rows_of(run):
    return {row.name: row for row in stage_table(run)}


@pytest.fixture
def run():
    return course()


def test_known_times_are_found(run):
    rows = rows_of(run)
    assert list(rows) == NAMES
    detected = {name: row.detected for name, row in rows.items()}
    assert detected["T1"] == pytest.approx(3)
    # 39 of 40 pairs are aligned at 10, where the last one is at zero.
    assert detected["T2_SGN"] == pytest.approx(10.2)
    assert detected["T2"] is None
    # Nine of ten neurons have voted at 27, the last one after 30.
    assert 30 < detected["T3"] <= 31
    # Records are five steps apart, and half of the minority turns between two.
    assert detected["T4-_hi"] == pytest.approx(149.5, abs=2.5)
    assert detected["2 T4-_hi"] == pytest.approx(299.5, abs=2.5)
    assert detected["keys follow"] == pytest.approx(302.5, abs=2.5)
    # The last quarter of query noise crosses zero between the records 600 and 620.
    assert detected["T4"] == pytest.approx(600 + 20 * 0.24 / 0.25)
    assert detected["all follow"] == pytest.approx(620)
    assert detected["T_attn"] is None


def test_what_did_not_happen_has_its_reason(run):
    row = rows_of(run)["T_attn"]
    assert "not reached" in row.note and "up to time 640" in row.note
    assert "at least 0.3125" in row.note


def test_the_softmax_yields_where_its_ratio_does(run):
    """The median pair is of a majority sample: b (t + 1) = 2 a |q_μ|."""
    time = rows_of(run)["T4-_lo"].detected
    ratio = series.dominance(run).isel(seed=0)
    assert float(ratio.interp(time=time)) == pytest.approx(1, rel=1e-3)
    early, late = ratio.sel(time=[40.0, 600.0]).values
    assert early > 1 > late
    second = 1 / (2 + 3 * 5**2)
    weight = second * (1 - second) / (0.4 * 0.6)
    signals = 0.2 * (500 - TURNS)
    pairs = np.concatenate([501 / signals] * 3 + [100.1 / signals])
    expected = np.median(weight * pairs / 2)
    assert float(ratio.sel(time=500.0)) == pytest.approx(expected)


def test_a_ratio_below_1_at_the_start_is_not_the_end(run):
    """Before signals are of their own size, the ratio may be anything."""
    query = run["query_neuron"].copy(deep=True)
    query.loc[{"time": slice(0, 5), "token": "mu"}] *= 1e6
    small = run.assign(query_neuron=query)
    expected = stages.softmax_yields(run).times
    assert stages.softmax_yields(small).times == pytest.approx(expected)


def test_the_minority_is_picked_before_stage_four(run):
    # The median s21 is 0.2 at t = 100, and every neuron of sample 3 is against.
    minority = stages.minority(run)
    assert minority.sel(token="noise4").all()
    assert int(minority.sum()) == NEURONS
    assert stages.minority(run, at=100.0).equals(minority)
    # When the minority's queries have crossed zero, nothing is left to pick.
    assert int(stages.minority(run, at=640.0).sum()) == 0


def test_what_the_minority_did_before_is_no_turn(run):
    """While noise is at its initial size it moves either way."""
    key = run["key_neuron"].copy(deep=True)
    key.loc[{"time": slice(0, 20), "token": "noise4"}] *= -1
    early = run.assign(key_neuron=key)
    assert stages.keys_turn(early).times == pytest.approx(stages.keys_turn(run).times)


def test_where_attention_stays_there_is_no_minority(run):
    still = run.assign(attention=0 * run["attention"] + 0.5)
    assert int(stages.minority(still).sum()) == 0
    rows = rows_of(still)
    assert rows["T4-_hi"].detected is None and "not reached" in rows["T4-_hi"].note
    assert rows["keys follow"].detected is not None


def test_pairs_that_swing_are_counted(run):
    assert stages.two_cycles(run).values.tolist() == [0]
    key = run["key_neuron"].copy(deep=True)
    key.loc[{"neuron": 2, "token": "noise2"}] *= -1
    assert stages.two_cycles(run.assign(key_neuron=key)).values.tolist() == [1]
    assert rows_of(run.assign(key_neuron=key))["keys follow"].detected is None


def test_a_dip_postpones_what_is_for_good(run):
    value = run["value"].copy(deep=True)
    value.loc[{"time": 40.0, "token": "noise1"}] = -0.1
    assert stages.values_positive(run.assign(value=value)).times[0] > 40


def test_rows_that_were_not_recorded_do_not_count(run):
    """An aborted run has NaN there, whose signs are no signs."""
    cut = run.where(run["time"] < 200).assign(recorded=run["time"] < 200)
    cut["recorded"] = cut["recorded"].expand_dims(seed=run["seed"])
    rows, whole = rows_of(cut), rows_of(run)
    for name in ("T1", "T2_SGN", "T3", "T4-_hi"):
        assert rows[name].detected == pytest.approx(whole[name].detected)
    assert rows["2 T4-_hi"].detected is None
    assert rows["keys follow"].detected is None


def test_seeds_have_medians_and_spreads():
    two = course(seeds=2)
    value = two["value"].copy(deep=True)
    value[1] = value[1] + 1.0
    row = rows_of(two.assign(value=value))["T1"]
    # Raised by 1, the entry of slope k crosses zero at 3 − 1/k; the last has k = 4.
    assert row.spread == pytest.approx((2.75, 3.0))
    assert row.detected == pytest.approx(2.875)


def test_what_was_not_recorded_is_not_known(run):
    rows = rows_of(run.drop_vars(["attention", "key_neuron"]))
    for name in NAMES[4:7]:
        assert rows[name].detected is None
        assert "attention" in rows[name].note and "not recorded" in rows[name].note
    assert rows["T1"].detected == pytest.approx(3)
    assert rows["T1"].formula is None and "no formula" in rows["T1"].note
    assert rows["T4-_hi"].formula is not None


def test_longer_samples_have_no_ratio_of_their_own(run):
    row = rows_of(doubled(run))["T4-_lo"]
    assert row.detected is None and "one noise token" in row.note


def test_the_token_that_a_sample_ends_on(run):
    long = doubled(run)
    assert stages.winners(long).values.tolist() == [[1, 0, 1, 0]]
    for name in ("value", "key_neuron", "query_neuron"):
        table = stages.with_attended_noise(long)[name]
        xr.testing.assert_identical(table, run[name])


def test_stages_of_longer_samples_are_those_of_that_token(run):
    rows, short = rows_of(doubled(run)), rows_of(run)
    for name in NAMES:
        if name != "T4-_lo":
            assert rows[name].detected == short[name].detected


def test_nothing_trained_nothing_in_the_table(run):
    assert stage_table(run.isel(time=0, drop=True)) == []


def test_formulas_at_the_papers_sizes():
    """Appendix E.1 in setting (a): 119.6, 955 (C3 = 4), 161 (C3 = 1) and 682."""
    late = formulas.late(sizes(Train()))
    assert late["T4-_hi"].time == pytest.approx(119.6, abs=0.05)
    assert late["T4"].time == pytest.approx(955, abs=0.5)
    assert late["T_attn"].time == pytest.approx(682, abs=0.5)
    with_unit_constant = formulas.late(sizes(Train()), constant=1.0)["T4"]
    assert with_unit_constant.time == pytest.approx(161, abs=0.5)
    assert late["T4-_lo"].time is None
    assert "σ_p s / (3√2 n) = 0.211" in late["T4-_lo"].reason


def test_where_gradients_balance():
    """exp(−(2/π) m_k (t η σ_p s)²) √(2/π) σ_p s = 1/4 solved for t."""
    size = sizes(Lattice())
    strength = formulas.late(size)["T4-"].time * size.learning_rate * size.strength
    odds = 2 / math.pi * size.key_neurons * strength**2
    balance = math.exp(-odds) * math.sqrt(2 / math.pi) * size.strength
    assert balance == pytest.approx(1 / 4)


def test_our_time_stands_beside_the_papers(run):
    late = formulas.late(sizes(Train(embed=400)))
    rows = rows_of(run)
    for name, multiple in (("T4-_hi", 1), ("2 T4-_hi", 2)):
        time = multiple * late["T4-"].time
        assert f"disjoint supports: {time:.4g} (ours)" in rows[name].note


def test_early_formulas_by_hand():
    size = sizes(Train(samples=10, sigma_p=1.0, support=50, value_neurons=4))
    early = formulas.early(size, noise=0.5, signal=0.02)
    unit = 0.5 / (1e-4 * 50)
    assert early["T1"].time == pytest.approx(4 * unit / 2)
    assert early["T2_SGN"].time == pytest.approx(3 * math.sqrt(2) * unit)
    assert early["T2"].time == pytest.approx(500 * math.sqrt(2) * unit)
    assert early["T3"].time == pytest.approx(600)


def test_in_the_lattice_the_printed_order_holds():
    """β_ξ and β_μ of a few hundred normals are about three deviations."""
    size = sizes(Lattice())
    early = formulas.early(size, noise=6e-8, signal=3e-8)
    both = early | formulas.late(size)
    order = ["T1", "T2_SGN", "T2", "T3", "T4-_lo", "T4-_hi", "T4"]
    times = [both[name].time for name in order]
    assert times == sorted(times)
    assert both["T2"].time / both["T3"].time == pytest.approx(0.2, abs=0.1)


def test_largest_initial_products_are_of_noise_and_of_signals(run):
    noise, signal = series.largest_initial(run)
    # At t = 0 key noise of sample 0 is s + 1, and the last signal turns after 30.
    assert noise.values.tolist() == [NEURONS]
    assert signal.values.tolist() == [6]
    formula_times = stages.stage_formulas(run)
    assert formula_times["T3"].time == pytest.approx(3 * 6 / 1e-4)
    assert rows_of(run)["T3"].formula == pytest.approx(3 * 6 / 1e-4)


@pytest.mark.parametrize("growth", [0.0, 1e-3, 1e-2])
def test_the_clock_is_the_sum_of_rates(growth):
    steps = np.arange(3000)
    late = np.maximum(steps - 1 / growth, 0) if growth else 0 * steps
    passed = np.cumsum((1 + growth) ** late)
    assert stages.clock_of(steps + 1, growth) == pytest.approx(passed, rel=1e-9)
    there = stages.steps_at(stages.clock_of(steps, growth), growth)
    assert there == pytest.approx(steps, rel=1e-9)


def test_times_of_a_growing_rate(run):
    """Formulas turn into steps of the run, and notes have the clock."""
    quick = course(setting=Lattice(growth=0.02))
    row = rows_of(quick)["T4-_hi"]
    time = formulas.late(sizes(Lattice(growth=0.02)))["T4-_hi"].time
    assert row.formula == pytest.approx(float(stages.steps_at(time, 0.02)))
    clock = float(stages.clock_of(row.detected, 0.02))
    assert f"τ/η = {clock:.4g}" in row.note
    assert "τ/η" not in rows_of(run)["T4-_hi"].note


@pytest.mark.parametrize("rule", ["signgd", "adam", "gd"])
def test_formulas_are_those_of_sign_steps(run, rule):
    row = rows_of(with_setting(run, rule=rule))["T4-_hi"]
    assert (row.formula is None) == (rule == "gd")
    assert ("formula is SignGD's" in row.note) == (rule != "signgd")


def test_attention_to_signals_of_longer_samples():
    """Two signals and one noise token, whose masses are known."""
    table = np.zeros((1, 1, 1, 1, 3, 3))
    table[..., 0, :] = [0.5, 0.3, 0.2]
    table[..., 1, :] = [0.1, 0.1, 0.8]
    table[..., 2, :] = [0.2, 0.0, 0.8]
    dims = ("seed", "time", "sample", "head", "query_position", "key_position")
    run = with_setting(course(), length=3, noise_tokens=1)
    two_signals = xr.Dataset({"attention": (dims, table)}, attrs=run.attrs)
    assert float(series.signal_to_signal(two_signals).squeeze()) == pytest.approx(0.5)
    assert float(series.noise_to_signal(two_signals).squeeze()) == pytest.approx(0.2)
