"""Claims on whether Section 6 carries over from C to Q, and from Q to training (J)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from attnflow import claims as c
from attnflow import schema
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap import training_map as tm
from attnflow.papers.scansnap.claims import evidence as ev
from attnflow.papers.scansnap.claims import statistics as st
from attnflow.papers.scansnap.claims.insights import FIXED, RAISED, by_ratio, scaled
from attnflow.papers.scansnap.stages.formulas import decoder_of, scale_of
from attnflow.schema.conditions import MUCH
from attnflow.schema.installation import xr

THIN_Q = {
    f"K = {K}, M = {M:g}": ev.thin("Q", classes=K, vocabulary=M)
    for K, M in ev.THIN_SIZES
}
JUDGED = tuple(ratio for ratio in tm.RATIOS if ratio >= MUCH)
"""Ratios η_Y/η_Z that Assumption 1(c) allows."""


def _common(run: xr.Dataset) -> xr.DataArray:
    return st.last(st.score(run, st.COMMON))


def _top(run: xr.Dataset) -> xr.DataArray:
    return st.last(st.score(run, st.TOP))


def _approximation(run: xr.Dataset, *, printed: bool) -> xr.DataArray:
    """|z/(−B) − 1| of the common token at the end, B by the scalar model."""
    setting = schema.setting_of(run)
    scale = scale_of({**setting, "printed": printed})
    drive = float(decoder_of(run).drive_integral(setting["until"], scale))
    return abs(_common(run) / -drive - 1)


def _approximated(*, printed: bool) -> c.All:
    which = "ρ₀⁴/K" if printed else "ρ₀⁴/(K − 1)"
    error = partial(_approximation, printed=printed)
    check = c.AtMost(f"|z over −B, less 1|, C₀ = {which}", error, 0.05)
    return c.All((check,), also={"z": st.by_run(_common)} if printed else {})


def _doublings(joint: xr.Dataset, quasi_static: xr.Dataset) -> xr.DataArray:
    """|log₂| of z of the common token in J over that in Q, at the times of the map."""
    return abs(xr.ufuncs.log2(tm.over_q(joint, quasi_static)))


def _ratios(evidence: c.Evidence) -> dict[str, list[float]]:
    """The common token's z in J over that in Q by time, for each cell of the map."""
    cells = [name.removeprefix("J, ") for name in evidence if name.startswith("J, ")]
    return {
        cell: tm.over_q(evidence[f"J, {cell}"], evidence[f"Q, {cell}"])[
            0
        ].values.tolist()
        for cell in cells
    }


def _met(what: str, of: Callable[..., xr.DataArray], bound: float) -> c.All:
    """A bound on a function of J and Q at all ratios where Assumption 2 is met."""
    pairs = [[tm.name_of(s, tm.MET, ratio) for s in "JQ"] for ratio in JUDGED]
    checks = (
        c.AtMost(f"{what}, {pair[0][3:]}", of, bound, of=tuple(pair), together=True)
        for pair in pairs
    )
    return c.All(tuple(checks), also={"z of J over z of Q": _ratios})


def _as_q(evidence: c.Evidence) -> c.Evidence:
    """Runs of J with the scores of Q."""
    same = {n: "Q" + n[1:] for n in evidence if n.startswith("J")}
    return {**evidence, **{joint: evidence[quasi] for joint, quasi in same.items()}}


def _tilted(names: Iterable[str], by: float) -> mutate.NamedMutation:
    """H(DT) larger by a share from run to run."""
    return mutate.both(
        *(
            mutate.scale(name, "mean_distinct_entropy", 1 + by * i)
            for i, name in enumerate(names)
        )
    )


_claim = partial(
    c.Claim, kind=c.Kind.UNIVERSAL, expected=c.Verdict.FAILS, source=ev.FLOW_RUN
)
CLAIMS = (
    _claim(
        id="E-Sec6-approx",
        place="Section 6, Equation 13",
        statement="The common token's score in Q is that of the scalar model with C₀ = "
        "ρ₀⁴/K, within 5%.",
        under=("Eq. 10", "common", "queries", "f²"),
        system=f"{ev.Q}, against C",
        needs=THIN_Q,
        judge=_approximated(printed=True),
        predicate="at t = 10⁴ K/η_Y; the 5%, for what is an approximation, is ours",
        settings="f² = 0.023 of the common token; K = 2 and 10, M = 1000, and K = 10, "
        "M = 10⁶; η_Y/η_Z = 1",
        mends=c.named(mutate.scale("K = 2, M = 1000", "score", 1.65)),
        correction=c.Correction(
            c.CorrectionKind.CONSTANT,
            "C₀ = ρ₀⁴/(K − 1), with one term for each other class.",
            _approximated(printed=False),
        ),
        witness=c.Witness("witnesses/quasi_static.py", {"z": ("z", "K = 2, M = 1000")}),
    ),
    _claim(
        id="E-Sec6-train",
        place="Sections 4 to 6",
        statement="Under Assumptions 1 and 2 the quasi-static system describes "
        "training: the common token's score in J is that in Q within a factor 2.",
        under=("1(b)", "1(c)", *ev.THEOREM_1),
        system=f"{ev.J}, against Q",
        needs=tm.EVERY,
        judged=tuple(tm.name_of(s, tm.MET, ratio) for ratio in JUDGED for s in "JQ"),
        judge=_met("z of the common token, J over Q, in doublings", _doublings, 1.0),
        predicate="at η_Y t/K = 1, 10, …, 10⁸, for η_Y/η_Z = 10 … 10⁴; Theorem 1 does "
        "not say that it is about a modified gradient, and Section 6 draws conclusions "
        "for training",
        source=f"{ev.FLOW_RUN}; the whole map was added with results at three of its "
        "settings in view",
        settings=tm.SIZES,
        mends={"J as Q": _as_q},
        correction=c.Correction(
            c.CorrectionKind.OPPOSITE,
            "Under Assumptions 1 and 2 the common token's score in training is less "
            "than a thousandth of that in Q, at every time of the map and every ratio "
            "from 10 on.",
            _met("z of the common token, J over Q", tm.over_q, 1e-3),
        ),
        witness=c.Witness(
            "witnesses/training_map.py",
            {
                "J over Q, clock 100": ("z of J over z of Q", f"{tm.MET}, 100", 2),
                "J over Q, clock 10000": ("z of J over z of Q", f"{tm.MET}, 100", 4),
            },
        ),
    ),
    _claim(
        id="E-R-6b",
        place="Section 6, insight (b), for training",
        statement=(
            "In training, larger η_Y and η_Z at the ratio 1 give sparser attention "
            "at the same time."
        ),
        under=("Eq. 13",),
        system=ev.J,
        needs=scaled("J"),
        judge=c.All(
            (c.Falling("H(DT)", st.entropy),), also={"H(DT)": st.by_run(st.entropy)}
        ),
        predicate="at each increase of the rates; by E-R-4 larger rates amount to a "
        "later time, and H passes a minimum",
        settings=FIXED,
        origin="ours",
        mends={"sparser with every step": _tilted(scaled("J"), -0.1)},
        witness=c.Witness(
            "witnesses/training.py",
            {f"H(DT) at both rates {n}": ("H(DT)", f"J, {n}") for n in (1, 10, 1000)},
        ),
    ),
    _claim(
        id="E-R-6c",
        place="Section 6, insight (c), for training",
        statement="At fixed η_Z a larger η_Y gives denser attention in training.",
        under=("Eq. 13",),
        system=ev.J,
        needs={
            **by_ratio("J"),
            **{f"Figure 3, {n[3:]}": r for n, r in ev.FIGURE_3_J.items()},
        },
        judge=c.All(
            (
                c.Rising("H(DT)", st.entropy, of=("J, *",)),
                c.Falling("growth of the dominant token", _top, of=("Figure 3, *",)),
            ),
            also={
                "H(DT)": st.by_run(st.entropy, "J, *"),
                "growth in Figure 3's setting": st.by_run(_top, "Figure 3, *"),
            },
        ),
        predicate="at each increase of η_Y; growth is ln χ/2",
        settings=f"{RAISED}, and {ev.FIGURE_3}",
        origin="ours",
        mends={
            "denser with every step, and less growth": mutate.both(
                _tilted(by_ratio("J"), 0.1), mutate.negate("*", "score")
            )
        },
        witness=c.Witness(
            "witnesses/training.py",
            {
                **{f"H(DT) at ratio {n}": ("H(DT)", f"J, {n}") for n in (1, 10, 20)},
                "growth in Figure 3 at 10": (
                    "growth in Figure 3's setting",
                    "Figure 3, 10",
                ),
            },
        ),
    ),
)
