"""Concentration of initial attention, signs and single products (Appendices D, H)."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow import schema
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims.evidence import PLAN, WIDTHS
from attnflow.papers.cooccurrence.conditions import CONDITION_1
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

ALL = mutate.EVERY
NEURONS = (8, 64, 512)
DRAWN = {"drawn": Request("concentration", {"widths": WIDTHS}, seeds=PLAN)}
ALONE = {"widths": (1024,), "lone_widths": (1,), "lone_draws": 1}
COUNTS = {
    f"m1={count}": Request(
        "concentration",
        {**ALONE, "samples": 12, "draws": 1, "neurons": count},
        seeds=1,
    )
    for count in NEURONS
}
DRAWS = "our draws, seeds 200–202"
SIZES = (
    "normal weights of standard deviations 0.3/sqrt(L m) and 0.3/sqrt(m1), distinct "
    "fillers; n = 60, L = 5, m1 = 64, d = 163, m = 512 … 131072"
)
RARE = "a probability far below δ: only its size matters"
_claim = partial(c.Claim, system="initial weights", expected=c.Verdict.HOLDS)


def along_widths(name: str, what: str) -> c.Rungs:
    """Ladder of kind O over the widths of a run, with a point for every seed."""
    return c.Rungs(
        what,
        lambda run: run[name],
        "O",
        "width",
        of=("drawn",),
        constant=3.0,
        each=True,
    )


def _over_delta(name: str, what: str) -> c.AtMost:
    """A failure probability, computed exactly, over the δ that is allowed."""
    return c.AtMost(what, lambda run: run[name] / run["delta"], 1.0)


def _off_law(run: xr.Dataset, *, kind: str) -> xr.DataArray:
    """Share of drawn violations off the exact one, in the room that draws need."""
    draws = schema.setting_of(run)["lone_draws"] * run.sizes["seed"]
    exact = run[f"{kind}_failure"].isel(seed=0, drop=True)
    # Four standard deviations of a share, and one draw.
    room = 4 * np.sqrt(exact / draws) + 1 / draws
    return abs(run[f"{kind}_broken"].mean("seed", skipna=False) - exact) / room


CLAIMS: tuple[c.Claim, ...] = (
    _claim(
        id="A-D.2",
        place="Corollary D.2",
        statement="Attention starts within Õ(1/(Lm)) of 1/L.",
        kind=c.Kind.ASYMPTOTIC,
        under=("normal", *CONDITION_1),
        needs=DRAWN,
        judge=along_widths("attention_gap", "L m · largest deviation of p from 1/L"),
        predicate="the mean of 50 draws; without a logarithm, which is of d/δ and "
        "fixed",
        settings=f"{SIZES}; tested in m alone",
        source=f"{DRAWS}: 0.056 = 0.62 c0² at every width",
        mutations=c.named(
            mutate.mapped(
                "attention_gap times m to the power 0.25",
                "drawn",
                "attention_gap",
                lambda table: table * (table["width"] / WIDTHS[0]) ** 0.25,
            )
        ),
    ),
    _claim(
        id="A-D.6",
        place="Lemma D.6",
        statement="Each sign has m1 (1/2 ± sqrt(2 log(4/δ)/m1)) of the neurons, with "
        "probability 1 − δ.",
        kind=c.Kind.UNIVERSAL,
        under=("a",),
        needs=COUNTS,
        judge=_over_delta(
            "count_failure", "exact failure probability, by the binomial law, over δ"
        ),
        predicate=(
            "for m1 = 8, 64, 512 and δ = 0.01, 0.1, 0.5. The probability is computed "
            "exactly, so that the statement is one about all m1 and δ"
        ),
        source="the binomial law, nothing is drawn: at most 5e-5 of δ; Hoeffding's "
        "inequality needs only a quarter of the squared deviation",
        inert={"count_failure": RARE},
        mutations=c.named(mutate.replace("m1=64", "count_failure", 0.6)),
    ),
    _claim(
        id="A-H.2",
        place="Lemma H.2",
        statement="For w, u of N(0, I/m), both |w|² − 1 and w·u are below "
        "sqrt(4/m log(2/δ)) + 4/m log(2/δ) in absolute value, with probability 1 − δ.",
        kind=c.Kind.UNIVERSAL,
        under=("normal",),
        needs=DRAWN,
        judge=c.All(
            (
                _over_delta(
                    "norm_failure", "exact failure probability of |w|², over δ"
                ),
                _over_delta("product_failure", "that of w·u, over δ"),
                c.AtMost(
                    "share in draws off the exact one, |w|²",
                    partial(_off_law, kind="norm"),
                    1.0,
                ),
                c.AtMost(
                    "share in draws off the exact one, w·u",
                    partial(_off_law, kind="product"),
                    1.0,
                ),
            )
        ),
        predicate=(
            "chi squared, and a normal law mixed by chi, for m = 1 … 1000 and δ = "
            "0.01, 0.1, 0.5; 12 000 draws, off by at most four standard deviations "
            "and one draw. The probability is computed exactly, so that the "
            "statement is one about all m and δ"
        ),
        source=f"{DRAWS}: at most 0.15 of δ",
        mutations=c.named(
            mutate.replace("drawn", "product_failure", 0.6),
            mutate.add("drawn", "norm_broken", 0.05),
        ),
    ),
)
