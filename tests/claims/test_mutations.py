import numpy as np
import pytest

from attnflow.claims import NamedMutation, mutations, named
from attnflow.schema import setting_of
from attnflow.schema.settings import UnknownName
from attnflow.testing import check_claim, check_unchanged
from tests.claims.toy import corrected_claim, make_claim, make_evidence

LOSS = "loss_by_group"
EVERY_MUTATION = {
    "scale": mutations.scale("main", LOSS, 2.0),
    "add": mutations.add("main", LOSS, 1.0),
    "negate": mutations.negate("main", LOSS),
    "power": mutations.power("main", LOSS, 2.0),
    "reverse": mutations.reverse("main", LOSS, "time"),
    "shuffle": mutations.shuffle("main", LOSS, "group"),
    "swap": mutations.swap("main", LOSS, "group", ("consistent", "conflicting")),
    "constant": mutations.constant("main", LOSS),
    "shift": mutations.shift("main", LOSS, 5.0),
    "noise": mutations.noise("main", LOSS, 0.1),
    "replace": mutations.replace("main", LOSS, 0.5),
    "setting": mutations.setting("main", rate=1.0),
    "scale_setting": mutations.scale_setting("rate", 10.0),
    "cut": mutations.cut("main", 0.1),
    "hole": mutations.hole("main"),
    "only": mutations.only("main", mutations.negate("*", LOSS)),
    "some_seeds": mutations.some_seeds(0.4, mutations.negate("main", LOSS)),
    "both": mutations.both(
        mutations.negate("main", LOSS), mutations.scale("main", LOSS, 2.0)
    ),
}


@pytest.mark.parametrize("name", EVERY_MUTATION)
def test_mutations_change_a_copy(name):
    evidence = make_evidence()
    before = {key: run.copy(deep=True) for key, run in evidence.items()}
    after = EVERY_MUTATION[name](evidence)
    check_unchanged(before, evidence, name)
    assert not after["main"].identical(evidence["main"])
    assert after["main"][LOSS].dims == evidence["main"][LOSS].dims
    assert after["main"][LOSS].shape == evidence["main"][LOSS].shape
    for coord in ("seed", "time", "group"):
        assert after["main"][coord].identical(evidence["main"][coord])
    assert EVERY_MUTATION[name](evidence)["main"].identical(after["main"])


def changed(name):
    return EVERY_MUTATION[name](make_evidence())["main"][LOSS]


def test_what_the_mutations_do():
    old = make_evidence()["main"][LOSS]
    np.testing.assert_array_equal(changed("scale"), 2 * old)
    np.testing.assert_array_equal(changed("add"), 1 + old)
    np.testing.assert_array_equal(changed("negate"), -old)
    np.testing.assert_array_equal(changed("power"), old**2)
    np.testing.assert_array_equal(changed("reverse"), old.values[:, ::-1])
    np.testing.assert_array_equal(changed("shuffle"), old.values[..., ::-1])
    np.testing.assert_array_equal(changed("swap"), old.values[..., ::-1])
    assert (changed("constant") == 1.0).all()
    assert (changed("replace") == 0.5).all()
    np.testing.assert_array_equal(changed("only"), -old)
    np.testing.assert_array_equal(changed("both"), -2 * old)
    np.testing.assert_array_equal(changed("some_seeds")[:2], -old[:2])
    np.testing.assert_array_equal(changed("some_seeds")[2:], old[2:])
    size = float(abs(changed("noise") - old).max())
    assert 0.2 < size < 0.6


def test_a_delay_moves_a_series_along_its_clock():
    moved = changed("shift")
    old = make_evidence()["main"][LOSS]
    np.testing.assert_allclose(moved.values[:, 50:], old.values[:, :-50], atol=1e-9)
    assert (moved[:, :50] == 1.0).all()


def test_a_shuffle_moves_every_value():
    evidence = make_evidence()
    for seed in range(10):
        mixed = mutations.shuffle("main", LOSS, "time", seed=seed)(evidence)
        values = mixed["main"][LOSS].values[0, :, 1]
        assert (values != evidence["main"][LOSS].values[0, :, 1]).all()


def test_runs_that_slow_down_have_other_clocks_and_ends():
    evidence = {**make_evidence(), "second": make_evidence()["main"]}
    after = mutations.slow_down(2.0)(evidence)
    assert after["main"].identical(evidence["main"])
    assert float(after["second"]["time"][-1]) == 120.0
    assert (after["second"]["end_time"] == 120.0).all()
    assert float(evidence["second"]["time"][-1]) == 60.0


def test_gaps_stay_gaps():
    evidence = make_evidence()
    evidence["main"][LOSS][0, 300:] = np.nan
    for name in ("scale", "constant", "shift", "replace", "noise", "power"):
        after = EVERY_MUTATION[name](evidence)["main"][LOSS]
        np.testing.assert_array_equal(
            np.isnan(after), np.isnan(evidence["main"][LOSS]), err_msg=name
        )


def test_a_setting_is_changed_for_formulas_alone():
    evidence = make_evidence()
    after = EVERY_MUTATION["setting"](evidence)["main"]
    assert setting_of(after) == {"rate": 1.0}
    assert after[LOSS].identical(evidence["main"][LOSS])


def test_one_run_of_several():
    evidence = {**make_evidence(), "other": make_evidence()["main"]}
    after = mutations.negate("other", LOSS)(evidence)
    assert after["main"].identical(evidence["main"])
    assert not after["other"].identical(evidence["other"])
    every = mutations.negate("*", LOSS)(evidence)
    assert not every["main"].identical(evidence["main"])
    changed = mutations.only("other", mutations.negate("*", LOSS))(evidence)
    assert changed["main"].identical(evidence["main"])


def test_several_variables_at_once():
    evidence = make_evidence()
    after = mutations.scale("main", (LOSS, "end_time"), 2.0)(evidence)["main"]
    assert (after["end_time"] == 120).all()


@pytest.mark.parametrize(
    ("mutation", "words"),
    [
        (mutations.negate("mian", LOSS), "Did you mean 'main'"),
        (mutations.negate("main", "loss_by_grup"), "Did you mean 'loss_by_group'"),
        (mutations.swap("main", LOSS, "group", ("consistent", "x")), "no group 'x'"),
        (mutations.setting("main", rte=1), "Did you mean 'rate'"),
        (mutations.only("mian", mutations.negate("*", LOSS)), "Did you mean 'main'"),
    ],
)
def test_wrong_names_are_refused(mutation, words):
    with pytest.raises(UnknownName, match=words):
        mutation(make_evidence())


def test_names():
    assert mutations.scale("main", LOSS, 2).name == f"{LOSS} times 2 in main"
    assert mutations.negate("*", LOSS).name == f"{LOSS} negated"
    with pytest.raises(ValueError, match="same name"):
        named(mutations.negate("*", LOSS), mutations.negate("*", LOSS))


# What the protocol sees


def test_a_named_mutation_that_changes_nothing_is_refused():
    idle = NamedMutation("nothing", lambda evidence: evidence)
    claim = make_claim(mutations=named(idle))
    with pytest.raises(AssertionError, match="holds in spite of 'nothing'"):
        check_claim(claim, make_evidence())


def test_the_protocol_sees_a_judge_that_writes_into_the_evidence():
    def careless(evidence):
        evidence["main"][LOSS][:] = 0.0
        return make_claim().judge(evidence)

    with pytest.raises(AssertionError, match="changed the run 'main'"):
        check_claim(make_claim(judge=careless), make_evidence())


def test_the_protocol_sees_another_verdict():
    with pytest.raises(AssertionError, match="recorded as fails and is holds"):
        check_claim(corrected_claim(factor=1.0), make_evidence())
