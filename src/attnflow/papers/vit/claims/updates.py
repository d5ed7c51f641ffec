"""Lemma 5.1: updates of values in one step; Lemmas D.1 and D.2."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow.claims import (
    Claim,
    Correction,
    Evidence,
    Exact,
    Finding,
    Scope,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.vit.claims.evidence import DESCENT, FEW, REGIMES
from attnflow.papers.vit.claims.statistics import (
    SIGNAL,
    gain,
    held,
    increments,
    loss_slopes,
    most,
    scores,
    size_of,
    spread,
)
from attnflow.papers.vit.stages.series import values_at
from attnflow.schema.declarations import Request

STEPS = 1200
ULPS = 64 * 2.0**-52
EVERY_STEP = {
    regime: Request(
        f"appendix-{regime}",
        {
            "projected": True,
            "steps": STEPS,
            "dense": STEPS,
            "records": 2,
            "test_samples": 0,
            "record": (
                *("loss", "label", "margin", "attention"),
                *("pair_value", "pair_score", "readout_gain"),
            ),
        },
        seeds=FEW,
    )
    for regime in REGIMES
}
STEP_BY_STEP = (
    "Appendix A's sizes with noise projected off the signals, as in Definition 3.1; "
    "every one of the first 1200 steps. Outside Condition 4.1, which the identity does "
    "not need"
)


def _weighted_attention(run: xr.Dataset) -> xr.DataArray:
    """−ℓ'_n Σ_l attention from query l, by sample and key: the weight in an update."""
    received = run["attention"].isel(head=0).sum("query_position")
    return (loss_slopes(run) * received).isel(time=slice(0, -1))


def _judge_signal(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for name, run in evidence.items():
        size = size_of(run)
        rate = size.learning_rate * size.signal**2 / (size.samples * size.length)
        attention = _weighted_attention(run).isel(key_position=SIGNAL)
        value = values_at(run).isel(key_position=SIGNAL)
        apart = _apart(run, value, rate * attention)
        # V is a rounded number: differences of V have an ulp of it, and no less.
        scale = abs(value).max("time").max("sample") / gain(run)
        error = float((apart / scale).max())
        checks.append(Exact(error, ULPS, f"{name}: γ's step off the formula, over γ"))
        numbers[name] = error
    return Finding(tuple(checks), numbers)


def _apart(run: xr.Dataset, value: xr.DataArray, step: xr.DataArray) -> xr.DataArray:
    """Largest difference between a step of γ and the sum over its class, by seed."""
    label = run["label"].isel(time=0, drop=True)
    change = increments(value) / gain(run)
    differences = [
        abs(change - step.where(label == sign).sum("sample"))
        .where(label == sign)
        .max(("time", "sample"))
        for sign in (1.0, -1.0)
    ]
    return xr.concat(differences, "sign").max("sign")


def _ratio(run: xr.Dataset, *, crossed: bool) -> xr.DataArray:
    """|Δρ| over its bound, for every noise token and step."""
    size = size_of(run)
    rate = size.learning_rate / (size.samples * size.length)
    noise = {"key_position": slice(1, None)}
    change = abs(increments(values_at(run).isel(noise))) / gain(run)
    attention = _weighted_attention(run).isel(noise)
    bound = 2 * rate * size.strong**2 * size.embed * attention
    if crossed:
        large = np.log(4 * (size.samples * size.length) ** 2 / size.delta)
        product = 2 * size.strong**2 * np.sqrt(size.embed * large)
        bound = bound + rate * product * attention.sum(("sample", "key_position"))
    return change / bound


def _judge_noise(evidence: Evidence, regime: str, *, crossed: bool) -> Finding:
    ratio = _ratio(evidence[regime], crossed=crossed)
    largest = most(ratio)
    kind = "with cross products" if crossed else "as printed"
    strong, weak = (
        ratio.isel(key_position=positions)
        for positions in (slice(0, 1), slice(1, None))
    )
    return Finding(
        (held(1 - largest, f"|Δρ| over its bound, {kind}"),),
        {
            f"largest ratio, {kind}": spread(largest),
            f"strong noise, {kind}": spread(most(strong)),
            f"share above 1 of the weak, {kind}": float((weak > 1).mean()),
        },
    )


def _judge_slope_of_loss(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for name, run in evidence.items():
        away = abs(loss_slopes(run) - 0.5).max("sample")
        largest = abs(values_at(run)).max(("sample", "key_position"))
        excess = float((away - largest / 4).max())
        checks.append(Exact(max(excess, 0.0), ULPS, f"{name}: |−ℓ' − ½| − max|V|/4"))
        numbers[name] = float((away / largest).max())
    return Finding(tuple(checks), {"largest |−ℓ' − ½|/max|V|": numbers})


def _judge_even(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for name, run in evidence.items():
        share = run["attention"].isel(head=0)
        row = abs(scores(run)).max("key_position")
        even = share * share.sizes["key_position"]
        off = abs(even.copy(data=np.log(even.values))).max("key_position")
        excess = float((off - 2 * row).max())
        checks.append(
            Exact(max(excess, 0.0), ULPS * 100, f"{name}: |log(M s)| − 2 max|score|")
        )
        numbers[name] = float((off / row).max())
    return Finding(tuple(checks), {"largest |log(M s)|/max|score|": numbers})


def _crossed(regime: str) -> Correction:
    return Correction(
        "With the cross products that equation (17) has: to the bound is added "
        "η/(NM) · 2σ̃_p²√(d log(4N²M²/δ)), Lemma C.4's bound on ⟨ξ, ξ'⟩, times the "
        "attention that all noise tokens get, weighted by −ℓ'. A token that gets "
        "little attention itself moves by its products with those that get more.",
        partial(_judge_noise, regime=regime, crossed=True),
    )


_claim = partial(
    Claim,
    system=DESCENT,
    expected=Verdict.HOLDS,
    scope=Scope.EXPERIMENT,
    conditions=STEP_BY_STEP,
)
CLAIMS = (
    _claim(
        id="D-Lem5.1-gamma",
        place="Lemma 5.1; Lemma B.2",
        statement="γ_V± moves in a step by η‖μ‖²/(NM) times the attention that its "
        "class pays to the signal, each sample weighted by −ℓ'.",
        needs=EVERY_STEP,
        judge=_judge_signal,
        predicate="steps of V±/‖w_O‖² agree with the formula to 64 units in the last "
        "place of V, in every one of 1200 steps of both regimes",
        source="our runs, seeds 200–202",
        mutations=named(
            mutate.scale("benign", "attention", 1 + 1e-9),
            mutate.setting("harmful", signal=15.000001),
            mutate.negate("benign", "margin"),
        ),
    ),
    _claim(
        id="D-Lem5.1-rho",
        place="Lemma 5.1",
        statement="In the benign run |Δρ_V,n,i| is at most 2ηC_p²σ_p²d/(NM) times the "
        "attention that ξ_n,i gets in its own sample, weighted by −ℓ'.",
        needs={"benign": EVERY_STEP["benign"]},
        judge=partial(_judge_noise, regime="benign", crossed=False),
        predicate="ratio at most 1 for every noise token in each of 1200 steps; 90% of "
        "seeds",
        expected=Verdict.HOLDS_CORRECTED,
        source="our runs. On seeds 0–2 it holds (0.57 to 0.86); on seeds 200–202 it is "
        "exceeded in two of three, up to 3.2-fold and in 3% of steps at most, by "
        "strong noise that has lost all attention",
        correction=_crossed("benign"),
        mutations=named(
            mutate.scale("benign", "pair_value", 8.0),
            mutate.setting("benign", sigma_strong=0.2),
        ),
    ),
    _claim(
        id="D-Lem5.1-rho-harmful",
        place="Lemma 5.1",
        statement="The same bound in the harmful run: the lemma names no regime.",
        needs={"harmful": EVERY_STEP["harmful"]},
        judge=partial(_judge_noise, regime="harmful", crossed=False),
        predicate="ratio at most 1 for every noise token in each of 1200 steps; 90% of "
        "seeds",
        expected=Verdict.HOLDS_CORRECTED,
        source="our runs, seeds 200–202: weak noise exceeds the bound in 60% of "
        "its tokens and steps. The proof has the further term, equation (17)",
        correction=_crossed("harmful"),
        mutations=named(
            mutate.scale("harmful", "pair_value", 5.0),
            mutate.setting("harmful", embed=100),
        ),
    ),
    _claim(
        id="D-LemD.1",
        place="Lemma D.1",
        statement="−ℓ' stays at 1/2 ± o(1) while values are o(1).",
        needs=EVERY_STEP,
        judge=_judge_slope_of_loss,
        predicate="|−ℓ'_n − 1/2| ≤ max|V|/4 in every sample and step of both regimes: "
        "an output is a mean of values, and the slope of σ at most 1/4",
        source="our runs, seeds 200–202",
        mutations=named(
            mutate.scale("benign", "margin", 1.5),
            mutate.scale("harmful", "pair_value", 0.7),
        ),
    ),
    _claim(
        id="D-LemD.2",
        place="Lemma D.2",
        statement="Attention is 1/M ± o(1) while scores are o(1).",
        needs=EVERY_STEP,
        judge=_judge_even,
        predicate="|log(M · attention)| ≤ twice the largest |score| of the row, in "
        "every row and step of both regimes",
        source="our runs, seeds 200–202",
        mutations=named(
            mutate.scale("benign", "pair_score", 0.5),
            mutate.power("harmful", "attention", 1.5),
        ),
    ),
)
