"""Ladders, checks over runs and initial variances, on synthetic runs."""

import json

import numpy as np
import pytest
import xarray as xr

from attnflow.claims import Scope, Verdict
from attnflow.claims.decision import decide_check
from attnflow.papers.cooccurrence.claims.evidence import (
    WIDTHS,
    at_end,
    phase_one,
    with_end,
)
from attnflow.papers.cooccurrence.claims.ladders import (
    by_width,
    every_run,
    ladder,
    output_signs,
    per_gain,
    points,
    small_ladder,
    span,
    variances,
    with_width,
)
from attnflow.papers.cooccurrence.settings import THEORY
from attnflow.schema.settings import replace

SETTING = replace(THEORY, phase_one(512).overrides)


def synthetic_run(value, *, c0=0.3, width=512, **variables):
    """A run of two seeds with `value` in the variable `loss`, and others."""
    setting = {**vars(SETTING), "width": width, "c0": c0}
    seeds = np.array([0.99, 1.01]) * value
    return xr.Dataset(
        {
            "loss": (("seed", "time"), np.outer(seeds, [1.0, 2.0, np.nan])),
            "loss_at_end": (("seed", "stage"), 3 * seeds[:, None]),
            "recorded": (("seed", "time"), [[True, True, False]] * 2),
            "end_time": ("seed", [7.0, 7.0]),
            **variables,
        },
        {"seed": [0, 1], "time": [0.0, 1.0, 6.999999], "stage": ["training"]},
        attrs={"setting": json.dumps(setting, default=list)},
    )


def end(run):
    return at_end(run)["loss"]


def along_widths(power):
    return {str(m): synthetic_run((m / 512) ** power, width=m) for m in WIDTHS}


def test_every_seed_of_every_run_is_a_point():
    size, values = points(along_widths(0.5), end)
    assert size.tolist() == np.repeat(WIDTHS, 2).tolist()
    assert values == pytest.approx(3 * np.sqrt(size / 512) * np.tile([0.99, 1.01], 5))
    assert span(along_widths(0.0), end) == pytest.approx([2.97, 3.03])
    assert by_width(along_widths(0.5), end)["m=2048"] == pytest.approx(6)


@pytest.mark.parametrize(
    ("kind", "power", "held"),
    [
        ("theta", 0.0, True),
        ("theta", 0.1, False),
        ("theta", -0.1, False),
        ("O", -0.5, True),
        ("O", 0.1, False),
        ("Omega", 0.15, True),
        ("Omega", -0.1, False),
        ("o(1)", -0.5, True),
        ("o(1)", 0.0, False),
    ],
)
def test_ladders_in_the_width(kind, power, held):
    check = ladder(along_widths(power), end, kind, "any")
    assert (decide_check(check, Scope.THEOREM).verdict is Verdict.HOLDS) == held
    mutated = with_width("loss_at_end", power)(along_widths(0.0))
    assert ladder(mutated, end, kind, "any").ratio == pytest.approx(check.ratio)


@pytest.mark.parametrize(("power", "held"), [(0.0, True), (1.0, True), (-0.2, False)])
def test_ladders_in_small_outputs(power, held):
    runs = {
        str(c): synthetic_run(c**power, c0=c) for c in (0.3, 0.1, 0.03, 0.01, 0.003)
    }
    check = small_ladder(runs, end, "any")
    assert check.size == pytest.approx((1 / 0.3, 10, 1 / 0.03, 100, 1 / 0.003))
    assert (decide_check(check, Scope.THEOREM).verdict is Verdict.HOLDS) == held


def test_one_seed_breaks_what_is_said_of_every_run():
    runs = along_widths(0.0)
    assert decide_check(every_run(runs, end, "any"), Scope.THEOREM).held == 10
    check = every_run(runs, lambda run: end(run) - 2.98, "any")
    assert decide_check(check, Scope.THEOREM).verdict is Verdict.INCONCLUSIVE


def test_the_end_stands_in_for_a_record_that_just_missed_it():
    course = with_end(synthetic_run(1.0), "loss")
    assert course["time"].values.tolist() == [0.0, 1.0, 7.0]
    assert course.isel(seed=1).values == pytest.approx([1.01, 2.02, 3.03])


def test_variances_are_those_of_condition_one():
    run = synthetic_run(1.0, width=2048)
    assert variances(run) == pytest.approx((0.09 / (5 * 2048), 0.09 / 64))
    assert per_gain(run) == pytest.approx(1 / (0.09 * 2048))


def with_neurons(output):
    read = np.random.default_rng(0).normal(size=(2, 1, 1, 4, 9))
    dims = ("seed", "time", "head", "neuron", "token")
    value = np.einsum("sn,sthnk->sthk", output, read)
    return xr.Dataset(
        {"neuron_value": (dims, read), "value": (dims[:3] + dims[4:], value)}
    )


def test_signs_are_read_off_the_values():
    signs = np.array([[1, -1, 1, 1], [-1, -1, 1, -1]])
    assert output_signs(with_neurons(signs)).values.tolist() == signs.tolist()
    with pytest.raises(ValueError, match="not signs"):
        output_signs(with_neurons(0.5 * signs))
