"""A toy paper and a toy experiment module: the assembly without the numerics.

`install()` puts them where the program looks, also in a process of its own:
`python -m tests.toy list --json -` is `attnflow list --json -` with the toy paper.
"""

import json
import os
import sys
import time
import types
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr

from attnflow.papers.base import Paper
from attnflow.schema.dataset import Outcome
from attnflow.schema.declarations import Exhibit, Recipe, Request


def make_run(id="0123456789abcdef", *, seeds=(0, 1), outcome="finished", **attrs):
    """A small run that follows the schema, with texts, truth values and a gap."""
    count = len(seeds)
    loss = np.linspace(0.7, 0.1, 3) + 0.01 * np.array(seeds)[:, None]
    recorded = np.ones((count, 3), bool)
    recorded[-1, 2] = count == 1
    loss[~recorded] = np.nan
    run = xr.Dataset(
        {
            "loss": (("seed", "time"), loss),
            "attention": (("seed", "time", "token"), np.ones((count, 3, 2))),
            "recorded": (("seed", "time"), recorded),
            "outcome": ("seed", np.array([outcome] * count)),
            "end_time": ("seed", np.full(count, 10.0)),
            "drift": ("seed", np.linspace(1e-12, 2e-12, count)),
        },
        coords={
            "seed": list(seeds),
            "time": [0.0, 1.0, 10.0],
            "token": ["mu1", "common"],
        },
        attrs={
            "paper": "toy",
            "experiment": "flow",
            "id": id,
            "setting": json.dumps({"width": 4}),
            "form": "transport",
            "form_reason": "the cheapest exact form",
            "rule": "flow",
            "versions": "{}",
            "platform": "test",
            "wall_seconds": 1.5,
            "compile_seconds": 0.5,
            "citation": "toy2024",
            **attrs,
        },
    )
    run["time"].attrs["units"] = "seconds"
    return run


@dataclass(frozen=True)
class ToySetting:
    """Settings of the toy experiment."""

    width: int | Literal["infinite"] = 4
    learning_rate: float = 0.1
    ends: Literal["finished", "diverged", "interrupted"] = "finished"

    def __post_init__(self):
        if self.learning_rate <= 0:
            raise ValueError(
                f"learning_rate={self.learning_rate} is not positive. Raise it."
            )


@dataclass(frozen=True)
class ToyExperiment:
    """The face of an `attnflow.experiments.Experiment`."""

    id: str
    setting: Any
    paper: str = "toy"

    def canonical(self):
        return {"id": self.id, "setting": self.setting}


@dataclass(frozen=True)
class ToyRow:
    """The face of an `attnflow.claims.stages.StageRow`."""

    name: str
    formula: float | None
    detected: float | None
    spread: tuple[float, float] | None = None
    note: str = ""


@dataclass
class ToyModule:
    """The face of the module `attnflow.experiments`, which remembers its calls."""

    calls: list = field(default_factory=list)

    def run(self, experiment, *, seeds, progress=None, record=None, at=None, **given):
        asked = {"seeds": seeds, "record": record, "at": at}
        self.calls.append({"id": experiment.id, **asked, **given})
        if seconds := float(os.environ.get("TOY_SECONDS", "0")):
            Path("computing").write_text(str(os.getpid()))
        for k in range(3):
            if progress:
                progress(k / 3, f"step {k}")
            time.sleep(seconds)
        return make_run(
            seeds=seeds,
            outcome=Outcome.of(experiment.setting["ends"]).label,
            setting=json.dumps(experiment.setting),
            experiment=experiment.id,
        )

    def as_module(self):
        module = types.ModuleType("attnflow.experiments")
        module.__dict__.update(
            run=self.run,
            Experiment=ToyExperiment,
            Computation=ToyExperiment,
        )
        return module


def build(setting):
    return ToyExperiment("flow", asdict(setting))


def stage_table(run):
    return [
        ToyRow("one", 1.0, float(run["end_time"][0])),
        ToyRow("two", None, None, note="not reached"),
    ]


def draw(evidence):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 2))
    figure.subplots().plot(evidence["main"]["time"], evidence["main"]["loss"].T)
    return figure


def toy_paper(**changes):
    entries: dict[str, Any] = {
        "slug": "toy",
        "letter": "T",
        "title": "A toy paper",
        "version_read": "none",
        "bibtex": "@article{toy2024, title = {A toy paper}}",
        "recipes": (Recipe("flow", "A flow", ToySetting(), "tests.toy:build"),),
        "exhibits": (
            Exhibit(
                id="figure1",
                kind="figure",
                title="Losses",
                caption="Losses over time.",
                needs={"main": Request("flow", quick={"width": 2})},
                draw=draw,
                values=lambda evidence: {
                    "loss": float(evidence["main"]["loss"][0, -1])
                },
                stated=lambda evidence: {"Section 1": {"the loss falls": True}},
                printed={"loss": 0.1},
            ),
        ),
        "claims": toy_claims(),
        "notes": (),
        "inventory": {},
        "headline": "figure1",
        "headline_claims": ("T-Thm1",),
        "summary": "Losses fall.",
        "stage_table": stage_table,
    }
    return Paper(**{**entries, **changes})


def toy_claim(id="T-Thm1", needs=None, *, at_most=0.2, expected="holds"):
    """The claim that the loss falls to `at_most`, by exact arithmetic."""
    from attnflow.claims import Claim, Exact, Finding, Kind, Verdict, mutations

    def judge(evidence):
        lowest = max(float(run["loss"].min()) for run in evidence.values())
        return Finding((Exact(lowest, at_most, "the lowest loss"),))

    return Claim(
        id=id,
        place="Section 1",
        statement="The loss falls.",
        system="flow",
        needs=needs or {"main": Request("flow")},
        judge=judge,
        predicate=f"the lowest loss is at most {at_most}",
        expected=Verdict(expected),
        source="ours",
        kind=Kind.IDENTITY,
        under=(),
        mutations={"higher": mutations.add(mutations.EVERY, "loss", 1.0)},
    )


def toy_claims():
    two = {"main": Request("flow"), "wide": Request("flow", {"width": "infinite"})}
    return (toy_claim("T-Thm1"), toy_claim("T-Thm2", two))


DOCUMENT = "attnflow.browser.explorer.document"


def no_document(paper, *_, **__):
    """The face of what makes explorers: a toy has no program to compile."""
    from attnflow.browser.lowering import Unsupported

    raise Unsupported(f"{paper.slug} is a toy.")


def install(module=None, paper=None):
    """Put the toys in the place of the experiment module and of the papers."""
    from attnflow.papers import base as papers

    chosen = paper or toy_paper()
    sys.modules["attnflow.experiments"] = (module or ToyModule()).as_module()
    sys.modules["attnflow.papers.toy"] = types.SimpleNamespace(PAPER=chosen)  # type: ignore[assignment]
    sys.modules[DOCUMENT] = types.SimpleNamespace(documents=no_document)  # type: ignore[assignment]
    papers.SLUGS = ("toy",)


if __name__ == "__main__":
    from attnflow.cli import main

    install()
    main()
