"""A paper made by hand, with all that a page can show."""

from dataclasses import dataclass

from attnflow.claims import (
    Claim,
    Correction,
    CorrectionKind,
    Kind,
    Row,
    Scope,
    Verdict,
    Witness,
)
from attnflow.claims.stages import StageRow
from attnflow.claims.table import Corrected
from attnflow.figures import label_ends, panels, series, time_axis
from attnflow.papers.base import Paper
from attnflow.schema.declarations import Exhibit, Note, Recipe, Request

HOSTILE = "<script>alert(1)</script> & w_c ≥ e^{-4a}"


@dataclass(frozen=True)
class Setting:
    width: int = 128
    scale: float = 0.1
    steps: int = 2000


def draw(evidence):
    figure, axes = panels(titles=["Loss"])
    time_axis(axes[0, 0], evidence["run"])
    series(axes[0, 0], evidence["run"], "loss", kind="loss")
    label_ends(axes[0, 0])
    return figure


def final_loss(evidence):
    return {"loss": {"last": evidence["run"]["loss"].isel(time=-1).median()}}


def exhibit(id="figure1", kind="figure", **changes):
    fields = {
        "title": f"{id}: the loss",
        "caption": HOSTILE,
        "needs": {"run": Request("figure1")},
        "draw": draw,
        "values": final_loss,
        "stated": lambda evidence: {"Section 6": {"The loss falls.": True}},
        "checks": lambda evidence: {"It is a loss.": True},
        "silent": ("The width is not stated: 128.",),
    }
    return Exhibit(id, kind, **(fields | changes))


def claim(id="A-Thm1", expected=Verdict.HOLDS, **changes):
    return Claim(
        id=id,
        place="Theorem 1",
        statement=HOSTILE,
        system="descent",
        needs={"run": Request("figure1")},
        judge=lambda evidence: None,
        predicate="slope within 1 %",
        expected=expected,
        source="prototype",
        settings="scale ≤ 0.3",
        kind=Kind.UNIVERSAL,
        under=(),
        **changes,
    )


def correction(kind=CorrectionKind.CONSTANT, expected=Verdict.HOLDS):
    return Correction(kind, "The loss is 2.", lambda evidence: None, expected)


def corrected(kind=CorrectionKind.CONSTANT, verdict=Verdict.HOLDS):
    return Corrected(kind, "The loss is 2.", verdict, Verdict.HOLDS)


def row(id="A-Thm1", verdict=Verdict.HOLDS, expected=Verdict.HOLDS, **changes):
    fields = {
        "place": "Theorem 1",
        "statement": HOSTILE,
        "origin": "paper",
        "kind": Kind.UNIVERSAL,
        "scope": Scope.THEOREM,
        "slack": 2.5,
        "corrected": None,
        "witness": None,
        "held": 3,
        "seeds": 4,
        "interval": (0.2, 0.99),
        "margin": 0.5,
        "seconds": 1.25,
        "numbers": {"slope": -0.5},
    }
    return Row(
        id=id, paper="fake", verdict=verdict, expected=expected, **fields | changes
    )


INVENTORY = {
    "theorem": [
        {
            "id": "Theorem 1",
            "uses": ["Lemma 2", "Lemma 3"],
            "parts": [
                {"part": "the loss falls", "claims": ["A-Thm1"], "how": "whole"},
                {"part": "to 0", "why": "not judged: it takes for ever"},
            ],
        }
    ],
    "lemma": [
        {
            "id": "Lemma 2",
            "uses": ["Lemma 3"],
            "parts": [
                {
                    "part": "the proof",
                    "claims": ["A-L2.2"],
                    "how": "special case",
                    "which": "width 128",
                }
            ],
            "covered_by": ["1"],
        },
        {
            "id": "Lemma 3",
            "parts": [
                {
                    "part": "its constant",
                    "claims": ["A-L2.1"],
                    "how": "consequence",
                    "which": "the loss is finite",
                }
            ],
        },
        {"id": "Lemma 4", "about": "Quoted."},
    ],
    "figure": [{"id": "Figure 1", "exhibits": ["figure1"]}],
}


def stages(run):
    return [StageRow("aligned", 1.5, 1.6, (1.4, 1.7), "over 3 seeds")]


def paper(**changes):
    fields = {
        "slug": "fake",
        "letter": "A",
        "title": f"A paper {HOSTILE}",
        "version_read": "draft of 2026",
        "bibtex": "@misc{fake2026,\n  title = {A {fake} paper},\n}\n",
        "recipes": (Recipe("figure1", "Figure 1", Setting(), "nowhere:build"),),
        "exhibits": (exhibit(), exhibit("table1", "table"), exhibit("figure2")),
        "claims": (
            claim(),
            claim("A-L2.1"),
            claim(
                "A-L2.2",
                Verdict.FAILS,
                correction=correction(),
                witness=Witness("witnesses/loss.py", {}),
            ),
        ),
        "notes": (
            Note("1", "Lemma 2", "4", "2 w_c", "A-Thm1", "constant"),
            Note("2", "Lemma 3", "p", "q", "text", "typo", "reported"),
            Note("3", "Lemma 4", "p", "q", "A-L2.1", "statement"),
        ),
        "inventory": INVENTORY,
        "headline": "figure1",
        "headline_claims": (),
        "summary": HOSTILE,
        "stage_table": stages,
    }
    return Paper(**(fields | changes))
