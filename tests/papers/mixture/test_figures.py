import importlib
import itertools
import subprocess
import sys

import numpy as np
import pytest

from attnflow.papers.mixture import PAPER
from attnflow.papers.mixture.figures import closed_form
from attnflow.report.plain import leaves, plain

SLOW = {"figure6", "figure7"}
"""Of the shape of figure5, with more samples."""
FIGURES = ("1a", "1b", "1c", "2", "3", "4", "5", "6", "7")
EXHIBITS = [
    pytest.param(e.id, marks=[pytest.mark.slow] if e.id in SLOW else [])
    for e in PAPER.exhibits
]

# Changes of a run, under each of which something that is seen must vanish.


def frozen(run):
    """Nothing moves: every record is the first one, and so is every end."""
    changed = run.copy(deep=True)
    for name in map(str, run.data_vars):
        if "time" in run[name].dims and name != "recorded":
            first = run[name].isel(time=0, drop=True)
            changed[name] = first.broadcast_like(run[name]).transpose(*run[name].dims)
            end = f"{name}_at_end"
            changed[end] = first.broadcast_like(run[end]).transpose(*run[end].dims)
    return changed


def replaced(run, names, change):
    """Some observables changed, in the records and at the ends."""
    both = [n for name in names for n in (name, f"{name}_at_end") if n in run]
    return run.assign({name: change(run[name]) for name in both})


def groups_exchanged(run):
    if "group" not in run.dims:
        return run
    names = {"consistent": "conflicting", "conflicting": "consistent"}
    new = [names.get(str(g), str(g)) for g in run["group"].values]
    return run.assign_coords(group=new)


def negated(run):
    return replaced(run, ["score", "value"], lambda table: -table)


def even(run):
    """All scores alike."""
    return replaced(run, ["score"], lambda table: 0 * table + 3.0)


def shifted(run):
    """Scores that do not approach the limit, as wide as they may be."""
    finite = '"width":"infinite"' not in run.attrs["setting"].replace(" ", "")
    return replaced(run, ["score"], lambda table: table + 0.5 * finite)


def vanishing(run):
    return replaced(run, ["loss", "loss_by_group"], lambda loss: 0 * loss + 0.01)


def another_clock(run):
    """Events in the same order, at other times."""
    times = {name: np.sqrt(run[name]) for name in ("stage_start", "stage_end")}
    return run.assign(times).assign_coords(time=np.sqrt(run["time"]))


def inattentive(run):
    return replaced(run, ["attention"], lambda table: 0 * table + 1 / 3)


def nearly_symmetric(run):
    """Scores with all other groups as large as with the own one."""

    def change(table):
        groups = [str(k)[1:] for k in table["key"].values if str(k)[0] == "c"]
        changed = table.copy(deep=True)
        for k, j in itertools.permutations(groups, 2):
            own = table.sel(key=f"c{k}", query=f"v{k}")
            changed.loc[{"key": f"c{k}", "query": f"v{j}"}] = -own
        return changed

    return replaced(run, ["score"], change)


def as_in_closed_form(run):
    """Neurons that go on as if attention had not moved."""
    found = run["value"].copy(deep=True)
    for token, curve in closed_form._closed(run).items():
        found.loc[{"head": "+", "token": token}] = curve
    return run.assign(value=found)


CHANGES = (frozen, groups_exchanged, negated, even, shifted, vanishing, another_clock)


def changes_of(id):
    special = {"figure2": inattentive, "stage1-closed-form": as_in_closed_form}
    special |= dict.fromkeys(("figure5", "figure6", "figure7"), nearly_symmetric)
    return [*CHANGES, *filter(None, [special.get(id)])]


@pytest.mark.parametrize("id", EXHIBITS)
def test_what_must_be_seen_is_seen_and_can_be_missing(id, evidence_of):
    exhibit, evidence = PAPER.exhibit(id), evidence_of(id)
    seen = exhibit.seen(evidence)
    assert seen and all(answer is True for answer in seen.values()), seen
    missing = set()
    for change in changes_of(id):
        changed = {name: change(run) for name, run in evidence.items()}
        found = exhibit.seen(changed)
        assert found.keys() == seen.keys()
        missing |= {text for text, answer in found.items() if not answer}
    assert missing == seen.keys(), f"cannot fail: {seen.keys() - missing}"


@pytest.mark.parametrize("id", EXHIBITS)
def test_drawn_with_names_on_every_axis(id, evidence_of):
    from attnflow.figures import themed

    with themed("dark"):
        figure = PAPER.exhibit(id).draw(evidence_of(id))
    shown = [ax for ax in figure.axes if ax.axison and ax.get_label() != "<colorbar>"]
    assert all(ax.lines or ax.collections for ax in shown)
    assert any(ax.get_xlabel() for ax in shown) or figure._supxlabel is not None


@pytest.mark.parametrize("id", EXHIBITS)
def test_values_are_numbers(id, evidence_of):
    values = dict(leaves(plain(PAPER.exhibit(id).values(evidence_of(id)))))
    assert values
    found = [v for v in values.values() if v is not None]
    assert all(isinstance(v, int | float) for v in found)
    assert len(found) >= len(values) / 2


def test_the_papers_figures_are_all_there():
    ids = [exhibit.id for exhibit in PAPER.exhibits]
    assert ids[0] == PAPER.headline == "overview"
    assert ids[1:10] == [f"figure{name}" for name in FIGURES]
    for exhibit in PAPER.exhibits:
        assert not exhibit.printed, "the paper prints no numbers in its figures"
        assert exhibit.silent and exhibit.caption


def test_numbers_of_figure_1(evidence_of):
    """Against a prototype in PyTorch: other seeds, so that only digits agree."""
    losses = PAPER.exhibit("figure1a").values(evidence_of("figure1a"))
    assert losses["steps to loss 0.1"]["consistent"] == pytest.approx(141, rel=0.01)
    assert losses["steps to loss 0.1"]["conflicting"] == pytest.approx(1270, rel=0.03)
    neurons = PAPER.exhibit("figure1b").values(evidence_of("figure1b"))
    assert neurons["alignment at the end"]["v1"] == pytest.approx(1.64, abs=0.03)
    assert neurons["alignment at the end"]["c1"] == pytest.approx(2.17, abs=0.1)
    scores = PAPER.exhibit("figure1c").values(evidence_of("figure1c"))
    assert scores["score at the end"]["c1, v1"] == pytest.approx(2.7, abs=0.15)
    maps = PAPER.exhibit("figure2").values(evidence_of("figure2"))
    assert maps["attention on c1, X1+-"]["v1"] == pytest.approx(0.924, abs=0.02)
    assert maps["attention on c1, X1-+"]["v2"] == pytest.approx(0.053, abs=0.02)


def test_maps_are_named_by_their_tokens(evidence_of):
    figure = PAPER.exhibit("figure2").draw(evidence_of("figure2"))
    ax = figure.axes[1]
    names = [label.get_text() for label in ax.get_xticklabels()]
    assert names == ["$c_{1}$", "$v_{1}$", "$-v_{2}$"]
    assert ax.get_xlabel() == "key" and figure.axes[0].get_ylabel() == "query"


def test_listing_the_paper_needs_neither_jax_nor_matplotlib():
    code = (
        "import sys, attnflow.papers.mixture\n"
        "print([n for n in ('jax', 'matplotlib', 'diffrax') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_file_of_figures_is_used():
    package = importlib.import_module("attnflow.papers.mixture.figures")
    from pathlib import Path

    files = {p.stem for p in Path(package.__path__[0]).glob("*.py")} - {"__init__"}
    used = {name.rpartition(".")[2] for name in sys.modules if package.__name__ in name}
    assert files <= used
