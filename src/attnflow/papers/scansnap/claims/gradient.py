"""Claims on the gradient and the limit of long sequences: Lemmas 1, 2 and 18."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import schema
from attnflow.claims import All, Claim, Equal, Kind, Near, Rarely, Rungs, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims import evidence as ev
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

# Sums of some thirty terms, each rounded to 2.2e-16, through four matrix products.
ROUNDING = 1e-12
ONE_SEQUENCE = {"lemma1": Request("gradients", seeds=ev.PLAN)}
CONTEXTS = {"contexts": Request("long-sequences", seeds=ev.FEW)}
SUMS = {
    **ONE_SEQUENCE,
    "flow": ev.flow("figure3", record=("score", "score_sum", "value", "value_sum")),
}


def _largest(table: xr.DataArray) -> xr.DataArray:
    return abs(table).max(("row", "column"))


def _gradient_error(run: xr.Dataset, table: str) -> xr.DataArray:
    exact = run[f"{table}_autodiff"]
    return (run[f"{table}_written"] - exact) / _largest(exact)


def _row_sums(run: xr.Dataset, table: str) -> xr.DataArray:
    gradient = run[f"{table}_autodiff"]
    return gradient.sum("column") / _largest(gradient)


def _scaled_distance(run: xr.Dataset) -> xr.DataArray:
    """√T times the distance, over its mean over lengths."""
    scaled = run["distance"] * np.sqrt(run["length"])
    return scaled / scaled.mean("length")


def _draws(run: xr.Dataset) -> int:
    return schema.setting_of(run)["samples"] * run.sizes["seed"]


GRADIENT = All(
    tuple(
        Equal(
            f"the gradient of the {table} against autodiff, relative",
            partial(_gradient_error, table=table),
            ROUNDING,
        )
        for table in ("values", "scores")
    )
)
CONSERVED = All(
    (
        *(
            Equal(
                f"sums of the rows of one sequence's gradient of the {table}, relative",
                partial(_row_sums, table=table),
                ROUNDING,
                of=("lemma1",),
            )
            for table in ("values", "scores")
        ),
        *(
            Equal(
                f"sums of rows along a flow, {table}",
                lambda run, name=f"{table}_sum": run[name],
                1e-10,
                of=("flow",),
            )
            for table in ("value", "score")
        ),
    )
)
LIMIT = All(
    (
        Rungs("|Xᵀb − c|", lambda run: run["distance"], "o(1)", "length"),
        Near("√T |Xᵀb − c| over its mean over lengths", _scaled_distance, 1.0, 0.05),
    )
)
BAND = Rarely(
    "the worst token's frequency leaves its band, at the worst length",
    lambda run: int(run["outside"].sum("seed").max()),
    _draws,
    0.05,
)

_claim = partial(Claim, expected=Verdict.HOLDS)
CLAIMS = (
    _claim(
        id="E-Lem1",
        place="Lemma 1, Equations 3 and 4",
        statement="The gradient of one sequence's objective is f (e_n − α)ᵀ for the "
        "values and Xᵀ diag(b) X (I − f fᵀ)/|Xᵀb| Y (e_n − α) for the query's scores.",
        under=(),
        kind=Kind.IDENTITY,
        system="one sequence, random tables",
        needs=ONE_SEQUENCE,
        judge=GRADIENT,
        predicate="rounding: sums of some thirty terms through four matrix products "
        "(4e-16 on seeds 0–4)",
        source=ev.PLAN_RUNS,
        settings="M = 12, T = 30, tables of standard Gaussians",
    ),
    _claim(
        id="E-Lem1b",
        place="Section 3.1",
        statement="Training conserves the sums of the rows of Y and of Z.",
        under=(),
        kind=Kind.IDENTITY,
        system=ev.J,
        needs=SUMS,
        judge=CONSERVED,
        predicate="rounding, and the tolerance of a thousand steps of the flow",
        source=ev.PLAN_RUNS,
        settings="one sequence as in E-Lem1, and Figure 3's flow to t = 10⁵",
        mutations=named(
            mutate.add("lemma1", "values_autodiff", 1e-6),
            mutate.add("lemma1", "scores_autodiff", 1e-6),
            mutate.add("flow", "score_sum", 1e-6),
            mutate.add("flow", "value_sum", 1e-6),
        ),
        inert=dict.fromkeys(
            ("values_autodiff", "scores_autodiff", "value_sum", "score_sum"),
            "the sums are 0, and stay 0 when scaled, negated or reordered",
        ),
        survives=dict.fromkeys(
            ("untrained", "cut"), "a conserved sum is conserved at every record"
        ),
    ),
    _claim(
        id="E-Lem2",
        place="Lemma 2, Equation 6",
        statement="Attention Xᵀb to a drawn context tends to c_n as contexts grow.",
        kind=Kind.ASYMPTOTIC,
        under=("3.2",),
        system="random contexts of one class, scores fixed",
        needs=CONTEXTS,
        judge=LIMIT,
        predicate="root mean squares over 2000 contexts; the rate 1/√T is ours (2% on "
        "seeds 0–2)",
        source=ev.FEW_RUNS,
        settings="20 tokens, T = 128 … 65536",
    ),
    _claim(
        id="E-Lem18",
        place="Lemma 18, Equation 136",
        statement="A token's frequency lies within √(ln(2/δ)/(2(T − 1))) of its "
        "probability with probability 1 − δ.",
        kind=Kind.PROBABILITY,
        delta=0.05,
        under=("3.2",),
        system="random contexts of one class",
        needs=CONTEXTS,
        judge=BAND,
        predicate="δ = 0.05; 2000 contexts of each length and seed",
        source=ev.FEW_RUNS,
        settings="20 tokens, T = 128 … 65536",
        mutations=named(mutate.add("contexts", "outside", 300)),
        inert={
            "outside": "one context of 60000 is outside: a factor of ten is harmless"
        },
    ),
)
