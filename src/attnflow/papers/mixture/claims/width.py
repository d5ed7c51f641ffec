"""Claims on finite width: deviation from infinite width, and concentration."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow import schema
from attnflow.claims import mutations as mutate
from attnflow.papers.mixture.claims import evidence as ev
from attnflow.papers.mixture.claims.attention import concentration
from attnflow.papers.mixture.conditions import ALGORITHM, STAGE_ONE, THEOREM
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

ALL = mutate.EVERY
OMEGAS = tuple(ev.END_OF_STAGE_TWO)
RUNS = {
    f"omega={omega:g}, m={width}": ev.two_stages(omega, width=width)
    for omega in OMEGAS
    for width in (*ev.WIDTHS, "infinite")
}
CELLS = ((0.3, 512), (0.1, 64), (0.01, 512))
# 64 seeds in batches of 16, so that one program serves them all.
CONCENTRATED = {
    f"omega={omega:g}, m={width}, from {first}": ev.two_stages(
        omega, width=width, seeds=tuple(range(first, first + 16))
    )
    for omega, width in CELLS
    for first in (300, 316, 332, 348)
}
FLOW = "gradient flow of Algorithm 1 at finite width"
SIZES = "ω = 0.3, 0.1, 0.01; m = 2^5 … 2^14; b = 1/2, T1 = 10; T2 = 100, 150, 255"
_AT_END = {"holes": "reads states at the ends of stages, kept beside the records"}
_claim = partial(
    c.Claim,
    system=FLOW,
    expected=c.Verdict.HOLDS,
    source="our runs, seeds 200 … 215 at each width",
)


def _deviations(
    evidence: c.Evidence, omega: float, name: str, stage: int
) -> dict[int, float]:
    """Root mean square over seeds of the largest deviation from infinite width."""
    runs = {
        setting["width"]: ev.at_end(run, name, stage)
        for run in evidence.values()
        if (setting := schema.setting_of(run))["omega"] == omega
    }
    limit = runs.pop("infinite")
    dims = [dim for dim in limit.dims if dim != "seed"]
    squares = {m: abs(runs[m] - limit).max(dims, skipna=False) ** 2 for m in runs}
    return {m: float(np.sqrt(squares[m].mean(skipna=False))) for m in sorted(squares)}


def _slope(deviations: dict[int, float], what: str) -> c.Slope:
    x, y = np.log(list(deviations)), np.log(list(deviations.values()))
    return c.Slope(tuple(x), tuple(y), -0.5, 0.1, what, seeds=len(ev.DECIDING_SEEDS))


def _judge_scores(evidence: c.Evidence) -> c.Finding:
    checks: list[c.Measurement] = []
    numbers = {}
    for omega in OMEGAS:
        deviations = _deviations(evidence, omega, "score", 1)
        checks.append(_slope(deviations, f"log deviation against log m, ω = {omega:g}"))
        at_top = list(deviations.items())[-1]
        numbers[f"√m · deviation, ω = {omega:g}"] = at_top[1] * np.sqrt(at_top[0])
    return c.Finding(tuple(checks), numbers)


def _judge_neurons(evidence: c.Evidence) -> c.Finding:
    """Deviations at T1, where only the initial scores break the symmetry."""
    checks: list[c.Measurement] = []
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
    checks.append(c.Ladder(size, ratio, "O", what, seeds=len(ev.DECIDING_SEEDS)))
    return c.Finding(tuple(checks), {"largest ratio": max(ratio)})


def _judge_concentration(evidence: c.Evidence) -> c.Finding:
    """Over all runs of a cell, p₊ − p₋ of the group key on X_{1,+,−} at T2."""
    checks: list[c.Measurement] = []
    numbers = {}
    for omega, width in CELLS:
        name = f"omega={omega:g}, m={width}"
        runs = [run for key, run in evidence.items() if key.startswith(f"{name}, ")]
        gaps = {
            query: np.concatenate([concentration(run, query) for run in runs])
            for query in ("v1", "-v2", "c1")
        }
        margin = np.minimum(gaps["v1"], gaps["-v2"]) / 0.3 - 1
        margin = np.where(gaps["c1"] <= 0, -1.0, margin)
        margin = np.where(np.isnan(gaps["c1"]), np.nan, margin)
        check = c.per_seed(margin, f"concentration, {name}", strict=True)
        checks.append(check)
        least = [float(gap.min()) for gap in gaps.values()]
        numbers[name] = {"held": sum(check.held), "least": least}
    return c.Finding(tuple(checks), numbers)


def _violations(run: xr.Dataset) -> int:
    """Draws in which any of the 36 products leaves its bound."""
    return round(float(run["any_pair"].mean()) * _draws(run))


def _draws(run: xr.Dataset) -> int:
    return schema.setting_of(run)["draws"]


def _falls_otherwise(name: str, exponent: float) -> mutate.NamedMutation:
    """Mutation: deviations from infinite width fall with another exponent."""

    def change(evidence: c.Evidence) -> c.Evidence:
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
    return 1.0 if isinstance(width, str) else width / ev.WIDTHS[0]


_initial = partial(
    _claim,
    kind=c.Kind.PROBABILITY,
    system="Gaussian initial weights",
    needs={
        f"m={width}": Request("concentration", {"width": width}, seeds=(200,))
        for width in (16, 64, 256, 1024)
    },
    source="our runs, seed 200, 4000 draws: loose, below 1% at every width",
    mutations=c.named(mutate.replace(ALL, "any_pair", 0.15)),
)

WIDTH = (
    _claim(
        id="B-G",
        kind=c.Kind.ASYMPTOTIC,
        under=(*ALGORITHM, "ω", "m", "T1"),
        place="Appendix G",
        statement="At finite width the scores at the end of stage 2 deviate from "
        "those at infinite width by poly(1/ω)/√m.",
        needs=RUNS,
        judge=_judge_scores,
        predicate="the root mean square over 16 seeds (200 … 215) of the largest "
        "deviation falls with an exponent of −0.5 ± 0.1 in m = 2^5 … 2^14, for each ω",
        settings=f"{SIZES}, at which the main score is about 0.9; tested in m, at "
        "three ω",
        source="our runs, seeds 200 … 215: −0.48 with independent draws at each width, "
        "−0.50 with the same ones. With other draws, or medians instead of root mean "
        "squares, −0.50 to −0.54; on seeds 100 … 115, used while the predicate was "
        "written, −0.43 to −0.49. The prefactor is "
        "1.4 to 2.4 and does not grow as ω falls",
        mutations=c.named(
            _falls_otherwise("score_at_end", 0.25),
            _falls_otherwise("score_at_end", -0.25),
            mutate.scale("omega=0.1, m=infinite", "score_at_end", 1.1),
        ),
        survives=_AT_END,
    ),
    _claim(
        id="B-Thm4.1-sym-width",
        kind=c.Kind.ASYMPTOTIC,
        under=STAGE_ONE,
        origin="ours",
        place="Theorem 4.1, symmetry, at finite width",
        statement="At finite width the neurons at T1 deviate from the symmetric ones "
        "by O(ω²/√m).",
        needs=RUNS,
        judge=_judge_neurons,
        predicate="exponent −0.5 ± 0.1 in m for each ω, and O(ω²/√m) by the ladder "
        "rule over all 30 cells; root mean square over 16 seeds",
        settings=SIZES,
        mutations=c.named(
            _falls_otherwise("value_at_end", 0.25),
            mutate.scale("omega=0.01, m=infinite", "value_at_end", 1.001),
        ),
        survives={**_AT_END, "cut": "T1 comes within a tenth of the run's time"},
    ),
    _claim(
        id="B-Thm4.1-conc-width",
        kind=c.Kind.OBSERVATION,
        under=tuple(item for item in THEOREM if item != "Definition 5.1"),
        origin="ours",
        place="Theorem 4.1, concentration, at finite width",
        statement="The concentration on the group key is there at finite width too.",
        needs=CONCENTRATED,
        judge=_judge_concentration,
        predicate="p₊ − p₋ of the group key on X_{1,+,−} is above 0.3 for both class "
        "queries and positive for the group query, in 90% of 64 seeds, for (ω, m) = "
        "(0.3, 512), (0.1, 64), (0.01, 512)",
        settings=SIZES,
        source=(
            "our runs: 64, 62 and 63 of 64 seeds, 300 … 363, fixed in advance. The "
            "first 16 seeds were too few: at (0.1, 64) it held in 16 (seeds used "
            "while the predicate was written), 14, and 16 (another stream) of 16"
        ),
        mutations=c.named(
            mutate.swap(ALL, "attention_at_end", "head", ("+", "-")),
            mutate.some_seeds(
                0.2, mutate.swap(ALL, "attention_at_end", "head", ("+", "-"))
            ),
        ),
        survives=_AT_END,
    ),
    _initial(
        id="B-G.1",
        place="Lemma G.1",
        statement="With probability 1 − δ the initial inner products of keys and "
        "queries keep within the stated bounds.",
        under=(),
        delta=0.1,
        judge=c.Rarely("a product leaves its bound", _violations, _draws, 0.1),
        predicate="any of the 36 products, at the largest of four widths",
        settings="ω = 0.1, δ = 0.1, m = 16 … 1024; off-diagonal bounds for pairs of "
        "different tokens, which must be the intended reading",
    ),
    _initial(
        id="B-H.2",
        place="Lemma H.2",
        statement="For two Gaussian vectors with covariance I/m the squared norm and "
        "the inner product are within √(4/m log 2/δ) + (4/m) log 2/δ of 1 and 0, with "
        "probability 1 − δ each.",
        under=(),
        delta=0.025,
        judge=c.Rarely("a product leaves its bound", _violations, _draws, 0.025),
        predicate="the bound of Lemma G.1 at δ = 0.1 is this one at δ = 0.025; any of "
        "36 products leaves it in fewer draws than allowed for each",
        settings="δ = 0.025, m = 16 … 1024",
    ),
)
