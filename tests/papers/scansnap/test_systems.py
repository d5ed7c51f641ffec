"""J, Q and C against exact results, and against each other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnflow.experiments import run
from attnflow.observables.registry import DirectObserve
from attnflow.papers.scansnap import PAPER
from attnflow.papers.scansnap.stages.formulas import scale_of
from attnflow.papers.scansnap.systems.decoder import Decoder

TOP = "distinct9@0"
# The same for all flows of a system here, which then share a compiled program.
RECORDED = {
    "figure3": ("score", "loss"),
    "figure3-q": ("score", "attention_unit"),
}


def run_recipe(id, seeds=(0,), **changes):
    recipe = PAPER.recipe(id)
    if id in RECORDED:
        changes = {"record": RECORDED[id], **changes}
    return run(recipe.experiment(recipe.with_overrides(changes)), seeds=seeds)


def observed(id, names, state, **changes):
    """Observables of a system in a given state, without a run."""
    recipe = PAPER.recipe(id)
    model = recipe.experiment(recipe.with_overrides(changes)).model
    ((system, start),) = model.members((0,), None)
    placed = {name: state(name, leaf) for name, leaf in start.items()}
    observe = DirectObserve(names, model.registry)
    both = jax.jit(lambda state: (observe(system, state), system.velocity(None, state)))
    return jax.tree.map(np.asarray, both(placed))


def somewhere(name, leaf):
    """A state that no run comes to."""
    if name == "clock":
        return jnp.asarray(30.0)
    draw = np.random.default_rng(len(name))
    return jnp.asarray(draw.normal(size=leaf.shape))


def growth(course):
    z = course["score"].sel(token=TOP).isel(seed=0, time=-1, query=0)
    return np.exp(2 * float(z))


@pytest.mark.slow
def test_figure_3_in_three_systems():
    """The dominant token's growth by t = 10⁵: the README's numbers."""
    expected = {0.5: (44.9, 1.110, 1.150, 1.0064), 10.0: (12.0, 1.067, 1.104, 1.0105)}
    for rate, (bound, quasi, printed, joint) in expected.items():
        scalar = run_recipe("figure3-c", value_rate=rate)
        assert scalar.attrs["system"].startswith("C")
        last = float(scalar["drive_integral"][0, -1])
        assert np.exp(2 * last) == pytest.approx(bound, abs=0.05)
        runs = {
            "Q": (run_recipe("figure3-q", value_rate=rate), quasi),
            "Q printed": (
                run_recipe("figure3-q", value_rate=rate, per_class=False),
                printed,
            ),
            "J": (run_recipe("figure3", value_rate=rate), joint),
        }
        for name, (course, value) in runs.items():
            assert course.attrs["system"].startswith(name[0])
            assert growth(course) == pytest.approx(value, abs=5e-4)
            assert float(course["drift"][0]) < 1e-12


def test_the_scalar_model_is_its_closed_form():
    course = run_recipe("figure9", score_rate=0.3, value_rate=0.3)
    decoder = Decoder(10, 1000, value_rate=0.3, score_rate=0.3)
    scale = scale_of(vars(PAPER.recipe("figure9").setting))
    assert scale == pytest.approx(2.352, abs=5e-4)
    exact = decoder.drive_integral(course["time"].values, scale)
    np.testing.assert_allclose(course["drive_integral"][0], exact, atol=1e-9)
    np.testing.assert_allclose(
        course["attention_speed"][0], decoder.speed(course["time"].values), rtol=1e-8
    )
    assert float(decoder.drive_integral(decoder.snap, scale)) == pytest.approx(
        1.6401, abs=5e-5
    )


@pytest.mark.slow
def test_the_law_of_relative_gains_is_exact_in_q():
    """Theorem 3: r(t) = r(0) χ(t), and all distinct scores follow from one."""
    course = run_recipe("figure3-q", value_rate=2.0).isel(seed=0, query=0)
    f = course["attention_unit"].isel({"class": 0})
    z = course["score"]
    for other in ("distinct0@0", "distinct5@0"):
        gain = (f.sel(token=TOP) / f.sel(token=other)) ** 2 - 1
        growth = np.exp(2 * z.sel(token=TOP))
        np.testing.assert_allclose(gain, gain[0] * growth, rtol=1e-9)


@pytest.mark.usefixtures("precise")
def test_the_law_of_relative_gains_at_one_time():
    """r = r(0) χ is dz being as f² among a class's distinct tokens, in any state."""
    table = (0.3, 0.1, 0.2, 0.4, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.7, 0.2)
    overrides = {"probability": table, "system": "Q", "vocabulary": 50}
    observables, velocity = observed(
        "classes", ("attention_unit",), somewhere, **overrides
    )
    for n, tokens in enumerate(((1, 2, 3), (4, 5))):
        speed = (
            velocity["scores"][0, tokens]
            / observables["attention_unit"][n, tokens] ** 2
        )
        np.testing.assert_allclose(speed, speed[0], rtol=1e-9)
        assert (speed > 0).all()
    assert velocity["scores"][0, 0] < 0


@pytest.mark.usefixtures("precise")
def test_the_drive_in_q():
    """ξ is Σ γβ f·f', with β from the gradient that the decoder gives."""
    names = ("drive", "coupling", "gram", "attention_speed")
    observables, velocity = observed("classes", names, somewhere, system="Q")
    off_diagonal = ~np.eye(2, dtype=bool)
    drive = -(observables["coupling"] * observables["gram"] * off_diagonal).sum(axis=1)
    np.testing.assert_allclose(observables["drive"], drive, rtol=1e-9)
    assert (drive > 0).all()
    # B grows by (η_Z/K) ξ.
    np.testing.assert_allclose(velocity["drive"], drive / 2, rtol=1e-9)


def test_a_flow_of_both_tables():
    """E-R-4: rates and time enter through η_Y t and η_Y/η_Z; E-R-5: scores' sum."""
    slow = run_recipe("figure3", score_rate=0.5, value_rate=2.0, until=1e3)
    fast = run_recipe("figure3", score_rate=5.0, value_rate=20.0, until=1e2)
    slow, fast = (f["score"].isel(seed=0, time=-1, query=0) for f in (slow, fast))
    np.testing.assert_allclose(slow, fast, rtol=1e-8)
    tokens = [str(t) for t in slow["token"].values if str(t).endswith("@3")]
    common = float(slow.sel(token="common0"))
    assert common < 0
    assert float(slow.sel(token=tokens).sum()) == pytest.approx(-common / 10, rel=1e-9)


@pytest.mark.usefixtures("precise")
def test_identity_of_scores_and_values():
    """E-R-6: d/dt [z/η_Z − |Y|²/(2η_Y)] = −(1/K) Σ f² (f · g), in any state."""
    names = ("attention_unit", "backprop", "value", "score")
    rates = {"score_rate": 0.7, "value_rate": 1.5}
    observables, velocity = observed("classes", names, somewhere, form="joint", **rates)
    f, g = observables["attention_unit"], observables["backprop"]
    level = (f * g).sum(axis=1, keepdims=True)
    right = -(f**2 * level).mean(axis=0)
    query = PAPER.recipe("classes").setting.classes + 1
    left = velocity["scores"][query] / 0.7
    left = left - (observables["value"] * velocity["values"]).sum(axis=1) / 1.5
    np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-12)


def test_vocabularies_of_any_size():
    """A flow to 10⁶ is the same work at 10³ and at 10⁹ tokens."""
    for vocabulary in (10**3, 10**6, 10**9):
        course = run_recipe("figure3", vocabulary=vocabulary, until=1e6, score_rate=1.0)
        assert course.attrs["form"] == "symmetric"
        assert str(course["outcome"].values[0]) == "finished"
        # The loss is K/(η_Y t) once classes are told apart.
        assert float(course["loss"][0, -1]) == pytest.approx(1e-5, rel=0.05)
        # Sums of 10⁹ terms lose as many digits.
        assert float(course["drift"][0]) < 1e-16 * vocabulary * 1e3
        assert np.isfinite(course["score"].values).all()


def test_systems_of_time_have_no_steps_and_no_given_tables():
    with pytest.raises(ValueError, match="positive one"):
        run_recipe("figure3-q", value_rate=0.0)
    with pytest.raises(ValueError, match="use system=J"):
        run_recipe("figure3-q", residual="plain")
    recipe = PAPER.recipe("figure3-q")
    with pytest.raises(ValueError, match="begins at zero"):
        run(recipe.experiment(recipe.setting), weights={"scores": np.zeros((2, 2))})
