"""Run requests that several claims of `cooccurrence` share, and words about them.

What is compiled into a flow (observables, number of records, number of seeds) is the
same in as many runs as possible; what differs (width, number of samples of a quotient,
horizon) is an argument of the compiled program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from attnflow.papers.cooccurrence.settings import PHASES
from attnflow.papers.cooccurrence.stages.formulas import END_OF_PHASE_ONE
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

FLOW = "gradient flow of all weights"
DESCENT = "gradient descent of all weights, learning rate 0.01"
NOISE_FREE = "gradient flow of all weights, up to symmetry and without noise"
ALONG_M = (
    "tested in m alone, at n = 60, L = 5, m1 = 64 with distinct fillers, σ0 = "
    "0.3/√(L m), σ1 = 0.3/√m1; m = 512 … 131072"
)
ALONG_LARGE_M = (
    "tested in m alone, at n = 60, L = 5, m1 = 64 with distinct fillers, σ0 = "
    "0.3/√(L m), σ1 = 0.3/√m1; m = 8192 … 1048576, where b stays within 7% of σ1² m m1"
)
APPENDIX_A = (
    "Appendix A's sizes (n = 60, L = 5, d = 64, m = 128, m1 = 256) with the reading of "
    "the initialisation that matches Figure 1"
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
        "inner_part_rate",
        "token_force",
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


ATTENDED = (
    "loss",
    "margin",
    "pull",
    "pull_by_group",
    "readout_gain",
    "value",
    "value_rate",
    "inner_part_rate",
    "score",
    "score_rate",
    "key_self_score",
    "query_self_score",
    "pair_score",
    "attention_rate",
    "margin_rate_by_scores",
    "margin_rate_by_values",
)
"""What claims about attention at any L, n, m and m1 read."""


def sized(horizon: float = 1e10, **changes: Override) -> Request:
    """Request for the noise-free quotient with `ATTENDED`; no size is compiled in."""
    setting = {"horizon": horizon, "first_record": 0.1, "records": 121, **changes}
    return Request("quotient", {**setting, "record": ATTENDED}, seeds=1)


def experiment(
    *, seeds: int | tuple[int, ...] | None = None, **changes: Override
) -> Request:
    """Request for the paper's experiment; `reading` selects the initialisation."""
    return Request("figure1", changes, seeds=seeds)


def value_products(width: int, *, seeds: tuple[int, ...] = PLAN) -> Request:
    """Request for Phase 1 with inner products of values and forces on them.

    c0 is so small that initial outputs are below the 0.01 of Lemma D.8.
    """
    recorded = ("readout_gain", "inner_part_rate", "value_self_score", "token_force")
    setting = {
        "width": width,
        "c0": 0.0115,
        "horizon": END_OF_PHASE_ONE,
        "records": 9,
        "first_record": 0.5,
        "test_samples": 0,
        "record": recorded,
        "draw": "bartlett",
    }
    return Request("theory", setting, seeds=seeds)


INSIDE: dict[str, Override] = {
    "width": 200,
    "neurons": 6,
    "length": 6,
    "samples": 192,
    "embed": 707,
    "c0": 0.05,
    "c1": 0.06,
}
"""The smallest sizes that meet every item of the theorems' conditions.

ln 200 is 5.3: L = 6 and m1 = 6 are above it, n = 192 above L² ln m = 190.7, which m is
above too, and c0 c1 √(2 ln n) = 0.0097 is below the 0.01 of Lemma D.8.
"""


def inside(*, seeds: tuple[int, ...] = PLAN, **changes: Override) -> Request:
    """Request for drawn runs inside all conditions, until the loss is 1/m²."""
    recorded = (
        "loss",
        "loss_by_group",
        "margin",
        "readout_gain",
        "value",
        "score_rate",
        "value_self_score_rate",
        "pull_by_group",
    )
    setting = {
        **INSIDE,
        "level": 1.0 / 200**2,
        "horizon": 1e5,
        "records": 61,
        "first_record": 0.5,
        "test_samples": 0,
        "rtol": 1e-6,
        "record": recorded,
        **changes,
    }
    return Request("theory", setting, seeds=seeds)


LARGE = (8192, 32768, 131072, 524288, 1048576)
"""Five widths over 2.1 decades, for statements about sizes.

By Lemma F.10 the readout gain b grows by m1 log²m / b in phase 2, and is
Θ(σ1² m m1) where that is small compared with b: here b grows by at most 7%. At
m = 512 it grows nearly fourfold, and every size in terms of σ1² m m1 is off by that.
"""

TABLES_START = 25.0
"""First record of `tables`: b0 is random, and may be 10% below its mean."""


def tables(width: int, *, seeds: tuple[int, ...] = PLAN) -> Request:
    """Request for Phase 2 until the loss is 1/m, with tables on all tokens."""
    recorded = (
        "loss",
        "pull_by_group",
        "margin",
        "readout_gain",
        "value",
        "inner_part_rate",
        "score",
        "score_rate",
        "pooled_token",
    )
    setting = {
        "width": width,
        "level": 1.0 / width,
        "horizon": 1e7,
        "records": 21,
        "first_record": TABLES_START,
        "show": "all",
        "test_samples": 0,
        "record": recorded,
        "draw": "bartlett",
    }
    return Request("theory", setting, seeds=seeds)


def _along(
    request: Callable[[int], Request], widths: tuple[int, ...]
) -> dict[str, Request]:
    return {f"m={width}": request(width) for width in widths}


VALUE_PRODUCTS = _along(value_products, LARGE)
FIRST_PHASE = _along(phase_one, WIDTHS)
ALL_WIDTHS = _along(whole, WIDTHS)
LARGE_WIDTHS = _along(whole, LARGE)
LARGE_TABLES = _along(tables, LARGE)
