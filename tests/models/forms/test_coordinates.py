"""Forms over coordinates: held to plain weights, and to each other where those fail."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.core import mostly_slow, mutated

import attnflow
from attnflow.data import DisjointNoiseTask, SignalNoiseTask, sequences
from attnflow.experiments import EpsilonWarning, Experiment, run
from attnflow.models.forms import (
    Chain,
    ClassMeans,
    Initial,
    Neurons,
    Vector,
    build,
    column_maps,
)
from attnflow.models.forms.initial_coordinates import (
    collapsed_columns,
    covered_columns,
    representatives,
)
from attnflow.models.problem import Linear, Logistic, Problem
from attnflow.models.systems import Training
from attnflow.training import Grid, Stage
from attnflow.training.rules import Adam, GradientDescent, Momentum, SignGD

SEEN = ("loss", "value", "key_neuron", "query_neuron", "test_loss")
BANKS = Chain(6, 0.02, 1 / 3, output="banks")
TASK = SignalNoiseTask(samples=6, embed=60, support=8, test_samples=5)


SIGNS, MEANS = SignGD(1e-3), ClassMeans(3, 0.02)


def experiment(form, rule=SIGNS, *, task=TASK, values=MEANS, **more):
    heads = more.pop("heads", 1)
    steps = more.pop("steps", 200)
    observables = more.pop("observables", SEEN)
    return Experiment(
        "none",
        "coordinates",
        {},
        task,
        Problem(Linear(heads), Logistic()),
        Initial(more.pop("width", 7), 0.05, values, **more),
        (Stage(rule, float(steps)),),
        Grid(stop=float(steps), count=11),
        observables,
        form=form,
    )


def compare(reference, other, tolerance, names=SEEN):
    for name in names:
        size = float(np.abs(reference[name]).max())
        error = float(np.abs(reference[name] - other[name]).max())
        assert error <= tolerance * max(size, 1.0), name


VARIANTS = {
    "two seeds of different supports": {},
    "shared signal coordinate": {
        "task": dataclasses.replace(TASK, orthogonal=False, support=20)
    },
    "long samples": {"task": dataclasses.replace(TASK, length=5, support=12)},
    "two heads": {"heads": 2},
    "one vector": {"values": Vector(0.03)},
    "trained outputs": {"values": BANKS},
    "fixed outputs": {"values": Chain(5, 0.02, 0.4, trained=False)},
}


@pytest.mark.parametrize("variant", mostly_slow(VARIANTS, "two heads"))
def test_signs_and_coordinates_follow_plain_weights(variant):
    """Early enough that autodiff in float64 still has every sign right."""
    seeds = (0, 1) if "seeds" in variant else (0,)
    plain, ours, state = (
        run(experiment(form, **VARIANTS[variant]), seeds=seeds)
        for form in ("weights", "coordinates", "signs")
    )
    # 200 steps of sums that are rounded once a step each.
    compare(plain, ours, 200 * 2.2e-16 * 10)
    compare(plain, state, 200 * 2.2e-16 * 10)
    assert float(np.abs(ours.key_neuron.diff("time")).max()) > 0.01


RULES = [
    Adam(1e-3),
    Adam(1e-3, beta1=0.0, beta2=0.9, epsilon=1e-4),
    Adam(1e-3, beta1=0.5, beta2=0.7, epsilon=1e-6),
    GradientDescent(0.5),
    Momentum(0.1, 0.9),
]


@pytest.mark.parametrize("rule", mostly_slow(RULES, RULES[2]))
@pytest.mark.parametrize("values", mostly_slow([MEANS, BANKS], BANKS))
@pytest.mark.filterwarnings("ignore::attnflow.experiments.EpsilonWarning")
def test_coordinates_follow_rules_on_plain_weights(rule, values):
    plain, ours = (
        run(experiment(form, rule, values=values))
        for form in ("weights", "coordinates")
    )
    # Adam divides by roots of squares of gradients: errors grow by their ratios.
    compare(plain, ours, 1e-10)


def test_adam_without_epsilon_does_not_see_the_size_of_gradients():
    """Late in training gradients pass 1e-162, whose squares are zero in float64."""
    rule = Adam(0.5, beta1=0.0, beta2=0.0, epsilon=0.0)
    adam = run(experiment("coordinates", rule, observables=("loss", "margin")))
    signs = run(
        experiment("signs", SignGD(0.5), observables=("loss", "margin")),
    )
    assert float(signs.margin.isel(time=-1).min()) > 372
    # g / sqrt(g²) is a sign to half an ulp.
    compare(adam, signs, 1e-11, ("margin",))


def test_many_scales_and_one_scale_have_the_same_signs():
    single = run(experiment("signs", SignGD(0.02)))
    with mutated(column_maps, "ROOM", 0.0):
        many = run(experiment("signs", SignGD(0.02)))
    compare(single, many, 1e-12)


@pytest.mark.parametrize("sparse", [True, False])
def test_column_maps_are_the_matrix(sparse, precise):
    draw = np.random.default_rng(0)
    entries = draw.standard_normal((5, 12)) * (draw.random((5, 12)) < 0.4)
    entries = entries[:, column_maps.by_degree(entries)]
    plan = column_maps.plan_of(entries)._replace(sparse=sparse)
    room = column_maps.widest([plan, column_maps.ColumnPlan((15, 13, 4, 1), sparse)])
    operator = column_maps.column_map(entries, room)
    tokens = jnp.asarray(draw.standard_normal((2, 5, 3)))
    log = jnp.asarray(draw.uniform(-900, 900, (2, 5)))
    pulled = eqx.filter_jit(operator.pull)(tokens, log)
    for column in range(12):
        met = np.flatnonzero(entries[:, column])
        if not len(met):
            assert np.isneginf(pulled.log[:, column]).all()
            continue
        for head in range(2):
            top = float(log[head, met].max())
            share = np.exp(np.asarray(log)[head, met] - top) * entries[met, column]
            expected = share @ np.asarray(tokens)[head, met]
            assert float(pulled.log[head, column, 0]) == top
            np.testing.assert_allclose(
                pulled.mantissa[head, column], expected, rtol=1e-13, atol=1e-15
            )
    moves = jnp.asarray(draw.standard_normal((2, 15, 3)))
    np.testing.assert_allclose(
        eqx.filter_jit(operator.push)(moves),
        entries @ np.asarray(moves)[:, :12],
        rtol=1e-13,
        atol=1e-14,
    )


def test_opposite_tokens_are_one_and_single_coordinates_one_column(precise):
    tokens = np.array(
        [
            [1.0, 0, 0, 0, 0],
            [-1.0, 0, 0, 0, 0],
            [0, 2.0, -3.0, 0, 0],
            [0, 0, 0.5, 4.0, 0],
        ]
    )
    data = sequences(tokens, [[0, 2], [1, 3]], [1.0, -1.0], shown=[0, 2, 3])
    known = representatives(data)
    assert known.tokens.tolist() == [0, 2, 3]
    np.testing.assert_array_equal(known.matrix @ tokens[known.tokens], tokens)
    whole = collapsed_columns(data, known.tokens)
    assert sorted(map(tuple, np.abs(whole.entries.T).tolist())) == [
        (0, 0, 4),
        (0, 2, 0),
        (0, 3, 0.5),
        (1, 0, 0),
    ]
    assert covered_columns(data, known.tokens).entries.shape == (3, 4)


def test_a_wrong_column_is_caught():
    """The comparison above fails for a state with one shared column too few."""
    with attnflow.precise():
        data = TASK.sequences(key=jax.random.key(0))
        initial = Initial(7, 0.05, ClassMeans(3, 0.02))
        form_and_state = build("signs", data, initial, heads=1, key=jax.random.key(1))
        errors = [_moved_by(data, form_and_state, drop) for drop in (False, True)]
    assert errors[0] == 0.0
    assert errors[1] > 1e-4


def _moved_by(data, form_and_state, drop):
    """The largest difference of two states after a step, one with a column less."""
    form, state = form_and_state
    entries = form.scores.columns.entries
    plan = column_maps.plan_of(np.asarray(entries))
    other = np.asarray(entries).copy()
    if drop:
        other[:, 0] = 0.0
    columns = column_maps.column_map(other, plan._replace(sparse=False))
    scores = dataclasses.replace(form.scores, columns=columns)
    problem = Problem(Linear(1), Logistic())
    after = []
    for part in (form.scores, scores):
        system = Training(
            dataclasses.replace(form, scores=part),
            problem,
            data,
            data.probability,
            ("scores",),
        )
        after.append(_one_step(system, state))
    return max(float(jnp.abs(after[0][n] - after[1][n]).max()) for n in ("W_K", "W_Q"))


@eqx.filter_jit
def _one_step(system, state):
    signs = jax.tree.map(jnp.sign, system.direction(state)["scores"])
    update = jax.tree.map(lambda sign: 1e-3 * sign, signs)
    return system.move(state, {"scores": update})["scores"]


def test_disjoint_supports_by_their_norms_alone():
    """Every inner product moves by a whole number of steps of its token's l1 norm."""
    task = DisjointNoiseTask(samples=4, support=10**6, test_samples=3)
    rule = SignGD(1e-5)
    dataset = run(experiment("auto", rule, task=task, observables=SEEN))
    assert dataset.attrs["form"] == "signs"
    with attnflow.precise():
        norms = np.diag(np.asarray(task.sequences(key=_data_key()).columns))[:5]
    moved = dataset.query_neuron.isel(seed=0, head=0) - dataset.query_neuron.isel(
        seed=0, head=0, time=0
    )
    steps = moved.values / (1e-5 * norms)
    assert np.abs(steps - np.rint(steps)).max() < 1e-8
    assert np.abs(steps).max() > 100


def _data_key():
    return jax.random.fold_in(jax.random.key(0), 0)


def test_growing_rates_pass_time_geometrically():
    rule = SignGD(1e-6, growth=0.05)
    dataset = run(experiment("signs", rule, steps=100, observables=("value",)))
    late = np.maximum(np.arange(100) - 20, 0)
    # The signal's value moves by 2 η a step, always the same way after the first ones.
    passed = 2e-6 * np.concatenate([[0], np.cumsum(1.05**late)])
    moved = dataset.value.sel(token="mu").values[0, :, 0]
    grown = np.diff(moved)[4:] / np.diff(passed[dataset.time.values.astype(int)])[4:]
    np.testing.assert_allclose(np.abs(grown), 1.0, rtol=1e-9)


def test_epsilon_that_swamps_is_told_with_its_step():
    with pytest.warns(
        EpsilonWarning, match=r"epsilon 1e-05 outweighs .* from step \d+"
    ):
        dataset = run(experiment("coordinates", Adam(1e-1, beta2=0.9, epsilon=1e-5)))
    step = float(dataset.epsilon_step[0])
    assert 1 < step < 200


def test_counts_of_zero_and_tied_signs():
    counts = ("zero_signs", "tied_signs", "signs_count", "log_mean_query_gradient")
    dataset = run(experiment("signs", observables=counts))
    assert float(dataset.zero_signs.max()) == 0
    assert float(dataset.tied_signs.max()) == 0
    assert float(dataset.signs_count.min()) > 100
    assert np.isfinite(dataset.log_mean_query_gradient).all()


REFUSED = {
    "flow": (
        ("coordinates", attnflow.training.rules.Flow()),
        "commutes with rotations",
    ),
    "Adam in signs": (("signs", Adam(1e-3)), "form='coordinates'"),
    "decay": (("coordinates", Momentum(0.1, weight_decay=0.1)), "form='weights'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_exact_is_refused(case):
    (form, rule), message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        run(experiment(form, rule))


def test_weights_that_have_no_columns_are_refused():
    neurons = Neurons(7, 4, 0.3, 0.3)
    with pytest.raises(ValueError, match="form='weights'"):
        run(experiment("signs", values=neurons))
    with pytest.raises(ValueError, match="form='weights'"):
        run(experiment("coordinates", merged=True))
    task = DisjointNoiseTask(samples=4, support=100, test_samples=0)
    with pytest.raises(ValueError, match="form='signs'"):
        run(experiment("coordinates", task=task, observables=("loss",)))
