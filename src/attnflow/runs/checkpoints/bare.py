"""A problem without an experiment: which weights it has is read off their names."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from jaxtyping import Array

from attnflow.experiments import Experiment
from attnflow.models.forms import (
    AbstractValues,
    Chain,
    ClassMeans,
    Initial,
    Neurons,
    Vector,
)
from attnflow.models.problem import Problem
from attnflow.training import Grid, Stage
from attnflow.training.rules import GradientDescent

OBSERVABLES = ("loss", "accuracy", "output", "margin", "attention", "score", "value")

# Sizes and scales are those of the arrays: here they only stand for a kind of values.
_VALUES: dict[frozenset[str], AbstractValues] = {
    frozenset({"w"}): Vector(),
    frozenset({"W_V", "w_O"}): Chain(1, 0.0, 0.0),
    frozenset({"W_V", "W", "a"}): Neurons(1, 1, 0.0, 0.0),
    frozenset({"W_V"}): ClassMeans(1, 0.0),
    frozenset({"value"}): Vector(),
}
_SCORES = (frozenset({"W_K", "W_Q"}), frozenset({"W_KQ"}), frozenset({"score"}))


@dataclass(frozen=True)
class GivenTask:
    """Samples that are given, and never drawn."""

    random: bool = True
    symmetry: None = None

    def sequences(self, *, key: Array | None = None) -> NoReturn:
        """There are none."""
        raise ValueError(
            "A problem has no samples of its own: give those that it was trained on, "
            "as data=…."
        )

    def test_sequences(self, *, key: Array | None = None) -> None:
        """None."""
        return None


def bare_experiment(problem: Problem, found: Iterable[str]) -> Experiment:
    """An experiment for a problem, with the weights whose names are among `found`."""
    known = set(found)
    values = next((v for names, v in _VALUES.items() if names <= known), None)
    scores = next((names for names in _SCORES if names <= known), None)
    if values is None or scores is None:
        allowed = [" and ".join(sorted(n)) for n in (*_SCORES, *_VALUES)]
        raise ValueError(
            f"The checkpoint has {', '.join(sorted(known)) or 'nothing'}; a problem "
            f"needs scores ({'; '.join(allowed[: len(_SCORES)])}) and values "
            f"({'; '.join(allowed[len(_SCORES) :])}). Give a map of names."
        )
    return Experiment(
        paper="",
        id="observed",
        setting={},
        task=GivenTask(),
        problem=problem,
        initial=Initial(values=values, merged="W_KQ" in scores),
        # What trained it is not told, and nothing that is observed asks for it.
        stages=(Stage(GradientDescent(1.0), 1.0, name="observed"),),
        grid=Grid(points=(0.0,)),
        observables=OBSERVABLES,
    )
