"""Mixed experiments where papers have the same one, and what the docs say of them."""

import dataclasses
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import attnflow as af
from attnflow.cli.app import app
from attnflow.experiments.mixing.build import LOSSES, READOUTS, RULE, VALUES
from attnflow.experiments.mixing.settings import AbstractMix
from attnflow.training.rules import RULES

pytestmark = pytest.mark.cpus

DOCS = Path(__file__).resolve().parent.parent.parent.parent / "docs" / "mixing.md"


def test_a_paper_s_experiment_out_of_its_parts():
    course = {"rule": "gd", "learning_rate": 0.1, "steps": 20, "width": 8, "records": 3}
    record = ["loss", "accuracy", "margin", "value", "attention"]
    mixed = af.run("mix/mixture", store=False, readout="relu-pair", **course)
    # What is recorded is part of the compiled program.
    recipe = af.paper("mixture").recipe("figure1")
    setting = recipe.with_overrides({**course, "record": tuple(record)})
    paper = af.run(recipe.experiment(setting), store=False)
    for name in record:
        assert mixed[name].identical(paper[name]), name


def test_the_program_lists_them():
    done = CliRunner().invoke(app, ["list", "mix", "--json", "-"])
    assert done.exit_code == 0
    listing = json.loads(done.stdout)
    assert {"paper": "mix", "id": "signal-noise"} in listing["experiments"]


def test_the_docs_name_settings_that_there_are():
    table = re.search(r"\| \| settings \|.*?\n\n", DOCS.read_text("utf-8"), re.DOTALL)
    assert table is not None
    named = set(re.findall(r"`([a-z_0-9]+)(?:=[^`]*)?`", table[0]))
    fields = {field.name for field in dataclasses.fields(AbstractMix)}
    # Options of rules are not listed one by one; the others are choices.
    unlisted = {f.name for kind in RULES.values() for f in dataclasses.fields(kind)}
    assert fields - unlisted <= named
    kinds = (READOUTS, LOSSES, VALUES, RULE)
    choices = {name for slot in kinds for name in slot.choices}
    assert named <= fields | choices | {"product", "infinite"}


@pytest.mark.slow
def test_the_docs_run():
    block = re.search(r"```python\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert block is not None
    names: dict = {}
    exec(block[1], names)
    assert names["run"]["test_accuracy"].values[0, -1] == pytest.approx(1)
