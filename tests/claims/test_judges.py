"""Judges as records: each holds, fails and leaves open, and NaN never holds."""

import json

import numpy as np
import pytest
import xarray as xr

from attnflow.claims import (
    All,
    AtLeast,
    AtMost,
    Equal,
    Falling,
    Finding,
    FromSizeOn,
    InOrder,
    Kind,
    Line,
    Near,
    Rarely,
    Rising,
    Rule,
    Rungs,
    Verdict,
    decide,
    look,
)
from attnflow.claims.judges.base import as_table
from attnflow.claims.stages import Stage

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS
INCONCLUSIVE = Verdict.INCONCLUSIVE
TIME = np.arange(6.0)


def run(values, *, size=1.0, **more):
    """A run whose `x` has these values along time, for each seed or for all three."""
    rows = np.broadcast_to(np.asarray(values, float), (3, len(TIME)))
    return xr.Dataset(
        {"x": (("seed", "time"), rows), **more},
        coords={"seed": [0, 1, 2], "time": TIME},
        attrs={"setting": json.dumps({"size": size})},
    )


def x(dataset):
    return dataset["x"]


def verdict(judge, kind=Kind.UNIVERSAL, **runs):
    return decide(judge(runs), Rule(kind)).verdict


UP, FLAT, DOWN = TIME + 1.0, np.ones(6), -TIME
HOLE = np.where(TIME == 3.0, np.nan, UP)


@pytest.mark.parametrize(
    ("judge", "holding", "failing"),
    [
        (AtLeast("x", x, 1.0), UP, DOWN),
        (AtMost("x", x, 6.0), UP, 2 * UP),
        (AtMost("x", x, 0.0, unit="difference"), DOWN, UP),
        (AtMost("x", x, 6.0, unit="log"), UP, 2 * UP),
        (Near("x", x, 1.0, 0.1), FLAT, UP),
        (Near("x", x, 1.0, 0.1, unit="difference"), FLAT, UP),
        (Equal("x − 1", lambda r: r["x"] - 1.0, 1e-9), FLAT, UP),
        (Rising("x", x, "time"), UP, DOWN),
        (Falling("x", x, "time"), DOWN, UP),
    ],
)
def test_comparisons_hold_fail_and_are_unknown(judge, holding, failing):
    assert verdict(judge, main=run(holding)) is HOLDS
    assert verdict(judge, main=run(failing)) is FAILS
    hole = np.where(TIME == 3.0, np.nan, holding)
    assert verdict(judge, main=run(hole)) is INCONCLUSIVE
    assert judge.words()


def test_one_seed_is_a_counterexample():
    seeds = np.stack([UP, UP, DOWN])
    finding = AtLeast("x", x, 1.0)({"main": run(seeds)})
    assert finding.checks[0].held == (True, True, False)
    assert finding.numbers["x"] == [-5.0, 1.0, 1.0]
    assert decide(finding, Rule(Kind.UNIVERSAL)).verdict is FAILS
    assert decide(finding, Rule(Kind.OBSERVATION)).verdict is INCONCLUSIVE


def test_margins_have_their_unit():
    def margin(**options):
        judge = AtLeast("x", x, 2.0, **options)
        return judge({"main": run(2 * UP + 2.0)}).checks[0].margin[0]

    assert margin() == pytest.approx(1.0)
    assert margin(unit="difference") == pytest.approx(2.0)
    assert margin(unit="log") == pytest.approx(np.log(2.0))
    with pytest.raises(ValueError, match="unit='difference'"):
        AtLeast("x", x, 0.0)({"main": run(UP)})


def test_strict_bounds_are_not_met_with_equality():
    assert verdict(AtLeast("x", x, 1.0, strict=True), main=run(UP)) is INCONCLUSIVE
    assert verdict(Rising("x", x, "time"), main=run(FLAT)) is INCONCLUSIVE
    assert verdict(Rising("x", x, "time", strict=False), main=run(FLAT)) is HOLDS


def test_only_the_records_that_are_meant_count():
    early = AtMost(
        "x", x, 3.0, when=lambda r: look.between(r, 0.0, 2.0), period="up to time 2"
    )
    assert verdict(early, main=run(HOLE)) is HOLDS
    assert early.words() == "x ≤ 3, up to time 2"
    never = AtMost("x", x, 3.0, when=lambda r: look.between(r, 0.0, np.nan))
    assert verdict(never, main=run(UP)) is INCONCLUSIVE
    late = run(UP, recorded=(("seed", "time"), np.tile(TIME < 3, (3, 1))))
    assert verdict(AtMost("x", x, 3.0), main=late) is HOLDS


def test_a_measure_with_a_clock_of_its_own_keeps_all_its_records():
    def slow(dataset):
        return dataset["x"].assign_coords(time=100 * dataset["time"])

    assert verdict(AtMost("x", slow, 5.0), main=run(UP)) is FAILS
    assert verdict(AtMost("x", slow, 6.0), main=run(UP)) is HOLDS


def test_bounds_may_be_functions_and_numbers_by_run():
    own = AtMost("x", x, lambda r: 6.0 * r["x"].isel(time=0, drop=True))
    assert verdict(own, main=run(UP)) is HOLDS
    assert verdict(own, main=run(UP - 0.5)) is FAILS
    by_run = AtMost("x", x, {"a": 6.0, "b": 1.0})
    finding = by_run({"a": run(UP), "b": run(UP)})
    assert [check.what for check in finding.checks] == ["a: x", "b: x"]
    assert [check.held[0] for check in finding.checks] == [True, False]


def test_runs_are_named_by_patterns():
    judge = AtMost("x", x, 6.0, of=("N=*",))
    runs = {"N=1": run(UP), "N=2": run(UP), "other": run(10 * UP)}
    assert verdict(judge, **runs) is HOLDS
    with pytest.raises(ValueError, match="No run is called M"):
        AtMost("x", x, 6.0, of=("M",))(runs)


def test_runs_together_are_arguments_of_the_measure():
    gap = AtMost("the gap", lambda a, b: b["x"] - a["x"], 1.0, together=True)
    assert verdict(gap, a=run(UP), b=run(UP + 1)) is HOLDS
    assert verdict(gap, a=run(UP), b=run(UP + 3)) is FAILS


def test_values_go_in_turn_from_run_to_run():
    last = Rising("x at the end", lambda r: r["x"].isel(time=-1))
    assert verdict(last, a=run(UP), b=run(2 * UP), c=run(3 * UP)) is HOLDS
    assert verdict(last, a=run(UP), b=run(3 * UP), c=run(2 * UP)) is FAILS
    unknown = run(np.full(6, np.nan))
    assert verdict(last, a=run(UP), b=unknown) is INCONCLUSIVE


# Along sizes

SIZES = (10.0, 30.0, 100.0, 300.0, 1000.0)


def ladder(of_size):
    return {f"n={n:g}": run(np.full(6, of_size(n)), size=n) for n in SIZES}


def median(dataset):
    return dataset["x"].isel(time=-1)


@pytest.mark.parametrize(
    ("judge", "holding", "failing"),
    [
        (Rungs("r", median, "theta", "size"), lambda n: 2.0, lambda n: n**0.2),
        (Rungs("r", median, "o(1)", "size"), lambda n: n**-1.0, lambda n: n),
        (
            Line(
                "slope",
                lambda r: np.log(json.loads(r.attrs["setting"])["size"]),
                lambda r: np.log(median(r)),
                2.0,
                0.1,
            ),
            lambda n: n**2,
            lambda n: n**3,
        ),
        (FromSizeOn("x", median, "size", least=1.0), lambda n: n, lambda n: 0.5),
    ],
)
def test_statements_along_sizes(judge, holding, failing):
    assert verdict(judge, Kind.ASYMPTOTIC, **ladder(holding)) is HOLDS
    assert verdict(judge, Kind.ASYMPTOTIC, **ladder(failing)) is FAILS
    unknown = {name: r * np.nan for name, r in ladder(holding).items()}
    unknown = {
        name: r.assign_attrs(ladder(holding)[name].attrs) for name, r in unknown.items()
    }
    assert verdict(judge, Kind.ASYMPTOTIC, **unknown) is INCONCLUSIVE
    assert judge.words()


def test_checks_name_their_axes():
    finding = Rungs("r", median, "theta", "size")(ladder(lambda n: 2.0))
    assert finding.checks[0].axis == "size"

    def number_of_samples(dataset):
        return json.loads(dataset.attrs["setting"])["size"]

    finding = FromSizeOn("x", median, number_of_samples)(ladder(lambda n: 2.0))
    assert finding.checks[0].axis == "number of samples"


def test_one_run_may_have_all_sizes():
    table = xr.DataArray(np.ones((3, 5)), dims=("seed", "n"), coords={"n": list(SIZES)})
    whole = xr.Dataset({"r": table}, coords={"seed": [0, 1, 2]})
    finding = Rungs("r", lambda d: d["r"], "theta", "n")({"main": whole})
    assert finding.checks[0].size == SIZES
    assert finding.checks[0].seeds == 3


def test_failures_are_rare():
    judge = Rarely("it fails", lambda d: int(d.attrs["failures"]), lambda d: 100, 0.1)

    def runs(failures):
        return {"main": run(UP).assign_attrs(failures=failures)}

    assert verdict(judge, Kind.PROBABILITY, **runs(1)) is HOLDS
    assert verdict(judge, Kind.PROBABILITY, **runs(10)) is INCONCLUSIVE
    assert verdict(judge, Kind.PROBABILITY, **runs(40)) is FAILS


# Orders of stages


def reaching(level, name):
    return Stage(name, "x", f"x reaches {level}", level=level)


STAGES = {"T1": reaching(2.0, "T1"), "T2": reaching(4.0, "T2")}


def test_stages_in_order():
    assert verdict(InOrder(STAGES), main=run(UP)) is HOLDS
    swapped = InOrder(STAGES, order=(("T2", "T1"),))
    assert verdict(swapped, main=run(UP)) is FAILS
    assert verdict(InOrder(STAGES), main=run(HOLE)) is INCONCLUSIVE
    assert InOrder(STAGES).words().startswith("T1 < T2 (T1: x reaches 2.0")


def test_a_stage_that_never_ends_is_unknown_unless_it_may_be_late():
    never = {**STAGES, "T3": reaching(99.0, "T3")}
    assert verdict(InOrder(never), main=run(UP)) is INCONCLUSIVE
    assert verdict(InOrder(never, never=("T3",)), main=run(UP)) is HOLDS
    assert verdict(InOrder(never, never=("T3",)), main=run(HOLE)) is INCONCLUSIVE


# Several


def test_all_parts_must_hold():
    parts = (AtLeast("low", x, 1.0), AtMost("high", x, 6.0))
    both = All(parts, also={"mean": lambda runs: float(runs["main"]["x"].mean())})
    assert verdict(both, main=run(UP)) is HOLDS
    assert verdict(both, main=run(2 * UP)) is FAILS
    assert both({"main": run(UP)}).numbers["mean"] == pytest.approx(3.5)
    assert both.words() == "low ≥ 1; high ≤ 6"
    with pytest.raises(ValueError, match="Two parts print 'low'"):
        All((parts[0], parts[0]))({"main": run(UP)})


def test_functions_may_be_parts():
    both = All((AtLeast("low", x, 1.0), lambda runs: Finding((), {"n": 1})))
    assert verdict(both, main=run(UP)) is HOLDS
    assert both.words() == "low ≥ 1"


def test_numbers_of_measures_become_tables():
    dataset = run(UP)
    assert as_table(np.ones(3), (dataset,)).dims == ("seed",)
    assert as_table(2.0, (dataset,)).dims == ()
    assert as_table(np.ones((2, 2)), (dataset,)).dims == ("entry_0", "entry_1")
