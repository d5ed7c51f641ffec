"""Claims on finite width: deviation from infinite width, and concentration."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import (
    Claim,
    Evidence,
    Finding,
    HighProbability,
    Ladder,
    Measurement,
    Scope,
    Seeds,
    Slope,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.mixture.claims.evidence import (
    DECIDING_SEEDS,
    END_OF_STAGE_TWO,
    WIDTHS,
    attention_map,
    two_stages,
)
from attnflow.schema.declarations import Request

ALL = mutate.EVERY
OMEGAS = tuple(END_OF_STAGE_TWO)
RUNS = {
    f"omega={omega:g}, m={width}": two_stages(omega, width=width)
    for omega in OMEGAS
    for width in (*WIDTHS, "infinite")
}
CELLS = ((0.3, 512), (0.1, 64), (0.01, 512))
# 64 seeds in batches of 16, so that one program serves them all.
CONCENTRATED = {
    f"omega={omega:g}, m={width}, from {first}": two_stages(
        omega, width=width, seeds=tuple(range(first, first + 16))
    )
    for omega, width in CELLS
    for first in (300, 316, 332, 348)
}
FLOW = "gradient flow of Algorithm 1 at finite width"
SIZES = "ω = 0.3, 0.1, 0.01; m = 2^5 … 2^14; b = 1/2, T1 = 10; T2 = 100, 150, 255"
_claim = partial(
    Claim,
    system=FLOW,
    expected=Verdict.HOLDS,
    source="our runs, seeds 200 … 215 at each width",
)


def _deviations(
    evidence: Evidence, omega: float, name: str, stage: int
) -> dict[int, float]:
    """Root mean square over seeds of the largest deviation from infinite width."""
    runs = {
        setting["width"]: run[f"{name}_at_end"].isel(stage=stage)
        for run in evidence.values()
        if (setting := schema.setting_of(run))["omega"] == omega
    }
    limit = runs.pop("infinite")
    dims = [dim for dim in limit.dims if dim != "seed"]
    largest = {width: abs(values - limit).max(dims) for width, values in runs.items()}
    return {m: float(np.sqrt((largest[m] ** 2).mean())) for m in sorted(largest)}


def _slope(deviations: dict[int, float], what: str) -> Slope:
    x, y = np.log(list(deviations)), np.log(list(deviations.values()))
    return Slope(tuple(x), tuple(y), -0.5, 0.1, what, seeds=len(DECIDING_SEEDS))


def _judge_scores(evidence: Evidence) -> Finding:
    checks: list[Measurement] = []
    numbers = {}
    for omega in OMEGAS:
        deviations = _deviations(evidence, omega, "score", 1)
        checks.append(_slope(deviations, f"log deviation against log m, ω = {omega:g}"))
        at_top = list(deviations.items())[-1]
        numbers[f"√m · deviation, ω = {omega:g}"] = at_top[1] * np.sqrt(at_top[0])
    return Finding(tuple(checks), numbers)


def _judge_neurons(evidence: Evidence) -> Finding:
    """Deviations at T1, where only the initial scores break the symmetry."""
    checks: list[Measurement] = []
    cells = {}
    for omega in OMEGAS:
        deviations = _deviations(evidence, omega, "value", 0)
        checks.append(_slope(deviations, f"log asymmetry against log m, ω = {omega:g}"))
        cells |= {
            np.sqrt(m) / omega**2: deviation for m, deviation in deviations.items()
        }
    ratio = tuple(size * deviation for size, deviation in cells.items())
    size = tuple(map(float, cells))
    what = "deviation of the neurons times √m / ω²"
    checks.append(Ladder(size, ratio, "O", what, seeds=len(DECIDING_SEEDS)))
    return Finding(tuple(checks), {"largest ratio": max(ratio)})


def _gaps(run: xr.Dataset) -> xr.DataArray:
    """Attention difference p₊ − p₋ of the group key on X_{1,+,−} at T2, per seed."""
    ends = xr.Dataset({"attention": run["attention_at_end"].isel(stage=1)})
    plus, minus = (
        attention_map(ends, "c1 v1 -v2", head).sel(key="c1") for head in "+-"
    )
    return (plus - minus).transpose("seed", "query")


def _judge_concentration(evidence: Evidence) -> Finding:
    checks: list[Measurement] = []
    numbers = {}
    for omega, width in CELLS:
        name = f"omega={omega:g}, m={width}"
        runs = [run for key, run in evidence.items() if key.startswith(f"{name}, ")]
        gap = xr.concat([_gaps(run) for run in runs], "seed")
        margin = gap.sel(query=["v1", "-v2"]).min("query") / 0.3 - 1
        margin = np.where(gap.sel(query="c1") > 0, margin, -1.0)
        held = tuple(bool(m > 0) for m in margin)
        checks.append(Seeds(held, tuple(margin.tolist()), f"concentration, {name}"))
        numbers[name] = {"held": sum(held), "least": gap.min("seed").values}
    return Finding(tuple(checks), numbers)


def _judge_coverage(evidence: Evidence) -> Finding:
    runs = sorted(evidence.values(), key=lambda r: schema.setting_of(r)["width"])
    settings = [schema.setting_of(run) for run in runs]
    draws = tuple(setting["draws"] for setting in settings)
    rates = [float(run["any_pair"].mean()) for run in runs]
    failures = tuple(round(r * n) for r, n in zip(rates, draws, strict=True))
    what = "some bound of Lemma G.1 violated"
    check = HighProbability(failures, draws, settings[-1]["delta"], what)
    return Finding((check,), {"rate of any pair": rates})


def _falls_otherwise(name: str, exponent: float) -> mutate.NamedMutation:
    """Mutation: deviations from infinite width fall with another exponent."""

    def change(evidence: Evidence) -> Evidence:
        changed = {}
        for key, run in evidence.items():
            setting = schema.setting_of(run)
            limit = evidence[f"omega={setting['omega']:g}, m=infinite"][name]
            factor = _relative(setting["width"]) ** exponent
            changed[key] = run.assign({name: limit + factor * (run[name] - limit)})
        return changed

    text = f"deviation of {name} times m to the power {exponent:g}"
    return mutate.NamedMutation(text, change)


def _relative(width: int | str) -> float:
    return 1.0 if isinstance(width, str) else width / WIDTHS[0]


WIDTH = (
    _claim(
        id="B-G",
        place="Appendix G",
        statement="At finite width the scores at the end of stage 2 deviate from "
        "those at infinite width by poly(1/ω)/√m.",
        needs=RUNS,
        judge=_judge_scores,
        predicate="the root mean square over 16 seeds (200 … 215) of the largest "
        "deviation falls with an exponent of −0.5 ± 0.1 in m = 2^5 … 2^14, for each ω",
        scope=Scope.THEOREM,
        conditions=f"{SIZES}, at which the main score is about 0.9",
        source="our runs, seeds 200 … 215: −0.48 with independent draws at each width, "
        "−0.50 with the same ones. With other draws, or medians instead of root mean "
        "squares, −0.50 to −0.54; on seeds 100 … 115, used while the predicate was "
        "written, −0.43 to −0.49. The prefactor is "
        "1.4 to 2.4 and does not grow as ω falls",
        mutations=named(
            _falls_otherwise("score_at_end", 0.25),
            _falls_otherwise("score_at_end", -0.25),
            mutate.scale("omega=0.1, m=infinite", "score_at_end", 1.1),
        ),
    ),
    _claim(
        id="B-Thm4.1-sym-width",
        origin="ours",
        place="Theorem 4.1, symmetry, at finite width",
        statement="At finite width the neurons at T1 deviate from the symmetric ones "
        "by O(ω²/√m).",
        needs=RUNS,
        judge=_judge_neurons,
        predicate="exponent −0.5 ± 0.1 in m for each ω, and O(ω²/√m) by the ladder "
        "rule over all 30 cells; root mean square over 16 seeds",
        scope=Scope.BEYOND,
        conditions=SIZES,
        mutations=named(
            _falls_otherwise("value_at_end", 0.25),
            mutate.scale("omega=0.01, m=infinite", "value_at_end", 1.001),
        ),
    ),
    _claim(
        id="B-Thm4.1-conc-width",
        origin="ours",
        place="Theorem 4.1, concentration, at finite width",
        statement="The concentration on the group key is there at finite width too.",
        needs=CONCENTRATED,
        judge=_judge_concentration,
        predicate="p₊ − p₋ of the group key on X_{1,+,−} is above 0.3 for both class "
        "queries and positive for the group query, in 90% of 64 seeds, for (ω, m) = "
        "(0.3, 512), (0.1, 64), (0.01, 512)",
        scope=Scope.BEYOND,
        conditions=SIZES,
        source="our runs: 64, 62 and 63 of 64 seeds, 300 … 363, fixed in advance. 16 "
        "seeds, as at first, are too few: at (0.1, 64) it held in 16 (seeds used "
        "while the predicate was written), 14, and 16 (another stream) of 16",
        mutations=named(
            mutate.swap(ALL, "attention_at_end", "head", ("+", "-")),
            mutate.replace(ALL, "attention_at_end", 1 / 3),
            mutate.some_seeds(
                0.2, mutate.swap(ALL, "attention_at_end", "head", ("+", "-"))
            ),
        ),
    ),
    _claim(
        id="B-G.1",
        place="Lemma G.1",
        statement="With probability 1 − δ the initial inner products of keys and "
        "queries keep within the stated bounds.",
        system="Gaussian initial weights",
        needs={
            f"m={width}": Request("concentration", {"width": width}, seeds=(200,))
            for width in (16, 64, 256, 1024)
        },
        judge=_judge_coverage,
        predicate="among 4000 draws the one-sided 95% bound on the share in which any "
        "of the 36 products leaves its bound is at most δ = 0.1",
        scope=Scope.THEOREM,
        conditions="ω = 0.1, δ = 0.1, m = 16 … 1024; off-diagonal bounds for pairs of "
        "different tokens, which must be the intended reading",
        source="our runs, seed 200, 4000 draws: loose, below 1% at every width",
        mutations=named(
            mutate.replace(ALL, "any_pair", 0.15),
            mutate.add(ALL, "any_pair", 0.1),
        ),
    ),
)
