"""Single neurons in Phase 1: velocities (Theorem E.14) and changes (Theorem E.26)."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.claims import look
from attnflow.papers.cooccurrence.claims import evidence as ev
from attnflow.papers.cooccurrence.claims import templates
from attnflow.papers.cooccurrence.claims.changes import (
    KEY,
    QUERY,
    SCORE,
    both_of,
    change,
)
from attnflow.papers.cooccurrence.claims.neurons import (
    COMMON,
    NAMED,
    TARGETS,
    error_term,
    fillers,
    largest,
    neuron_term,
    off_pull,
    output_signs,
    unit,
)
from attnflow.papers.cooccurrence.claims.windows import ladder, sizes, to_t1, with_width
from attnflow.schema.installation import xr

NEURONS = {f"neurons, m={width}": ev.neurons(width) for width in ev.WIDTHS}
READ = ("neuron_value", "neuron_value_at_end")
RATE = ("neuron_value_rate", "neuron_value_rate_at_end")
_claim = templates.in_theory


def _off_pull(run: xr.Dataset) -> np.ndarray:
    """Deviation from the pull over L σ0² sqrt(m) + σ1² sqrt(m m1)."""
    return off_pull(run) / (error_term(run, 1.0) + neuron_term(run))


def _common(run: xr.Dataset) -> np.ndarray:
    """The largest velocity on the common token over σ1² m."""
    size = sizes(run)
    return largest(run, [COMMON]) * unit(run) / (size.inner * size.width)


def _largest_change(run: xr.Dataset, tokens: list[str]) -> np.ndarray:
    """Largest change by T1 of a neuron's readout of some tokens."""
    read = to_t1(run, "neuron_value").sel(token=tokens)
    return look.largest(abs(read - read.isel(time=0)))


def _radius(run: xr.Dataset) -> np.ndarray:
    """R m1, R being the largest change of a neuron's readout of a named token."""
    return _largest_change(run, NAMED) * sizes(run).neurons


def _filler_radius(run: xr.Dataset) -> np.ndarray:
    """Change of fillers' readouts over R/n, which is less than R/n + R/sqrt(m)."""
    part = _largest_change(run, fillers(run)) / _largest_change(run, NAMED)
    return part * sizes(run).samples


def _self_scores(run: xr.Dataset, *, name: str) -> np.ndarray:
    """The change of ⟨k, k⟩ or ⟨q, q⟩ over σ0² sqrt(m)."""
    size = sizes(run)
    return change(run, name=name) / (size.first * size.width**0.5)


def _other_values(run: xr.Dataset) -> np.ndarray:
    """|Σ_{ν ≠ μ} z_ν ⟨v(ν), v(μ)⟩| of the targets over L σ0² sqrt(m).

    z_ν is (1/n) Σ_i g_i y_i Σ_l p(ν | l), and the sum over all ν is the part of G(μ)'
    by W over m1.
    """
    size = sizes(run)
    inner, force = (to_t1(run, name) for name in ("inner_part_rate", "token_force"))
    products = to_t1(run, "value_self_score")
    parts = [
        inner.sel(token=token) / size.neurons
        - products.sel(key=token, query=token) * force.sel(token=token)
        for token in TARGETS
    ]
    unit = size.length * size.first * size.width**0.5
    return look.largest(abs(xr.concat(parts, "target"))) / unit


def _other_neurons(run: xr.Dataset) -> np.ndarray:
    """|Σ_{j' ≠ j} a_j' ⟨w_j, w_j'⟩ z_μ| of the targets over σ1² sqrt(m m1).

    a_j (w_j · v(μ))' is Σ_ν z_ν ⟨v(ν), v(μ)⟩ + z_μ (|w_j|² + a_j Σ_{j'≠j} a_j' ⟨w_j,
    w_j'⟩). Its mean σ1² m stands for |w_j|², which is some σ1² sqrt(m) away from it.
    """
    size = sizes(run)
    names = ("neuron_value_rate", "inner_part_rate", "token_force")
    rate, inner, force = (to_t1(run, name).sel(token=TARGETS) for name in names)
    moved = output_signs(run) * rate.isel(head=0, drop=True) - inner / size.neurons
    others = moved - size.inner * size.width * force
    bound = size.inner * (size.width * size.neurons) ** 0.5
    return look.largest(abs(others)) / bound


CLAIMS: tuple[c.Claim, ...] = (
    _claim(
        id="A-E.10",
        place="Corollary E.10",
        statement=(
            "Throughout Phase 1 the contribution of other tokens' values to the "
            "velocity of a neuron's readout of a target, (1/n) Σ_i g_i y_i Σ Σ p ⟨v, "
            "v(μ)⟩ over v ≠ v(μ), is at most L Õ(σ0² √m)."
        ),
        needs=ev.VALUE_PRODUCTS,
        judge=ladder("it over L σ0² √m", _other_values, "O-tilde"),
        predicate="for both targets, to b0·t = 20",
        settings="tested in m alone, at n = 60, L = 5, m1 = 64 with distinct fillers, "
        "σ0 = 0.0115/√(L m), σ1 = 0.3/√m1; m = 8192 … 1048576",
        source=ev.THEORY_RUNS,
        survives={"holes": "the largest value is at T1, with which the run ends"},
        inert={
            name: "the largest value is at T1, where the other tokens' part is three "
            "times the target's own, which is subtracted"
            for part in ("token_force", "value_self_score")
            for name in (part, f"{part}_at_end")
        },
        mutations=c.named(
            with_width(("inner_part_rate", "inner_part_rate_at_end"), 1.5)
        ),
    ),
    _claim(
        id="A-E.11",
        place="Lemma E.11",
        statement="Throughout Phase 1 the contribution of other neurons to the "
        "velocity of a neuron's readout of a target, Σ_{j' ≠ j} a_j' ⟨w_j, w_j'⟩ times "
        "(1/n) Σ_i g_i y_i Σ_l p, is Õ(σ1² √(m m1)).",
        needs=NEURONS,
        judge=ladder("it over σ1² √(m m1)", _other_neurons, "O-tilde"),
        predicate="for both targets, over neurons, to b0·t = 20; |w_j|² is set to its "
        "mean σ1² m, from which it deviates by √m1 times less than the bound",
        source=ev.THEORY_RUNS,
        mutations=c.named(with_width(RATE, 0.5)),
    ),
    _claim(
        id="A-E.14",
        place="Theorem E.14; Lemma E.17",
        statement="Throughout Phase 1 every neuron's readout of a target moves at "
        "Θ((σ0² + σ1²) m) times the pull of the samples that hold it, up to "
        "Õ(L σ0² √m + σ1² √(m m1)), and that of the common token at Õ(σ1² m).",
        needs=NEURONS,
        judge=c.All(
            (
                ladder(
                    "deviation from the pull over L σ0² √m + σ1² √(m m1)",
                    _off_pull,
                    "O-tilde",
                ),
                ladder("common token over σ1² m", _common, "O-tilde"),
            )
        ),
        predicate="the constant of Θ set to 1; over neurons, targets and times to "
        "b0·t = 20",
        source=ev.THEORY_RUNS,
        mutations=c.named(with_width(RATE, 0.1)),
    ),
    _claim(
        id="A-E.26",
        place="Theorem E.26",
        statement="To T1 = C/(σ1² m m1) neurons' readouts of named tokens change by at "
        "most R = O(1/m1), of fillers by O(R/n + R/√m), scores by O(m^−3/2), inner "
        "products of keys and of queries by Õ(σ0² √m).",
        needs={**ev.FIRST_PHASE, **NEURONS},
        judge=c.All(
            (
                ladder("R m1", _radius, "O", of=("neurons*",)),
                ladder("fillers over R/n", _filler_radius, "O", of=("neurons*",)),
                ladder(
                    "scores times m^3/2",
                    partial(change, name=SCORE, power=1.5),
                    "O",
                    of=("m=*",),
                ),
                *(
                    ladder(
                        f"{name} over σ0² √m",
                        partial(_self_scores, name=name),
                        "O-tilde",
                        of=("m=*",),
                    )
                    for name in (KEY, QUERY)
                ),
            )
        ),
        predicate="R/n alone, which implies the fillers' bound",
        inert=dict.fromkeys(
            (*both_of(KEY), *both_of(QUERY)),
            "falls like m^−3/2 relative to its bound: a factor of ten does not matter",
        ),
        source=f"{ev.THEORY_RUNS}; {ev.EARLIER}: R m1 1.4 to 2.7, fillers 11 to 20 "
        "over 1/(n m1)",
        mutations=c.named(
            with_width(READ, 0.3),
            with_width(both_of(SCORE), 0.2),
            with_width(both_of(KEY), 2.0),
        ),
    ),
)
