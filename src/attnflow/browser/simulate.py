"""An experiment run by its kernels under wasmtime, stage after stage.

What the host does is little, and the page does the same: it fills in inputs and the
first state, says where to record, and takes the state from one stage to the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from attnflow.browser.host import Instance
from attnflow.browser.kernel import Field, Kernel, compile_stage
from attnflow.browser.lowering.values import as_cells
from attnflow.browser.trace import StageFunctions, named, stages_of
from attnflow.experiments.record import Runnable, Trained
from attnflow.schema.dataset import Outcome
from attnflow.training import Reach
from attnflow.training.rules import Flow
from attnflow.training.system import CODES


@dataclass
class Simulation:
    """Records by observable, NaN where there are none; ends and outcome of stages."""

    times: np.ndarray
    rows: dict[str, np.ndarray]
    recorded: np.ndarray
    ends: list[float] = field(default_factory=list)
    end_rows: list[dict[str, np.ndarray]] = field(default_factory=list)
    outcome: Outcome = Outcome.FINISHED
    evaluations: int = 0


def kernels_of(experiment: Runnable, seed: int = 0) -> list[Kernel]:
    """A kernel for each stage of an experiment."""
    return [compile_stage(stage) for stage in stages_of(experiment, seed)]


def simulate(
    experiment: Trained, kernels: Sequence[Kernel], *, seed: int = 0
) -> Simulation:
    """Run an experiment by kernels of its shapes, compiled for any numbers."""
    times = experiment.grid.times(whole=not experiment.is_flow)
    names = {f.name: f.shape for f in kernels[0].row}
    rows = {
        name: np.full((len(times), *shape), np.nan) for name, shape in names.items()
    }
    simulation = Simulation(times, rows, np.zeros(len(times), bool))
    start, state = 0.0, None
    for stage, kernel in zip(stages_of(experiment, seed), kernels, strict=True):
        player = Player(kernel, stage, start, state)
        start, state = player.run(simulation)
        if simulation.outcome not in (Outcome.FINISHED, Outcome.EVENT):
            break
    return simulation


class Player:
    """A kernel whose memory holds one stage at its start."""

    def __init__(
        self,
        kernel: Kernel,
        stage: StageFunctions,
        start: float,
        state: list[np.ndarray] | None,
    ):
        self.kernel, self.stage, self.start = kernel, stage, start
        self.instance = Instance(kernel.module)
        arrays = dict(named(stage.inputs))
        for item in kernel.inputs:
            self._fill(item, arrays.get(item.name))
        carry = [array for _, array in named(stage.carry)]
        if state is not None:
            carry[: kernel.moved] = state
        for item, array in zip(kernel.carry, carry, strict=True):
            if item.name == ".step":
                array = np.asarray(round(start))
            self._fill(item, array)
        until, rule = stage.stage.until, stage.stage.rule
        stop = start + until.horizon if isinstance(until, Reach) else max(until, start)
        self.stop = stop if kernel.is_flow else float(np.rint(stop))
        control = {"start": start, "stop": self.stop}
        if isinstance(rule, Flow):
            control |= {"rtol": rule.rtol, "atol": rule.atol, "scale": rule.scale}
            control["max_steps"] = rule.max_steps
        for name, value in control.items():
            self.instance.heap[kernel.control_cell(name)] = value
        self.instance.call("prepare")
        if kernel.is_flow:
            self.instance.call("begin")

    def run(self, simulation: Simulation) -> tuple[float, list[np.ndarray]]:
        """Record the stage, and return its end and its last state."""
        kernel, times = self.kernel, simulation.times
        inside = np.flatnonzero((times >= self.start) & (times <= self.stop))
        marks = times[inside]
        if not len(marks) or marks[-1] < self.stop:
            marks = np.append(marks, self.stop)
        size, rows_at = kernel.row_size, kernel.cells + len(marks)
        self.instance.reserve(rows_at + size * len(marks))
        self.instance.heap[kernel.cells : rows_at] = marks
        count = int(self.instance.call("advance", kernel.cells, 0, len(marks), rows_at))
        records = self.instance.heap[rows_at : rows_at + size * count]
        self._record(simulation, inside[:count], records.reshape(count, size))
        end = self._end(simulation)
        return end, [self._array(item) for item in kernel.carry[: kernel.moved]]

    def _record(
        self, simulation: Simulation, places: np.ndarray, records: np.ndarray
    ) -> None:
        records = records[: len(places)]
        fine = np.isfinite(records).all(axis=1)
        simulation.recorded[places[fine]] = True
        base = self.kernel.row[0].cell
        for item in self.kernel.row:
            cells = slice(item.cells.start - base, item.cells.stop - base)
            values = records[fine, cells].reshape(-1, *item.shape)
            simulation.rows[item.name][places[fine]] = values

    def _end(self, simulation: Simulation) -> float:
        heap, kernel = self.instance.heap, self.kernel
        code = int(heap[kernel.control_cell("status")])
        outcome, end = CODES[code], heap[kernel.control_cell("end")]
        if outcome is Outcome.FINISHED:
            end = self.stop
            if isinstance(self.stage.stage.until, Reach):
                outcome = Outcome.EVENT_NOT_REACHED
        simulation.outcome = outcome
        simulation.evaluations += int(heap[kernel.control_cell("evaluations")])
        simulation.ends.append(float(end))
        simulation.end_rows.append({f.name: self._array(f) for f in kernel.row})
        return float(end)

    def _array(self, item: Field) -> np.ndarray:
        heap = self.instance.heap if item.kind == "float64" else self.instance.integers
        return heap[item.cells].copy().reshape(item.shape)

    def _fill(self, item: Field, array: np.ndarray | None) -> None:
        if array is None or array.shape != item.shape:
            shape = "is missing" if array is None else f"has the shape {array.shape}"
            raise ValueError(
                f"{item.name} {shape}, and the kernel takes {item.shape}: compile a "
                "kernel for this setting."
            )
        cells = as_cells(array)
        heap = self.instance.heap if cells.dtype == float else self.instance.integers
        heap[item.cells] = cells
