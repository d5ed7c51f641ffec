"""Figure 1: exponent, constant and control parameter of the map's boundary."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow import schema
from attnflow.claims import mutations as mutate
from attnflow.claims.statistics import Boundary
from attnflow.papers.vit import boundary as b
from attnflow.papers.vit._types import Field
from attnflow.papers.vit.claims.evidence import FEW, PLAN, SOME
from attnflow.papers.vit.claims.measures import log
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

NEAR = 0.15
# With three seeds of 0 to 4 the bootstrap's 95% reach ±0.12; ten have √(3/10) of it.
REACH = {"trained": 0.08, "undivided": 0.12, "unit": 0.12}
WORDS = {
    "trained": (
        "w_O starts at PyTorch's default over 16 and is trained with the other weights"
    ),
    "undivided": "w_O is fixed at PyTorch's default, not divided",
    "unit": "w_O is fixed with norm 1, as the theory has it",
    "literal": "w_O is fixed at PyTorch's default over 16",
}


READINGS = {
    "trained": "default16-trained",
    "undivided": "default-fixed",
    "unit": "unit-fixed",
    "literal": "default16-fixed",
}
# Where w_O is fixed at its smallest, a cell takes hundreds of steps: fewer cells.
FEW_CELLS = {"samples": (6, 12, 20), "snr_low": 4.0, "snr_count": 3}
SEEDS = {"trained": PLAN, "undivided": SOME, "unit": SOME, "literal": FEW}


def reading(name: str) -> dict[str, Request]:
    """Request for the map with one reading of w_O."""
    setting = {"readout": READINGS[name], **(FEW_CELLS if name == "literal" else {})}
    return {name: Request("map", setting, seeds=SEEDS[name])}


def noisy(sigma: float, length: int = 16) -> Request:
    """Request for the map around its boundary, with other noise or sample length."""
    setting: dict[str, Field] = {
        "samples": (8, 12, 16),
        "sigma_strong": sigma,
        "length": length,
        "snr_low": 1.4 * sigma,
        "snr_high": 3.6 * sigma,
        "snr_count": 12,
    }
    return Request("map", setting, seeds=FEW)


NOISES = {"2": noisy(2.0), "4": noisy(4.0), "8": noisy(8.0), "M=8": noisy(4.0, 8)}


def boundary(run: xr.Dataset) -> Boundary:
    """Where the mean test loss falls below the cut, with intervals over seeds."""
    return b.fit(b.losses(run))


def strong_control(run: xr.Dataset) -> np.ndarray:
    """N‖μ‖²/(σ̃_p² d) along the boundary, by N."""
    return run["samples"].values * boundary(run).places ** 2 * b.strong_ratio(run)


def _crossed(run: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """Log N and log SNR* of the N whose mean losses cross 0.2, along `samples`."""
    places = xr.DataArray(boundary(run).places, {"samples": run["samples"]})
    crossed = places[np.isfinite(places.values)]
    return log(crossed["samples"].drop_vars("samples")), log(crossed)


def _fit(evidence: c.Evidence, name: str) -> dict[str, object]:
    run = evidence[name]
    fit = boundary(run)
    return {
        "exponent": fit.exponent,
        "95% over seeds": list(fit.exponent_interval),
        "N·SNR*² by N": (run["samples"].values * fit.places**2).tolist(),
    }


def _slope_judge(name: str) -> c.All:
    line = c.Line(
        "log SNR* in log N",
        lambda run: _crossed(run)[0],
        lambda run: _crossed(run)[1],
        -0.5,
        REACH[name],
    )
    return c.All((line,), also={"fit": partial(_fit, name=name)})


def _constant(evidence: c.Evidence, name: str) -> c.Finding:
    run = evidence[name]
    fit = boundary(run)
    check = c.Estimate(
        fit.constant,
        fit.constant_interval,
        b.CURVE,
        NEAR * b.CURVE,
        "N·SNR*², its geometric mean over N",
        seeds=run.sizes["seed"],
    )
    numbers = {
        "constant": fit.constant,
        "95% over seeds": list(fit.constant_interval),
        "constant that parts most cells": b.parting(b.losses(run)),
    }
    return c.Finding((check,), numbers)


WRONG = c.AtMost(
    "share of cells on the wrong side of N·SNR² = 1000",
    lambda run: 1 - b.agreeing(b.losses(run)),
    0.05,
)


def _cut_along_curve(table: xr.DataArray) -> xr.DataArray:
    """Losses of 1 below the curve and of 0 above it."""
    below = table["samples"] * table["snr"] ** 2 < b.CURVE
    return xr.where(below, 1.0, 0.0 * table).transpose(*table.dims)


def _claim(name: str, **words: object) -> c.Claim:
    """A claim about one reading of w_O."""
    fields = {
        "place": "Figure 1",
        "kind": c.Kind.OBSERVATION,
        "under": (),
        "system": f"full-batch gradient descent, float64; {WORDS[name]}",
        "needs": reading(name),
        "expected": c.Verdict.HOLDS,
        "settings": f"Section 6's sizes, noise not projected. Reading: {WORDS[name]}",
    }
    return c.Claim(**{**fields, **words})


def _slope(name: str, source: str) -> c.Claim:
    return _claim(
        name,
        id=f"D-Fig1-slope-{name}",
        statement=f"Where the test loss is 0.2, SNR falls as N^−½, if {WORDS[name]}.",
        judge=_slope_judge(name),
        predicate="of the N at which the mean map over seeds crosses 0.2 (linear in "
        f"SNR); {REACH[name]:g} is the half-width of the bootstrap's 95% interval on "
        "seeds 0–2",
        source=source,
        mutations=c.named(mutate.reverse(name, "test_loss", "samples")),
    )


def _boundary_at(name: str, source: str) -> c.Claim:
    expected = c.Verdict.INCONCLUSIVE if name == "trained" else c.Verdict.HOLDS
    return _claim(
        name,
        id=f"D-Fig1-const-{name}",
        statement=f"The boundary is at N·SNR² = 1000, if {WORDS[name]}.",
        judge=c.All((partial(_constant, name=name), WRONG)),
        predicate="the geometric mean of N·SNR*² over N is within 15% of 1000, with "
        "the bootstrap's 95% interval over seeds; 15% was fixed before the deciding "
        "seeds (200 on) were run",
        expected=expected,
        source=source,
    )


SLOPES = {
    "trained": "our runs: −0.57 within [−0.71, −0.46] on seeds 0–2, −0.56 within "
    "[−0.79, −0.44] on seeds 200–209",
    "undivided": "our runs, seeds 200–204 (−0.58 within [−0.65, −0.51] on seeds 0–2)",
    "unit": "our runs, seeds 200–204 (−0.52 within [−0.67, −0.40] on seeds 0–2)",
}
CONSTANTS = {
    "trained": (
        "our runs: 1083 within [1027, 1159] on seeds 0–2. On seeds 200–209 it is "
        "1154 within [1033, 1375], whose end misses 15% narrowly; 96% of cells agree "
        "with 1000, and 1106 separates the most cells. Three seeds are too few to "
        "show how much seeds differ: three others, in a prototype, gave 1005"
    ),
    "undivided": "our runs, seeds 200–204 (1116 within [1062, 1198] on seeds 0–2)",
    "unit": "our runs, seeds 200–204 (875 within [800, 959] on seeds 0–2). The verdict "
    "depends on the seeds: three others, in a prototype, gave 777, outside 15%",
}
SIGMAS = ("2", "4", "8")


def _middle(run: xr.Dataset) -> float:
    """Geometric mean of N‖μ‖²/(σ̃_p²d) along the boundary; NaN where it is unknown."""
    return float(np.exp(np.mean(np.log(strong_control(run)))))


def _change(*runs: xr.Dataset) -> float:
    middles = [_middle(run) for run in runs]
    return max(middles) / min(middles) if np.isfinite(middles).all() else np.nan


CONTROL = c.All(
    (
        c.Line(
            "log N·SNR*² in log σ̃_p",
            lambda run: np.log(schema.setting_of(run)["sigma_strong"]),
            lambda run: np.log(boundary(run).constant),
            2.0,
            0.3,
            of=SIGMAS,
        ),
        c.AtMost(
            "change of N‖μ‖²/(σ̃_p²d) over σ̃_p", _change, 1.5, of=SIGMAS, together=True
        ),
        c.AtMost(
            "its change from M = 16 to 8", _change, 1.25, of=("4", "M=8"), together=True
        ),
    ),
    also={
        "N‖μ‖²/(σ̃_p²d)": lambda evidence: {n: _middle(r) for n, r in evidence.items()}
    },
)
CLAIMS = (
    *(_slope(name, source) for name, source in SLOPES.items()),
    *(_boundary_at(name, source) for name, source in CONSTANTS.items()),
    _claim(
        "literal",
        id="D-Fig1-literal",
        statement=f"The map has the boundary N·SNR² = 1000, if {WORDS['literal']}.",
        judge=WRONG,
        predicate="nine cells: N = 6, 12, 20 and SNR = 4, 9.8, 15.6",
        expected=c.Verdict.FAILS,
        source="our runs, seeds 200–202 (0.206 at N = 20, SNR = 10.3 on seeds 0–2)",
        correction=c.Correction(
            c.CorrectionKind.OPPOSITE,
            "With this reading the mean test loss stays above 0.2 in each of nine "
            "cells across the map, up to N·SNR² = 4867, so that a map cut at 0.2 shows "
            "no boundary: if w_O is among what Section 6 divides by 16, it is trained.",
            c.AtLeast(
                "least mean test loss",
                lambda run: float(b.mean(b.losses(run)).min()),
                b.CUT,
                strict=True,
            ),
        ),
        mends=c.named(
            mutate.mapped("cut along it", "literal", "test_loss", _cut_along_curve)
        ),
        witness=c.Witness(
            "witnesses/literal_map.py",
            {"least mean test loss": ("least mean test loss", 1)},
        ),
    ),
    c.Claim(
        id="D-ctrl",
        place="Figure 1; Theorems 4.1 and 4.2",
        statement=(
            "The boundary is at a constant N‖μ‖²/(σ̃_p²d), with the strong noise, "
            "and not at a constant N·SNR², with the weak noise; nor does it move "
            "with M as the proofs' 1500M³ does."
        ),
        under=(),
        origin="ours",
        kind=c.Kind.OBSERVATION,
        system="full-batch gradient descent, float64, w_O trained",
        needs=NOISES,
        judge=CONTROL,
        predicate="N·SNR*² would be constant over σ̃_p = 2, 4, 8 if N·SNR² were the "
        "control parameter; M³ changes by a factor of 8; N = 8, 12, 16",
        expected=c.Verdict.HOLDS,
        source="our runs, seeds 200–202",
        mutations=c.named(mutate.setting("8", sigma_strong=4.0)),
        settings="Section 6's sizes except for σ̃_p and M; w_O trained from the default "
        "over 16",
    ),
)
