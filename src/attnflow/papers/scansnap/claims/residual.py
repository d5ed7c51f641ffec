"""Claims on initial scores as a prior (Section 5) and on the residual (Section 7)."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow.claims import Claim, Evidence, Exact, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.evidence import (
    FLOW_RUN,
    NO_SEED,
    PLAN,
    PLAN_RUNS,
    STEPS,
    J,
    flow,
)
from attnflow.papers.scansnap.claims.statistics import end, favourites, per_seed
from attnflow.schema.declarations import Request

# Classes 0 and 1 have one query, 2 and 3 another. Token 0 is common to classes 0 and 2,
# and so distinct within its query; tokens 1 and 2 are common within one.
TWO_QUERIES = (
    *(0.3, 0.3, 0.0, 0.4, 0.0, 0.0, 0.0),
    *(0.0, 0.3, 0.0, 0.0, 0.7, 0.0, 0.0),
    *(0.3, 0.0, 0.3, 0.0, 0.0, 0.4, 0.0),
    *(0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 0.7),
)
RESIDUALS = {
    f"{residual}, {rate:g}": flow(
        "classes",
        classes=4,
        probability=TWO_QUERIES,
        query=(0, 0, 1, 1),
        vocabulary=100,
        residual=residual,
        score_rate=rate,
        until=1e4,
        record=("score", "score_velocity"),
    )
    for residual in ("none", "normalised", "plain")
    for rate in (1.0, 0.2)
}
WIDTHS = (0.0, 0.17, 1.0, 2.0)
PRIORS = {
    f"{width:g}": Request(
        "syn-medium",
        {
            "queries": 1,
            "length": None,
            "score_start": width,
            "value_start": 0.0,
            "every": 10,
            "record": ("attention_per_class", "score", "loss"),
        },
        seeds=PLAN,
    )
    for width in WIDTHS
}


def _judge_local(evidence: Evidence) -> Finding:
    crossing = {name: end(run, "token0") for name, run in evidence.items()}
    within = {name: end(run, "token1") for name, run in evidence.items()}
    checks = []
    for name, z in crossing.items():
        sign = 1 if name.startswith("none") else -1
        checks.append(Exact(sign * z, 0.0, f"{name}: z on the wrong side of 0"))
    for rate in ("1", "0.2"):
        bare = within[f"none, {rate}"]
        for kind in ("normalised", "plain"):
            factor = within[f"{kind}, {rate}"] / bare
            checks.append(
                Exact(2 - factor, 0.0, f"{kind}, {rate}: 2 less how much more is lost")
            )
    numbers = {"distinct within its query": crossing, "common within it": within}
    return Finding(tuple(checks), numbers)


def _judge_prior(evidence: Evidence) -> Finding:
    checks, upset = [], {}
    for name, run in evidence.items():
        first, last = favourites(run, 0), favourites(run, -1)
        same = np.where((first == last).all(axis=1), 1.0, -1.0)
        checks.append(per_seed(same, f"half-width {name}: the first stays first"))
        upset[name] = int((last[:, 0] != 9).sum())
    return Finding(tuple(checks), {"seeds in which P alone is not decisive": upset})


def _reverse_last_tokens(table: xr.DataArray) -> xr.DataArray:
    """The table with the last record's tokens in reverse order."""
    values = table.values.copy()
    axis = table.get_axis_num("token") - 1
    last = table.isel(time=-1).values
    values[:, -1] = np.flip(last, axis=axis)
    return table.copy(data=values)


_claim = partial(Claim, expected=Verdict.HOLDS)
CLAIMS = (
    _claim(
        id="E-prior",
        place="Section 5, initial values as prior",
        statement="The distinct token with the largest P(l|n) e^{z(0)} dominates in "
        "the end.",
        system=STEPS,
        needs=PRIORS,
        judge=_judge_prior,
        predicate="the most attended distinct token after 100 steps is the initial "
        "one, in both classes; 90% of seeds at each half-width",
        source=PLAN_RUNS,
        scope=Scope.EXPERIMENT,
        conditions="Syn-Medium with one query, long sequences, heavy ball 0.9, η_Y = "
        "η_Z = 1, Y(0) = 0, z(0) uniform on ±0, 0.17, 1, 2",
        mutations=named(
            mutate.mapped(
                "the last record with tokens in reverse",
                "1",
                "attention_per_class",
                _reverse_last_tokens,
            ),
            mutate.mapped(
                "the last record with tokens in reverse",
                "2",
                "attention_per_class",
                _reverse_last_tokens,
            ),
        ),
    ),
    _claim(
        id="E-Sec7-res",
        place="Section 7, residual connection",
        statement="With the residual connection tokens are common or distinct within "
        "their query: one that classes of different queries share gains, and one that "
        "classes of the same query share loses more.",
        system=J,
        needs=RESIDUALS,
        judge=_judge_local,
        predicate="a token shared across queries ends below 0 without the residual and "
        "above 0 with it; one shared within a query loses at least twice as much",
        source=FLOW_RUN,
        scope=Scope.BEYOND,
        conditions="K = 4 classes of two queries, M = 100, η_Y = 1, η_Z = 1 and 0.2, t "
        f"= 10⁴; LN(LN(c) + e) as in the text and LN(c + e) as in the code; {NO_SEED}",
        mutations=named(
            mutate.negate("normalised, 1", "score"),
            mutate.scale("plain, 0.2", "score", 0.05),
        ),
    ),
)
