"""What the examples say of mixed experiments is what comes out."""

import pytest

EXAMPLE = "mixing"
pytestmark = pytest.mark.slow


def test_signs_memorise_fillers_and_do_not_balance(example):
    found = example.signgd_on_cooccurrence(store=False)
    signs, plain = found["signgd"], found["gd"]
    assert signs["test loss"] > 3 * plain["test loss"]
    assert signs["test accuracy"] < 0.92 < 0.97 < plain["test accuracy"]
    assert plain["first over third word"] == pytest.approx(-1, abs=0.1)
    assert signs["first over third word"] < -1.4


def test_the_flow_reads_the_signal_where_signs_read_noise(example):
    found = example.flow_on_signal_noise(store=False)
    flow, signs = found["flow"], found["signgd"]
    assert flow["test accuracy"] == pytest.approx(1)
    assert signs["test accuracy"] < 0.9
    assert abs(flow["attention to the signal"] - 0.5) < 0.01
    assert signs["attention to the signal"] < 1e-3


def test_adam_does_not_wait_for_attention(example):
    found = example.adam_on_mixture((0.1, 0.001), store=False)
    waits = {name: numbers["score at 1/2"] for name, numbers in found.items()}
    assert waits["gd, omega 0.001"] > 1.8 * waits["gd, omega 0.1"]
    assert waits["adam, omega 0.001"] < 1.5 * waits["adam, omega 0.1"]
    for name, numbers in found.items():
        first = numbers["score at 1/2"] < numbers["consistent at 0.1"]
        assert first == name.startswith("adam")
