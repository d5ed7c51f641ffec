"""What users give by mistake: an error that says what is allowed, and no traceback."""

import numpy as np
import pytest

import attnflow as af

NAN = float("nan")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"width": 10**30}, "an integer from 1"),
        ({"seeds": NAN}, "neither a number of seeds nor a list"),
        ({"seeds": 10**22}, "more than 1000000"),
        ({"seeds": [0, 0.5]}, "not an integer"),
        ({"seeds": [None]}, "not an integer"),
        ({"record": [3]}, "names of observables"),
        ({"at": [NAN]}, "finite and not negative"),
        ({"weights": {"W_K": np.array(["a"])}}, "real numbers"),
    ],
)
def test_a_run_says_what_is_allowed(options, words):
    with pytest.raises(ValueError, match=words):
        af.run("mixture/figure1", store=False, **options)


@pytest.mark.parametrize("name", [3, None, ["mixture/figure1"]])
def test_what_is_no_experiment_is_refused(name):
    with pytest.raises(ValueError, match="is not an experiment"):
        af.run(name)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "Nothing is swept"),
        ({"omega": 0.1}, "Nothing is swept"),
        ({"omega": [NAN, 0.1]}, "a number"),
        ({"omega": "0.1..1:10000000"}, "from 2 to 1000000"),
        ({"omega": "0.1..1:2000", "bias": "0..1:2000"}, "4000000 cells"),
        ({"omega": [0.1, 0.2], "bias": [0.0, 1.0], "refine": NAN}, "not a level"),
    ],
)
def test_a_sweep_says_what_is_allowed(settings, words):
    with pytest.raises(ValueError, match=words):
        af.sweep("mixture/figure1", executor="here", **settings)


def test_a_name_is_suggested_only_where_it_is_near():
    with pytest.raises(ValueError, match="Did you mean 'width'"):
        af.run("mixture/figure1", widht=3)
    for name in ("layers", "mask", "heads"):
        with pytest.raises(ValueError) as caught:
            af.run("mixture/figure1", **{name: 3})
        assert "Did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda: af.paper("mixture").claim(1),
        lambda: af.paper(3),
        lambda: af.paper("mixture").claims.verify("B-L6.1", seeds=[0, 1], workers=0),
        lambda: af.paper("mixture").claims.verify("B-L6.1", seeds=1.5, workers=0),
        lambda: af.times(3),
        lambda: af.observe("mixture/figure1", 3),
        lambda: af.run("cooccurrence/token-svm", data=3),
        lambda: af.sweep(3, a=[1]),
        lambda: af.sweep("mixture/figure1", omega=[0.1, 0.2], batch="none"),
        lambda: af.mix("x", "gd", 1.0),
        lambda: af.mix(af.MixtureTask(), "gd", 1.0),
        lambda: af.GradientDescent("x"),
        lambda: af.Momentum(0.1, None),
    ],
)
def test_what_is_of_the_wrong_type_gets_a_sentence(call):
    """As the fault suite found them: TypeErrors and an AssertionError before."""
    with pytest.raises(ValueError, match=r"\.$"):
        call()
