"""The runs that claims of `cooccurrence` share, and how to look into them.

What is compiled into a flow (its observables, the number of its records, the number
of seeds) is the same in as many runs as possible; what differs (the width, the number
of samples of a quotient, horizons) is an argument of the compiled program.
"""

from dataclasses import replace

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.papers.cooccurrence.settings import PHASES
from attnflow.schema.declarations import Request
from attnflow.schema.settings import Value

WIDTHS = (512, 2048, 8192, 32768, 131072)
"""A ladder of five widths over 2.4 decades; m1, n and L stay, as Condition 1 allows."""

PLAN = (200, 201, 202)
"""Seeds that decide, first used when every predicate was fixed."""

START = tuple(range(200, 220))
"""The same for what is judged at time 0 alone, and costs little."""

SMALLER = (0.3, 0.1, 0.03, 0.01, 0.003)
"""A ladder of c0, to which initial outputs are proportional; at m = 8192."""

END_OF_PHASE_ONE = 20.0
"""C_T1: phase 1 ends at b0·t = 20, beyond T1 of every run that we met (9 to 10)."""

FLOW = "gradient flow of all weights"
DESCENT = "gradient descent of all weights, learning rate 0.01"
NOISE_FREE = "gradient flow of all weights, up to symmetry and without noise"
CONDITION = (
    "Assumption 2.3 (exact shares, distinct fillers) and Condition 1 with c0 = c1 = "
    "0.3 in place of its logarithms: σ0 = 0.3/sqrt(L m), σ1 = 0.3/sqrt(m1); n = 60, "
    "L = 5, m1 = 64, m = 512 … 131072"
)
APPENDIX_A = (
    "Appendix A's sizes (n = 60, L = 5, d = 64, m = 128, m1 = 256) with the reading of "
    "the initialisation that matches Figure 1; fillers repeat and m < m1, against "
    "Assumption 2.3 and Condition 1"
)

CHANGES = (
    "largest_score_change",
    "largest_key_self_score_change",
    "largest_query_self_score_change",
    "largest_value_self_score_change",
    "largest_attention_change",
)


def phase_one(width: int, *, seeds: tuple[int, ...] = PLAN) -> Request:
    """Phase 1 with every neuron followed, to b0·t = 20."""
    recorded = (
        "loss",
        "loss_by_group",
        "margin",
        "pull_by_group",
        "value",
        "value_rate",
        "vocabulary_value",
        "readout_gain",
        "largest_neuron_gram_change",
        *CHANGES,
    )
    setting = {
        "width": width,
        "follow": True,
        "horizon": END_OF_PHASE_ONE,
        # Records cost as much as steps do; T_half and T1 lie between 3 and 12.
        "records": 21,
        "first_record": 0.5,
        "test_samples": 0,
        "record": recorded,
        "draw": "bartlett",
    }
    return Request("theory", setting, seeds=seeds)


def start(width: int, *, c0: float = 0.3, seeds: tuple[int, ...] = START) -> Request:
    """Time 0 with every neuron on every token; the one step taken moves nothing."""
    setting = {
        "width": width,
        "c0": c0,
        "follow": True,
        "show": "all",
        "rule": "gd",
        "learning_rate": 1e-9,
        "steps": 1.0,
        "horizon": None,
        "records": 2,
        "spacing": "even",
        "test_samples": 0,
        "record": (
            "margin",
            "pull_by_group",
            "value",
            "neuron_value",
            "neuron_value_rate",
        ),
        "draw": "bartlett",
    }
    return Request("theory", setting, seeds=seeds)


def neurons(width: int, *, seeds: tuple[int, ...] = PLAN) -> Request:
    """Phase 1 with every neuron on every token, at few times."""
    recorded = (
        "pull_by_group",
        "value",
        "readout_gain",
        "neuron_value",
        "neuron_value_rate",
    )
    setting = {
        "width": width,
        "follow": True,
        "show": "all",
        "horizon": END_OF_PHASE_ONE,
        "records": 9,
        "first_record": 0.1,
        "test_samples": 0,
        "record": recorded,
        "draw": "bartlett",
    }
    return Request("theory", setting, seeds=seeds)


def small_outputs(c0: float, *, width: int = 8192) -> Request:
    """Phase 1 from initial outputs that are c0 / 0.3 of the usual ones."""
    request = phase_one(width)
    return replace(request, overrides={**request.overrides, "c0": c0})


def whole(width: int, *, seeds: tuple[int, ...] = PLAN) -> Request:
    """Training until the loss is 1/m; records on the b0·t clock from 0.1 to 1e7."""
    recorded = (
        *PHASES,
        "vocabulary_value",
        "readout_part_rate",
        "inner_part_rate",
        *CHANGES,
    )
    setting = {
        "width": width,
        "level": 1.0 / width,
        "horizon": 1e7,
        "records": 121,
        "record": recorded,
        "draw": "bartlett",
    }
    return Request("theory", setting, seeds=seeds)


def noise_free(samples: float, length: int = 5, **changes: Value) -> Request:
    """The quotient to b0·t = 1e8."""
    setting = {"samples": samples, "length": length, **changes}
    return Request("quotient", setting, seeds=1)


def experiment(*, seeds: int | tuple[int, ...] | None = None, **changes: Value):
    """Appendix A's run; `reading` picks the initialisation."""
    return Request("figure1", changes, seeds=seeds)


def clock(run: xr.Dataset) -> xr.DataArray:
    """b0·t by seed and time, b0 the readout gain at the start of each seed.

    Descents count steps, whose time is the learning rate.
    """
    unit = 1.0
    if run["time"].attrs.get("units") == "step":
        unit = schema.setting_of(run)["learning_rate"]
    gain = run["readout_gain"].isel(time=0, head=0)
    return gain * run["time"] * unit


def class_weights(run: xr.Dataset) -> xr.DataArray:
    """Σ_k, the sum of the logistic weights of each type, by group."""
    return run["pull_by_group"] * schema.setting_of(run)["samples"]


def balance_ratio(weights: xr.DataArray) -> xr.DataArray:
    """R = (Σ2 + Σ3 + Σ4 − Σ1) / (Σ1 − Σ2)."""
    both, first = weights.sel(group="both"), weights.sel(group="first")
    rest = weights.sum("group") - both
    return (rest - both) / (both - first)


def velocity_ratio(run: xr.Dataset) -> xr.DataArray:
    """−G3' / max(G1', G2'), of the values' own velocities."""
    rate = run["value_rate"].isel(head=0)
    largest = np.maximum(rate.sel(token="mu1"), rate.sel(token="mu2"))
    return -rate.sel(token="mu3") / largest


def velocity_share(run: xr.Dataset) -> xr.DataArray:
    """U = −G3' / (G1' + G2')."""
    rate = run["value_rate"].isel(head=0)
    return -rate.sel(token="mu3") / (rate.sel(token="mu1") + rate.sel(token="mu2"))


def at_end(run: xr.Dataset) -> xr.Dataset:
    """Values at the end of training, under the observables' own names, by seed.

    Not the last record: a time that is known to rounding may just miss the end.
    """
    ends = run.isel(stage=-1)
    suffix = "_at_end"
    names = [str(name) for name in run.data_vars if str(name).endswith(suffix)]
    return xr.Dataset({name.removesuffix(suffix): ends[name] for name in names})


def with_end(run: xr.Dataset, name: str) -> xr.DataArray:
    """The records of an observable and its value at the end, along time."""
    records = run[name].isel(time=np.flatnonzero(run["recorded"].all("seed")))
    end = at_end(run)[name].drop_vars("stage", errors="ignore")
    last = end.expand_dims(time=[float(run["end_time"].max())])
    return xr.concat([records, last], "time", coords="minimal", compat="override")
