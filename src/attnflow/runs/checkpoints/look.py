"""A look along a series of checkpoints: which observables can be told, and their rows.

Which lens tells an observable is found at the first checkpoint, without computing it;
then every checkpoint is seen once and forgotten.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np

from attnflow.experiments.course import Observe
from attnflow.experiments.dataset import labels_of
from attnflow.experiments.record import fingerprint
from attnflow.models.forms import open_shapes
from attnflow.models.forms.initial_coordinates import coordinate_refusal
from attnflow.observables import find
from attnflow.runs.checkpoints.lenses import (
    AbstractLens,
    CoordinatesLens,
    Seen,
    Subject,
    TablesLens,
    WeightsLens,
)
from attnflow.runs.checkpoints.names import Names, Shapes, explained, pick
from attnflow.runs.checkpoints.series import Moment, State
from attnflow.runs.checkpoints.tables import check_tables
from attnflow.schema.settings import digest

TABLES = ("score", "value")
Rows = dict[str, np.ndarray]


class Looked(NamedTuple):
    """What was seen along one series.

    - `times` of all checkpoints; `rows` of those before one that is not finite.
    - `labels` of dims; `left_out`: observables that could not be told, and why.
    - `kind`: `weights` or `tables`; `fingerprint` of all that was given.
    """

    times: np.ndarray
    rows: list[Rows]
    labels: Mapping[str, tuple[str, ...]]
    left_out: dict[str, str]
    kind: str
    fingerprint: str


class _Plan(NamedTuple):
    """Lenses with the observables that each of them tells."""

    lenses: list[tuple[AbstractLens, Observe]]
    labels: Mapping[str, tuple[str, ...]]
    left_out: dict[str, str]

    def rows(self, arrays: Mapping[str, np.ndarray]) -> Rows:
        """All observables of a checkpoint."""
        found = [_look(observe, *lens(arrays)) for lens, observe in self.lenses]
        return {n: np.asarray(row) for rows in found for n, row in rows.items()}


def look_along(
    subject: Subject,
    moments: Iterable[Moment],
    names: Names | None,
    asked: Sequence[str],
) -> Looked:
    """See every checkpoint of a series; `asked` are observables that must be told."""
    times, rows, prints = [], [], []
    plan, kind, finite = None, "", True
    for time, state in moments:
        kind = kind or _kind(state, names, subject)
        try:
            arrays = _arrays(subject, kind, state, names)
        except ValueError as error:
            raise ValueError(f"{error} (It is the one at {time:g}.)") from error
        times.append(time)
        prints.append(f"{time!r} {fingerprint(arrays)}")
        finite = finite and all(np.isfinite(a).all() for a in arrays.values())
        if finite:
            plan = plan or _plan(subject, kind, arrays, asked, begins=time == 0)
            rows.append(plan.rows(arrays))
    if plan is None:
        raise ValueError(
            f"There is no finite checkpoint among {len(times)}: give one at least."
        )
    return Looked(
        np.array(times), rows, plan.labels, plan.left_out, kind, digest(*prints)
    )


def _kind(state: State, names: Names | None, subject: Subject) -> str:
    """Whether a checkpoint has weights or tables."""
    if names and set(names) <= set(TABLES):
        return "tables"
    weights = _wanted(subject, "weights")
    has_tables = all(name in state for name in TABLES)
    return "tables" if has_tables and not set(weights) <= set(state) else "weights"


def _wanted(subject: Subject, kind: str) -> Shapes:
    heads, embed = subject.experiment.problem.heads, subject.data.vectors.shape[1]
    if kind == "tables":
        return {"score": (heads, "tokens", "tokens"), "value": (heads, "tokens")}
    return open_shapes(subject.experiment.initial, heads, embed)


def _arrays(
    subject: Subject, kind: str, state: State, names: Names | None
) -> dict[str, np.ndarray]:
    """The arrays of a checkpoint by our names, of shapes that fit."""
    heads = subject.experiment.problem.heads
    arrays = pick(state, _wanted(subject, kind), names, heads=heads)
    if not all(np.isfinite(array).all() for array in arrays.values()):
        return arrays
    try:
        if kind == "tables":
            check_tables(arrays, heads)
        else:
            subject.checked(arrays)
    except ValueError as error:
        raise explained(error, state, names) from error
    return arrays


def _plan(
    subject: Subject,
    kind: str,
    arrays: Mapping[str, np.ndarray],
    asked: Sequence[str],
    *,
    begins: bool,
) -> _Plan:
    names = list(dict.fromkeys((*subject.experiment.observables, *asked)))
    for name in names:
        find(name)
    left_out: dict[str, str] = {}
    lenses, labels = [], {}
    for lens in _lenses(subject, kind, begins=begins):
        seen = lens(arrays)
        labels = labels or labels_of(seen[0])
        reasons = {name: _refusal(name, seen) for name in names}
        told = tuple(name for name, reason in reasons.items() if reason is None)
        left_out = {n: left_out.get(n, r) for n, r in reasons.items() if r is not None}
        if told:
            lenses.append((lens, Observe(told)))
        names = list(left_out)
        if not names:
            break
    for name in asked:
        if name in left_out:
            raise ValueError(
                f"{name} cannot be told from these {kind}: {left_out[name]}"
            )
    return _Plan(lenses, labels, left_out)


def _lenses(subject: Subject, kind: str, *, begins: bool) -> Iterator[AbstractLens]:
    """Lenses in the order in which they are tried."""
    if kind == "tables":
        yield TablesLens(subject, begins=begins)
        return
    yield WeightsLens(subject, begins=begins)
    if coordinate_refusal(subject.experiment.initial) is None:
        yield CoordinatesLens(subject)


def _refusal(name: str, seen: Seen) -> str | None:
    """Why an observable cannot be told of a system; `None` if it can."""
    try:
        eqx.filter_eval_shape(Observe((name,)), *seen)
    except ValueError as reason:
        return str(reason)
    return None


@eqx.filter_jit
def _look(observe: Observe, system: Any, state: Any) -> dict[str, Any]:
    return observe(system, state)
