"""How near what a page computes is to `af.run`, measured when the page is made."""

import platform
import warnings
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from attnflow.papers.base import Paper
from attnflow.runs.runner import Runner
from attnflow.schema.declarations import Request
from attnflow.schema.settings import plain

Json = dict[str, Any]
ENGINE = "wasmtime"
"""What runs a page's modules outside of browsers; attnflow itself needs no engine."""
Report = Callable[[float, str], None]


def is_measured() -> bool:
    """Whether pages that are made here say how near they are to `af.run`."""
    return find_spec(ENGINE) is not None


def with_agreement(
    paper: Paper, document: Json, report: Report = lambda share, id: None
) -> Json:
    """A document with the measured agreement of each experiment, if it can be measured.

    The runs of Python are those of the store: each is computed once.
    """
    if not is_measured():
        return document
    runner = Runner(memory=0)
    experiments = []
    for number, experiment in enumerate(document["experiments"]):
        report(number / len(document["experiments"]), experiment["id"])
        agreement = _agreement(paper, document, number, runner)
        experiments.append({**experiment, "agreement": agreement})
    return {**document, "experiments": experiments}


def _agreement(paper: Paper, document: Json, number: int, runner: Runner) -> Json:
    from attnflow.browser.explorer.replay import agreement

    experiment = document["experiments"][number]
    usual = plain(paper.recipe(experiment["id"]).setting)
    changed = {n: v for n, v in experiment["setting"].items() if v != usual[n]}
    with warnings.catch_warnings():
        # What a run warns of is nothing that a page has changed.
        warnings.simplefilter("ignore")
        run = runner.run(paper, Request(experiment["id"], changed, seeds=(0,)))
    engines = f"{ENGINE} {version(ENGINE)} and JAX {version('jax')}"
    where = f"{engines} on {platform.system()} {platform.machine()}"
    return {**agreement(document, number, run.isel(seed=0)), "where": where}
