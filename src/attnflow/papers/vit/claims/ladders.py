"""Statements over two decades: both theorems inside the whole condition, and over N."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attnflow import claims as c
from attnflow.claims import look
from attnflow.claims import mutations as mutate
from attnflow.papers.vit._types import Field, Regime
from attnflow.papers.vit.claims.condition import FLOW
from attnflow.papers.vit.claims.evidence import ENDS_ALONE, FEW, REGIMES, UNDER, claim
from attnflow.papers.vit.claims.measures import at_target, over_formula, size_of
from attnflow.papers.vit.claims.stage_one import TIMES, first_time
from attnflow.papers.vit.sizes import inside
from attnflow.papers.vit.stages import largest_value
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

# ln d is 36 to 62 on these rungs: 64 samples are more, and 1/ε is.
SAMPLES = 64
STRENGTHS = tuple(400.0 * 10**i for i in range(5))
TARGETS = tuple(0.018 * 10 ** (-0.5 * i) for i in range(5))
COUNTS = (2, 6, 20, 64, 200)


def _rung(regime: Regime, setting: dict[str, Field]) -> Request:
    return Request(f"theory-{regime}", setting, seeds=FEW)


def _small(regime: Regime, strength: float) -> dict[str, Request]:
    """Rungs with other ε, and d_h and d tied to it."""
    return {f"ε={e:.2g}": _rung(regime, inside(SAMPLES, strength, e)) for e in TARGETS}


def _many(samples: int) -> Request:
    """Rung with another N at equal N·SNR², with d_h and d large enough, and η ∝ N."""
    setting = {"samples": samples, "length": 2, "key_width": 10**14, "embed": 10**22}
    ends = {"records": 0, "test_samples": 0, "record": ("loss",)}
    return _rung("harmful", {**setting, **ends, "rate": 5e-4 * samples})


def _early(regime: Regime, samples: int) -> Request:
    """Rung with another N, recorded at each of the 120 to 300 steps up to T2."""
    setting = {"samples": samples, "length": 2, "key_width": 10**14, "embed": 10**22}
    records = {"steps": 300, "dense": 300, "records": 2, "test_samples": 0}
    rate = {"benign": 5e-4, "harmful": 1e-5 * samples}[regime]
    return _rung(
        regime, {**setting, **records, "record": ("pair_value",), "rate": rate}
    )


IN_LOSS = {"benign": _small("benign", 400.0), "harmful": _small("harmful", 0.25)}
IN_COUNT = {f"N={n}": _many(n) for n in COUNTS}
EARLY = {r: {f"N={n}": _early(r, n) for n in COUNTS} for r in REGIMES}
BENIGN = {
    **{
        f"‖μ‖²={s / SAMPLES:g}": _rung("benign", inside(SAMPLES, s, 0.017))
        for s in STRENGTHS
    },
    **IN_LOSS["benign"],
}


def _rungs(name: str, size: Callable[[xr.Dataset], float]) -> c.Rungs:
    what = f"T over its leading order, in {name}"
    return c.Rungs(what, over_formula, "theta", size, constant=2.0, of=(f"{name}=*",))


def _value_over_bound(run: xr.Dataset) -> xr.DataArray:
    """The largest value up to T2, times log(6N²M²/δ)."""
    value = largest_value(run)
    largest = value.where(look.between(run, 0.0, first_time(run))).max("time")
    return largest * size_of(run).logarithm


def _inverse(run: xr.Dataset) -> float:
    return 1 / size_of(run).target


def _test_loss(run: xr.Dataset) -> xr.DataArray:
    return at_target(run, "test_loss")


def _learned(run: xr.Dataset) -> xr.Dataset:
    return run.assign(test_loss_at_end=run["loss_at_end"])


LEARNED = mutate.on_run("test loss is the training loss", mutate.EVERY, _learned)
LEVEL = mutate.replace(mutate.EVERY, "test_loss_at_end", 0.5)
ENDS_ONLY = {"loss": "only the end is recorded"}
_TIMES = _rungs("ε", _inverse)
_claim = partial(
    claim,
    kind=c.Kind.ASYMPTOTIC,
    system=FLOW,
    source="our runs, seeds 200–202",
    survives=ENDS_ALONE,
)
_time = partial(
    _claim,
    predicate="the leading order at small ε is ours, with every constant",
    inert=ENDS_ONLY,
    mutations=c.named(mutate.power(mutate.EVERY, "end_time", 1.2)),
)
_SIZES = "all items met: N = 64, M = 2, C_p = 5√2, d_h = SNR^±4N²/ε², d = N²d_h/ε²; "
_DECADES = "ε from 0.018 to 1.8·10^−4"
CLAIMS = (
    _time(
        id="D-Thm4.1-ladder",
        place="Theorem 4.1 (1)",
        statement="T = Θ(1/(ηε‖μ‖²‖w_O‖²)) over two decades of ‖μ‖ and of ε, with d_h "
        "and d tied to them.",
        under=UNDER["benign"],
        needs=BENIGN,
        judge=c.All((_rungs("‖μ‖²", lambda run: size_of(run).signal), _TIMES)),
        settings=f"{_SIZES}N·SNR² from 400 to 4·10⁶ with ε = 0.017; {_DECADES} with "
        "N·SNR² = 400",
    ),
    _time(
        id="D-Thm4.2-ladder",
        place="Theorem 4.2 (1)",
        statement="T = Θ(N/(ηεσ_p²d‖w_O‖²)) over two decades of ε, with d_h and d tied "
        "to it.",
        under=UNDER["harmful"],
        needs=IN_LOSS["harmful"],
        judge=_TIMES,
        settings=f"{_SIZES}{_DECADES}, N·SNR² = 1/4",
    ),
    _time(
        id="D-Thm4.2-ladder-N",
        place="Theorem 4.2 (1)",
        statement="T = Θ(N/(ηεσ_p²d‖w_O‖²)) over two decades of N.",
        system="full-batch gradient descent of W_Q, W_K and W_V, float64, w_O fixed",
        under=UNDER["harmful"],
        needs=IN_COUNT,
        judge=_rungs("N", lambda run: size_of(run).samples),
        # With η ∝ N all rungs take as many steps, of which a power is constant too.
        mutations=c.named(mutate.grow(tuple(IN_COUNT), "end_time", 2.0)),
        settings="N·SNR² = 1/4; N from 2 to 200 with M = 2, C_p = 5√2, d_h = 10¹⁴, "
        "d = 10²², ε = 0.05, η = 5·10^−4N/(σ_p²d): item (3) has N ≥ 51",
    ),
    *(
        _claim(
            id=f"D-{lemma}-N",
            place=f"{lemma.replace('Lem', 'Lemma ')}, its order in N",
            statement=f"Up to T2 = {TIMES[regime]} all values are O(1/log(6N²M²/δ)), "
            "and therefore o(1), over two decades of N.",
            system="full-batch gradient descent of W_Q, W_K and W_V, float64, w_O "
            "fixed",
            under=UNDER[regime],
            needs=EARLY[regime],
            judge=c.Rungs(
                "largest value up to T2, times log(6N²M²/δ)",
                _value_over_bound,
                "O",
                lambda run: size_of(run).samples,
            ),
            predicate="Θ in T2 read as 1"
            + ("; with σ̃_p for σ_p" if regime == "harmful" else ""),
            survives={"cut": "T2 comes early", "holes": "T2 comes early"},
            mutations=c.named(mutate.grow(tuple(EARLY[regime]), "pair_value", 2.0)),
            settings=f"N·SNR² = {strength}; N from 2 to 200 with M = 2, C_p = 5√2, d_h "
            "= 10¹⁴, d = 10²²: item (3) has N ≥ 51",
        )
        for lemma, regime, strength in (
            ("LemD.6", "benign", "2000"),
            ("LemE.4", "harmful", "1/4"),
        )
    ),
    *(
        _claim(
            id=f"D-Thm4.{i + 1}-2-in",
            place=f"Theorem 4.{i + 1} (2)",
            statement=f"After {regime} training the test loss is {order}, inside "
            "Condition 4.1.",
            under=UNDER[regime],
            needs=IN_LOSS[regime],
            judge=c.Rungs(
                "test loss where the training loss is ε",
                _test_loss,
                "o(1)" if regime == "benign" else "theta",
                _inverse,
            ),
            predicate=f"{_DECADES}, with d_h and d tied to it",
            inert=ENDS_ONLY,
            mutations=c.named(LEVEL if regime == "benign" else LEARNED),
            settings=f"{_SIZES}{_DECADES}, N·SNR² = {(400, '1/4')[i]}",
        )
        for i, (regime, order) in enumerate(zip(REGIMES, ("o(1)", "Θ(1)"), strict=True))
    ),
)
