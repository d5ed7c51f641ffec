"""Run requests and statistics that several claims of `cooccurrence` share.

What is compiled into a flow (observables, number of records, number of seeds) is the
same in as many runs as possible; what differs (width, number of samples of a quotient,
horizon) is an argument of the compiled program.
"""

from dataclasses import replace

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.papers.cooccurrence.settings import PHASES
from attnflow.schema.declarations import Request

Override = float | str | tuple[str, ...] | None
"""A value of a setting's field that differs from the experiment's."""

WIDTHS = (512, 2048, 8192, 32768, 131072)
"""Ladder of five widths over 2.4 decades, at fixed m1, n, L, as Condition 1 allows."""

PLAN = (200, 201, 202)
"""Seeds on which claims are judged; first used when every predicate was fixed."""

START = tuple(range(200, 220))
"""Seeds of claims about time 0 alone, which are cheap."""

SMALLER = (0.3, 0.1, 0.03, 0.01, 0.003)
"""Ladder of c0, to which initial outputs are proportional, at m = 8192."""

END_OF_PHASE_ONE = 20.0
"""C_T1: phase 1 ends at b0·t = 20, after T1 of every run that we saw (9 to 10)."""

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
    "the initialisation that matches Figure 1; fillers repeat and m < m1, contrary to "
    "Assumption 2.3 and Condition 1"
)

THEORY_RUNS = "our runs, seeds 200–202 at each width"
EXPERIMENT_RUNS = "our runs, seeds 200–209"
EARLIER = "earlier runs of ours, three seeds at each of m = 512, 4096 and 32768"
"""Sources of recorded verdicts: the claims' own runs, and runs of an earlier program.

Ranges of the earlier runs are an independent check; verdicts do not depend on them.
"""

CHANGES = (
    "largest_score_change",
    "largest_key_self_score_change",
    "largest_query_self_score_change",
    "largest_value_self_score_change",
    "largest_attention_change",
)


def phase_one(width: int, *, seeds: tuple[int, ...] = PLAN) -> Request:
    """Request for Phase 1, to b0·t = 20, with every neuron tracked."""
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
    """Request for time 0, every neuron on every token; its one step is negligible."""
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
    """Request for Phase 1, every neuron on every token, with few records."""
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
    """Request for Phase 1 with initial outputs c0 / 0.3 times the usual ones."""
    request = phase_one(width)
    return replace(request, overrides={**request.overrides, "c0": c0})


def whole(width: int, *, seeds: tuple[int, ...] = PLAN) -> Request:
    """Request for training until the loss is 1/m; records from b0·t = 0.1 to 1e7."""
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


def noise_free(samples: float, length: int = 5, **changes: Override) -> Request:
    """Request for the noise-free quotient, to b0·t = 1e8."""
    setting = {"samples": samples, "length": length, **changes}
    return Request("quotient", setting, seeds=1)


def experiment(
    *, seeds: int | tuple[int, ...] | None = None, **changes: Override
) -> Request:
    """Request for the paper's experiment; `reading` selects the initialisation."""
    return Request("figure1", changes, seeds=seeds)


def clock(run: xr.Dataset) -> xr.DataArray:
    """Clock b0·t by seed and time, b0 being each seed's initial readout gain.

    A step of gradient descent has the learning rate as its time.
    """
    unit = 1.0
    if run["time"].attrs.get("units") == "step":
        unit = schema.setting_of(run)["learning_rate"]
    gain = run["readout_gain"].isel(time=0, head=0)
    return gain * run["time"] * unit


def class_weights(run: xr.Dataset) -> xr.DataArray:
    """Class weights Σ_k: logistic weights summed over each type, by group."""
    return run["pull_by_group"] * schema.setting_of(run)["samples"]


def balance_ratio(weights: xr.DataArray) -> xr.DataArray:
    """Balance ratio R = (Σ2 + Σ3 + Σ4 − Σ1) / (Σ1 − Σ2)."""
    both, first = weights.sel(group="both"), weights.sel(group="first")
    rest = weights.sum("group") - both
    return (rest - both) / (both - first)


def velocity_ratio(run: xr.Dataset) -> xr.DataArray:
    """−G3' / max(G1', G2'), by the recorded velocities of the readouts."""
    rate = run["value_rate"].isel(head=0)
    largest = np.maximum(rate.sel(token="mu1"), rate.sel(token="mu2"))
    return -rate.sel(token="mu3") / largest


def velocity_share(run: xr.Dataset) -> xr.DataArray:
    """U = −G3' / (G1' + G2')."""
    rate = run["value_rate"].isel(head=0)
    return -rate.sel(token="mu3") / (rate.sel(token="mu1") + rate.sel(token="mu2"))


def at_end(run: xr.Dataset) -> xr.Dataset:
    """Observables at the end of training, under their names, by seed.

    Not the last record: its time may miss the end by rounding.
    """
    ends = run.isel(stage=-1)
    suffix = "_at_end"
    names = [str(name) for name in run.data_vars if str(name).endswith(suffix)]
    return xr.Dataset({name.removesuffix(suffix): ends[name] for name in names})


def with_end(run: xr.Dataset, name: str) -> xr.DataArray:
    """Records of an observable followed by its final value, along time."""
    records = run[name].isel(time=np.flatnonzero(run["recorded"].all("seed")))
    end = at_end(run)[name].drop_vars("stage", errors="ignore")
    last = end.expand_dims(time=[float(run["end_time"].max())])
    return xr.concat([records, last], "time", coords="minimal", compat="override")
