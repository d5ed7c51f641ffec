import itertools
from typing import ClassVar

import pytest

from attnflow.papers.mixture import PAPER
from attnflow.papers.mixture.figures import closed_form
from attnflow.testing import ExhibitProtocol, another_clock, frozen, replaced

FAST = {"overview", "figure1a", "figure1b", "figure1c", "figure2", "figure4"}
"""Of one run; the others have more samples, or programs of several stages."""
FIGURES = ("1a", "1b", "1c", "2", "3", "4", "5", "6", "7")
# Changes of a run, under each of which some sentence must become false.


def groups_exchanged(run):
    if "group" not in run.dims:
        return run
    names = {"consistent": "conflicting", "conflicting": "consistent"}
    new = [names.get(str(g), str(g)) for g in run["group"].values]
    return run.assign_coords(group=new)


def negated(run):
    return replaced(run, lambda table: -table, "score", "value")


def even(run):
    """All scores equal."""
    return replaced(run, lambda table: 0 * table + 3.0, "score")


def shifted(run):
    """Scores that do not approach infinite width, however wide."""
    finite = '"width":"infinite"' not in run.attrs["setting"].replace(" ", "")
    return replaced(run, lambda table: table + 0.5 * finite, "score")


def vanishing(run):
    return replaced(run, lambda loss: 0 * loss + 0.01, "loss", "loss_by_group")


def inattentive(run):
    return replaced(run, lambda table: 0 * table + 1 / 3, "attention")


def nearly_symmetric(run):
    """Scores with other groups as large as with the same group."""

    def change(table):
        groups = [str(k)[1:] for k in table["key"].values if str(k)[0] == "c"]
        changed = table.copy(deep=True)
        for k, j in itertools.permutations(groups, 2):
            score = table.sel(key=f"c{k}", query=f"v{k}")
            changed.loc[{"key": f"c{k}", "query": f"v{j}"}] = -score
        return changed

    return replaced(run, change, "score")


def as_in_closed_form(run):
    """Neurons that continue as if attention had not moved."""
    values = run["value"].copy(deep=True)
    for token, curve in closed_form.closed_forms(run).items():
        values.loc[{"head": "+", "token": token}] = curve
    return run.assign(value=values)


CHANGES = (frozen, groups_exchanged, negated, even, shifted, vanishing, another_clock)


SPECIAL = {
    "figure2": inattentive,
    "stage1-closed-form": as_in_closed_form,
    **dict.fromkeys(("figure5", "figure6", "figure7"), nearly_symmetric),
}


class TestExhibits(ExhibitProtocol):
    slow: ClassVar = {exhibit.id for exhibit in PAPER.exhibits} - FAST
    changes = CHANGES

    def changes_of(self, exhibit):
        return [*CHANGES, *filter(None, [SPECIAL.get(exhibit.id)])]


def test_the_papers_figures_are_all_there():
    ids = [exhibit.id for exhibit in PAPER.exhibits]
    assert ids[0] == PAPER.headline == "overview"
    assert ids[1:10] == [f"figure{name}" for name in FIGURES]
    for exhibit in PAPER.exhibits:
        assert not exhibit.printed, "the paper prints no numbers in its figures"


def values_of(name, evidence_of):
    return PAPER.exhibit(name).display(evidence_of(name)).values()


def test_numbers_of_figure_1(evidence_of):
    """Against numbers of an early PyTorch run with other seeds."""
    losses = values_of("figure1a", evidence_of)
    assert losses["steps to loss 0.1"]["consistent"] == pytest.approx(141, rel=0.01)
    assert losses["steps to loss 0.1"]["conflicting"] == pytest.approx(1270, rel=0.03)
    neurons = values_of("figure1b", evidence_of)
    assert neurons["alignment at the end"]["v1"] == pytest.approx(1.64, abs=0.03)
    assert neurons["alignment at the end"]["c1"] == pytest.approx(2.17, abs=0.1)
    scores = values_of("figure1c", evidence_of)
    assert scores["score at the end"]["c1, v1"] == pytest.approx(2.7, abs=0.15)
    maps = values_of("figure2", evidence_of)
    assert maps["attention on c1, X1+-"]["v1"] == pytest.approx(0.924, abs=0.02)
    assert maps["attention on c1, X1-+"]["v2"] == pytest.approx(0.053, abs=0.02)


def test_maps_are_named_by_their_tokens(evidence_of):
    figure = PAPER.exhibit("figure2").display(evidence_of("figure2")).draw()
    ax = figure.axes[1]
    names = [label.get_text() for label in ax.get_xticklabels()]
    assert names == ["$c_{1}$", "$v_{1}$", "$-v_{2}$"]
    assert ax.get_xlabel() == "key" and figure.axes[0].get_ylabel() == "query"
