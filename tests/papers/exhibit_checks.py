"""What every figure and table of a paper must pass, given its runs."""

import numpy as np

from attnflow.figures import themed
from attnflow.report.plain import leaves, plain


def check_seen(exhibit, evidence, changes):
    """All that must be seen is seen, and under some change of the runs is not."""
    seen = exhibit.seen(evidence)
    assert seen and all(answer is True for answer in seen.values()), seen
    missing = set()
    for change in changes:
        changed = {name: change(run) for name, run in evidence.items()}
        # What was measured may be no number any more, and its logarithm too.
        with np.errstate(all="ignore"):
            found = exhibit.seen(changed)
        assert found.keys() == seen.keys()
        missing |= {text for text, answer in found.items() if not answer}
    assert missing == seen.keys(), f"cannot fail: {seen.keys() - missing}"


def check_drawn(exhibit, evidence):
    """Something is drawn on every axis, on a dark slide too, and axes have names."""
    with themed("dark"):
        figure = exhibit.draw(evidence)
    shown = [ax for ax in figure.axes if ax.axison]
    assert shown and all(ax.lines or ax.collections for ax in shown)
    assert any(ax.get_xlabel() for ax in shown)


def check_values(exhibit, evidence):
    """Values are numbers, and what is printed has one of ours beside it."""
    values = dict(leaves(plain(exhibit.values(evidence))))
    assert values
    assert all(isinstance(v, int | float) for v in values.values()), values
    assert {path for path, _ in leaves(plain(exhibit.printed))} <= values.keys()
