import jax
import numpy as np
import pytest

import attnflow as af
from attnflow.experiments import LearningRateWarning, run
from attnflow.experiments.course import train_members
from attnflow.experiments.members import build_members
from attnflow.models.problem import Linear, Problem, Squared
from attnflow.training import Grid, Reach, Stage, descent
from attnflow.training.programs import Program
from attnflow.training.rules import (
    Adam,
    Flow,
    GradientDescent,
    Momentum,
    SignGD,
    per_part,
)
from tests.core import TABLES, assert_same_course, experiment, given_weights

pytestmark = pytest.mark.cpus


def test_recording_does_not_change_the_run():
    """Other record times, another number of blocks: the same at common times."""
    weights = given_weights()
    coarse = run(experiment(grid=Grid(points=(0.0, 100.0, 200.0))), weights=weights)
    fine = run(experiment(grid=Grid(stop=200, count=201)), weights=weights)
    assert_same_course(fine.sel(time=coarse["time"]), coarse, steps=200)


def test_seeds_side_by_side_are_the_seeds_alone():
    together = run(experiment(), seeds=(3, 5))
    alone = run(experiment(), seeds=(5,))
    assert_same_course(together.sel(seed=[5]), alone, steps=200)
    assert float(np.abs(together["score"][0] - together["score"][1]).max()) > 1e-3


def test_large_seeds_one_by_one_are_seeds_side_by_side(monkeypatch):
    """Each with a learning rate of its own, along the whole run."""
    plan = experiment()
    with af.precise():
        members = build_members(plan, (3, 5)).members
        rates = [{part: np.array([0.1, 0.3]) for part in ("scores", "values")}]
        together = train_members(plan, members, rates=rates)
        # Programs are known by shapes: a new one, which is compiled for one by one.
        monkeypatch.setattr(descent, "_advance", Program(lambda *a: descent._block(*a)))
        monkeypatch.setattr(descent, "ALONE", 0)
        apart = train_members(plan, members, rates=rates)
    assert_same_course(apart.records.rows, together.records.rows, steps=200)
    own = run(plan, seeds=(3,))
    assert_same_course(
        {name: apart.records.rows[name][:1] for name in TABLES}, own, steps=200
    )
    assert np.abs(own["value"].values - apart.records.rows["value"][1:]).max() > 1e-3


def test_a_diverged_seed_keeps_what_it_had():
    problem = Problem(Linear(2), Squared())
    plan = experiment(problem=problem, rule=GradientDescent(20.0), until=200)
    with pytest.warns(LearningRateWarning):
        dataset = run(plan)
    assert dataset["outcome"].values[0] == "diverged"
    recorded = dataset["recorded"].values[0]
    assert recorded[0] and not recorded[-1]
    assert np.isfinite(dataset["score"].values[0][recorded]).all()
    assert np.isnan(dataset["score"].values[0][~recorded]).all()


def test_only_what_a_stage_trains_moves():
    weights = given_weights()
    for part, still in (("values", "score"), ("scores", "value")):
        stage = (Stage(GradientDescent(0.1), 50, (part,)),)
        plan = experiment(stages=stage, grid=Grid(stop=50, count=6))
        dataset = run(plan, weights=weights)
        assert float(np.abs(dataset[still] - dataset[still][:, :1]).max()) == 0.0
        moved = "value" if part == "values" else "score"
        assert float(np.abs(dataset[moved][:, -1] - dataset[moved][:, 0]).max()) > 1e-6


def test_a_stage_ends_at_the_first_step_beyond_its_level():
    rule = GradientDescent(0.1)
    stages = (
        Stage(rule, Reach("loss", 0.6, 500, "down"), name="1"),
        Stage(rule, 200, name="2"),
    )
    grid = Grid(stop=200, count=201)
    dataset = run(experiment(stages=stages, grid=grid), seeds=(0, 1, 2))
    plain = run(experiment(grid=grid), seeds=(0, 1, 2))
    ends = dataset["stage_end"].values[:, 0].astype(int)
    for seed, end in enumerate(ends):
        loss = plain["loss"].values[seed]
        assert loss[end] <= 0.6 < loss[end - 1]
    # Nothing but the name of the stage changes at the event.
    assert_same_course(dataset, plain, steps=200)
    assert dataset["recorded"].values.all()


def test_an_event_that_is_evaluated_rarely_ends_a_stage_when_evaluated():
    rule = GradientDescent(0.1)
    stages = (
        Stage(rule, Reach("loss", 0.6, 500, "down", every=7), name="1"),
        Stage(rule, Reach("loss", 0.43, 500, "down", every=11), name="2"),
    )
    grid = Grid(stop=200, count=201)
    dataset = run(experiment(stages=stages, grid=grid), seeds=(0, 1, 2))
    plain = run(experiment(grid=grid), seeds=(0, 1, 2))
    ends = dataset["stage_end"].values.astype(int)
    assert (dataset["outcome"] == "event").all()
    for seed, own in enumerate(ends):
        loss = plain["loss"].values[seed]
        for end, every, level in zip(own, (7, 11), (0.6, 0.43), strict=True):
            assert end % every == 0
            assert loss[end] <= level < loss[end - every]
        kept = dataset["recorded"].values[seed]
        assert kept.sum() == own[-1] + 1
        here = {"seed": [seed], "time": np.flatnonzero(kept)}
        assert_same_course(dataset.isel(here), plain.isel(here), steps=200)


def test_an_event_that_is_not_reached_is_an_outcome():
    stages = (Stage(GradientDescent(0.1), Reach("loss", 1e-9, 50, "down")),)
    dataset = run(experiment(stages=stages, grid=Grid(stop=50, count=6)))
    assert dataset["outcome"].values[0] == "event-not-reached"
    assert dataset["recorded"].values.all()


def test_memory_does_not_grow_with_the_number_of_steps():
    """The compiled loop's buffers are those of the records alone."""
    import jax
    import jax.numpy as jnp

    import attnflow
    from attnflow.experiments.course import Observe
    from attnflow.experiments.members import member
    from attnflow.training import descent, programs
    from attnflow.training.programs import stack

    def buffers(gap):
        with attnflow.precise():
            plan = experiment()
            samples = plan.task.sequences()
            system, state = member(plan, 0, "gram", samples, None, None)
            stacked, axes = stack([system])
            state = jax.tree.map(lambda leaf: leaf[None], state)
            rules = (("scores", GradientDescent(1.0)), ("values", GradientDescent(1.0)))
            none = {name: {} for name, _ in rules}
            loop = descent.Loop(rules, none, Observe(("loss",)), None, waits=False)
            carry = descent.begin(system, state, rules, np.zeros(1), 0)
            rates = {name: jnp.asarray(0.1) for name, _ in rules}
            gaps = jnp.full(5, gap)
            args = (stacked, axes, carry, gaps, rates, loop)
            lowered, _ = programs._lower(descent._block, *jax.tree.flatten(args))
            sizes = lowered.compile().memory_analysis()
            return sizes.temp_size_in_bytes + sizes.output_size_in_bytes

    assert buffers(1) == buffers(1_000_000)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda: GradientDescent(-0.1), "learning_rate is -0.1"),
        (lambda: Momentum(0.1, 1.0), r"\[0, 1\)"),
        (lambda: Adam(0.1, epsilon=-1.0), "epsilon"),
        (lambda: SignGD(0.0), "positive"),
        (lambda: Stage(GradientDescent(0.1), 10, ()), "trains nothing"),
        (
            lambda: Stage(GradientDescent(0.1), 10, ("neurons",)),
            "name one or more of scores",
        ),
        (lambda: Stage(GradientDescent(0.1), -1), "positive time"),
        (lambda: Reach("loss", 0.1, 0.0), "horizon"),
        (lambda: Reach("loss", 0.1, 1.0, "sideways"), "'up' or 'down'"),
        (lambda: Reach("loss", 0.1, 1.0, every=0), "every=1"),
        (
            lambda: Stage(Flow(), Reach("loss", 0.1, 1.0, every=5)),
            "leave out every=5",
        ),
        (lambda: Grid(points=(0.0, 0.0)), "increase"),
        (lambda: Grid(stop=1.0, count=1), "at least twice"),
        (lambda: Grid(stop=1.0, spacing="log"), "positive time"),
        (
            lambda: per_part({"scores": GradientDescent(0.1)}, ("scores", "values")),
            "none for",
        ),
    ],
)
def test_bad_rules(rule, message):
    with pytest.raises(ValueError, match=message):
        rule()


def test_sign_of_zero_is_zero(precise):
    import jax.numpy as jnp

    update, _ = (
        SignGD(0.1)
        .transformation()
        .update(
            {"w": jnp.array([0.0, -2.0, 1e-300])},
            SignGD(0.1).transformation().init(None),
        )
    )
    np.testing.assert_array_equal(update["w"], [0.0, -1.0, 1.0])


def test_an_interrupt_keeps_what_was_recorded(monkeypatch):
    """Between two compiled blocks, as Ctrl-C in a notebook would come."""
    from attnflow.training import descent

    whole = run(experiment())
    real, blocks = descent._advance, []

    def advance(*args):
        blocks.append(args)
        if len(blocks) == 3:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(descent, "_advance", advance)
    dataset = run(experiment())
    assert dataset["outcome"].values[0] == "interrupted"
    recorded = dataset["recorded"].values[0]
    assert 0 < recorded.sum() < len(recorded)
    kept = {"time": np.flatnonzero(recorded)}
    assert_same_course(dataset.isel(kept), whole.isel(kept), steps=200)


def test_waiting_for_an_event_ends_with_it():
    """A horizon of 10⁹ steps costs nothing once every seed has met the event."""
    stages = (Stage(GradientDescent(0.1), Reach("loss", 0.6, 1e9, "down")),)
    dataset = run(experiment(stages=stages, grid=Grid(stop=50, count=6)), seeds=(0, 1))
    assert list(dataset["outcome"].values) == ["event", "event"]
    assert float(dataset["end_time"].max()) < 50
    assert (dataset["loss_at_end"].values <= 0.6).all()


def test_steps_are_the_nearest_whole_number():
    dataset = run(experiment(until=153.1 / 0.1 - 1e-9, grid=Grid(stop=1531, count=3)))
    assert float(dataset["end_time"][0]) == 1531
    assert dataset["recorded"].values[0, -1]


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("mixture/figure1", {"rule": "gd"}),
        ("mixture/figure1", {"rule": "adam"}),
        ("signgd/setting-a", {"embed": 100, "samples": 2}),
        pytest.param("signgd/adam", {"embed": 100, "samples": 2}, marks=SLOW),
        ("signgd/stack", {"embed": 200}),
        ("vit/appendix-benign", {"embed": 64}),
        pytest.param("cooccurrence/figure1", {"embed": 24, "samples": 6}, marks=SLOW),
    ],
)
def test_blocks_of_a_run_are_one_program(monkeypatch, name, settings):
    """A weak type that becomes strong in the first block compiled Adam twice."""
    seen = []
    inner = descent._advance

    def spy(effort, system, axes, carry, *rest):
        seen.append(jax.tree.map(jax.typeof, carry))
        return inner(effort, system, axes, carry, *rest)

    monkeypatch.setattr(descent, "_advance", spy)
    af.run(name, steps=12, store=False, **settings)
    assert len(seen) > 1
    assert all(types == seen[0] for types in seen)
