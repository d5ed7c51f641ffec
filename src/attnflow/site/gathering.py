"""What an exhibit is made from: its runs, and its sweeps where it is a map."""

import json
import platform
from contextlib import closing
from typing import Any

import xarray as xr

from attnflow.papers.base import Paper
from attnflow.runs.runner import Runner
from attnflow.schema.declarations import Exhibit, SweepRequest
from attnflow.sweeps import Shelf, choose_executor
from attnflow.sweeps.sweep import compute_sweep, plan_sweep


def gather(runner: Runner, paper: Paper, exhibit: Exhibit) -> dict[str, xr.Dataset]:
    """The runs and sweeps of an exhibit by their names, as `runner` makes them.

    Sweeps are kept in the runner's store, batch by batch: what was interrupted goes on
    where it was, and cells that failed are tried again.
    """
    found = runner.gather(paper, exhibit.needs)
    for name, request in exhibit.sweeps.items():
        found[name] = gather_sweep(runner, paper, request)
    return found


def gather_sweep(runner: Runner, paper: Paper, request: SweepRequest) -> xr.Dataset:
    """The Dataset of a sweep, with those attributes of a run that a sweep has.

    `wall_seconds` is the CPU time of all its cells, whenever they were computed, and
    `changed` names the settings of `--quick`.
    """
    if runner.store is None:
        raise ValueError(
            f"{paper.slug}/{request.experiment} is swept, which needs a store for its "
            "batches: give the runner one, as in Runner(Store('directory'))."
        )
    asked = request.sized(quick=runner.quick)
    made = plan_sweep(
        f"{paper.slug}/{request.experiment}",
        asked.settings,
        zip=request.zip,
        seeds=asked.seeds,
        measure=request.measure,
        batch=request.batch,
    )
    shelf = Shelf(runner.store.root)

    def compute() -> xr.Dataset:
        # Starting processes takes longer than a quick sweep does.
        executor = choose_executor("here" if runner.quick else "local")
        with closing(executor):
            return compute_sweep(
                made,
                executor,
                refine=request.refine,
                coarse=request.coarse,
                shelf=shelf,
                retry=True,
                progress=runner.progress,
            )

    found = runner.call(compute) if runner.quick else compute()
    return found.assign_attrs(_about(found, made.sweep.recipe.id, shelf)).assign_attrs(
        changed=json.dumps(_changed(request) if runner.quick else []),
    )


def _changed(request: SweepRequest) -> list[str]:
    """Names of what the smaller sweep has otherwise."""
    seeds = ["seeds"] if request.quick_seeds is not None else []
    return sorted([*request.quick, *seeds])


def _about(found: xr.Dataset, experiment: str, shelf: Shelf) -> dict[str, Any]:
    from attnflow.experiments.versions import library_versions

    cells = int(found["error"].size)
    id = found.attrs["sweep"]
    return {
        "cells_computed": cells,
        "cells_full": cells,
        # A refined sweep has its own two numbers.
        **{key: found.attrs[key] for key in found.attrs if key.startswith("cells_")},
        "id": id,
        "experiment": experiment,
        "wall_seconds": shelf.seconds(id),
        "versions": json.dumps(library_versions()),
        "platform": f"{platform.machine()} {platform.system()}",
    }
