"""A sweep as people and programs read it."""

from typing import Any

import numpy as np
import xarray as xr

from attnflow.claims.statistics import Boundary
from attnflow.cli import text
from attnflow.cli.output import Output
from attnflow.cli.tables import Table
from attnflow.sweeps import BatchStore, Status, law_of, status_in, sweep_id
from attnflow.sweeps.batch_store import PENDING
from attnflow.sweeps.sweep import Planned

ROWS = 40
"""How many cells are shown; a file has all of them."""


def show_all(output: Output, store: BatchStore, *, status: bool) -> None:
    """What is stored of every sweep that was started."""
    if not status:
        raise ValueError(
            "No experiment is named. Write for example: attnflow sweep mixture/figure1 "
            "omega=0.01..1:9:log; or --status to list the sweeps that were started."
        )
    known = store.known()
    rows = []
    for sweep in store.sweeps():
        done = sum(key in known for key in sweep["batches"])
        rows.append({**sweep, "batches": len(sweep["batches"]), "batches_done": done})
    output.give({"sweeps": rows})
    output.say(f"{len(rows)} sweeps in {store.root}\n")
    columns = ("sweep", "experiment", "cells", "seeds", "batches", "measures")
    output.show(Table(columns, [_line(row) for row in rows]))


def show_status(output: Output, made: Planned, status: Status) -> None:
    """How far one sweep is."""
    output.give({"sweeps": [_record(made, status)]})
    _say(output, made, status)


def show_result(
    output: Output, made: Planned, found: xr.Dataset, *, power: float = 2.0
) -> None:
    """What a sweep came to: its first cells as a table, all of them as JSON.

    Of a refined one also the law of its boundary; for `power` see `law_of`.
    """
    status = status_in(found)
    values = {str(name): v.values for name, v in found.data_vars.items()}
    refined = {
        name: found.attrs[name]
        for name in ("cells_computed", "cells_full", "rounds")
        if name in found.attrs
    }
    law = law_of(found, power=power)
    if law is not None:
        refined["boundary"] = _law(law, power)
    output.give({"sweeps": [{**_record(made, status), **refined, "values": values}]})
    output.show(_cells(made, found))
    _say(output, made, status)
    if refined:
        output.say(
            f"The boundary needed {refined['cells_computed']} of the "
            f"{refined['cells_full']} cells of the grid."
        )
    if law is not None:
        output.say(_said(law, [axis.name for axis in made.sweep.axes], power))


def _law(law: Boundary, power: float) -> dict[str, Any]:
    names = ("exponent", "exponent_interval", "intercept", "constant")
    found = {name: getattr(law, name) for name in names}
    found["constant_interval"] = law.constant_interval
    return {**found, "power": power, "lost": law.lost, "places": law.places}


def _said(law: Boundary, keys: list[str], power: float) -> str:
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
    low, high = (text.number(end) for end in interval)
    return f"{text.number(value)} [{low}, {high}]"


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    axes = " × ".join(f"{key} ({count})" for key, count in row["axes"].items())
    return (
        row["id"],
        f"{row['name']} {axes}",
        str(row["cells"]),
        str(len(row["seeds"])),
        f"{row['batches_done']} of {row['batches']}",
        ", ".join(row["measures"]),
    )


def _record(made: Planned, status: Status) -> dict[str, Any]:
    sweep = made.sweep
    axes = [
        {"dim": axis.name, "keys": axis.keys, "values": axis.rows}
        for axis in sweep.axes
    ]
    return {
        "id": sweep_id(sweep),
        "name": made.name,
        "axes": axes,
        "seeds": sweep.seeds,
        "measures": [each.outline.text for each in sweep.statistics],
        "status": status,
    }


def _say(output: Output, made: Planned, status: Status) -> None:
    said = f"{status.done} of {status.cells} cells of {made.name} are done"
    if status.failed:
        kinds = ", ".join(f"{n} {label}" for label, n in status.outcomes.items())
        said += f"; {status.failed} have no result ({kinds}); --retry computes them"
    if status.pending:
        said += f"; {status.pending} are to be computed"
    output.say(f"{said}.")
    for error, count in status.errors.items():
        output.say(f"  {count} × {error}")


def _cells(made: Planned, found: xr.Dataset) -> Table:
    """The first cells, with means over seeds."""
    keys = made.sweep.keys
    names = [str(name) for name in found.data_vars if name not in ("outcome", "error")]
    rows = []
    done = (found["outcome"].isel(seed=0) != PENDING).values.ravel()
    cells = np.flatnonzero(done)
    for cell in cells[:ROWS].tolist():
        places = np.unravel_index(cell, made.sweep.shape) if made.sweep.axes else ()
        dims = (axis.name for axis in made.sweep.axes)
        here = found.isel(dict(zip(dims, map(int, places), strict=True)))
        own = [text.number(value) for value in made.sweep.row(cell)]
        rows.append((*own, *(_mean(here[name]) for name in names)))
    if len(cells) > ROWS:
        rows.append(("…",) * (len(keys) + len(names)))
    return Table((*keys, *names), rows)


def _mean(values: xr.DataArray) -> str:
    if values.dtype == object:
        return str(values.item())
    return text.number(float(values.mean()))
