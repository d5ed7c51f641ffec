"""Tables 4 to 11: signs of key and query noise in the first layer of deeper models."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from attnflow.papers.signgd.deep_runs import Blocks, smaller
from attnflow.papers.signgd.figures import table2
from attnflow.papers.signgd.figures.runs import SEEDS_SILENT
from attnflow.schema.declarations import Evidence, Exhibit, Request, Sentences
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALIGNED = ["K+Q+", "K−Q−"]
SEEDS = 3
APART = "pairs of different signs at t = 10"


class _Table(NamedTuple):
    """A table of Appendix B.6: its model, its printed cells, and which differ."""

    model: Blocks
    cells: tuple[tuple[int, ...], ...]
    differing: tuple[str, ...] = ()
    why: str = ""


TABLES = {
    4: _Table(
        Blocks(2, mlp=False, residual=True),
        ((483, 2, 1, 26), (242, 3, 9, 253), (224, 10, 3, 221), (37, 3, 3, 480)),
    ),
    5: _Table(
        Blocks(3, mlp=False, residual=True),
        ((482, 2, 0, 28), (243, 4, 7, 253), (222, 12, 3, 221), (39, 1, 3, 480)),
    ),
    6: _Table(
        Blocks(2, mlp=True, residual=True),
        ((479, 4, 0, 29), (241, 14, 6, 246), (217, 9, 11, 221), (39, 3, 2, 479)),
    ),
    7: _Table(
        Blocks(3, mlp=True, residual=True),
        ((481, 3, 1, 27), (232, 25, 16, 234), (213, 9, 20, 216), (36, 3, 1, 483)),
        (APART, "K+Q− → K+Q−", "K−Q+ → K−Q+"),
        "with this reading of the blocks more pairs have aligned: 33 have not",
    ),
    8: _Table(
        Blocks(2, mlp=False, residual=False),
        ((486, 2, 0, 24), (249, 4, 4, 250), (224, 7, 4, 223), (33, 2, 1, 487)),
    ),
    9: _Table(
        Blocks(3, mlp=False, residual=False),
        ((483, 1, 2, 26), (238, 9, 13, 247), (222, 8, 9, 219), (34, 4, 5, 480)),
    ),
    10: _Table(
        Blocks(2, mlp=True, residual=False),
        ((484, 1, 0, 27), (245, 5, 12, 245), (213, 12, 5, 228), (41, 0, 2, 480)),
        (APART, "K+Q− → K+Q−"),
        "with this reading of the blocks fewer pairs have aligned: 144 have not",
    ),
    11: _Table(
        Blocks(3, mlp=True, residual=False),
        ((473, 4, 3, 32), (233, 12, 14, 248), (211, 14, 9, 224), (36, 2, 6, 479)),
        ("K+Q− → K+Q−",),
        "with this reading of the blocks fewer pairs have aligned: 117 have not",
    ),
}


def misaligned(table: xr.DataArray) -> xr.DataArray:
    """The number of pairs that end with key and query noise of different signs."""
    apart = [name for name in table2.CLASSES if name not in ALIGNED]
    return table.sel(after=apart).sum(("before", "after"))


def _draw(printed: _Table, evidence: Evidence) -> Figure:
    return table2.beside(evidence["run"], printed.cells)


def _values(printed: _Table, evidence: Evidence) -> dict[str, dict[str, float]]:
    run = evidence["run"]
    moments = table2.moments(run, printed.cells)
    cells = {
        table2.cell_name(b, a): {
            name: float(moments[name].sel(before=b, after=a))
            for name in ("mean", "sd", "printed")
        }
        for b in table2.CLASSES
        for a in table2.CLASSES
    }
    ours = misaligned(table2.sign_table(run))
    apart = {
        "mean": float(ours.mean()),
        "sd": float(ours.std(ddof=1)),
        "printed": float(misaligned(moments["printed"])),
    }
    return {APART: apart, **cells}


def _deviations(printed: _Table, evidence: Evidence) -> dict[str, dict[str, float]]:
    run = evidence["run"]
    ours = misaligned(table2.sign_table(run))
    theirs = misaligned(table2.moments(run, printed.cells)["printed"])
    apart = table2.chance(ours.mean(), theirs, ours.std(ddof=1), run.sizes["seed"])
    return {APART: {"mean": float(apart)}, **table2.spread(run, printed.cells)}


def _on_paper(printed: _Table) -> dict[str, dict[str, float]]:
    apart = sum(row[1] + row[2] for row in printed.cells)
    return {APART: {"mean": apart}, **table2.on_paper(printed.cells)}


def _stated(evidence: Evidence) -> dict[str, Sentences]:
    _, ended = table2.shares_of_one_sign(evidence["run"])
    aligned = {
        "query and key noise align in sign: in more than 85% of pairs at t = 10": (
            bool((ended > 0.85).all())
        )
    }
    return {"Appendix B.6": aligned}


def _checks(evidence: Evidence) -> dict[str, bool]:
    began, _ = table2.shares_of_one_sign(evidence["run"])
    return {
        "signs are independent at the start: equal in 40% to 60% of pairs": bool(
            (abs(began - 0.5) < 0.1).all()
        )
    }


def _exhibit(number: int, printed: _Table) -> Exhibit:
    overrides = {**printed.model._asdict(), "record": ("key_neuron", "query_neuron")}
    return Exhibit(
        id=f"table{number}",
        kind="table",
        title=f"Table {number}: signs in Stage II, {printed.model.name}",
        caption=(
            f"Setting (a), d = 2000, t = 10, {SEEDS} seeds: pairs of a neuron of the "
            "first layer and a sample, as in Table 2, with the number of pairs that "
            "have not aligned. The paper prints one seed and does not define its "
            "blocks. Deviations are those over our seeds, and at least that of a count."
        ),
        needs={"run": Request("stack", overrides, seeds=SEEDS, quick=smaller(400))},
        draw=partial(_draw, printed),
        values=partial(_values, printed),
        printed=_on_paper(printed),
        tolerance=table2.DEVIATIONS,
        deviations=partial(_deviations, printed),
        differs={f"{name} · mean": printed.why for name in printed.differing},
        stated=_stated,
        checks=_checks,
        silent=(
            SEEDS_SILENT,
            "Blocks are not defined. We take W_V of d × d, a ReLU layer of d neurons, "
            "all entries of standard deviation σ_0 (the reading `full` of the README).",
        ),
    )


TABLES4TO11 = tuple(_exhibit(number, printed) for number, printed in TABLES.items())
