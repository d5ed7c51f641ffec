"""Our training of joint tables against PyTorch's, step by step, on the same draws."""

import numpy as np
import pytest

from attnflow.data.sequence_classes import AlikeClasses
from attnflow.experiments import SystemExperiment, run
from attnflow.experiments.next_token import JointTables
from attnflow.models.forms.token_classes import token_form
from attnflow.training import Grid, Stage
from attnflow.training.rules import Adam, Momentum

pytest.importorskip("torch")

from tests.oracle import scansnap_torch as oracle

pytestmark = pytest.mark.cpus

WEIGHTS = tuple(np.linspace(0.1, 1, 10).tolist())
STEPS = 12
RULES = {"momentum": Momentum, "adam": Adam}


def ours(queries, per_query, rates, optimiser, *, given=None, **model):
    """A run of ours on the published stream, with full tables at every step."""
    task = AlikeClasses(queries, per_query, (1.0,) * 10, WEIGHTS)
    rule = RULES[optimiser]
    made = JointTables(
        task, length=128, batch=128, steps=STEPS, stream="published", **model
    )
    plan = SystemExperiment(
        "test",
        "oracle",
        {},
        made,
        (Stage({"scores": rule(rates[0]), "values": rule(rates[1])}, STEPS),),
        Grid(stop=STEPS, count=STEPS + 1),
        ("batch_loss", "score", "value"),
    )
    found = run(plan, seeds=[5], weights=given)
    name = {"weights": "joint"}.get(found.attrs["form"], found.attrs["form"])
    residual = model.get("residual", "none") != "none"
    form = token_form(name, task.sequence_classes(), residual=residual)
    return found, form


def compare(found, form, theirs, allowed):
    """Losses, and both tables where training can move them."""
    # PyTorch's loss is a difference of logits of order 10: rounding is 1e-14 of that.
    np.testing.assert_allclose(
        found["batch_loss"].values[0, :-1], theirs.losses, rtol=allowed, atol=1e-14
    )
    values = theirs.values[:, form.rows][:, :, form.columns]
    scores = theirs.scores[:, form.queries][:, :, form.rows]
    for name, table in (("value", values), ("score", scores)):
        difference = np.abs(found[name].values[0, 1:] - table).max()
        assert difference < allowed * np.abs(table).max()


# PyTorch's layers begin within one float32 rounding of their bound 1/√M (2 in 10⁸),
# which is all that the runs from random tables differ by at first.
@pytest.mark.parametrize(
    ("queries", "per_query", "rates", "optimiser", "zero", "allowed"),
    [
        (2, 1, (1.0, 1.0), "momentum", True, 1e-11),
        (1, 2, (2.0, 4.0), "momentum", True, 1e-11),
        (2, 1, (0.5, 0.5), "adam", True, 1e-9),
        (3, 2, (1.0, 5.0), "momentum", False, 1e-5),
    ],
)
def test_step_by_step(queries, per_query, rates, optimiser, zero, allowed):
    data = oracle.layout(queries, per_query)
    theirs = oracle.train(
        data, seed=5, steps=STEPS, rates=rates, optimiser=optimiser, zero=zero
    )
    width = 0.0 if zero else data.size**-0.5
    found, form = ours(
        queries, per_query, rates, optimiser, score_start=width, value_start=width
    )
    compare(found, form, theirs, allowed)


@pytest.mark.parametrize("residual", ["normalised", "plain"])
def test_residuals(residual):
    theirs = oracle.train(
        oracle.layout(2, 1),
        seed=5,
        steps=STEPS,
        rates=(1.0, 2.0),
        zero=True,
        residual=residual,
    )
    found, form = ours(2, 1, (1.0, 2.0), "momentum", residual=residual)
    compare(found, form, theirs, 1e-11)


def test_plain_weights():
    draw = np.random.default_rng(0)
    size, embed = 34, 12
    shapes = {"U": (size, embed)} | dict.fromkeys(("W_Q", "W_K", "W_V"), (embed, embed))
    given = {n: draw.standard_normal(s) / np.sqrt(embed) for n, s in shapes.items()}
    theirs = oracle.train(
        oracle.layout(2, 1), seed=5, steps=STEPS, rates=(0.1, 0.2), weights=given
    )
    found, form = ours(2, 1, (0.1, 0.2), "momentum", given=given, embed=embed)
    compare(found, form, theirs, 1e-11)
