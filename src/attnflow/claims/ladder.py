"""The rules for asymptotic statements, on a ladder of sizes.

r = measured / predicted is fitted by r ~ size^slope. With the 95% interval of the
slope, the band ±0.05 and the constant of the claim:

| kind | holds where |
|---|---|
| `theta` | the interval lies in the band, sup r / inf r ≤ constant, no drift |
| `O` | the interval lies below 0.05, sup r / r at the first rung ≤ constant, no drift |
| `Omega` | the interval lies above −0.05, r at the first rung / inf r ≤ constant, … |
| `o(1)` | the interval lies below 0, the last r is at most a quarter of the first |
| tilde | one of these after division by a power of a logarithm |

Drift is a slope of the upper half of the rungs whose interval lies outside the band,
on the side that matters to the kind; it makes a statement fail. For `o(1)` that is an
interval above −0.05: what does not fall any more at the top does not vanish. (Slower
than 1/log log n nothing would be seen to fall.)
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attnflow.claims.checks import Ladder, Slope
from attnflow.claims.statistics import fit_line
from attnflow.schema.installation import scipy

BAND = 0.05
QUARTER = 0.25
LEAST_SIZES = 5
LEAST_DECADES = 2.0


@dataclass(frozen=True)
class Climb:
    """The trend of a ladder; `away` if it leaves the statement at the top rungs."""

    holds: bool
    away: bool
    margin: float
    interval: tuple[float, float]
    note: str


def decades(size: Sequence[float]) -> float:
    """The number of powers of ten that the sizes span."""
    return math.log10(max(size) / min(size)) if size and min(size) > 0.0 else 0.0


def too_short(size: Sequence[float]) -> str:
    """Why a ladder is too short to judge by; empty with 5 sizes over 2 decades."""
    sizes, width = len(set(size)), decades(size)
    if sizes >= LEAST_SIZES and width >= LEAST_DECADES - 1e-9:
        return ""
    return f"{sizes} sizes over {width:.2g} decades, where 5 over 2 are needed"


def climb(check: Ladder) -> Climb | None:
    """The trend by the rule of the ladder's kind; `None` where r has no logarithm."""
    size, ratio = np.array(check.size), np.array(check.ratio)
    if not (np.isfinite(ratio).all() and (ratio > 0.0).all()):
        return None
    order = np.argsort(size, kind="stable")
    x, y = np.log(size[order]), np.log(ratio[order])
    kind = check.kind.removesuffix("-tilde")
    if kind == check.kind:
        return _climb(x, y, kind, check.constant)
    if not (x > 0.0).all():
        raise ValueError(
            f"{check.what!r} allows a logarithm of sizes down to {size.min()}: they "
            "must be above 1."
        )
    return _most_lenient(
        {
            power: _climb(x, y - power * np.log(x), kind, check.constant)
            for power in _powers(kind, check.max_log_power)
        }
    )


def bends_away(check: Slope) -> bool:
    """Whether all points, and those at the top too, have a slope beyond the stated.

    The first by Student's interval, the second by the fit, and to the same side.
    """
    x, y = np.array(check.x), np.array(check.y)
    top = slice(-max(3, math.ceil(len(x) / 2)), None)
    if np.ptp(x[top]) == 0.0:
        return False
    low, high = fit_line(x, y).interval
    end = fit_line(x[top], y[top]).slope
    least, most = check.expected - check.tolerance, check.expected + check.tolerance
    return (low > most and end > most) or (high < least and end < least)


def _most_lenient(climbs: Mapping[float, Climb]) -> Climb:
    """The climb of the least power with which the statement holds, or the nearest."""
    holding = [power for power in climbs if climbs[power].holds]
    power = holding[0] if holding else max(climbs, key=lambda p: climbs[p].margin)
    best = climbs[power]
    note = f"with log^{power:g}, {best.note}" if power else f"{best.note}, no logarithm"
    away = all(climb.away for climb in climbs.values())
    return replace(best, away=away, note=note)


def _powers(kind: str, most: float) -> list[float]:
    """Powers of the logarithm to try, in halves, the smallest first."""
    up = [0.5 * i for i in range(1, math.floor(2 * most) + 1)]
    signs = {"theta": (1.0, -1.0), "O": (1.0,), "Omega": (-1.0,)}[kind]
    return [0.0, *(sign * power for power in up for sign in signs)]


def _climb(x: np.ndarray, y: np.ndarray, kind: str, constant: float) -> Climb:
    line = fit_line(x, y)
    low, high = line.interval
    top_low, top_high = _top_interval(x, y)
    up, down = top_low > BAND, top_high < -BAND
    spread = {
        "theta": float(np.ptp(y)),
        "O": float(y.max() - y[0]),
        "Omega": float(y[0] - y.min()),
    }.get(kind, 0.0)
    margins = {
        "theta": (1 - max(high, -low) / BAND, 1 - max(top_low, -top_high) / BAND),
        "O": (1 - high / BAND, 1 - top_low / BAND),
        "Omega": (1 + low / BAND, 1 + top_high / BAND),
        "o(1)": (-high / BAND, math.log(QUARTER) - (y[-1] - y[0])),
    }[kind]
    margin = float(min(*margins, 1.0 - spread / math.log(constant)))
    away = {"theta": up or down, "O": up, "Omega": down, "o(1)": top_low > -BAND}[kind]
    note = f"slope {line.slope:.3g} in [{low:.3g}, {high:.3g}]"
    if kind == "o(1)":
        note += f", last / first {math.exp(y[-1] - y[0]):.3g}"
    else:
        note += f", r changes by {math.exp(spread):.3g}"
    if away and kind == "o(1)":
        note += ", no fall at the top"
    elif away:
        note += f", drift {'up' if up else 'down'} at the top"
    return Climb(margin >= 0.0 and not away, away, margin, (low, high), note)


def _top_interval(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """The 95% interval of the slope of the upper half of the rungs.

    Its noise is that about a parabola through all rungs: three rungs say too little
    of it, and about a line the very drift that is to be detected would count as noise.
    """
    sizes = np.unique(x)
    rungs = max(3, math.ceil(len(sizes) / 2))
    top = x >= sizes[-rungs]
    line = fit_line(x[top], y[top])
    centred = x - x.mean()
    parabola = np.polynomial.Polynomial.fit(centred, y, 2)
    freedom = len(x) - 3
    noise = float(np.sqrt(np.sum((y - parabola(centred)) ** 2) / freedom))
    reach = float(scipy.special.stdtrit(freedom, 0.975)) * noise
    reach /= float(np.sqrt(np.sum((x[top] - x[top].mean()) ** 2)))
    return line.slope - reach, line.slope + reach
