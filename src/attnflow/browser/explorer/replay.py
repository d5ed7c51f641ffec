"""A document played by wasmtime: what `player.js` does, in Python.

All that is read is the document, so that a page plays what is tested and measured here.
"""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from attnflow.browser.host import Instance
from attnflow.browser.simulate import Simulation
from attnflow.schema.dataset import Outcome
from attnflow.training.stages import Grid
from attnflow.training.system import CODES

Json = dict[str, Any]
DESCENTS = 1e-12
"""How near descents must be; flows, to ten times their tolerance."""
ZERO = 1e-13
"""An observable that never exceeds it is 0 up to rounding, such as a conserved sum."""


class NotOffered(ValueError):
    """A setting that a page cannot play; the message says why."""


class Replay:
    """An experiment of a document."""

    def __init__(self, document: Json, number: int = 0):
        self.document = document
        self.experiment = document["experiments"][number]

    def complete(self, setting: Mapping[str, Any]) -> Json:
        """The setting with defaults of the knobs it leaves out."""
        defaults = {k["name"]: k["default"] for k in self.experiment["knobs"]}
        return {**defaults, **setting}

    def variant(self, setting: Mapping[str, Any]) -> Json:
        """The variant of a setting's choices."""
        names = [k["name"] for k in self.experiment["knobs"] if k["kind"] == "choice"]
        for variant in self.experiment["variants"]:
            if all(variant["choices"][name] == setting[name] for name in names):
                return variant
        raise NotOffered(f"No variant has the choices of {setting}.")

    def play(self, setting: Mapping[str, Any]) -> Simulation:
        """Run it, stage after stage."""
        whole = self.complete(setting)
        variant = self.variant(whole)
        values, grid, _ = self.prepare(whole, variant)
        times = grid.times(whole=variant["grid"]["whole"])
        plans = [self.experiment["plans"][s["plan"]] for s in variant["stages"]]
        rows = {
            f["name"]: np.full((len(times), *f["shape"]), np.nan)
            for f in plans[0]["row"]
        }
        simulation = Simulation(times, rows, np.zeros(len(times), bool))
        start, state = 0.0, None
        for plan, value in zip(plans, values, strict=True):
            player = _StagePlayer(self._module(plan["module"]), plan)
            start, state = player.run(simulation, value, start, state)
            if simulation.outcome not in (Outcome.FINISHED, Outcome.EVENT):
                break
        return simulation

    def prepare(
        self, setting: Mapping[str, Any], variant: Json
    ) -> tuple[list[Json], Grid, dict[int, float]]:
        """Values of each stage, the grid of records, and times of formulas."""
        setup = variant["setup"]
        for name, value in variant["fixed"].items():
            if setting.get(name, value) != value:
                raise NotOffered(f"{name} cannot be changed here: it is {value}.")
        instance = Instance(self._module(setup["module"]))
        every = [*setup["outputs"], *setup["guards"], *setup["arrays"]]
        instance.reserve(max((x["cell"] + x["size"] for x in every), default=0))
        for item in setup["numbers"]:
            usual = self.experiment["setting"][item["name"]]
            instance.heap[item["cell"]] = setting.get(item["name"], usual)
        for item in setup["arrays"]:
            instance.heap[_cells(item)] = self._array(item["values"])
        instance.call("prepare")
        heap = instance.heap.copy()
        for guard in setup["guards"]:
            if (heap[guard["cell"]] != 0) != guard["answer"]:
                raise NotOffered(f"{guard['knobs']}: another path at {guard['line']}.")
        values = [
            {
                **stage,
                "control": dict(stage["control"]),
                "inputs": [self._known(x) for x in stage["inputs"]],
                "carry": [self._known(x) for x in stage["carry"]],
            }
            for stage in variant["stages"]
        ]
        grid = dict(variant["grid"])
        points = self._known(grid["points"])
        formulas = {}
        for item in setup["outputs"]:
            result, part = heap[_cells(item)], item["part"]
            if part in ("inputs", "carry"):
                values[item["stage"]][part][item["n"]] = result
            elif part == "control":
                values[item["stage"]]["control"][item["name"]] = result[0]
            elif part in ("until", "horizon"):
                values[item["stage"]][part] = result[0]
            elif part == "grid" and item["name"] == "points":
                points = result
            elif part == "grid":
                grid[item["name"]] = result[0]
            elif part == "formula":
                formulas[item["n"]] = float(result[0])
        if points is not None:
            return values, Grid(points=tuple(points.tolist())), formulas
        made = Grid(grid["stop"], grid["count"], grid["start"], grid["spacing"])
        return values, made, formulas

    def _known(self, values: Any) -> np.ndarray | None:
        return None if values is None else self._array(values)

    def _array(self, values: Any) -> np.ndarray:
        if isinstance(values, list):
            return np.array(values, float)
        array = self.document["arrays"][values]
        raw = base64.b64decode(array["data"])
        return np.frombuffer(raw, f"<{array['type']}").astype(float)

    def _module(self, number: int) -> bytes:
        return base64.b64decode(self.document["modules"][number])


class _StagePlayer:
    """A kernel in memory, from its plan."""

    def __init__(self, module: bytes, plan: Json):
        self.plan, self.instance = plan, Instance(module)

    def run(
        self,
        simulation: Simulation,
        values: Json,
        start: float,
        state: list[np.ndarray] | None,
    ) -> tuple[float, list[np.ndarray]]:
        """Record the stage, and return its end and its last state."""
        plan, instance = self.plan, self.instance
        horizon = values["horizon"]
        stop = max(values["until"], start) if horizon is None else start + horizon
        stop = stop if plan["isFlow"] else float(np.rint(stop))
        for field, value in zip(plan["inputs"], values["inputs"], strict=True):
            self._fill(field, value)
        for n, field in enumerate(plan["carry"]):
            value = values["carry"][n]
            if field["name"] == ".step":
                value = np.array([start])
            elif state is not None and n < plan["moved"]:
                value = state[n]
            self._fill(field, value)
        for name, value in {**values["control"], "start": start, "stop": stop}.items():
            instance.heap[plan["control"][name]] = value
        instance.call("prepare")
        if plan["isFlow"]:
            instance.call("begin")
        self._advance(simulation, start, stop)
        end = self._end(simulation, stop, waits=horizon is not None)
        return end, [self._read(field) for field in plan["carry"][: plan["moved"]]]

    def _advance(self, simulation: Simulation, start: float, stop: float) -> None:
        plan, instance, times = self.plan, self.instance, simulation.times
        inside = np.flatnonzero((times >= start) & (times <= stop))
        marks = times[inside]
        if not len(marks) or marks[-1] < stop:
            marks = np.append(marks, stop)
        cells, size = plan["cells"], plan["rowSize"]
        at = cells + len(marks)
        instance.reserve(at + size * len(marks))
        instance.heap[cells:at] = marks
        count = int(instance.call("advance", cells, 0, len(marks), at))
        records = instance.heap[at : at + size * count].reshape(count, size)
        places = inside[:count]
        records = records[: len(places)]
        fine = np.isfinite(records).all(axis=1)
        simulation.recorded[places[fine]] = True
        for field in plan["row"]:
            rows = records[fine][:, _cells(field)].reshape(-1, *field["shape"])
            simulation.rows[field["name"]][places[fine]] = rows

    def _end(self, simulation: Simulation, stop: float, *, waits: bool) -> float:
        control, heap = self.plan["control"], self.instance.heap
        outcome, end = CODES[int(heap[control["status"]])], heap[control["end"]]
        if outcome is Outcome.FINISHED:
            end = stop
            if waits:
                outcome = Outcome.EVENT_NOT_REACHED
        simulation.outcome = outcome
        simulation.ends.append(float(end))
        return float(end)

    def _fill(self, field: Json, values: Any) -> None:
        integer = field["integer"]
        heap = self.instance.integers if integer else self.instance.heap
        heap[_cells(field)] = np.rint(values) if integer else values

    def _read(self, field: Json) -> np.ndarray:
        heap = self.instance.integers if field["integer"] else self.instance.heap
        return heap[_cells(field)].astype(float)


def agreement(document: Json, number: int, run: xr.Dataset) -> Json:
    """The distance of what a page plays from `run`, one seed at the page's setting.

    By observable, the largest difference over all records, relative to the largest
    entry; `None` where the two have records at other times. `zero` names those that are
    0 up to rounding in both, whose difference is that of the numbers themselves.
    """
    replay = Replay(document, number)
    mine = replay.play({"seed": int(run.seed)})
    stage = replay.variant(replay.complete({}))["stages"][0]
    is_flow = replay.experiment["plans"][stage["plan"]]["isFlow"]
    pairs = {name: (rows, run[name].values) for name, rows in mine.rows.items()}
    zero = [name for name, tables in pairs.items() if max(map(_size, tables)) < ZERO]
    return {
        "tolerance": 10 * stage["control"]["rtol"] if is_flow else DESCENTS,
        "observables": {
            name: _distance(*tables, 1.0 if name in zero else _size(tables[1]))
            for name, tables in pairs.items()
        },
        "zero": zero,
    }


def _size(table: np.ndarray) -> float:
    return float(np.nanmax(np.abs(table), initial=0.0))


def _distance(rows: np.ndarray, expected: np.ndarray, size: float) -> float | None:
    if not np.array_equal(np.isnan(rows), np.isnan(expected)):
        return None
    return float(np.nanmax(np.abs(rows - expected), initial=0.0) / (size or 1.0))


def _cells(item: Json) -> slice:
    return slice(item["cell"], item["cell"] + item["size"])
