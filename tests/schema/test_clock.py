"""Seconds are counted once, however what is measured is nested."""

from collections import defaultdict

import pytest

from attnflow.schema import clock
from attnflow.schema.clock import measured, spend


class Watch:
    """A clock that goes by what it is told alone."""

    now = 5.0

    def perf_counter(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds


@pytest.fixture
def watch(monkeypatch):
    watch = Watch()
    monkeypatch.setattr(clock, "time", watch)
    monkeypatch.setattr(clock, "SPENT", defaultdict(float))
    monkeypatch.setattr(clock, "_ended", [])
    return watch


def test_what_is_inside_counts_for_itself_alone(watch):
    with measured("outer"):
        watch.wait(2.0)
        for _ in range(2):
            with measured("inner"):
                watch.wait(1.0)
            watch.wait(0.5)
    assert clock.SPENT == {"outer": 3.0, "inner": 2.0}


def test_what_came_before_is_not_taken_off(watch):
    with measured("before"):
        watch.wait(2.0)
    with measured("after"):
        watch.wait(3.0)
    assert clock.SPENT == {"before": 2.0, "after": 3.0}


def test_a_duration_that_is_told_at_its_end_holds_those_told_before(watch):
    with measured("all"):
        watch.wait(3.0)
        assert spend("traced", 1.0) == 1.0
        # Told later, and longer: it held the trace.
        assert spend("compiled", 2.0) == 1.0
    assert clock.SPENT == {"all": 1.0, "traced": 1.0, "compiled": 1.0}
