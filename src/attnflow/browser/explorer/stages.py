"""Stage tables as data: what is detected how, and the paper's formulas as programs.

A paper's stage table is a function of a run. It is called with a run in which nothing
is known but the setting, whose numbers are symbols: the stages that it looks for
identify themselves, and the formulas that come out depend on the symbols.
"""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any
from unittest import mock

import jax
import numpy as np
import xarray as xr

from attnflow.browser.setup import SetUp
from attnflow.browser.symbols import Log, is_symbol, number, symbols_pass
from attnflow.claims.stages import Stage
from attnflow.experiments.course import as_dataset
from attnflow.experiments.record import Experiment
from attnflow.observables import find
from attnflow.papers.base import Paper
from attnflow.schema.dataset import Outcome
from attnflow.schema.settings import canonical_json
from attnflow.training import precise
from attnflow.training.stages import Course, Records

Json = dict[str, Any]
Put = Callable[..., None]
_Table = tuple[list[Any], dict[str, Stage], dict[str, Any]]
"""Rows of a stage table, and the stages that it looks for with their levels."""


class _Marked(str):
    """A text that reads as a setting with symbols."""

    setting: Mapping[str, Any]


class StageRows:
    """The rows of a paper's stage table for a variant, and their formulas."""

    def __init__(self, paper: Paper):
        self.paper = paper
        self._is_known: bool | None = None

    def __call__(
        self, setup: SetUp, setting: Any, names: Sequence[str], put: Put
    ) -> tuple[list[Json], Json]:
        """The rows, and numbers at which alone their formulas hold.

        Formulas become outputs of the set-up's module by `put`. A table whose stages
        depend on what was recorded is not known before a run, and is left out.
        """
        if self.paper.stage_table is None or self._is_known is False:
            return [], {}
        plain = asdict(setting)
        # Whether a table reads records is seen at the first setting that is asked for.
        fills = (np.nan, 0.5, -0.5) if self._is_known is None else (np.nan,)
        try:
            tables = [self._table(setup, plain, fill) for fill in fills]
        except Exception:
            self._is_known = False
            return [], {}
        said = [[(r.name, _meaning(r, s)) for r in t] for t, s, _ in tables]
        self._is_known = all(other == said[0] for other in said[1:])
        if not self._is_known:
            return [], {}
        log = Log()
        values = {name: number(name, getattr(setting, name), log) for name in names}
        try:
            symbolic = self._table(setup, {**plain, **values}, np.nan)
        except Exception:
            # A formula that cannot be followed: the stages without formulas.
            return self._rows(setup, tables[0], None), {}
        others = [[r.formula for r in t] for t, _, _ in tables]
        fixed = {n: getattr(setting, n) for n in log.leaked}
        rows = self._rows(setup, symbolic, put, list(zip(*others, strict=True)))
        if any(row["formula"] for row in rows):
            for n, guard in enumerate(log.guards):
                place = {"part": "formulaGuard", "answer": guard.answer}
                put(f"formula guard {n}", guard.symbol, **place)
        return rows, fixed

    def _table(self, setup: SetUp, fields: Mapping[str, Any], fill: float) -> _Table:
        run = blank_run(setup, fields, fill)
        assert self.paper.stage_table is not None
        with symbols_pass(), _observed() as (stages, levels):
            return list(self.paper.stage_table(run)), stages, levels

    def _rows(
        self,
        setup: SetUp,
        table: _Table,
        put: Put | None,
        others: Sequence[Sequence[Any]] | None = None,
    ) -> list[Json]:
        """Rows as data; a formula that differs between `others` reads the run."""
        ends = _ends(setup)
        rows = []
        for n, row in enumerate(table[0]):
            stage, level = table[1].get(row.name), table[2].get(row.name)
            json_row: Json = {
                "name": row.name,
                "meaning": _meaning(row, table[1]),
                "detector": None if stage is None else _detector(stage, level),
                "formula": None,
            }
            if stage is None and row.detected in ends:
                json_row["detector"] = {"stageEnd": ends.index(row.detected)}
            reads = others is not None and len(set(map(repr, others[n]))) > 1
            if put is not None and row.formula is not None and not reads:
                self._add(json_row, "formula", n, row.formula, put)
            detector = json_row["detector"] or {}
            if "level" in detector and is_symbol(level) and put is not None:
                self._add(detector, "level", n, level, put)
            rows.append(json_row)
        return rows

    def _add(self, row: Json, name: str, n: int, value: Any, put: Put) -> None:
        """A number of a row: itself, or an output of the set-up's module."""
        if not np.isfinite(_value(value)):
            return
        row[name] = {"value": float(_value(value))}
        if is_symbol(value):
            row[name] = {"output": n}
            put(f"{name} {n}", value, part=name, n=n)


def _meaning(row: Any, stages: Mapping[str, Stage]) -> str:
    stage = stages.get(row.name)
    return stage.meaning if stage else row.note.partition(";")[0]


def _ends(setup: SetUp) -> list[float]:
    """Ends of stages that no detector would find."""
    experiment = setup.experiment
    last = float(experiment.grid.times(whole=not experiment.is_flow)[-1])
    return [last * (1 + 0.01 * (n + 1)) for n in range(len(setup.stages))]


def _value(x: Any) -> Any:
    return x.value if is_symbol(x) else x


def _detector(stage: Stage, level: Any) -> Json | None:
    if not isinstance(stage.series, str):
        return None
    return {
        "selector": stage.series,
        "kind": stage.detector,
        "level": {"value": float(_value(level))},
        "direction": stage.direction,
        "clock": stage.clock,
        "scale": stage.scale,
        "atEnd": stage.at_end,
    }


@contextlib.contextmanager
def _observed() -> Iterator[tuple[dict[str, Stage], dict[str, Any]]]:
    """The stages that are looked for inside the context, and their levels."""
    stages: dict[str, Stage] = {}
    levels: dict[str, Any] = {}
    call = Stage.__call__

    def seen(self: Stage, run: xr.Dataset) -> Any:
        stages.setdefault(self.name, self)
        levels.setdefault(self.name, self.level_of(run))
        return call(self, run)

    plain = json.loads

    def loads(text: Any, *args: Any, **options: Any) -> Any:
        if type(text) is _Marked:
            return dict(text.setting)
        return plain(text, *args, **options)

    with (
        mock.patch.object(Stage, "__call__", seen),
        mock.patch.object(json, "loads", loads),
    ):
        yield stages, levels


def blank_run(setup: SetUp, fields: Mapping[str, Any], fill: float) -> xr.Dataset:
    """A run of this experiment in which nothing is known but when stages ended."""
    experiment, stages = setup.experiment, setup.stages
    with precise():
        shapes = jax.eval_shape(stages[0].observe, stages[0].inputs, stages[0].state)
    times = experiment.grid.times(whole=not experiment.is_flow)
    records = Records(times, 1)
    records.recorded[:] = True
    records.rows = {
        name: np.full((1, len(times), *shape.shape), fill)
        for name, shape in shapes.items()
    }
    ends = np.array([_ends(setup)])
    for _ in stages:
        records.add_end({n: np.full((1, *s.shape), fill) for n, s in shapes.items()})
    outcome = [Outcome.FINISHED]
    course = Course(records, None, np.zeros_like(ends), ends, outcome, [None])
    known = find
    if not isinstance(experiment, Experiment):
        known = experiment.model.registry.find
    labels = {dim: tuple(names) for dim, names in setup.labels.items()}
    run = as_dataset(experiment, [0], course, labels, find=known)
    marked = _Marked(canonical_json(dict(experiment.setting)))
    marked.setting = fields
    run.attrs = {
        "paper": experiment.paper,
        "experiment": experiment.id,
        "setting": marked,
        "form": "none",
    }
    return run
