"""Building the forms over coordinates: their columns, and where they start."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.data import Sequences
from attnflow.models.forms.base import State
from attnflow.models.forms.column_maps import ColumnPlan, column_map, plan_of
from attnflow.models.forms.columns import (
    Columns,
    Representatives,
    collapsed,
    covered,
    representatives,
)
from attnflow.models.forms.coordinates import (
    CoordinateForm,
    CoordinateScores,
    CoordinateValues,
    Passive,
)
from attnflow.models.forms.frames import Basis, frame_of
from attnflow.models.forms.initialise import Initial
from attnflow.models.forms.scaled_pulls import positions_of
from attnflow.models.forms.signs import SignScores, SignValues

COORDINATE_FORMS = ("coordinates", "signs")
Weights = Mapping[str, Array]


def column_plan(name: str, data: Sequences) -> ColumnPlan:
    """The sizes of a form's map between tokens and columns on these data."""
    return plan_of(_columns(name, data, representatives(data)).entries)


def coordinate_refusal(initial: Initial) -> str | None:
    """Why no form over coordinates holds initial weights of this kind, if none does."""
    if initial.merged:
        return "keys and queries are one merged matrix"
    if not initial.values.alike_is_known:
        return f"{type(initial.values).__name__} has layers of neurons behind W_V"
    return None


def build_coordinates(
    name: str,
    data: Sequences,
    initial: Initial,
    weights: Weights,
    *,
    test: Sequences | None,
    plan: ColumnPlan | None = None,
) -> tuple[CoordinateForm, State]:
    """The form and its initial state, in the sizes of a plan or in their own."""
    refusal = coordinate_refusal(initial)
    if refusal is not None:
        raise ValueError(
            f"form={name!r} needs keys and queries apart and values by neurons of one "
            f"layer, but {refusal}. Use form='weights'."
        )
    chosen = representatives(data)
    own = _columns(name, data, chosen)
    plan = plan or plan_of(own.entries)
    columns = column_map(own.entries, plan)
    neurons = initial.values.alike(weights)
    start = _Start(name, own, data, {**_named(weights), "W_V": neurons.weights})
    at = positions_of(data, chosen.number, chosen.sign, count=len(chosen.chosen))
    shared: dict[str, Any] = {"positions": at, "columns": columns}
    reading: dict[str, Any] = {
        "readout": neurons.readout,
        "slope": neurons.slope,
        "gain": jnp.asarray(neurons.gain),
    }
    signs = name == "signs"
    basis = Basis(
        data.tokens[chosen.chosen], jnp.asarray(chosen.matrix), orthonormal=False
    )
    form = CoordinateForm(
        frame=frame_of(data, basis),
        scores=(SignScores if signs else CoordinateScores)(**shared),
        values=(SignValues if signs else CoordinateValues)(**shared, **reading),
        name=name,
        passive=None if test is None else start.passive(test, plan.columns),
    )
    keys = start.state(("W_K", "W_Q"), chosen, plan, follow=test is not None)
    values = start.state(("W_V",), chosen, plan, follow=test is not None)
    if neurons.output is not None:
        values["w_O"] = neurons.output
    return form, {"scores": keys, "values": values}


def _columns(name: str, data: Sequences, chosen: Representatives) -> Columns:
    kind = collapsed if name == "signs" else covered
    return kind(data, chosen.chosen)


def _named(weights: Weights) -> dict[str, Array]:
    return {name: weights[name] for name in ("W_K", "W_Q")}


class _Start(NamedTuple):
    """Full initial weights, `(heads, neurons, embed)`, and the columns they are in."""

    name: str
    columns: Columns
    data: Sequences
    weights: dict[str, Array]

    def state(
        self,
        names: tuple[str, ...],
        chosen: Representatives,
        plan: ColumnPlan,
        *,
        follow: bool,
    ) -> dict[str, Array]:
        """Inner products with tokens (and steps to `follow`), or weights by column."""
        if self.name == "coordinates":
            return {name: self._by_column(name, plan.columns) for name in names}
        tokens = np.asarray(self.data.tokens)[chosen.chosen]
        seen = {name: self._seen(name, tokens) for name in names}
        if not follow:
            return seen
        sizes = {name: product.shape[-1] for name, product in seen.items()}
        if len(names) > 1 and not plan.sparse:
            sizes = {"W_KQ": sum(sizes.values())}
        heads = len(next(iter(seen.values())))
        steps = {
            f"steps_{name}": jnp.zeros((heads, plan.columns, size))
            for name, size in sizes.items()
        }
        return {**seen, **steps}

    def passive(self, test: Sequences, columns: int) -> Passive:
        """Tokens of test samples, read from what the columns do."""
        chosen = representatives(test)
        tokens = np.asarray(test.tokens)[chosen.chosen]
        if self.columns.coordinate is not None:
            entries, rest = self.columns.read(tokens), tokens
            if self.name == "coordinates":
                # What lies in no column stays as it began.
                rest = self.columns.outside(tokens)
        elif test.columns is not None:
            entries, rest = np.asarray(test.columns)[chosen.chosen], tokens
        else:
            raise ValueError(
                "The training data tell their columns alone, and the test samples do "
                "not: give both, or neither."
            )
        return Passive(
            positions_of(test, chosen.number, chosen.sign, count=len(chosen.chosen)),
            jnp.asarray(np.pad(entries, ((0, 0), (0, columns - entries.shape[1])))),
            {name: self._seen(name, rest) for name in self.weights},
        )

    def _seen(self, name: str, tokens: np.ndarray) -> Array:
        return jnp.einsum("hnd,td->htn", self.weights[name], tokens)

    def _by_column(self, name: str, columns: int) -> Array:
        kept = jnp.asarray(self.columns.read(np.asarray(self.weights[name])))
        spare = columns - kept.shape[-1]
        return jnp.pad(kept, ((0, 0), (0, 0), (0, spare))).swapaxes(1, 2)
