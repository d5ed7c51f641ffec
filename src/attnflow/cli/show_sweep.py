"""A sweep as people and programs read it."""

from typing import Any

import numpy as np
import xarray as xr

from attnflow.claims.statistics import Boundary
from attnflow.cli.output import Output, Table, number
from attnflow.sweeps import BatchStore, Status, law_of, status_in, sweep_id
from attnflow.sweeps.batch_store import PENDING
from attnflow.sweeps.plan import Sweep

ROWS = 40
"""How many cells are shown; a file has all of them."""


def show_all(output: Output, store: BatchStore, *, status: bool) -> None:
    """List the sweeps that were started, and how much of each is stored."""
    if not status:
        raise ValueError(
            "No experiment is named. Write for example: attnflow sweep mixture/figure1 "
            "omega=0.01..1:9:log; or --status to list the sweeps that were started."
        )
    known = store.known()
    records, rows = [], []
    for sweep in store.sweeps():
        count = len(sweep["batches"])
        done = sum(key in known for key in sweep["batches"])
        records.append({**sweep, "batches": count, "batches_done": done})
        axes = " × ".join(f"{key} ({size})" for key, size in sweep["axes"].items())
        sizes = str(sweep["cells"]), str(len(sweep["seeds"])), f"{done} of {count}"
        measures = ", ".join(sweep["measures"])
        rows.append((sweep["id"], f"{sweep['name']} {axes}", *sizes, measures))
    output.give({"sweeps": records})
    output.say(f"{len(rows)} sweeps in {store.root}\n")
    columns = ("sweep", "experiment", "cells", "seeds", "batches", "measures")
    output.show(Table(columns, rows))


def show_status(output: Output, sweep: Sweep, status: Status) -> None:
    """Show how many cells of a sweep are done."""
    output.give({"sweeps": [_record(sweep, status)]})
    _say(output, sweep, status)


def show_result(
    output: Output, sweep: Sweep, result: xr.Dataset, *, power: float = 2.0
) -> None:
    """Show the result of a sweep: its first cells as a table, all of them as JSON.

    Of a refined one also the law of its boundary; for `power` see `law_of`.
    """
    status = status_in(result)
    values = {str(name): v.values for name, v in result.data_vars.items()}
    refined = {
        name: result.attrs[name]
        for name in ("cells_computed", "cells_full", "rounds")
        if name in result.attrs
    }
    law = law_of(result, power=power)
    if law is not None:
        refined["boundary"] = _law(law, power)
    output.give({"sweeps": [{**_record(sweep, status), **refined, "values": values}]})
    output.show(_cells(sweep, result))
    _say(output, sweep, status)
    if refined:
        output.say(
            f"The boundary needed {refined['cells_computed']} of the "
            f"{refined['cells_full']} cells of the grid."
        )
    if law is not None:
        output.say(_law_sentence(law, [axis.name for axis in sweep.axes], power))


def _law(law: Boundary, power: float) -> dict[str, Any]:
    names = ("exponent", "exponent_interval", "intercept", "constant")
    numbers = {name: getattr(law, name) for name in names}
    numbers["constant_interval"] = law.constant_interval
    return {**numbers, "power": power, "lost": law.lost, "places": law.places}


def _law_sentence(law: Boundary, keys: list[str], power: float) -> str:
    """The law in a sentence, with 95% intervals over resampled seeds."""
    if not law.exists:
        return "It is crossed in fewer than three rows: no law is fitted to it."
    size, x = keys
    return (
        f"Along it {x} goes as {size}^{_within(law.exponent, law.exponent_interval)}, "
        f"and {size}·{x}^{power:g} is {_within(law.constant, law.constant_interval)} "
        "(95% over resampled seeds)."
    )


def _within(value: float, interval: tuple[float, float]) -> str:
    low, high = (number(end) for end in interval)
    return f"{number(value)} [{low}, {high}]"


def _record(sweep: Sweep, status: Status) -> dict[str, Any]:
    axes = [
        {"dim": axis.name, "keys": axis.keys, "values": axis.rows}
        for axis in sweep.axes
    ]
    return {
        "id": sweep_id(sweep),
        "name": sweep.name,
        "axes": axes,
        "seeds": sweep.seeds,
        "measures": [each.outline.text for each in sweep.statistics],
        "status": status,
    }


def _say(output: Output, sweep: Sweep, status: Status) -> None:
    sentence = f"{status.done} of {status.cells} cells of {sweep.name} are done"
    if status.failed:
        kinds = ", ".join(f"{n} {label}" for label, n in status.outcomes.items())
        sentence += f"; {status.failed} have no result ({kinds}); --retry computes them"
    if status.pending:
        sentence += f"; {status.pending} are to be computed"
    output.say(f"{sentence}.")
    for error, count in status.errors.items():
        output.say(f"  {count} × {error}")


def _cells(sweep: Sweep, result: xr.Dataset) -> Table:
    """The first cells, with means over seeds."""
    names = [str(name) for name in result.data_vars if name not in ("outcome", "error")]
    rows = []
    done = (result["outcome"].isel(seed=0) != PENDING).values.ravel()
    cells = np.flatnonzero(done)
    for cell in cells[:ROWS].tolist():
        index = np.unravel_index(cell, sweep.shape) if sweep.axes else ()
        dims = (axis.name for axis in sweep.axes)
        values = result.isel(dict(zip(dims, map(int, index), strict=True)))
        settings = [number(value) for value in sweep.row(cell)]
        rows.append((*settings, *(_mean(values[name]) for name in names)))
    if len(cells) > ROWS:
        rows.append(("…",) * (len(sweep.keys) + len(names)))
    return Table((*sweep.keys, *names), rows)


def _mean(values: xr.DataArray) -> str:
    if values.dtype == object:
        return str(values.item())
    return number(float(values.mean()))
