"""Claims on attention at the end of stage 2: concentration and near symmetry."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.claims import look
from attnflow.claims import mutations as mutate
from attnflow.papers.mixture.claims import evidence as ev
from attnflow.papers.mixture.conditions import STAGE_TWO, THEOREM
from attnflow.schema.installation import xr

ALL = mutate.EVERY
HARD, HARDER = "c1 v1 -v2", "c1 -v1 v2"
_claim = partial(
    ev.of_ladder,
    kind=c.Kind.ASYMPTOTIC,
    survives={
        "cut": "attention does not move after T2, before a tenth of the run's time",
        "holes": "reads the state at T2, which is kept beside the records",
    },
)


def concentration(run: xr.Dataset, query: str) -> xr.DataArray:
    """Attention difference p₊ − p₋ of the group key on X_{1,+,−}, at T2."""
    plus, minus = (ev.attention_map(run, HARD, head) for head in "+-")
    return (plus - minus).sel(query=query, key="c1", drop=True)


def within_head(run: xr.Dataset, sample: str = HARD) -> xr.DataArray:
    """Difference of attention between the two class keys, for each query."""
    attention = ev.attention_map(run, sample)
    _, first, second = sample.split()
    return abs(attention.sel(key=first, drop=True) - attention.sel(key=second))


def _exchanged(run: xr.Dataset) -> np.ndarray:
    """Largest difference of the maps of X_{1,+,+} and X_{1,−,−}, v1 matched to −v2."""
    names = ["c1", "-v2", "-v1"]
    positive = ev.attention_map(run, "c1 v1 v2")
    negative = ev.attention_map(run, "c1 -v1 -v2").sel(query=names, key=names)
    return look.largest(abs(positive - negative.values))


def _between(run: xr.Dataset, query: str, other: str) -> xr.DataArray:
    """p(c1 | query) on X_{1,+,−} minus p(c1 | other) on X_{1,−,+}."""
    first = ev.attention_map(run, HARD).sel(query=query, key="c1", drop=True)
    return first - ev.attention_map(run, HARDER).sel(query=other, key="c1", drop=True)


def _asymmetry(run: xr.Dataset) -> np.ndarray:
    """The largest asymmetry on the two conflicting samples."""
    attention = ev.attention_map(run, HARD).sel(key="c1", drop=True)
    return np.max(
        [
            look.largest(within_head(run)),
            look.largest(within_head(run, HARDER).sel(query="c1", drop=True)),
            look.largest(abs(attention.sel(query="v1") - attention.sel(query="-v2"))),
        ],
        axis=0,
    )


ATTENTION = (
    _claim(
        id="B-Thm4.1-conc",
        under=THEOREM,
        place="Theorem 4.1, concentration on the group key",
        statement="On X_{1,+,−} the positive head attends to the group key by Θ(1) "
        "more than the negative one from both class queries, and not less from the "
        "group query.",
        judge=c.All(
            (
                *(
                    ev.along_omega(
                        f"p₊ − p₋ of c1 for query {query}",
                        partial(concentration, query=query),
                        "theta",
                    )
                    for query in ("v1", "-v2")
                ),
                c.AtLeast(
                    "p₊ − p₋ of c1 for query c1",
                    partial(concentration, query="c1"),
                    0.0,
                    unit="difference",
                ),
            )
        ),
        predicate="attention at T3 is that at T2",
        source="our runs at infinite width. For query c1 the difference tends to 9e-4 "
        "as ω falls",
        mutations=c.named(
            mutate.swap(ALL, "attention_at_end", "head", ("+", "-")),
            mutate.replace(ALL, "attention_at_end", 1 / 3),
            ev.times_omega("attention_at_end", 0.5),
        ),
    ),
    _claim(
        id="B-Thm4.1-near",
        under=THEOREM,
        place="Theorem 4.1, near symmetry within a head; Section 5.2",
        statement="On X_{1,+,−} the positive head attends to both class keys alike, up "
        "to Õ(ω), from every query.",
        judge=ev.below_omega(
            "asymmetry within a head", lambda run: look.largest(within_head(run))
        ),
        source=(
            "our runs at infinite width: the bound is very loose: the exponent in ω "
            "is 2.2 to 2.9 for query c1, and class queries are exactly symmetric "
            "(B-R9)"
        ),
        mutations=c.named(
            mutate.noise(ALL, "attention_at_end", 0.01),
            mutate.swap(ALL, "attention_at_end", "key_position", (0, 1)),
        ),
    ),
    _claim(
        id="B-E.7",
        under=STAGE_TWO,
        place="Theorem E.7",
        statement="At T2 the maps of X_{1,+,+} and X_{1,−,−} agree up to Õ(ω) with the "
        "class tokens exchanged, and those of X_{1,+,−} and X_{1,−,+} differ by Θ(1) "
        "on the group key and are otherwise symmetric up to Õ(ω).",
        judge=c.All(
            (
                ev.below_omega("difference of the consistent maps", _exchanged),
                ev.below_omega("asymmetry on conflicting samples", _asymmetry),
                *(
                    ev.along_omega(
                        f"p(c1 | {query}) on +− minus −+",
                        partial(_between, query=query, other=other),
                        "theta",
                    )
                    for query, other in (("v1", "-v1"), ("-v2", "v2"))
                ),
                c.AtLeast(
                    "p(c1 | c1) on +− minus −+",
                    partial(_between, query="c1", other="c1"),
                    0.0,
                    unit="difference",
                    strict=True,
                ),
            )
        ),
        mutations=c.named(
            mutate.swap(ALL, "attention_at_end", "sample", (HARD, HARDER)),
            mutate.swap(ALL, "attention_at_end", "sample", ("c1 v1 v2", "c1 v1 -v2")),
            mutate.noise(ALL, "attention_at_end", 0.01),
        ),
    ),
)
