"""Values at T1 and in Phase 2, sizes and output signs, on synthetic runs."""

import json

import numpy as np
import pytest
import xarray as xr

from attnflow.claims import look
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims.evidence import WIDTHS, phase_one
from attnflow.papers.cooccurrence.claims.neurons import output_signs
from attnflow.papers.cooccurrence.claims.windows import (
    at_t1,
    largest,
    least,
    phase_two,
    sizes,
    to_t1,
    with_width,
)
from attnflow.papers.cooccurrence.settings import THEORY
from attnflow.schema.settings import replace

SETTING = replace(THEORY, phase_one(512).overrides)
# σ1² m m1 = 0.09 · 512, and Phase 1 ends at 20 over it.
END = 20 / (0.09 * 512)
# b0 = 10: Phase 2 begins at t = 2; the loss is 1/512 at its end.
LOSS = np.array([1.0, 0.5, 0.25, 0.125]), 1 / 512


def synthetic_run(*, times=(0.0, 1.0, 2.0, 4.0), end=8.0, width=512):
    """Two seeds, the second with the double of everything but its loss."""
    setting = {**vars(SETTING), "width": width}
    series, last = LOSS
    gain = np.outer([10.0, 20.0], np.ones(len(times)))
    return xr.Dataset(
        {
            "loss": (("seed", "time"), np.tile(series, (2, 1))),
            "loss_at_end": (("seed", "stage"), [[last], [last]]),
            "readout_gain": (("seed", "time", "head"), gain[..., None]),
            "margin": (("seed", "time"), np.outer([1.0, 2.0], times)),
            "margin_at_end": (("seed", "stage"), [[end], [2 * end]]),
            "recorded": (("seed", "time"), np.ones((2, len(times)), bool)),
            "end_time": ("seed", [end, end]),
        },
        {"seed": [0, 1], "time": list(times), "stage": ["training"], "head": ["0"]},
        attrs={"setting": json.dumps(setting, default=list)},
    )


def test_sizes_are_those_of_condition_one():
    size = sizes(synthetic_run(width=2048))
    assert (size.first, size.inner) == pytest.approx((0.09 / (5 * 2048), 0.09 / 64))
    assert (size.key_norm, size.gain) == pytest.approx((0.09 / 5, 0.09 * 2048))


def test_the_end_stands_in_for_a_record_that_just_missed_t1():
    run = synthetic_run(times=(0.0, 0.1, 0.2, 0.999999 * END), end=END)
    assert at_t1(run, "margin").values == pytest.approx([END, 2 * END])
    course = to_t1(run, "margin")
    assert course["time"].values[-1] == END
    assert course.isel(seed=1, time=-1) == pytest.approx(2 * END)


def test_a_run_that_does_not_reach_t1_is_not_known_there():
    short = synthetic_run(times=(0.0, 0.1, 0.2, 0.3), end=0.4)
    assert at_t1(short, "margin").isnull().all()
    assert np.isnan(look.largest(to_t1(short, "margin"))).all()


def test_phase_two_begins_where_b0_t_is_20_and_ends_at_t_star():
    inside = phase_two(synthetic_run()).transpose("seed", "time")
    assert inside.values.tolist() == [[False, False, True, True], [False, *[True] * 3]]


@pytest.mark.parametrize(
    "change", [mutate.cut("*", 0.4), mutate.cut("*", 0.0), mutate.hole("*", 0.5)]
)
def test_what_is_not_reached_has_no_phase_two(change):
    (run,) = change({"run": synthetic_run()}).values()
    measure = largest(lambda run: run["margin"])
    assert np.isnan(measure(run)).all()


def test_extremes_in_phase_two():
    run = synthetic_run()
    assert largest(lambda run: run["margin"])(run).tolist() == [4.0, 8.0]
    assert least(lambda run: run["margin"])(run).tolist() == [2.0, 2.0]


def test_powers_of_the_width():
    runs = {str(m): synthetic_run(width=m) for m in WIDTHS}
    changed = with_width("margin", 0.5)(runs)
    assert changed["8192"]["margin"].values == pytest.approx(
        4 * runs["8192"]["margin"].values
    )


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
