"""Full weights that come back from reduced states, against plain training."""

from itertools import product

import numpy as np
import pytest
from tests.core import experiment, mostly_slow, one_ulp, some_slow
from tests.models.forms.test_chains import CHAINS, RULES, weights_of

import attnflow as af
from attnflow.experiments import run
from attnflow.models.forms import Initial, Neurons
from attnflow.training import Grid, Stage
from attnflow.training.rules import Flow, GradientDescent, Momentum

LAYERS = {**CHAINS, "followed": Neurons(7, 9, 0.3, 0.3, follow=True)}
OUTPUT, NEURON = ("W_V", "w_O"), ("W_V", "W", "a")
NAMES = {
    "vector": ("w",),
    "class means": ("W_V",),
    **dict.fromkeys(("fixed output", "trained output", "narrow chain"), OUTPUT),
    **dict.fromkeys(("neurons", "followed", "neurons by law", "uniform"), NEURON),
}
# Tokens of rank 3 in 5 dimensions: most of the weights lie outside their span.
DRAW = np.random.default_rng(5)
TOKENS = DRAW.standard_normal((4, 5)) / 2
TOKENS[3] = TOKENS[0] - TOKENS[1]
DATA = {
    "tokens": TOKENS,
    "key": DRAW.integers(0, 4, (6, 3)),
    "label": DRAW.choice([-1.0, 1.0], 6),
}


def finals(dataset):
    return {
        str(n): dataset[n].values[0] for n in dataset.data_vars if n.endswith("_final")
    }


def check(initial, rule, data=DATA, **changes):
    """By the design's rule: ten times the spread of plain runs one ulp apart."""
    embed = 4 if data is None else data["tokens"].shape[1]
    weights = weights_of(initial, embed=embed)
    changes = {"initial": initial, "rule": rule, "until": 100, **changes}
    plan = experiment(form="weights", **changes)
    plain = finals(run(plan, weights=weights, data=data, lift=True))
    spread = [
        finals(run(plan, weights=one_ulp(weights, n), data=data, lift=True))
        for n in range(3)
    ]
    dataset = run(experiment(**changes), weights=weights, data=data, lift=True)
    assert dataset.attrs["form"] == "transport"
    ours = finals(dataset)
    assert set(ours) == set(plain) == {f"{name}_final" for name in weights}
    for name, weight in plain.items():
        rounding = np.finfo(float).eps * np.abs(weight).max()
        twins = max(np.abs(twin[name] - weight).max() for twin in spread)
        error = np.abs(ours[name] - weight).max()
        assert error <= 10 * max(rounding, twins), (name, error, twins)
    return weights, ours


@pytest.mark.parametrize(
    ("layer", "merged"),
    some_slow(
        product(LAYERS, (False, True)),
        lambda layer, merged: (
            layer == "trained output" if merged else layer in ("vector", "class means")
        ),
    ),
)
def test_equals_plain_training(layer, merged):
    initial = Initial(width=11, omega=0.4, values=LAYERS[layer], merged=merged)
    weights, ours = check(initial, RULES["descent"])
    scores = {"W_KQ"} if merged else {"W_K", "W_Q"}
    assert set(weights) == scores | set(NAMES[layer])
    fixed = {"a"} | ({"w_O"} if layer == "fixed output" else set())
    for name, began in weights.items():
        moved = np.abs(ours[f"{name}_final"] - began).max()
        assert moved == 0 if name in fixed else moved > 1e-3, name


@pytest.mark.parametrize("width", mostly_slow([2, 6, 11], 2))
@pytest.mark.parametrize("rule", ["rates", "momentum"])
def test_widths_and_rules(width, rule):
    """Widths below, at and above the number of columns that transport carries."""
    initial = Initial(width=width, omega=0.4, values=LAYERS["neurons"])
    check(initial, RULES[rule])


def test_staged_training_of_the_task_itself():
    initial = Initial(width=11, omega=0.4, values=LAYERS["trained output"])
    rule = GradientDescent(0.1)
    stages = (
        Stage(rule, 40, ("values",), name="1"),
        Stage(rule, 100, ("scores",), "conflicting", name="2"),
    )
    check(initial, rule, data=None, stages=stages)


@pytest.mark.slow
def test_flow():
    initial = Initial(width=11, omega=0.4, values=LAYERS["neurons"])
    weights = weights_of(initial)
    changes = {"initial": initial, "rule": Flow(rtol=1e-11), "until": 5.0}
    lifted = [
        finals(run(experiment(form=form, **changes), weights=weights, lift=True))
        for form in ("weights", "transport")
    ]
    for name in lifted[0]:
        assert np.abs(lifted[0][name] - lifted[1][name]).max() < 1e-9


def test_lifted_weights_continue_the_run():
    initial = Initial(width=11, omega=0.4, values=LAYERS["neurons"])
    weights = weights_of(initial)
    whole = run(experiment(initial=initial, until=100), weights=weights)
    half = run(experiment(initial=initial, until=50), weights=weights, lift=True)
    later = {name.removesuffix("_final"): w for name, w in finals(half).items()}
    rest = run(experiment(initial=initial, until=50), weights=later)
    for name in ("loss", "score", "value"):
        end = np.abs(rest[name].isel(time=-1) - whole[name].isel(time=-1))
        assert float(end.max()) < 1e-13


def test_drawn_weights_of_every_seed_and_dims():
    initial = Initial(width=11, omega=0.4, values=LAYERS["class means"])
    grid = Grid(points=(0.0, 3.0))
    plan = experiment(initial=initial, until=3, grid=grid)
    dataset = run(plan, seeds=(3, 5), lift=True)
    assert dataset["W_K_final"].dims == ("seed", "head", "width", "embed")
    assert dataset["W_V_final"].dims == ("seed", "head", "class", "neuron", "embed")
    plain = experiment(form="weights", initial=initial, until=3, grid=grid)
    other = run(plain, seeds=(3, 5), lift=True)
    for name in ("W_K_final", "W_Q_final", "W_V_final"):
        assert float(np.abs(dataset[name] - other[name]).max()) < 1e-14


def test_the_address_knows_of_it_only_where_asked(tmp_path):
    plan = experiment(until=2, grid=Grid(points=(0.0, 2.0)))
    store = af.Store(tmp_path)
    plain, lifted = (af.run(plan, store=store, lift=lift) for lift in (False, True))
    assert plain.attrs["id"] == af.run(plan, store=store).attrs["id"]
    assert plain.attrs["id"] != lifted.attrs["id"]
    assert "W_K_final" in lifted and "W_K_final" not in plain
    again = af.run(plan, store=store, lift=True)
    assert (again["W_K_final"] == lifted["W_K_final"]).all()


DECAY = Momentum(0.03, 0.7, weight_decay=0.02)


def test_decay_takes_the_plain_weights():
    initial = Initial(width=11, omega=0.4)
    dataset = run(experiment(initial=initial, rule=DECAY, until=5), lift=True)
    assert dataset.attrs["form"] == "weights"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"form": "gram"}, "up to a rotation only"),
        ({"form": "transport", "rule": DECAY}, "outside the tokens' span decay too"),
        ({"draw": "bartlett"}, "Use draw='weights'"),
        ({"draw": "expected"}, "declare them as test tokens beforehand"),
        ({"width": "infinite"}, "draws only what its form needs"),
        ({"form": "infinite", "width": "infinite", "rule": Flow()}, "inner products"),
    ],
)
def test_what_cannot_be_lifted(changes, message):
    form, rule = changes.pop("form", "auto"), changes.pop("rule", RULES["descent"])
    initial = Initial(**{"width": 40, **changes})
    plan = experiment(form=form, rule=rule, initial=initial, until=2.0)
    with pytest.raises(ValueError, match=message):
        run(plan, lift=True)


def _wrong_sign(began, factor):
    return -np.linalg.qr(began)[0] @ factor - began


def test_a_wrong_sign_of_the_orthogonal_factor_is_caught(monkeypatch):
    import sys

    monkeypatch.setattr(
        sys.modules["attnflow.models.forms.lifts"], "_moved", _wrong_sign
    )
    with pytest.raises(AssertionError):
        check(Initial(width=11, omega=0.4), RULES["descent"])
