import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attnflow.papers.cooccurrence import PAPER
from attnflow.report.plain import leaves, plain

# Rates beyond the threshold are what one of the figures shows.
pytestmark = pytest.mark.filterwarnings(
    "ignore::attnflow.experiment.rates.LearningRateWarning"
)

SLOW = {"learning-rate", "test-loss", "width-scan"}
"""Many programs to compile."""
EXHIBITS = [
    pytest.param(e.id, marks=[pytest.mark.slow] if e.id in SLOW else [])
    for e in PAPER.exhibits
]

# Changes of a run, under some of which something that is seen must vanish.


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


def negated(run):
    return replaced(run, ["score", "value", "value_rate"], lambda table: -table)


def groups_exchanged(run):
    if "group" not in run.dims:
        return run
    names = {"both": "first", "first": "both"}
    return run.assign_coords(
        group=[names.get(str(g), str(g)) for g in run["group"].values]
    )


def another_clock(run):
    """Events in the same order, at other times."""
    if "time" not in run.dims:
        return run
    return run.assign(end_time=np.sqrt(run["end_time"])).assign_coords(
        time=np.sqrt(run["time"])
    )


def blunt(run):
    """A tenth of the sharpness: thresholds are ten times what they are."""
    return replaced(run, ["tangent_sharpness"], lambda sharpness: sharpness / 10)


CHANGES = (frozen, negated, groups_exchanged, another_clock, blunt)


@pytest.mark.parametrize("id", EXHIBITS)
def test_what_must_be_seen_is_seen_and_can_be_missing(id, evidence_of):
    exhibit, evidence = PAPER.exhibit(id), evidence_of(id)
    seen = exhibit.seen(evidence)
    assert seen and all(answer is True for answer in seen.values()), seen
    missing = set()
    for change in CHANGES:
        changed = {name: change(run) for name, run in evidence.items()}
        # What was measured may be no number any more, and its logarithm too.
        with np.errstate(all="ignore"):
            found = exhibit.seen(changed)
        assert found.keys() == seen.keys()
        missing |= {text for text, answer in found.items() if not answer}
    assert missing == seen.keys(), f"cannot fail: {seen.keys() - missing}"


@pytest.mark.parametrize("id", EXHIBITS)
def test_drawn_with_names_on_every_axis(id, evidence_of):
    from attnflow.figures import themed

    with themed("dark"):
        figure = PAPER.exhibit(id).draw(evidence_of(id))
    assert all(ax.lines or ax.collections for ax in figure.axes)
    assert all(ax.get_ylabel() or ax.get_yticklabels() for ax in figure.axes)
    assert any(ax.get_xlabel() for ax in figure.axes)


@pytest.mark.parametrize("id", EXHIBITS)
def test_values_are_numbers(id, evidence_of):
    values = dict(leaves(plain(PAPER.exhibit(id).values(evidence_of(id)))))
    assert values
    assert all(isinstance(v, int | float) for v in values.values()), values


def test_the_papers_figures_are_all_there():
    ids = [exhibit.id for exhibit in PAPER.exhibits]
    assert ids[0] == PAPER.headline == "overview"
    assert ids[1:3] == ["figure1a", "figure1b"]
    for exhibit in PAPER.exhibits:
        assert not exhibit.printed, "the paper prints no numbers in its figure"
        assert exhibit.silent and exhibit.caption


def test_numbers_of_figure_1(evidence_of):
    """Against two programs beside this one, on other seeds: only ranges agree."""
    scores = PAPER.exhibit("figure1a").values(evidence_of("figure1a"))
    phase = scores["Phase 1 ends at epoch"]
    assert 1100 < phase["least"] < phase["largest"] < 2050
    losses = PAPER.exhibit("figure1b").values(evidence_of("figure1b"))
    for kind in ("first", "second"):
        assert losses["largest loss over the first"][kind]["least"] > 1.02
        assert losses["largest loss over the first"][kind]["largest"] < 1.2


def test_balance_without_noise(evidence_of):
    """Derived by hand for many samples: w* = (2, 2, −3), its dual 7 : 5 : 5 : 0."""
    many = PAPER.exhibit("balancing").values(evidence_of("balancing"))["n = 1e+07"]
    shares = [many["share of 17"][kind]["at the end"] for kind in many["share of 17"]]
    assert shares == pytest.approx([7, 5, 5, 0], abs=1e-4)
    assert many["R"]["at the end"] == pytest.approx(1.5, abs=1e-4)
    assert many["b·t·Loss"]["at the end"] == pytest.approx(17, rel=1e-3)


def test_enough_samples_by_hand():
    """For many samples the worst test sample has margin 1 − 44 (L − 2) / n.

    It has one target. L − 2 fillers of a training sample gave it 30/n each, which are
    missing; in their place are fillers of samples with both, which pull back by 14/n.
    """
    from attnflow.papers.cooccurrence.figures.generalisation import margin_of_machine

    for length in (5, 10, 20):
        lacking = (1 - margin_of_machine(1e6, length)) * 1e6 / (length - 2)
        assert lacking == pytest.approx(44, rel=0.01)


def test_listing_the_paper_needs_neither_jax_nor_matplotlib():
    code = (
        "import sys, attnflow.papers.cooccurrence\n"
        "print([n for n in ('jax', 'matplotlib', 'diffrax') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_file_of_figures_is_used():
    package = importlib.import_module("attnflow.papers.cooccurrence.figures")
    files = {p.stem for p in Path(package.__path__[0]).glob("*.py")} - {"__init__"}
    used = {name.rpartition(".")[2] for name in sys.modules if package.__name__ in name}
    assert files <= used
