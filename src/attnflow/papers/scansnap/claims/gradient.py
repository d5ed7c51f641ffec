"""Claims on the gradient and the limit of long sequences: Lemmas 1, 2 and 18."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow.claims import (
    Claim,
    Evidence,
    Exact,
    Finding,
    HighProbability,
    Ladder,
    Scope,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.evidence import (
    FEW,
    FEW_RUNS,
    NO_SEED,
    PLAN,
    PLAN_RUNS,
    J,
    flow,
)
from attnflow.papers.scansnap.claims.statistics import per_seed
from attnflow.schema.declarations import Request

# Sums of some thirty terms, each rounded to 2.2e-16, through four matrix products.
ROUNDING = 1e-12
TABLES = ("values", "scores")
ONE_SEQUENCE = {"lemma1": Request("gradients", seeds=PLAN)}
CONTEXTS = {"contexts": Request("long-sequences", seeds=FEW)}
SUMS = {
    **ONE_SEQUENCE,
    "flow": flow("figure3", record=("score", "score_sum", "value", "value_sum")),
}


def _largest(table: xr.DataArray) -> xr.DataArray:
    return abs(table).max(("row", "column"))


def _judge_gradient(evidence: Evidence) -> Finding:
    run = evidence["lemma1"]
    errors = {
        name: float(
            (
                _largest(run[f"{name}_written"] - run[f"{name}_autodiff"])
                / _largest(run[f"{name}_autodiff"])
            ).max()
        )
        for name in TABLES
    }
    label = "the gradient of the {} against autodiff, relative"
    checks = [Exact(e, ROUNDING, label.format(name)) for name, e in errors.items()]
    return Finding(tuple(checks), {"relative error": errors})


def _judge_sums(evidence: Evidence) -> Finding:
    run, flow_ = evidence["lemma1"], evidence["flow"]
    single = {
        name: float(
            (
                abs(run[f"{name}_autodiff"].sum("column")).max("row")
                / _largest(run[f"{name}_autodiff"])
            ).max()
        )
        for name in TABLES
    }
    along = {
        name: float(abs(flow_[f"{name}_sum"]).max()) for name in ("value", "score")
    }
    return Finding(
        (
            *(Exact(e, ROUNDING, f"one sequence, {n}") for n, e in single.items()),
            *(Exact(e, 1e-10, f"along a flow, {n}") for n, e in along.items()),
        ),
        {"one sequence": single, "along a flow": along},
    )


def _judge_limit(evidence: Evidence) -> Finding:
    run = evidence["contexts"]
    scaled = run["distance"] * np.sqrt(run["length"])
    deviation = abs(scaled / scaled.mean("length") - 1).max("length")
    mean = run["distance"].mean("seed").values
    size = tuple(run["length"].values.astype(float).tolist())
    ladder = Ladder(
        size, tuple(mean.tolist()), "o(1)", "|Xᵀb − c|", seeds=run.sizes["seed"]
    )
    return Finding(
        (
            ladder,
            per_seed(1 - deviation.values / 0.05, "√T times the distance is constant"),
        ),
        {"√T times the distance": scaled.mean("seed").values.tolist()},
    )


def _judge_band(evidence: Evidence) -> Finding:
    run = evidence["contexts"]
    failures = run["outside"].sum("seed").values.astype(int)
    draws = 2000 * run.sizes["seed"]
    check = HighProbability(
        tuple(failures.tolist()),
        (draws,) * len(failures),
        0.05,
        "the worst token's frequency leaves its band",
    )
    return Finding((check,), {"outside": failures.tolist()})


_claim = partial(Claim, expected=Verdict.HOLDS, scope=Scope.THEOREM)
CLAIMS = (
    _claim(
        id="E-Lem1",
        place="Lemma 1, Equations 3 and 4",
        statement="The gradient of one sequence's objective is f (e_n − α)ᵀ for the "
        "values and Xᵀ diag(b) X (I − f fᵀ)/|Xᵀb| Y (e_n − α) for the query's scores.",
        system="one sequence, random tables",
        needs=ONE_SEQUENCE,
        judge=_judge_gradient,
        predicate="both formulas equal autodiff of a separate forward pass to 1e-12 of "
        "the largest entry (rounding; 4e-16 on seeds 0–4)",
        source=PLAN_RUNS,
        conditions="none beyond the model: M = 12, T = 30, tables of standard "
        "Gaussians",
        mutations=named(
            mutate.scale("lemma1", "scores_written", 1.001),
            mutate.reverse("lemma1", "values_written", "column"),
        ),
    ),
    _claim(
        id="E-Lem1b",
        place="Section 3.1",
        statement="Training conserves the sums of the rows of Y and of Z.",
        system=J,
        needs=SUMS,
        judge=_judge_sums,
        predicate="sums of the gradient's rows at most 1e-12 of its largest entry; row "
        "sums along the flow to t = 10⁵ at most 1e-10, a thousand steps' tolerance",
        source=PLAN_RUNS,
        conditions=f"one sequence as in E-Lem1, and Figure 3's flow; {NO_SEED}",
        mutations=named(
            mutate.add("lemma1", "values_autodiff", 1e-6),
            mutate.add("flow", "score_sum", 1e-6),
        ),
    ),
    _claim(
        id="E-Lem2",
        place="Lemma 2, Equation 6",
        statement="Attention Xᵀb to a drawn context tends to c_n as contexts grow.",
        system="random contexts of one class, scores fixed",
        needs=CONTEXTS,
        judge=_judge_limit,
        predicate="the root mean square distance is o(1) in T, and √T times it within "
        "5% of its mean over lengths; 90% of seeds (2000 contexts: 2% on seeds 0–2)",
        source=FEW_RUNS,
        conditions="contexts of independent tokens, 20 of them; T = 128 … 65536",
        mutations=named(
            mutate.power("contexts", "distance", 0.5),
            mutate.constant("contexts", "distance", "length"),
        ),
    ),
    _claim(
        id="E-Lem18",
        place="Lemma 18, Equation 136",
        statement="A token's frequency lies within √(ln(2/δ)/(2(T − 1))) of its "
        "probability with probability 1 − δ.",
        system="random contexts of one class",
        needs=CONTEXTS,
        judge=_judge_band,
        predicate="the 95% bound on failures of the worst token at the largest length "
        "is at most δ = 0.05",
        source=FEW_RUNS,
        conditions="contexts of independent tokens; δ = 0.05, T = 128 … 65536",
        mutations=named(
            mutate.add("contexts", "outside", 300),
            mutate.replace("contexts", "outside", 2000),
        ),
    ),
)
