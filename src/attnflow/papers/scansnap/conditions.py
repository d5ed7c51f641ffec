"""Assumptions 1 and 2 and the conditions of the statements, item by item.

Eigenvalues are those at every record where the run has features, and those of uniform
attention otherwise. Under Equation 26 the rows of W move alone whatever F is: courses
of the decoder alone have `Eq. 26` in the place of Assumption 2. The theorems are about
gradient descent: other rules miss `momentum`. Grids and real text have no conditions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from attnflow.papers.scansnap._types import Setting
from attnflow.papers.scansnap.geometry import Geometry, eigenvalue_sizes, geometry
from attnflow.schema.conditions import (
    Condition,
    at_least,
    at_most,
    exactly,
    much_less,
    much_more,
)
from attnflow.schema.dataset import setting_of
from attnflow.schema.dims import TIME
from attnflow.schema.installation import xr

MOMENTUM = 0.9
"""The default of the rules of momentum, where a setting has none of its own."""


def conditions(setting: Setting) -> list[Condition]:
    """The items at a setting."""
    layout = geometry(setting)
    if layout is not None:
        return _tables(setting, layout)
    for field, items in _OF_FIELD.items():
        if field in setting:
            return items(setting)
    return []


def run_conditions(run: xr.Dataset) -> list[Condition]:
    """The items that speak of a run: eigenvalues, and falling common tokens."""
    setting = setting_of(run)
    items = []
    sizes = _recorded_sizes(run)
    if sizes is not None:
        items += _eigenvalues(sizes, setting["classes"], setting["vocabulary"])
    tokens = run["token"].values if "token" in run.coords else ()
    names = [token for token in tokens if str(token).startswith("common")]
    if names and "score" in run and TIME in run["score"].dims:
        steps = run["score"].sel(token=names).diff(TIME)
        most = float(steps.max(skipna=False))
        what = "scores of all common tokens fall from record to record"
        items.append(Condition("CT", what, most, most=0.0, strict=True))
    return items


def _recorded_sizes(run: xr.Dataset) -> tuple[float, float] | None:
    """The smallest and the largest |λ_i(E)| of all records and seeds."""
    if "weakest" in run:
        least, most = (
            run["weakest"].min(skipna=False),
            run["strongest"].max(skipna=False),
        )
        return float(least), float(most)
    return eigenvalue_sizes(run["gram"].values) if "gram" in run else None


def _eigenvalues(
    sizes: tuple[float, float], classes: int, vocabulary: float
) -> list[Condition]:
    least, largest = sizes
    room = 6 / math.sqrt(vocabulary)
    return [
        Condition("2 λ_1", "|λ_1(E)| < 1/K", largest, most=1 / classes, strict=True),
        at_least("2 λ_i", "|λ_i(E)| ≥ 6/√M for all i", least, room),
        Condition("|λ_1| < 1", "|λ_1(E)| < 1", largest, most=1.0, strict=True),
    ]


def _tables(setting: Setting, layout: Geometry) -> list[Condition]:
    """Items of a run of J or Q, by flow or by steps."""
    K, M = layout.classes, layout.vocabulary
    length = setting.get("length")
    scores, values = _initial_half_widths(setting, M)
    dominant = Condition(
        "dominant",
        "a likeliest distinct token",
        layout.runner_up,
        most=1.0,
        strict=True,
    )
    return [
        *_assumption_1(math.inf if length is None else length, _ratio(setting)),
        much_more("2 M", "M ≫ K²", M, K**2),
        *_eigenvalues(layout.extremes, K, M),
        *_decoder(M, setting["value_rate"]),
        much_more("t", "t ≫ K² samples", _sample_count(setting), K**2),
        exactly("Y(0)", "the decoder begins at 0", values, 0.0),
        exactly("Z(0)", "attention begins uniform", scores, 0.0),
        _yes("uniform", "classes are equally frequent"),
        _yes("Eq. 10", "the dynamics of Equation 10", setting.get("system") == "Q"),
        _yes("Eq. 13", "the scalar dynamics of Equation 13", False),
        exactly("common", "one common token", layout.common, 1),
        at_least("distinct", "a distinct token", layout.distinct, 1),
        much_less("f²", "f² ≪ 1 of common tokens", layout.common_square, 1.0),
        exactly("queries", "one query", layout.queries, 1),
        _yes("alike", "the same distinct probabilities", layout.is_alike),
        _yes("shared", "common tokens as likely in all classes", layout.is_shared),
        dominant,
        exactly("momentum", "plain gradients", _momentum(setting), 0.0),
    ]


def _assumption_1(length: float, ratio: float) -> list[Condition]:
    return [
        _yes("1(a)", "no positions"),
        at_least("1(b)", "T → ∞", length, math.inf),
        much_more("1(c)", "η_Y ≫ η_Z", ratio, 1.0),
    ]


def _decoder(vocabulary: float, rate: float) -> list[Condition]:
    return [
        much_more("M", "M ≫ 100", vocabulary, 100),
        much_more("η_Y", "η_Y ≫ M^−0.99", rate, vocabulary**-0.99),
        Condition("η_Y < 1", "η_Y < 1", rate, most=1.0, strict=True),
    ]


def _yes(name: str, what: str, answer: bool = True) -> Condition:
    """A fact: met or not."""
    return exactly(name, what, float(answer), 1.0)


def _random_classes(setting: Setting) -> list[Condition]:
    K, M, rate = (setting[n] for n in ("classes", "vocabulary", "value_rate"))
    ratios = setting["ratios"]
    return [
        *_assumption_1(math.inf, min(ratios or (setting["quasi_static_ratio"],))),
        much_more("2 M", "M ≫ K²", M, K**2),
        *_decoder(M, rate),
        much_more("t", "t ≫ K² samples", setting["until"], K**2),
        *_FACTS,
        _yes("Eq. 10", "the dynamics of Equation 10", not ratios),
        exactly("common", "one common token", setting["shared"], 1),
        at_least("distinct", "a distinct token", setting["distinct"], 1),
    ]


def _updates(setting: Setting) -> list[Condition]:
    """Items of single samples with Equation 26's decoder."""
    K, M, rate = (setting[n] for n in ("classes", "vocabulary", "value_rate"))
    return [
        _yes("1(b)", "T → ∞"),
        much_more("2 M", "M ≫ K²", M, K**2),
        *_decoder(M, rate),
        much_more("t", "t ≫ K² samples", setting["steps"], K**2),
        *_FACTS,
    ]


def _couplings(setting: Setting) -> list[Condition]:
    """Items of the set-up that is farthest from meeting each."""
    names = ("classes", "vocabularies", "correlations")
    by_name: dict[str, list[Condition]] = {}
    for K, M, rho in zip(*(setting[name] for name in names), strict=True):
        items = [much_more("2 M", "M ≫ K²", M, K**2)]
        items += _eigenvalues((rho, rho * (K - 1)), K, M)
        items.append(much_more("M", "M ≫ 100", M, 100))
        for item in items:
            by_name.setdefault(item.name, []).append(item)
    worst = [min(items, key=lambda i: i.slack or 0.0) for items in by_name.values()]
    return [*worst, *_FACTS, _yes("ρ", "equal correlations")]


def _courses(setting: Setting) -> list[Condition]:
    M = min(setting["vocabularies"])
    rate = max(setting.get("value_rates", (0.0,)))
    return [
        much_more("M", "M ≫ 100", M, 100),
        Condition("η_Y < 1", "η_Y < 1", rate, most=1.0, strict=True),
        at_most("η_Y = O(1)", "η_Y = O(1)", rate, 1.0),
        *_FACTS,
    ]


_FACTS = (
    _yes("Y(0)", "the decoder begins at 0"),
    _yes("Z(0)", "attention begins uniform"),
    _yes("uniform", "classes are equally frequent"),
    _yes("Eq. 26", "the decoder's modified gradient, or F fixed"),
)
_OF_FIELD: Mapping[str, Callable[[Setting], list[Condition]]] = {
    "printed": lambda _: [_yes("Eq. 13", "the scalar dynamics of Equation 13")],
    "quasi_static_ratio": _random_classes,
    "correlations": _couplings,
    "vocabularies": _courses,
    "lengths": lambda _: [_yes("3.2", "independent tokens of one class")],
    "steps": lambda s: _updates(s) if {"vocabulary", "classes"} <= s.keys() else [],
}
"""Items of settings other than J and Q, by a field that only they have."""


def _initial_half_widths(setting: Setting, vocabulary: int) -> tuple[float, float]:
    """Half-widths of the initial Z and Y; 0 for all but descents."""
    width = vocabulary**-0.5 if setting.get("start") == "uniform" else 0.0
    half_widths = (setting.get(f"{part}_start") for part in ("score", "value"))
    scores, values = (
        width if half_width is None else half_width for half_width in half_widths
    )
    return scores, values


def _ratio(setting: Setting) -> float:
    scores = setting["score_rate"]
    return setting["value_rate"] / scores if scores else math.inf


def _sample_count(setting: Setting) -> float:
    """Number of samples by the end: of all batches, or the duration of a flow.

    A step on long sequences uses all classes at once, and counts as one sample.
    """
    if "until" in setting:
        return setting["until"]
    return setting["steps"] * (1 if setting["length"] is None else setting["batch"])


def _momentum(setting: Setting) -> float:
    """The share of past gradients; 1 for rules that divide by their size."""
    rule = setting.get("rule", "flow")
    if rule in ("momentum", "nesterov"):
        momentum = setting["momentum"]
        return MOMENTUM if momentum is None else momentum
    return 0.0 if rule in ("flow", "gd") else 1.0
