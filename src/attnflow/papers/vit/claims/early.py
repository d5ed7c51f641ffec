"""Lemmas D.3 and E.1 inside Condition 4.1: how large values are early."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attnflow import claims as c
from attnflow.claims import look
from attnflow.claims import mutations as mutate
from attnflow.papers.vit._types import Regime
from attnflow.papers.vit.claims import evidence as ev
from attnflow.papers.vit.claims.condition import FLOW
from attnflow.papers.vit.claims.ladders import SAMPLES, TARGETS
from attnflow.papers.vit.claims.measures import formula, size_of
from attnflow.papers.vit.sizes import inside
from attnflow.papers.vit.stages import largest_value
from attnflow.schema.declarations import Request
from attnflow.schema.dims import TIME
from attnflow.schema.installation import xr

STRENGTH = {"benign": 400.0, "harmful": 0.25}
T0 = {"D.3": "1/(ηd_h^¼‖μ‖²‖w_O‖²)", "E.1": "N/(ηd_h^¼σ_p²d‖w_O‖²)"}


def _width(regime: Regime, target: float) -> float:
    """d_h with equality in item (1)."""
    least = max(STRENGTH[regime] / SAMPLES, SAMPLES / STRENGTH[regime])
    return (least * SAMPLES / target) ** 2


def _early(regime: Regime, target: float, share: float) -> Request:
    """The flow up to `share` of N√d_h or √d_h times item (6)'s η, as in T0."""
    setting = inside(SAMPLES, STRENGTH[regime], target)
    scale = _width(regime, target) ** 0.5 * share
    scale *= SAMPLES if regime == "harmful" else 1
    few = {"dense": 1, "records": 12, "test_samples": 0}
    setting |= {**few, "record": ("loss", "pair_value"), "steps": int(scale)}
    return Request(f"theory-{regime}", setting, seeds=ev.FEW)


def _by_width(regime: Regime) -> dict[str, Request]:
    """Rungs in d_h, which is tied to ε, up to twice T0."""
    return {
        f"d_h={(width := _width(regime, e)):.1e}": _early(regime, e, 2 * width**-0.25)
        for e in TARGETS
    }


def _largest(
    time: Callable[[xr.Dataset], float], unit: Callable[[xr.Dataset], float]
) -> Callable[[xr.Dataset], xr.DataArray]:
    """The largest |V| up to a time, in a unit; NaN where the run ends before."""

    def measure(run: xr.Dataset) -> xr.DataArray:
        last = time(run)
        is_early = look.between(run, 0.0, last)
        is_known = float(run[TIME].max()) >= last
        peak = largest_value(run).where(is_early, 0.0).max(TIME, skipna=False)
        return peak.where(is_known) / unit(run)

    return measure


def _first_time(run: xr.Dataset) -> float:
    """T0 of both lemmas: T2 has log(6N²M²/δ) for d_h^¼."""
    size = size_of(run)
    return formula(run, "T2") * size.logarithm / size.key_width**0.25


BY_WIDTH = c.Rungs(
    "largest |V| up to T0, times d_h^¼",
    _largest(_first_time, lambda run: size_of(run).key_width ** -0.25),
    "O",
    "key_width",
)
_claim = partial(
    ev.claim,
    kind=c.Kind.ASYMPTOTIC,
    system=FLOW,
    inert={"loss": "training does not end before T0"},
    source="our runs, seeds 200–202",
    mutations=c.named(mutate.replace(mutate.EVERY, "pair_value", 1.0)),
    settings="all items met: N = 64, M = 2, N·SNR² = 400 (benign) or 1/4 (harmful), "
    "d_h = SNR^±4N²/ε², d = N²d_h/ε²; σ_V a tenth of item (7)'s",
)
_LEMMAS: tuple[tuple[str, Regime], ...] = (("D.3", "benign"), ("E.1", "harmful"))
CLAIMS = (
    *(
        _claim(
            id=f"D-Lem{name}",
            place=f"Lemma {name}",
            statement=f"Up to T0 = O({T0[name]}) all values are O(d_h^−¼).",
            under=ev.UNDER[regime],
            needs=_by_width(regime),
            judge=BY_WIDTH,
            predicate="O of T0 read as 1; ε from 0.018 to 1.8·10^−4, so that d_h goes "
            "over four decades",
        )
        for name, regime in _LEMMAS
    ),
)
