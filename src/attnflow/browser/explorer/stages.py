"""Stage tables as data: what is detected how, and the paper's formulas as programs.

A paper's stage table is a function of a run. It is called with a run in which nothing
is known but the setting, whose numbers are symbols: the stages that it looks for
identify themselves, and the formulas that come out depend on the symbols.
"""

import contextlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from unittest import mock

import numpy as np
import xarray as xr

from attnflow.browser.explorer.blank import Fields, blank_run, ends_of, settings_read
from attnflow.browser.explorer.claims import live_parts
from attnflow.browser.explorer.conditions import conditions_of
from attnflow.browser.explorer.drift import drift_of
from attnflow.browser.explorer.statistics import Statistics
from attnflow.browser.setup import SetUp, SetUpModule
from attnflow.browser.symbols import Log, is_symbol, number, symbols_pass
from attnflow.browser.trace import named
from attnflow.claims.stages import Stage
from attnflow.papers.base import Paper

Json = dict[str, Any]
Put = Callable[..., None]


@dataclass(frozen=True)
class _Row:
    """A row of a stage table, and the stage that it looks for with its level."""

    name: str
    note: str
    stage: Stage | None
    level: Any
    formula: Any
    detected: Any


_Table = list[_Row]
FILLS = (0.5, -0.5, np.nan)
"""Records of blank runs: which stages a table has may depend on them."""


@dataclass(frozen=True)
class _Known:
    """What was made for a variant, and the fields of its setting that were read."""

    fields: Json
    rows: list[Json]
    fixed: Json
    program: int
    puts: list[tuple[str, Any, Json]]

    def holds_for(self, setting: Mapping[str, Any]) -> bool:
        """Whether another setting has the same values there."""
        return all(setting[n] == value for n, value in self.fields.items())


class StageRows:
    """The rows of a paper's stage table for a variant, and its live claims.

    What they read of a run by functions is in `programs`. Variants share all of it
    where they differ in nothing that was read: in seeds, say, or in rules.
    """

    def __init__(self, paper: Paper, id: str):
        self.paper, self.id = paper, id
        self.fills = FILLS
        self.programs: list[Json] = []
        self.modules: list[SetUpModule | None] = []
        self.drifts: list[tuple[SetUpModule, Json] | None] = []
        self._known: dict[Hashable, list[_Known]] = {}

    def __call__(
        self, setup: SetUp, setting: Any, names: Sequence[str], put: Put
    ) -> Json:
        """The rows, the paper's conditions, and the program, as parts of a variant.

        Formulas become outputs of the set-up's module by `put`; some hold at some
        numbers alone.
        """
        fields = asdict(setting)
        known = self._known.setdefault(_shape(setup, names), [])
        found = next((k for k in known if k.holds_for(fields)), None)
        if found is None:
            found = self._made(setup, setting, names)
            known.append(found)
        for key, symbol, place in found.puts:
            put(key, symbol, **place)
        items, fixed = conditions_of(self.paper, self.id, setting, names, put)
        return {
            "rows": found.rows,
            "formulasFixed": found.fixed,
            "program": found.program,
            "conditions": items,
            "conditionsFixed": fixed,
        }

    def _made(self, setup: SetUp, setting: Any, names: Sequence[str]) -> _Known:
        """The rows and the program of a variant for which they are not known yet."""
        read: set[str] = set()
        puts: list[tuple[str, Any, Json]] = []

        def put(key: str, symbol: Any, **place: Any) -> None:
            puts.append((key, symbol, place))

        tables, fixed = self._tables(setup, setting, names, put, read)
        statistics = Statistics(setup, setting, names, read)
        series: dict[int, tuple[int | None, str]] = {}
        for row in (row for table in tables for row in table):
            if row.stage is not None and callable(row.stage.series):
                place = hash(row.stage)
                if place not in series:
                    series[place] = statistics.add(row.stage.series)
        judges = live_parts(self.paper, self.id, statistics)
        module, said = statistics.module() or (None, {})
        self.modules.append(module)
        self.programs.append({**said, "judges": judges})
        self.drifts.append(drift_of(setup))
        rows = self._rows(setup, tables, put, series)
        fields = asdict(setting)
        fields = {n: fields[n] for n in read if n in fields}
        return _Known(fields, rows, fixed, len(self.programs) - 1, puts)

    @property
    def live(self) -> Json:
        """By claim, the live parts of its predicate in the first variant."""
        return self.programs[0]["judges"]

    def _tables(
        self,
        setup: SetUp,
        setting: Any,
        names: Sequence[str],
        put: Put,
        read: set[str],
    ) -> tuple[list[_Table], Json]:
        """The tables of blank runs, with symbols in them; different ones once each."""
        if self.paper.stage_table is None:
            return [], {}
        tables: list[_Table] = []
        fixed: Json = {}
        plain = asdict(setting)
        for fill in self.fills:
            log = Log()
            values = {name: number(name, getattr(setting, name), log) for name in names}
            try:
                fields = Fields({**plain, **values}, read)
                tables.append(self._table(setup, fields, fill))
            except Exception:
                continue
            fixed |= {n: getattr(setting, n) for n in log.leaked}
            for n, guard in enumerate(log.guards):
                place = {"part": "formulaGuard", "answer": guard.answer}
                put(f"formula guard {fill} {n}", guard.symbol, **place)
        if not tables:
            with contextlib.suppress(Exception):
                # If a formula cannot be traced, show the stages without formulas.
                fields = Fields(plain, read)
                tables = [self._table(setup, fields, np.nan, formulas=False)]
        if len({repr([_said(t) for t in table]) for table in tables}) <= 1:
            # The list of stages does not depend on the records, so two fills are
            # enough.
            self.fills = FILLS[:2]
        return tables, fixed

    def _table(
        self,
        setup: SetUp,
        fields: Fields,
        fill: float,
        *,
        formulas: bool = True,
    ) -> _Table:
        run = blank_run(setup, fields, fill)
        assert self.paper.stage_table is not None
        with symbols_pass(), settings_read(), _observed() as (stages, levels):
            rows = list(self.paper.stage_table(run))
        return [
            _Row(
                row.name,
                row.note if formulas else row.note.partition(";")[0],
                stages.get(row.name),
                levels.get(row.name),
                row.formula if formulas else None,
                row.detected,
            )
            for row in rows
        ]

    def _rows(
        self,
        setup: SetUp,
        tables: Sequence[_Table],
        put: Put,
        series: Mapping[int, tuple[int | None, str]],
    ) -> list[Json]:
        """Rows as data; a formula that differs between tables reads the run."""
        ends = ends_of(setup)
        by_words: dict[tuple[str, str], list[_Row]] = {}
        for row in (row for table in tables for row in table):
            by_words.setdefault(_said(row), []).append(row)
        rows = []
        for n, ((name, meaning), same) in enumerate(by_words.items()):
            row = same[0]
            detector: Json | None = None
            if row.stage is not None:
                detector = _detector(row.stage, row.level, series)
            elif row.detected in ends:
                detector = {"stageEnd": ends.index(row.detected)}
            json_row: Json = {
                "name": name,
                "meaning": meaning,
                "detector": detector,
                "formula": None,
            }
            formulas = {repr(_value(r.formula)) for r in same}
            if len(formulas) > 1:
                json_row["why"] = "the formula reads the run: see Python"
            elif row.formula is not None:
                _add(json_row, "formula", n, row.formula, put)
            if detector and "level" in detector and is_symbol(row.level):
                _add(detector, "level", n, row.level, put)
            rows.append(json_row)
        return rows


def _shape(setup: SetUp, names: Sequence[str]) -> Hashable:
    """What rows and programs depend on beside the setting's fields."""
    stage, experiment = setup.stages[0], setup.experiment
    shapes = [
        (name, array.shape)
        for tree in (stage.inputs, stage.state)
        for name, array in named(tree)
    ]
    times = experiment.grid.times(whole=not experiment.is_flow)
    words = repr((sorted(names), dict(setup.labels), shapes, len(setup.stages)))
    return words, experiment.is_flow, times.tobytes(), stage.static


def _add(row: Json, name: str, n: int, value: Any, put: Put) -> None:
    """A number of a row: itself, or an output of the set-up's module."""
    if not np.isfinite(_value(value)):
        return
    row[name] = {"value": float(_value(value))}
    if is_symbol(value):
        row[name] = {"output": n}
        put(f"{name} {n}", value, part=name, n=n)


def _said(row: _Row) -> tuple[str, str]:
    meaning = row.stage.meaning if row.stage else row.note.partition(";")[0]
    return row.name, meaning


def _value(x: Any) -> Any:
    return x.value if is_symbol(x) else x


def _detector(
    stage: Stage, level: Any, series: Mapping[int, tuple[int | None, str]]
) -> Json:
    how = {
        "kind": stage.detector,
        "level": {"value": float(_value(level))},
        "direction": stage.direction,
        "clock": stage.clock,
        "scale": stage.scale,
        "atEnd": stage.at_end,
    }
    if isinstance(stage.series, str):
        return {"selector": stage.series, **how}
    number, why = series.get(hash(stage), (None, "it was not tried"))
    if number is None:
        return {"why": why}
    return {"series": number, **how}


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

    with mock.patch.object(Stage, "__call__", seen):
        yield stages, levels
