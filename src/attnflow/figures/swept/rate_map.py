"""Maps of the learning rate at which descent leaves the gradient flow.

Descents by any number k of steps come to the same training time T = k η; what the loss
is then is compared with the flow's. The flow itself is descent by steps an eighth of
the smallest: it is nearer to it than those by as much, and takes no time to compile.
On a quadratic descent follows the flow up to η = 2/λ, λ the sharpest curvature on its
way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from attnflow.figures.swept.map import Curve, Key, Level, Map, Numbers, boundary
from attnflow.schema.declarations import Evidence, SweepRequest
from attnflow.schema.dims import SEED
from attnflow.schema.installation import xr
from attnflow.schema.settings import Value

Values = str | Sequence[float]
"""Values of a swept setting: a text such as `0.01..1:9:log`, or all of them."""

RATE = "learning_rate"
SHARPEST = "tangent_sharpness^max"
LEFT = 0.1
"""Of its loss: where descent is further from the flow than this, it has left it."""
LEVEL = Level(float(np.log10(LEFT)), fitted=False)
FINER = 8
"""How many times smaller the steps are that stand for the flow."""
RECORDS = 61
"""Times at which sharpness is recorded along the flow."""
LIMITS = (-3.0, 1.0)
"""Of the logarithm of the distance; descents that diverge are at its end."""
_CAPTION = (
    "How far the loss of gradient descent at t = ηk = {time:g} is from the flow's, "
    "relative to it, {about} The flow has steps {finer} times smaller than the "
    "smallest. Dots: a tenth. Dashed: 2/λ, λ the largest sharpness along the flow. "
    "The question is whether descent leaves the flow near it."
)


@dataclass(frozen=True)
class RateMap:
    """A map over the learning rate and one more setting.

    **Arguments:**

    - `experiment`, `settings`: what is trained, the same in all cells.
    - `time`: the training time T; `counts`: numbers k of steps, η = T/k.
    - `key`, `values`, `named`: the other setting.
    - `quick`, `quick_counts`, `quick_values`: for `--quick`.
    """

    experiment: str
    time: float
    counts: tuple[int, ...]
    key: str
    values: Values
    named: str
    settings: Mapping[str, Value]
    seeds: int
    quick: Mapping[str, Value] = field(default_factory=dict)
    quick_counts: tuple[int, ...] = ()
    quick_values: Values | None = None

    def sweeps(self) -> dict[str, SweepRequest]:
        """Descents over both settings, and what stands for the flow over the other."""
        less = {**self.quick, self.key: self.quick_values}
        shared = {**self.settings, self.key: self.values}
        return {
            "descent": SweepRequest(
                self.experiment,
                {**shared, **self._steps(self.counts)},
                measure=("loss",),
                zip=((RATE, "steps"),),
                seeds=self.seeds,
                quick={**less, **self._steps(self.quick_counts)},
                quick_seeds=2,
            ),
            "flow": SweepRequest(
                self.experiment,
                {**shared, **self._small_steps(self.counts)},
                measure=("loss", SHARPEST),
                seeds=self.seeds,
                quick={**less, **self._small_steps(self.quick_counts)},
                quick_seeds=2,
            ),
        }

    def _steps(self, counts: Sequence[int]) -> dict[str, list[float] | list[int]]:
        falling = sorted(counts, reverse=True)
        return {RATE: [self.time / k for k in falling], "steps": falling}

    def _small_steps(self, counts: Sequence[int]) -> dict[str, float]:
        most = FINER * max(counts, default=1)
        return {RATE: self.time / most, "steps": most, "records": RECORDS}

    def map(
        self,
        id: str,
        *,
        about: str,
        within: tuple[float, float],
        silent: tuple[str, ...] = (),
    ) -> Map:
        """The map itself, with its picture, numbers and sentences.

        **Arguments:**

        - `about`: over what it is, and what else belongs into its caption.
        - `within`: between which multiples of 2/λ descent is seen to leave the flow.
        - `silent`: as in `Exhibit`.
        """
        return Map(
            id=id,
            title="The learning rate at which descent leaves the flow",
            caption=_CAPTION.format(time=self.time, finer=FINER, about=about),
            sweeps=self.sweeps(),
            table=partial(departure, key=self.key),
            label=r"$\log_{10}$ of descent's distance from the flow",
            names={RATE: r"learning rate $\eta$", self.key: self.named},
            curves=partial(_curves, key=self.key),
            level=LEVEL,
            limits=LIMITS,
            more=partial(_more, key=self.key),
            checks=partial(_checks, key=self.key, within=within),
            silent=silent,
        )


def departure(evidence: Evidence, key: str) -> xr.DataArray:
    """log₁₀ |L − L_flow|/L_flow at the time T, within `LIMITS`.

    Descents that diverged are at the upper end, cells without a result have none.
    """
    descent, flow = evidence["descent"], evidence["flow"]
    apart = abs(descent["loss"] / flow["loss"] - 1)
    apart = apart.where(descent["outcome"] != "diverged", np.inf)
    with np.errstate(divide="ignore"):
        logarithm = apart.copy(data=np.log10(apart.values).clip(*LIMITS))
    return logarithm.transpose(key, RATE, SEED)


def stable_rates(evidence: Evidence, key: str) -> xr.DataArray:
    """2/λ, λ the largest sharpness that the flow meets; the median over seeds."""
    return 2 / evidence["flow"][SHARPEST].median(SEED).rename(key)


def left_over_stable(evidence: Evidence, key: str) -> np.ndarray:
    """The rate at which descent leaves the flow over 2/λ, by the other setting."""
    rates = boundary(LEVEL, departure(evidence, key)).places
    return rates / stable_rates(evidence, key).values


def _checks(
    evidence: Evidence, key: str, within: tuple[float, float]
) -> dict[str, bool]:
    every, (low, high) = left_over_stable(evidence, key), within
    ratios = every[np.isfinite(every)]
    return {
        "descent leaves the flow at some rate, in nine of ten rows or more": bool(
            len(ratios) >= 0.9 * len(every)
        ),
        f"at {low:g} to {high:g} times 2/λ": bool(
            len(ratios) and ratios.min() >= low and ratios.max() <= high
        ),
    }


def _curves(evidence: Evidence, panel: Key, key: str) -> tuple[Curve, ...]:
    stable = stable_rates(evidence, key)
    x, y = np.log(stable[key].values.astype(float)), np.log(stable.values)

    def side(rate: np.ndarray, value: np.ndarray) -> np.ndarray:
        # The margins of a linear axis may reach below 0.
        inside = np.log(np.clip(value, np.exp(x[0]), np.exp(x[-1])))
        return np.log(rate) - np.interp(inside, x, y)

    return (Curve(r"$\eta = 2/\lambda$, the sharpest along the flow", side),)


def _more(evidence: Evidence, key: str) -> Numbers:
    stable = stable_rates(evidence, key)
    names = [f"{key} = {value:.4g}" for value in stable[key].values.astype(float)]
    over = left_over_stable(evidence, key)
    return {
        "2/λ": dict(zip(names, stable.values.tolist(), strict=True)),
        "rate at which it leaves over 2/λ": dict(
            zip(names, over.tolist(), strict=True)
        ),
    }
