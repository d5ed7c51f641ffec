"""The recorded sharpness, in every form, against PyTorch along whole trajectories."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import attnflow as af
from attnflow.data import PromptQuery, SignalNoiseTask
from attnflow.experiments import SystemExperiment, run
from attnflow.experiments.deep import DeepModel
from attnflow.experiments.members import samples_of
from attnflow.experiments.next_token import JointTables
from attnflow.models.deep import ClassLoss, VisionTransformer
from attnflow.models.forms import Chain, Initial, Vector
from attnflow.models.forms.token_classes import spell_out
from attnflow.models.problem import Linear, Logistic, Problem, Squared
from attnflow.observables.curvature.lanczos import top_eigenvalue
from attnflow.observables.curvature.local_parts import Product
from attnflow.observables.deep import DEEP, DeepView
from attnflow.observables.next_token import TokenView
from attnflow.training import Grid, Stage
from attnflow.training.rules import Adam, GradientDescent, SignGD
from tests.core import experiment, mostly_slow, mutated
from tests.models.systems.token_cases import unlike
from tests.oracle.deep_runs import Drawn
from tests.tiny import TINY

TASK = SignalNoiseTask(samples=4, embed=9, support=4, length=3, test_samples=2)
LOGISTIC = Problem(Linear(2), Logistic(), 0.8)
LINEAR = Problem(Linear(2), Squared(1.0), 0.4, "linear")
DESCENT = GradientDescent(0.1)
BOTH = ("scores", "values")
# The rule, the task, the problem, what is trained, and the forms beside `weights`.
CASES = {
    "descent": (DESCENT, TASK, LOGISTIC, BOTH, ("gram", "transport", "tokens")),
    "prompt": (DESCENT, PromptQuery(TASK, 1.4), LOGISTIC, BOTH, ("prompt", "tokens")),
    "signs": (SignGD(0.01), TASK, LOGISTIC, BOTH, ("signs", "coordinates")),
    "adam": (Adam(0.01), TASK, LOGISTIC, BOTH, ("coordinates",)),
    "keys": (DESCENT, TASK, LOGISTIC, ("keys",), ("gram", "transport", "tokens")),
    "queries": (DESCENT, TASK, LOGISTIC, ("queries", "values"), ("transport",)),
    "moments": (DESCENT, TASK, LINEAR, BOTH, ("moments",)),
}
TRAINED = {"scores": ("W_K", "W_Q"), "values": ("w",), "keys": ("W_K",)}
TRAINED["queries"] = ("W_Q",)


def plan(case, **changes):
    rule, task, problem, trains, _ = CASES[case]
    parts = {
        "task": task,
        "problem": problem,
        "initial": Initial(3, 0.6, Vector(0.3)),
        "stages": (Stage(rule, 60, trains=trains),),
        "grid": Grid(points=(0.0, 7.0, 30.0, 60.0)),
        "observables": ("loss", "sharpness"),
    }
    return experiment(**{**parts, **changes})


def by_pytorch(one, run):
    """The loss and the top eigenvalue of its Hessian at each record's weights."""
    torch = pytest.importorskip("torch")
    with af.precise():
        data, problem = samples_of(one, 0, None), one.problem
    tokens = torch.tensor(data.host_tokens)
    key, query, label = (
        torch.tensor(np.asarray(x)) for x in (data.key, data.query, data.label)
    )
    share = torch.tensor(np.asarray(data.probability))
    read = torch.tensor(np.asarray(data.query_weight))
    names = [n for part in one.stages[0].trains for n in TRAINED[part]]

    def loss(weights):
        keys = torch.einsum("hmd,nkd->nhkm", weights["W_K"], tokens[key])
        queries = torch.einsum("hmd,nqd->nhqm", weights["W_Q"], tokens[query])
        scores = problem.score_scale * queries @ keys.transpose(-1, -2)
        paid = scores if problem.law == "linear" else torch.softmax(scores, -1)
        values = torch.einsum("hd,nkd->nhk", weights["w"], tokens[key])
        output = torch.einsum("nq,nhqk,nhk->n", read, paid, values)
        if problem.law == "linear":
            return (share * (output - label) ** 2).sum()
        return (share * torch.nn.functional.softplus(-label * output)).sum()

    losses, tops = [], []
    for time in range(run.sizes["time"]):
        at = run.isel(seed=0, time=time)
        weights = {n: torch.tensor(at[n].values) for n in ("W_K", "W_Q", "w")}
        shapes = [weights[n].shape for n in names]
        flat = torch.cat([weights[n].reshape(-1) for n in names])

        def of(x, weights=weights, shapes=shapes):
            parts = torch.split(x, [s.numel() for s in shapes])
            named = zip(names, parts, shapes, strict=True)
            return loss(weights | {n: p.reshape(s) for n, p, s in named})

        losses.append(float(of(flat)))
        matrix = torch.autograd.functional.hessian(of, flat, vectorize=True)
        tops.append(np.linalg.eigvalsh(np.asarray(matrix))[-1])
    return np.array(losses), np.array(tops)


# Adam's form is that of signs, and keys alone are half of what `queries` leaves out.
@pytest.mark.parametrize("case", mostly_slow(CASES, "signs", "queries", "moments"))
def test_every_form_records_what_pytorch_finds(case):
    names = ("loss", "sharpness", "W_K", "W_Q", "w")
    one = plan(case, form="weights", observables=names)
    plain = run(one)
    losses, tops = by_pytorch(one, plain)
    np.testing.assert_allclose(plain["loss"][0], losses, rtol=1e-12)
    np.testing.assert_allclose(plain["sharpness"][0], tops, rtol=1e-10)
    assert np.ptp(tops) > 1e-3 * tops.max()
    weights = {n: plain[n].values[0, 0] for n in ("W_K", "W_Q", "w")}
    for form in CASES[case][-1]:
        ours = run(plan(case, form=form), weights=weights)
        assert ours.attrs["form"] == form
        np.testing.assert_allclose(ours["sharpness"][0], tops, rtol=1e-9, err_msg=form)


def test_values_with_an_output():
    """Chains, of which `test_hessian` has the spectrum of plain weights."""
    parts = {"initial": Initial(7, 0.6, Chain(5, 0.3, 0.5))}
    plain = run(plan("descent", form="weights", **parts))["sharpness"]
    for form in ("transport", "tokens", "coordinates"):
        ours = run(plan("descent", form=form, **parts))["sharpness"]
        np.testing.assert_allclose(ours, plain, rtol=1e-9, err_msg=form)


TABLE = Product.table


def _shorter(self, step):
    return TABLE(self, 0.99 * step)


def test_a_wrong_length_of_steps_is_caught():
    """Coordinates that are not orthonormal have another curvature."""
    with mutated(Product, "table", _shorter):
        other = run(plan("descent", form="transport"))
    ours = run(plan("descent", form="transport"))
    assert np.abs(other["sharpness"] / ours["sharpness"] - 1).min() > 1e-4


class Quartic(af.LossModel):
    """A loss whose Hessian is known: `Σ_i c_i x_i⁴ / 12` with 200 weights."""

    def draw(self, *, key):
        return {"scores": {"x": np.linspace(0.5, 1.5, 200)}}

    def sample(self, *, key):
        return {"c": np.linspace(-1.0, 2.0, 200)}

    def loss(self, weights, data):
        """The loss."""
        return jnp.sum(data["c"] * weights["scores"]["x"] ** 4) / 12


def test_a_loss_written_by_hand():
    model = Quartic()
    stages = (Stage(GradientDescent(0.01), 5, trains=("scores",)),)
    grid, names = Grid(stop=5, count=6), ("sharpness",)
    one = SystemExperiment("mixture", "test", {}, model, stages, grid, names)
    ours = run(one)["sharpness"].values[0]
    x, c = np.linspace(0.5, 1.5, 200), np.linspace(-1.0, 2.0, 200)
    for value in ours:
        np.testing.assert_allclose(value, (c * x**2).max(), rtol=1e-10)
        x = x - 0.01 * c * x**3 / 3


@pytest.mark.usefixtures("precise")
@pytest.mark.parametrize("kind", ["any", "negative", "low rank", "cluster", "zero"])
def test_products_find_the_top_of_a_matrix(kind):
    draw = np.random.default_rng(3)
    matrix = draw.standard_normal((150, 150))
    turn = np.linalg.qr(matrix)[0]
    spectra = {
        "any": 2 * draw.standard_normal(150),
        "negative": -draw.uniform(0.1, 1, 150),
        "low rank": np.r_[2.0, -5.0, np.zeros(148)],
        "cluster": np.r_[np.ones(3), 1 - 1e-6, draw.uniform(-1, 0.99, 146)],
        "zero": np.zeros(150),
    }
    matrix = jnp.asarray((turn * spectra[kind]) @ turn.T)
    top = jax.jit(lambda m: top_eigenvalue(lambda x: m @ x, m[0], 0))(matrix)
    assert abs(float(top) - spectra[kind].max()) <= 1e-12


@pytest.mark.usefixtures("precise")
def test_next_token_tables_against_definitions():
    """All entries of both tables, from the loss written out; merged ones refuse."""
    model = JointTables(unlike(), score_start=0.4, value_start=0.5, form_name="joint")
    system, state = model.members([0], None)[0]
    task, query = spell_out(unlike()), np.asarray(system.frame.query)
    sizes = {name: table.shape for name, table in state.items()}

    def loss(flat):
        scores, values = jnp.split(flat, [np.prod(sizes["scores"])])
        grown = task.table * jnp.exp(scores.reshape(sizes["scores"])[query])
        read = grown / jnp.sqrt((grown**2).sum(axis=1, keepdims=True))
        logs = jax.nn.log_softmax(read @ values.reshape(sizes["values"]), axis=1)
        return -logs[np.arange(3), np.array(task.next_token)].mean()

    flat = jnp.concatenate([state[n].ravel() for n in ("scores", "values")])
    dense = np.linalg.eigvalsh(np.asarray(jax.jit(jax.hessian(loss))(flat)))[-1]
    ours = model.registry.find("sharpness").compute(TokenView(system, state))
    assert float(ours) == pytest.approx(dense, rel=1e-10)
    merged = JointTables(unlike(), form_name="token-classes")
    with pytest.raises(ValueError, match="form='joint'"):
        model.registry.find("sharpness").compute(
            TokenView(*merged.members([0], None)[0])
        )


@pytest.mark.slow
@pytest.mark.usefixtures("precise")
def test_deep_networks_against_a_dense_hessian():
    network = VisionTransformer(8, 4, width=4, heads=2, hidden=3, classes=3)
    system, state = DeepModel(network, Drawn(classes=3), ClassLoss()).members(
        [0], None
    )[0]
    flat, unravel = ravel_pytree(system.weights(state))

    def loss(x):
        output = network.forward(unravel(x), system.samples.tokens).output
        return ClassLoss().losses(output, system.samples.label).mean()

    matrix = jax.jit(jax.vmap(lambda v: jax.jvp(jax.grad(loss), (flat,), (v,))[1]))(
        jnp.eye(flat.size)
    )
    dense = np.linalg.eigvalsh((matrix + matrix.T) / 2)[-1]
    ours = DEEP.find("sharpness").compute(DeepView(system, state))
    assert float(ours) == pytest.approx(dense, rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", TINY)
def test_every_paper_records_it(name):
    ours = af.run(name, record=["sharpness"], store=False, **TINY[name])
    assert (ours["sharpness"] > 0).all()
