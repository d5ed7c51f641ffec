"""The page about systems written by hand: its code runs, and its helper can fail."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import attnflow as af
from attnflow.experiments import run
from attnflow.testing import check_conformance

PAGE = Path(__file__).resolve().parents[2] / "docs" / "your-own-system.md"
CODE = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[0]


@pytest.fixture(scope="module")
def page():
    import sys
    import types

    module = types.ModuleType("own_system_page")
    sys.modules["own_system_page"] = module
    exec(CODE, module.__dict__)
    yield module
    del sys.modules["own_system_page"]


def test_the_page_runs(page):
    result = run(page.train(page.Setting()), seeds=[0, 1])
    assert float(result["loss"][0, -1]) < float(result["loss"][0, 0])
    assert result["test_loss"].shape == (2, 21)
    assert result.attrs["system"] == "two layers of attention"


@dataclass(frozen=True)
class Line(af.LossModel):
    """A squared loss in one weight, written in two ways."""

    factor: float = 1.0

    def draw(self, *, key):
        return {"scores": {"a": np.array([0.3])}, "values": {"b": np.array([0.2])}}

    def loss(self, weights, data):
        product = weights["scores"]["a"] * weights["values"]["b"]
        return (self.factor * (jnp.exp(product) - 2.0) ** 2).sum()


@dataclass(frozen=True)
class Expanded(Line):
    """The same, multiplied out."""

    def loss(self, weights, data):
        product = weights["scores"]["a"] * weights["values"]["b"]
        grown = jnp.exp(product)
        return (self.factor * (grown * grown - 4 * grown + 4)).sum()


def plan(model):
    @dataclass(frozen=True)
    class Nothing:
        pass

    return af.Builder("mine").system(
        Nothing(),
        model=model,
        stages=(af.Stage(af.GradientDescent(0.05), 100),),
        grid=af.Grid(100, 11),
        observables=("loss",),
    )


WEIGHTS = {"a": np.array([0.3]), "b": np.array([0.2])}


def test_conformance_holds_and_fails():
    check_conformance(plan(Expanded()), plan(Line()), WEIGHTS, twins=6)
    with pytest.raises(AssertionError, match="from plain weights"):
        check_conformance(plan(Expanded(1.001)), plan(Line()), WEIGHTS)
    with pytest.raises(AssertionError, match="hardly moves"):
        still = replace(plan(Line()), stages=(af.Stage(af.GradientDescent(1e-18), 1),))
        still = replace(still, grid=af.Grid(1, 2))
        check_conformance(still, still, WEIGHTS)


def test_given_weights_are_checked():
    with pytest.raises(ValueError, match="needed are"):
        run(plan(Line()), weights={"a": np.ones(1)})
    with pytest.raises(ValueError, match="must have"):
        run(plan(Line()), weights={**WEIGHTS, "b": np.ones(2)})


def test_rules_that_see_weights_whole_follow():
    stage = af.Stage(af.NormalisedDescent(0.01), 20)
    moved = run(replace(plan(Line()), stages=(stage,), grid=af.Grid(20, 3)))
    assert float(moved["loss"][0, -1]) < float(moved["loss"][0, 0])


def test_observe_warns_of_another_model():
    """A mean over queries where ours sums has the shape of ours."""
    from attnflow.runs.checkpoints.observe import ModelMismatchWarning

    start = af.initial_weights("mixture/figure1")
    loss = af.observe("mixture/figure1", {0: start})["loss"].values
    told = af.observe("mixture/figure1", {0: start}, losses=loss)
    assert np.array_equal(told["loss"], loss)
    with pytest.warns(ModelMismatchWarning, match=r"0.5 times ours"):
        af.observe("mixture/figure1", {0: start}, losses=loss / 2)
    with pytest.raises(ValueError, match="must have"):
        af.observe("mixture/figure1", {0: start}, losses=np.ones(3))


def test_errors_name_the_line_of_a_users_package(tmp_path, monkeypatch):
    from importlib.metadata import EntryPoint

    from attnflow.cli.output import own_place
    from attnflow.schema import installation

    (tmp_path / "haystack").mkdir()
    file = tmp_path / "haystack" / "experiments.py"
    file.write_text("def train():\n    import numpy as np\n    np.zeros(-1)\n")
    point = EntryPoint("haystack", "haystack:PAPER", installation.GROUP)
    monkeypatch.setattr(installation, "registered", lambda: {"haystack": (point,)})
    space = {}
    exec(compile(file.read_text(), str(file), "exec"), space)
    with pytest.raises(ValueError, match="negative") as raised:
        space["train"]()
    assert own_place(raised.value) == f"{file}, line 3"
    with pytest.raises(ValueError, match="two axes") as ours:
        af.sequences(np.ones(3), [[0]], [1.0])
    assert own_place(ours.value) == ""
