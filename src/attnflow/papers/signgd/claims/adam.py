"""Claims on Adam (Section 3.2, Appendix B.7): outvoted queries, decay of the loss."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow.claims import Claim, Correction, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.signgd.claims.evidence import ADAM, FEW, ROW_A
from attnflow.papers.signgd.claims.fits import column, falls
from attnflow.papers.signgd.claims.statistics import along, extent, per_seed
from attnflow.papers.signgd.stages import minority, series
from attnflow.schema.declarations import Request

PICK = 100.0
"""The step at which the paper selects the minority."""
MEMORIES = (0.9, 0.95, 0.99)


def adam(beta1: float, beta2: float, epsilon: float = 0.0) -> Request:
    """Adam in setting (a), with only the observables that these claims need."""
    setting = {
        "beta1": beta1,
        "beta2": beta2,
        "epsilon": epsilon,
        "test_samples": 0,
        "record": ("loss", "key_neuron", "query_neuron"),
    }
    return Request("adam", setting, seeds=FEW)


DEFAULT = {"default": adam(0.9, 0.999, 1e-15)}
NO_MOMENTUM = {"beta1=0": adam(0.0, 0.999, 1e-15)}
FAST = {"beta2=0.9": adam(0.0, 0.9)}
SWAMPED = {"beta2=0.9, epsilon=1e-15": adam(0.0, 0.9, 1e-15)}
RATES = {
    **FAST,
    "beta2=0.95": adam(0.0, 0.95),
    "beta2=0.99": adam(0.0, 0.99, 1e-15),
}


def _turned_share(run: xr.Dataset, table: str = "query_neuron") -> np.ndarray:
    """The fraction of the minority of t = 100 that has the signal's sign at the end."""
    toward = series.signal(run.sel(time=PICK), "query_neuron").drop_vars("time")
    last = series.noise(run.isel(time=-1), table).drop_vars("time")
    follows = (series.signs(last) * series.signs(toward)) > 0
    return follows.where(minority(run, at=PICK)).mean(series.PAIR).values


def _judge_stays(evidence: Evidence) -> Finding:
    run = evidence["default"]
    queries, keys = _turned_share(run), _turned_share(run, "key_neuron")
    return Finding(
        (
            per_seed(0.05 - queries, "minority queries that turned"),
            per_seed(keys - 0.95, "minority keys that turned"),
        ),
        {"queries": extent(queries), "keys": extent(keys)},
    )


def _judge_momentum(evidence: Evidence) -> Finding:
    queries = _turned_share(evidence["beta1=0"])
    check = per_seed(queries - 0.5, "without momentum half of the minority turns")
    return Finding((check,), {"turned without momentum": extent(queries)})


def _judge_causes(evidence: Evidence) -> Finding:
    exact = _turned_share(evidence["beta2=0.9"])
    swamped = _turned_share(evidence["beta2=0.9, epsilon=1e-15"])
    long = _turned_share(evidence["beta2=0.99"])
    step = evidence["beta2=0.9, epsilon=1e-15"]["epsilon_step"]
    return Finding(
        (
            per_seed(exact - 0.8, "β2 = 0.9, ε = 0: most of the minority turns"),
            per_seed(0.5 - swamped, "β2 = 0.9, ε = 1e-15: most of it does not"),
            per_seed(0.1 - long, "β2 = 0.99: hardly any does"),
            per_seed(1 - step.values / 2000, "ε outweighs gradients within the run"),
        ),
        {
            "β2 = 0.9, ε = 0": extent(exact),
            "β2 = 0.9, ε = 1e-15": extent(swamped),
            "β2 = 0.99": extent(long),
            "step at which ε outweighs": extent(step),
        },
    )


def _judge_sublinear(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for name in ("beta2=0.95", "beta2=0.99", "beta1=0"):
        fits = falls(evidence[name], 1000)
        line, power = column(fits, "exponential"), column(fits, "algebraic")
        checks.append(per_seed(1 - power / line, f"{name}: a power law fits better"))
        numbers[name] = {"exponential": extent(line), "power law": extent(power)}
    return Finding(tuple(checks), {"residuals": numbers})


def _judge_transient(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for name in ("beta2=0.95", "beta2=0.99"):
        fits = falls(evidence[name], 1500)
        line, power = column(fits, "exponential"), column(fits, "algebraic")
        checks.append(per_seed(power / line / 10 - 1, f"{name}: exponential"))
        numbers[name] = extent(column(fits, "rate"))
    slow = evidence["beta1=0"]
    early, late = (
        column(falls(slow, *span), "rate") for span in ((1000, 1500), (1500, 2000))
    )
    checks += [
        per_seed(1 - late / early, "β2 = 0.999: its rate still falls"),
        per_seed(late / limit(0.999) - 1, "towards −log(β2)/2 from above"),
    ]
    numbers["β2 = 0.999, rate over its limit"] = extent(late / limit(0.999))
    return Finding(tuple(checks), {"rates": numbers})


def limit(beta2: float) -> float:
    """−log(β2)/2, the upper limit of Adam's rate in the long run."""
    return -0.5 * float(np.log(beta2))


def _judge_first(evidence: Evidence) -> Finding:
    default, bare = evidence["default"], evidence["beta1=0"]
    ratio = (default["loss"] / bare["loss"]).isel(time=-1).values
    most = np.maximum(_turned_share(default), _turned_share(bare))
    return Finding(
        (
            per_seed(0.15 - abs(ratio - 1), "final losses apart"),
            per_seed(0.05 - most, "minority queries that turned, in either"),
        ),
        {
            "loss with over without momentum": extent(ratio),
            "turned": along(evidence, _turned_share),
            "of one sign at t = 10": along(
                evidence, lambda run: series.aligned(run).sel(time=10)
            ),
        },
    )


_claim = partial(Claim, system=ADAM, scope=Scope.EXPERIMENT, conditions=ROW_A)
CLAIMS = (
    _claim(
        id="C-Adam-1",
        place="Section 3.2; Figure 2b; Appendix B.3",
        statement="With Adam (β1 = 0.9, β2 = 0.999) the minority's keys turn to the "
        "query signal as with SignGD, and its queries do not.",
        needs=DEFAULT,
        judge=_judge_stays,
        predicate="of the pairs that are outvoted at t = 100, at most 5% of queries "
        "and at least 95% of keys have the query signal's sign at t = 2000, in 90% of "
        "seeds (0.003 and 1 on seeds 0–2)",
        expected=Verdict.HOLDS,
        source="our runs, seeds 200–202",
        mutations=named(
            mutate.mapped("query noise positive", "default", "query_neuron", abs),
            mutate.constant("default", "key_neuron"),
        ),
    ),
    _claim(
        id="C-Adam-2",
        place="Section 3.2; Appendices B.3 and B.7; Figure 17",
        statement="That the minority's queries do not turn is due to Adam's momentum.",
        needs={**NO_MOMENTUM, **SWAMPED, **RATES},
        judge=_judge_momentum,
        predicate="with β1 = 0 and β2 = 0.999 at least half of the minority's queries "
        "turn, in 90% of seeds",
        expected=Verdict.HOLDS_CORRECTED,
        source="our runs, seeds 200–202 (0.007 to 0.014 turn on seeds 0–2)",
        correction=Correction(
            "Without momentum they do not turn either. From β2 = 0.99 on the memory of "
            "squared gradients suffices, as Appendix B.7 finds; at β2 = 0.9 it is ε: "
            "with ε = 1e-15, which gradients pass at about t = 700, most do not turn, "
            "and with ε = 0 nearly all do.",
            _judge_causes,
        ),
        mutations=named(
            mutate.constant("beta2=0.9", "query_neuron"),
            mutate.mapped(
                "query noise positive",
                "beta2=0.9, epsilon=1e-15",
                ("query_neuron", "key_neuron"),
                abs,
            ),
        ),
    ),
    _claim(
        id="C-Adam-3",
        place="Appendix B.7; Figures 2c and 16",
        statement="For β2 above 0.9 the training loss of Adam falls sublinearly.",
        needs={**NO_MOMENTUM, **RATES},
        judge=_judge_sublinear,
        predicate="for β2 = 0.95, 0.99 and 0.999 (β1 = 0) a power law fits the loss "
        "from t = 1000 to 2000 better than an exponential, in 90% of seeds",
        expected=Verdict.HOLDS_CORRECTED,
        source="our runs, seeds 200–202",
        correction=Correction(
            "It falls exponentially: at β2 = 0.95 and 0.99 an exponential leaves less "
            "than a tenth of what a power law leaves from t = 1500 on. At β2 = 0.999 "
            "two thousand steps are twice the memory: the rate still falls, from "
            "above, towards −log(β2)/2, and looks like a power law on the way.",
            _judge_transient,
        ),
        mutations=named(
            mutate.mapped(
                "loss = 1/t",
                "beta2=0.99",
                "loss",
                lambda a: a * 0 + 1 / (1 + a["time"]),
            ),
            mutate.power("beta1=0", "loss", 0.3),
        ),
    ),
    _claim(
        id="C-Adam-4",
        place="Section 3.2; Appendix B.7; Figure 16",
        statement="β1 has little influence on how fast Adam trains, and on what turns.",
        needs={**DEFAULT, **NO_MOMENTUM},
        judge=_judge_first,
        predicate="the losses at t = 2000 with β1 = 0.9 and with β1 = 0 differ by at "
        "most 15% (5% on seeds 0–2), and at most 5% of the minority's queries turn, in "
        "90% of seeds",
        expected=Verdict.HOLDS,
        source="our runs, seeds 200–202",
        mutations=named(
            mutate.scale("default", "loss", 1.3),
            mutate.mapped("query noise positive", "beta1=0", "query_neuron", abs),
        ),
    ),
)
