"""Identities of the gradient flow: Appendices B and C, equation (5), Lemma F.4."""

from __future__ import annotations

from functools import partial

from attnflow import claims as c
from attnflow.claims import look
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims import evidence as ev
from attnflow.papers.cooccurrence.claims.windows import phase_two
from attnflow.papers.cooccurrence.conditions import THEOREM
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

ROUNDING = 1e-12
"""Sums of n L² m1 = 4e5 terms of like size: sqrt(4e5) · 1.1e-16 = 7e-14, and room."""
FLOW_ERROR = 1e-10
"""Two integrations with a tolerance of 1e-12 per step, over some hundred steps."""

ALL = mutate.EVERY
TABLES = {"tables": Request("appendix-c", seeds=1)}
ERROR = "a rounding error, many orders below the tolerance: only its size matters"
_identity = partial(
    c.Claim,
    kind=c.Kind.IDENTITY,
    under=(),
    system=ev.FLOW,
    expected=c.Verdict.HOLDS,
    settings="n = 60, L = 5, m = 128, m1 = 256, with repeated fillers (d = 64) and "
    "with distinct ones (d = 163), at weights for which scores and outputs are of "
    "order 1",
)


def _token_forms(run: xr.Dataset) -> xr.DataArray:
    """Errors of the lemmas' forms by token; ⟨w, w⟩ has none of its own."""
    return run["token_form_error"].drop_sel(object="O")


def _flow_apart(run: xr.Dataset) -> xr.DataArray:
    """The six tables' own flow beside ours, over their largest move."""
    apart, move = (
        run[name].max("record", skipna=False) for name in ("difference", "move")
    )
    return apart / move


def _rises(run: xr.Dataset) -> xr.DataArray:
    """Changes of b from record to record over their mean in Phase 2."""
    steps = look.steps(run["readout_gain"].isel(head=0, drop=True))
    return steps / steps.where(_steps_of_phase_two(run)).mean("time")


def _steps_of_phase_two(run: xr.Dataset) -> xr.DataArray:
    return look.both(phase_two(run))


CLAIMS: tuple[c.Claim, ...] = (
    _identity(
        id="A-App.B",
        place="Appendix B; equation (17)",
        statement=(
            "The gradient flow of W, W_V, W_K and W_Q is as written out in Appendix B."
        ),
        needs={"gradients": Request("gradients", seeds=3)},
        judge=c.Equal(
            "entries off automatic differentiation of a separate forward pass, over "
            "the largest entry",
            lambda run: run["relative_error"],
            ROUNDING,
        ),
        predicate="rounding of sums of 4e5 products; both forms of W_K and W_Q",
        source="our computation, seeds 0–2 (3e-15); an earlier one: 7e-13",
        inert={"relative_error": ERROR},
        mutations=c.named(mutate.add(ALL, "relative_error", 1e-9)),
    ),
    _identity(
        id="A-App.C",
        place="Appendix C; equations (4), (6), (7); Lemmas C.1 to C.4",
        statement=(
            "Under gradient flow six tables of inner products form a closed system, "
            "with the printed right-hand sides; the readout G moves as printed too."
        ),
        needs=TABLES,
        judge=c.All(
            (
                c.Equal(
                    "right-hand sides with X and p, off exact derivatives",
                    lambda run: run["right_side_error"],
                    ROUNDING,
                ),
                c.Equal(
                    "Lemmas C.1, C.3, C.4, where no sample holds a token twice",
                    lambda run: _token_forms(run).sel(fillers="distinct"),
                    ROUNDING,
                ),
                c.Equal("its flow beside ours, over the move", _flow_apart, FLOW_ERROR),
            ),
            also={
                "token by token, where fillers repeat": lambda evidence: float(
                    _token_forms(evidence["tables"]).sel(fillers="repeated").max()
                )
            },
        ),
        predicate="rounding; two integrations of 1e-12 a step",
        source=(
            "our computation, seed 0 (3e-15; flow 8e-14; an earlier one: 2.4e-14). "
            "If fillers repeat within a sample, the lemmas' formulas are ambiguous; "
            "taken at a token's first position, they are wrong by up to a third"
        ),
        inert={"right_side_error": ERROR, "difference": ERROR, "move": ERROR},
        mutations=c.named(
            mutate.add(ALL, "right_side_error", 1e-9),
            mutate.swap(ALL, "token_form_error", "fillers", ("distinct", "repeated")),
            mutate.scale(ALL, "difference", 1e6),
        ),
    ),
    _identity(
        id="A-Eq5",
        place="equation (5); Lemma F.4, first display",
        statement="The readout gain b = |Wᵀa|² moves by (2 m1/n) Σ g y F.",
        needs=TABLES,
        judge=c.Equal(
            "equation (5) off the exact derivative",
            lambda run: run["readout_gain_error"],
            ROUNDING,
        ),
        predicate="rounding",
        source="our computation, seed 0 (an earlier one: 1e-15)",
        inert={"readout_gain_error": ERROR},
        mutations=c.named(mutate.add(ALL, "readout_gain_error", 1e-9)),
    ),
    c.Claim(
        id="A-F.4",
        place="Lemma F.4; below equation (5)",
        statement=(
            "In Phase 2, when all samples are classified correctly, the readout gain "
            "b rises."
        ),
        kind=c.Kind.UNIVERSAL,
        under=THEOREM,
        system=ev.FLOW,
        needs=ev.ALL_WIDTHS,
        judge=c.AtLeast(
            "change of b from a record to the next, over the mean change",
            _rises,
            0.0,
            when=_steps_of_phase_two,
            period="in Phase 2",
            unit="difference",
            strict=True,
        ),
        expected=c.Verdict.HOLDS,
        settings=ev.ALONG_M,
        source=f"{ev.THEORY_RUNS}. Until version 2 of the claims this was part of "
        "A-Eq5, on Phase 1 from T1 on and over b(0), of which a rise is a small part",
    ),
)
