"""Reduced forms of next-token training against the full tables, along trajectories."""

import numpy as np
import pytest
from tests.core import mostly_slow, some_slow
from tests.models.systems.token_cases import alike, apart, unlike

from attnflow.data.sequence_classes import AlikeClasses
from attnflow.experiments import SystemExperiment, run
from attnflow.experiments.next_token import JointTables, forget_draws
from attnflow.models.forms.token_classes import spell_out, token_form
from attnflow.models.systems import block_layout
from attnflow.models.systems.block_batches import BlockBatches
from attnflow.models.systems.next_token import BatchTables
from attnflow.training import Grid, Stage
from attnflow.training.rules import Adam, Flow, GradientDescent, Momentum

pytestmark = pytest.mark.usefixtures("precise")
# Along 60 steps nothing grows errors here: both runs differ by their roundings alone.
ALLOWED = 1e-12


def course(task, form, rule, until, **model):
    """Full tables at all records of a run."""
    parts = {"task": task, "form_name": form, "rates": (0.5, 2.0)}
    joint = JointTables(**{**parts, **model})
    plan = SystemExperiment(
        "test",
        "test",
        {},
        joint,
        (Stage(rule, until),),
        Grid(stop=until, count=11),
        ("score", "value"),
    )
    dataset = run(plan)
    assert dataset.attrs["form"] == (form if form != "auto" else dataset.attrs["form"])
    assert dataset.attrs["system"].startswith("J")
    kept = token_form("token-classes" if form == "symmetric" else form, task_of(task))
    each = zip(dataset["score"].values[0], dataset["value"].values[0], strict=True)
    return [full(task_of(task), kept, {"scores": z, "values": y}) for z, y in each]


def task_of(task):
    return task.sequence_classes()


def full(task, form, state):
    """Tables over all tokens; the rows and columns that training can move."""
    if form.name != "joint":
        kind = np.repeat(np.arange(task.kinds), task.counts)
        spread = form.spread(state)
        state = {n: t[np.ix_(kind, kind)] for n, t in spread.items()}
    return {n: np.asarray(t) for n, t in state.items()}


def planned(joint, stage, grid):
    return SystemExperiment("test", "x", {}, joint, (stage,), grid, ("score", "value"))


def momentum():
    return {"scores": Momentum(0.5), "values": Momentum(2.0)}


BATCHES = {"length": 12, "batch": 16, "steps": 30}
RULES = {
    "descent": GradientDescent(3.0),
    "momentum": momentum(),
    "adam": Adam(0.1),
}


FORMS = [
    (alike, "active"),
    (alike, "merged-outputs"),
    (alike, "token-classes"),
    (alike, "symmetric"),
    (unlike, "token-classes"),
]


@pytest.mark.parametrize(
    ("case", "form", "rule"),
    some_slow(
        [(*form, rule) for form in FORMS for rule in RULES],
        lambda case, form, rule: rule == "momentum" or case is unlike,
    ),
)
def test_steps(case, form, rule):
    whole = course(case(), "joint", RULES[rule], 60)
    reduced = course(case(), form, RULES[rule], 60)
    for expected, other in zip(whole[1:], reduced[1:], strict=True):
        assert apart(expected, other) < ALLOWED


@pytest.mark.parametrize(
    "form", mostly_slow(["token-classes", "symmetric"], "token-classes")
)
def test_flow(form):
    """The solver chooses steps by norms of the state: its own error is what is left."""
    rule = Flow(rtol=1e-13, atol=1e-15)
    whole = course(alike(), "joint", rule, 30.0)
    reduced = course(alike(), form, rule, 30.0)
    for expected, other in zip(whole[1:], reduced[1:], strict=True):
        assert apart(expected, other) < ALLOWED


@pytest.mark.parametrize(
    "model", [{"residual": "normalised"}, {"residual": "plain"}, {"normalised": False}]
)
def test_other_models(model):
    task = unlike()
    residual = "residual" in model
    whole = token_form("joint", task, residual=residual)
    kept = token_form("token-classes", task, residual=residual)
    rule = Momentum(2.0)
    runs = []
    for form in (whole, kept):
        joint = JointTables(task, form_name=form.name, **model)
        stage, grid = Stage(rule, 40), Grid(stop=40, count=2)
        plan = SystemExperiment(
            "test", "x", {}, joint, (stage,), grid, ("score", "value")
        )
        dataset = run(plan)
        state = {"scores": dataset["score"][0, -1], "values": dataset["value"][0, -1]}
        runs.append(full(task, form, {n: s.values for n, s in state.items()}))
    is_query = np.repeat(np.arange(task.kinds), task.counts) == task.query[0]
    # The query is read by the residual alone.
    assert runs[0]["values"][is_query].any() == residual
    assert apart(runs[0], runs[1]) < ALLOWED


def random_start(form, rule, **model):
    plain = alike(common_tokens=(), distinct_tokens=(), vocabulary=None)
    parts = {"task": plain, "form_name": form, **model}
    stage, grid = Stage(rule, 30), Grid(stop=30, count=4)
    joint = JointTables(**parts)
    plan = SystemExperiment("test", "x", {}, joint, (stage,), grid, ("score", "value"))
    dataset = run(plan, seeds=[3])
    form = token_form(form, plain.sequence_classes())
    state = {"scores": dataset["score"][0, -1], "values": dataset["value"][0, -1]}
    spread = full(
        plain.sequence_classes(), form, {n: s.values for n, s in state.items()}
    )
    moving = spell_out(plain.sequence_classes())
    rows = np.flatnonzero(moving.table.any(axis=0))
    return {
        "scores": spread["scores"][np.ix_(sorted(set(moving.query)), rows)],
        "values": spread["values"][rows],
    }


@pytest.mark.parametrize("rule", [momentum(), Adam(0.3)], ids=["momentum", "adam"])
@pytest.mark.parametrize(
    "model",
    [
        {"score_start": 0.3, "value_start": 0.2},
        {
            "score_start": 0.3,
            "value_start": 0.2,
            "length": 12,
            "batch": 16,
            "steps": 30,
        },
    ],
    ids=["long", "batches"],
)
def test_random_starts(rule, model):
    whole = random_start("joint", rule, **model)
    assert apart(whole, random_start("active", rule, **model)) < ALLOWED


def test_outputs_merge_where_values_begin_at_zero():
    model = {"score_start": 0.3, **BATCHES}
    whole = random_start("joint", momentum(), **model)
    assert apart(whole, random_start("merged-outputs", momentum(), **model)) < ALLOWED


@pytest.fixture
def fresh_draws():
    """What is prepared here is prepared otherwise elsewhere."""
    forget_draws()
    yield
    forget_draws()


@pytest.mark.usefixtures("fresh_draws")
def test_blocks_follow_the_plain_path(monkeypatch):
    """Every width in turn, against batches that are not sorted at all."""
    monkeypatch.setattr(block_layout, "FEWEST_LOGITS", 0)
    monkeypatch.setattr(block_layout, "DEVIATIONS", (-0.5, 0.5))
    plain = alike(common_tokens=(), distinct_tokens=(), vocabulary=None)
    joint = JointTables(plain, score_start=0.2, value_start=0.2, **BATCHES)
    ((system, _),) = joint.members([0], None)
    assert len(set(system.samples.fits.tolist())) == len(system.widths) == 3
    runs = []
    for in_blocks in (True, False):
        monkeypatch.setattr(JointTables, "_in_blocks", in_blocks)
        kind = BlockBatches if in_blocks else BatchTables
        assert isinstance(joint.members([0], None)[0][0], kind)
        dataset = run(planned(joint, Stage(momentum(), 30), Grid(stop=30, count=7)))
        runs.append({name: dataset[name].values for name in ("score", "value")})
    assert np.abs(runs[0]["score"][:, -1] - runs[0]["score"][:, 0]).max() > 0.1
    assert apart(*runs) < ALLOWED


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["flow", "momentum", "adam"])
def test_two_thousand_tokens(rule):
    """The size at which full tables are still possible."""
    task = AlikeClasses(
        1,
        10,
        (1.0, 0.5),
        (0.2, 0.6, 1.0),
        common_tokens=(1, 40),
        distinct_tokens=(1, 120, 70),
        vocabulary=2000,
    )
    rules = {**RULES, "flow": Flow(rtol=1e-12, atol=1e-15)}
    until = {"flow": 20.0, "momentum": 30, "adam": 30}[rule]
    whole = course(task, "joint", rules[rule], until)
    for form in ("token-classes", "symmetric"):
        reduced = course(task, form, rules[rule], until)
        for expected, other in zip(whole[1:], reduced[1:], strict=True):
            assert apart(expected, other) < ALLOWED


def test_the_form_is_chosen():
    plain = alike(common_tokens=(), distinct_tokens=())
    assert JointTables(plain).form()[0] == "symmetric"
    assert JointTables(unlike()).form()[0] == "token-classes"
    assert JointTables(plain, residual="plain").form()[0] == "token-classes"
    assert JointTables(plain, length=9).form()[0] == "merged-outputs"
    assert JointTables(plain, score_start=0.1).form()[0] == "merged-outputs"
    assert JointTables(plain, value_start=0.1).form()[0] == "active"
    assert JointTables(plain, embed=4).form()[0] == "weights"
    local = alike(common_per_query=(1.0,))
    assert JointTables(local).form()[0] == "token-classes"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rates": (-1.0, 1.0)}, "must not be negative, nor both zero"),
        ({"rates": (0.0, 0.0)}, "nor both zero"),
        ({"length": 1}, "length is 1"),
        ({"score_start": -1.0}, "score_start is -1"),
        ({"length": 9, "batch": 0}, "batch is 0"),
        ({"stream": "published"}, "set length"),
        ({"form_name": "symmetric", "value_start": 1.0}, "initial values differ"),
        ({"form_name": "token-classes", "length": 9}, "counts differ"),
        ({"form_name": "token-classes", "score_start": 1.0}, "initial scores differ"),
        ({"form_name": "symmetric", "residual": "plain"}, "Use 'token-classes'"),
    ],
)
def test_bad_models(changes, said):
    with pytest.raises(ValueError, match=said):
        JointTables(alike(), **changes)


def test_a_flow_has_no_batches():
    stage, grid = Stage(Flow(), 1.0), Grid(stop=1.0, count=2)
    joint = JointTables(alike(), length=9)
    with pytest.raises(ValueError, match="A flow sees all samples at once"):
        SystemExperiment("test", "x", {}, joint, (stage,), grid, ("loss",))


def test_given_tables():
    plain = alike(common_tokens=(), distinct_tokens=(), vocabulary=None)
    size = plain.sequence_classes().kinds
    draw = np.random.default_rng(0)
    tables = {n: draw.standard_normal((size, size)) for n in ("scores", "values")}
    stage, grid = Stage(Momentum(1.0), 3), Grid(stop=3, count=2)
    joint = JointTables(plain, form_name="active")
    plan = SystemExperiment("test", "x", {}, joint, (stage,), grid, ("score",))
    dataset = run(plan, weights=tables)
    form = token_form("active", plain.sequence_classes())
    np.testing.assert_array_equal(
        dataset["score"].values[0, 0], tables["scores"][np.ix_(form.queries, form.rows)]
    )
    with pytest.raises(ValueError, match="both of shape"):
        run(plan, weights={"scores": tables["scores"]})
    merged = SystemExperiment(
        "test", "x", {}, JointTables(plain), (stage,), grid, ("score",)
    )
    with pytest.raises(ValueError, match="begins at zero"):
        run(merged, weights=tables)
    with pytest.raises(ValueError, match="lift"):
        run(plan, lift=True)


def test_shares_count_tokens_that_never_occur():
    """Softmax of the initial scores over the whole vocabulary."""
    plain = alike(common_tokens=(), distinct_tokens=(), vocabulary=None)
    shares = []
    for form in ("joint", "active"):
        joint = JointTables(plain, score_start=1.0, form_name=form)
        stage, grid = Stage(Momentum(1.0), 1), Grid(stop=1, count=2)
        names = ("score_share",)
        plan = SystemExperiment("test", "x", {}, joint, (stage,), grid, names)
        share = run(plan)["score_share"][0, -1]
        shares.append(share.sel(query=["query0", "query1"]))
    kept = shares[0].sel(token=shares[1]["token"])
    np.testing.assert_allclose(kept, shares[1], rtol=1e-13)
    np.testing.assert_allclose(shares[0].sum("token"), 1.0, rtol=1e-13)
    assert (shares[1].sum("token") < 0.99).all()
