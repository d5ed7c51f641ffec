"""Claims on Theorem 3.2: fast convergence, test loss of order 1, noise memorisation."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow.claims import Claim, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.claims.stages import first_crossing
from attnflow.papers.signgd.claims.evidence import (
    FEW,
    IDEAL,
    LATTICE,
    PLAN,
    ROW_A,
    SETTING_A,
    SIGNGD,
)
from attnflow.papers.signgd.claims.fits import column, falls
from attnflow.papers.signgd.claims.statistics import (
    at,
    extent,
    formula,
    per_seed,
    sizes_of,
    when,
)
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Request

LEVELS = (0.1, 0.01, 0.001)
ROWS = {
    **SETTING_A,
    **{row: Request(f"setting-{row}", seeds=FEW) for row in ("b", "c", "d")},
}
LONG = {"longer": Request("lattice", {"horizon": 120.0}, seeds=PLAN[:5])}
TABLE_3 = (
    "rows (a) to (d) of Table 3 at d = 2000: none of them is within the theory, since "
    "supports overlap"
)


def reached(run: xr.Dataset, level: float) -> xr.DataArray:
    """The time at which the training loss falls to a level, on the clock, by seed."""
    event = first_crossing(run, "loss", level=level, direction="down", scale="log")
    return when(run, event)


def _judge_speed(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for name, run in evidence.items():
        size = sizes_of(run)
        unit = 2 / (size.learning_rate * size.strength)
        for level in LEVELS:
            ratio = reached(run, level) / (unit * np.log(1 / level))
            checks.append(per_seed(1 - ratio, f"{name}: loss {level:g} by T"))
            numbers[f"{name}, loss {level:g}"] = extent(ratio)
    return Finding(tuple(checks), {"time over T": numbers})


def _judge_linear(evidence: Evidence) -> Finding:
    fits = falls(evidence["a"], 1000)
    line, power = column(fits, "exponential"), column(fits, "algebraic")
    return Finding(
        (
            per_seed(1 - line / 0.01, "residual of the exponential at most 0.01"),
            per_seed(power / line / 10 - 1, "a tenth of the power law's"),
        ),
        {
            "rate": extent(column(fits, "rate")),
            "residual, exponential": extent(line),
            "residual, power law": extent(power),
        },
    )


def _judge_test(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for name, run in evidence.items():
        late = run["test_loss"].sel(time=slice(1000, None)).min("time")
        checks.append(per_seed(late - 0.1, f"({name}): test loss at least 0.1"))
        last = run.isel(time=-1)
        numbers[name] = {
            "test loss": extent(last["test_loss"]),
            "0–1 loss": extent(1 - last["test_accuracy"]),
            "training loss": extent(last["loss"]),
        }
    return Finding(tuple(checks), numbers)


def _judge_values(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for name, run in evidence.items():
        then = at(run, reached(run, 0.01).fillna(0.0))
        noise = series.value_noise(then).min(("head", "token"))
        signal = abs(series.value_signal(then)).max("head")
        scaled = signal * sizes_of(run).strength / np.log(100)
        checks += [
            per_seed(noise - 1, f"{name}: values of noise at least 1"),
            per_seed(1 - scaled / 4, f"{name}: value signal times σ_p s/log(1/ε)"),
        ]
        numbers[name] = {"noise": extent(noise), "signal, scaled": extent(scaled)}
    return Finding(tuple(checks), numbers)


def _judge_attention(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for name, run in evidence.items():
        then = at(run, formula(run, "T_attn"))
        most = xr.concat(
            [series.signal_to_signal(then), series.noise_to_signal(then)], "query"
        ).max(("query", "sample", "head"))
        checks.append(per_seed(1 - most / 0.1, f"{name}: attention to the signal"))
        numbers[name] = extent(most)
    return Finding(tuple(checks), numbers)


_claim = partial(Claim, system=SIGNGD, expected=Verdict.HOLDS, scope=Scope.EXPERIMENT)
_BOTH = f"{ROW_A}. And {LATTICE}"
CLAIMS = (
    _claim(
        id="C-T3.2-1",
        place="Theorem 3.2 (1); Lemma E.41",
        statement="The training loss is at most ε at T = 2 log(1/ε)/(η σ_p s).",
        needs={**SETTING_A, **IDEAL},
        judge=_judge_speed,
        predicate="the loss reaches ε = 0.1, 0.01 and 0.001 by T, in setting (a) and "
        "on the lattice, in 90% of seeds (at 0.2 T for ε = 0.01)",
        source="our runs: seeds 200–209 of setting (a), 200–219 of the lattice",
        conditions=_BOTH,
        mutations=named(
            mutate.constant("a", "loss"),
            mutate.power("lattice", "loss", 0.1),
            mutate.setting("a", learning_rate=1e-3),
        ),
    ),
    _claim(
        id="C-T3.2-lin",
        place="Theorem 3.2; Figure 2c",
        statement="Late in training the loss of SignGD falls exponentially in t.",
        needs=SETTING_A,
        judge=_judge_linear,
        predicate="from t = 1000 to 2000 a line in t fits the log loss with a "
        "root-mean-square residual of at most 0.01, and at most a tenth of that of a "
        "line in log t, in 90% of seeds",
        source="our runs, seeds 200–209",
        conditions=ROW_A,
        mutations=named(
            mutate.mapped(
                "loss = 1/t", "a", "loss", lambda a: a * 0 + 1 / (1 + a["time"])
            ),
            mutate.noise("a", "loss", 1e-3),
        ),
    ),
    _claim(
        id="C-T3.2-2",
        place="Theorem 3.2 (2); Lemma E.41; Figures 3 to 6",
        statement="The test loss stays of order 1, at least 0.1, however small the "
        "training loss.",
        needs=ROWS,
        judge=_judge_test,
        predicate="the test loss on 500 fresh samples is at least 0.1 at every record "
        "from t = 1000 on, in each of the four settings, in 90% of seeds (0.57 to 0.76 "
        "at the end on seeds 0–4)",
        source="our runs: seeds 200–209 of setting (a), 200–202 of (b), (c) and (d)",
        conditions=TABLE_3,
        mutations=named(
            mutate.power("a", "test_loss", 6.0),
            mutate.scale("d", "test_loss", 0.1),
        ),
    ),
    _claim(
        id="C-T3.2-3",
        place="Theorem 3.2 (3)",
        statement="Values memorise noise: at the end every mean value noise is of "
        "order 1, and the mean value signal Õ(1/σ_p s).",
        needs={**SETTING_A, **IDEAL},
        judge=_judge_values,
        predicate="when the training loss reaches 0.01, all v_i are at least 1 and "
        "|v_μ| is at most 4 log(100)/(σ_p s), in 90% of seeds (v_μ moves by 2ηT, and T "
        "of Theorem 3.2 has a factor 2: hence 4)",
        source="our runs: seeds 200–209 of setting (a), 200–219 of the lattice",
        conditions=_BOTH,
        mutations=named(
            mutate.swap("a", "value", "token", ("mu", "noise1")),
            mutate.scale("lattice", "value", 0.1),
        ),
    ),
    _claim(
        id="C-T3.2-4",
        place="Theorem 3.2 (4); Lemma E.42",
        statement="Attention memorises noise: at T_attn all attention has left the "
        "signal.",
        needs={**SETTING_A, **LONG},
        judge=_judge_attention,
        predicate="at T_attn = log(σ_p s)/(η √(m_k σ_p s)) no query pays more than 0.1 "
        "to the signal, in 90% of seeds",
        source="our runs: seeds 200–209 of setting (a), 200–204 of the lattice",
        conditions=f"{_BOTH}, up to 120 T4⁻",
        mutations=named(
            mutate.reverse("a", "attention", "key_position"),
            mutate.constant("longer", "attention"),
            mutate.setting("a", learning_rate=1e-3),
        ),
    ),
)
