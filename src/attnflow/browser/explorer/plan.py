"""Kernels and arrays as data for a page: JSON whose arrays are base64 of float64."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from attnflow.browser.drivers import CELLS
from attnflow.browser.kernel import Field, Kernel
from attnflow.browser.trace import StageFunctions, named
from attnflow.training import Reach
from attnflow.training.rules import Flow

Json = dict[str, Any]


def encoded(array: np.ndarray) -> str:
    """An array as float64 in base64; integers must be small enough for that."""
    floats = np.ascontiguousarray(array, np.float64)
    if not np.array_equal(floats, array, equal_nan=True):
        raise ValueError("Integers beyond 2⁵³ cannot be put on a page.")
    return base64.b64encode(floats.tobytes()).decode()


def kernel_plan(kernel: Kernel) -> Json:
    """A kernel as its page knows it."""
    return {
        "module": base64.b64encode(kernel.module).decode(),
        "inputs": [_field(field) for field in kernel.inputs],
        "carry": [_field(field) for field in kernel.carry],
        "moved": kernel.moved,
        "row": [_field(field, start=kernel.row[0].cell) for field in kernel.row],
        "rowSize": kernel.row_size,
        "control": {name: kernel.control_cell(name) for name in CELLS},
        "cells": kernel.cells,
        "isFlow": kernel.is_flow,
    }


def _field(field: Field, *, start: int = 0) -> Json:
    return {
        "name": field.name,
        "cell": field.cell - start,
        "size": int(np.prod(field.shape, dtype=int)),
        "shape": list(field.shape),
        "integer": field.kind != "float64",
    }


def stage_arrays(kernel: Kernel, stage: StageFunctions) -> dict[str, np.ndarray]:
    """All that a setting's numbers can change in a stage, by name."""
    inputs, rule, until = dict(named(stage.inputs)), stage.stage.rule, stage.stage.until
    arrays = {f"inputs {f.name}": inputs[f.name] for f in kernel.inputs}
    for field, (_, array) in zip(kernel.carry, named(stage.carry), strict=True):
        arrays[f"carry {field.name}"] = array
    if isinstance(rule, Flow):
        for name in ("rtol", "atol", "scale", "max_steps"):
            arrays[f"control {name}"] = np.asarray(getattr(rule, name), float)
    is_event = isinstance(until, Reach)
    arrays["horizon"] = np.asarray(until.horizon if is_event else np.nan)
    arrays["until"] = np.asarray(np.nan if is_event else until)
    return arrays


def stage_values(kernel: Kernel, stage: StageFunctions) -> Json:
    """What `Player.play` takes for a stage, with arrays as lists."""
    arrays = {
        n: a.astype(float).ravel() for n, a in stage_arrays(kernel, stage).items()
    }
    horizon = float(arrays["horizon"][0])
    until = float(arrays["until"][0])
    return {
        "inputs": [arrays[f"inputs {f.name}"].tolist() for f in kernel.inputs],
        "carry": [arrays[f"carry {f.name}"].tolist() for f in kernel.carry],
        "control": {
            name.removeprefix("control "): float(a[0])
            for name, a in arrays.items()
            if name.startswith("control ")
        },
        "horizon": None if np.isnan(horizon) else horizon,
        "until": None if np.isnan(until) else until,
    }


def plans(kernels: Sequence[Kernel]) -> list[Json]:
    """The kernels of all stages."""
    return [kernel_plan(kernel) for kernel in kernels]
