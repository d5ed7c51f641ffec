"""Profiles: what jobs took adds up, by what was done, by experiment and by claim."""

import jax
import numpy as np
import pytest

from attnflow.runs.profile import Profile, Spent, spending
from attnflow.training.programs import precise


def test_compiling_is_told_from_computing():
    with precise(), spending("computed") as spent:
        jax.jit(lambda x: x * 3.25 + 1)(np.ones(7)).block_until_ready()
    assert spent.programs == 1
    assert set(spent.seconds) == {"traced", "lowered", "compiled", "computed"}
    assert min(spent.seconds.values()) > 0
    assert spent.peak > 10**7 and spent.grown >= 0


def test_the_seconds_of_a_job_add_up_to_its_time():
    with spending("whole") as whole, spending("computed") as inner:
        np.linalg.eigvalsh(np.ones((50, 50)))
    assert whole.total >= inner.total
    assert whole.total == pytest.approx(inner.total, abs=1e-3)


def test_claims_are_charged_with_their_runs():
    profile = Profile(needs={"p/one": {"a"}, "p/two": {"a", "b"}})
    profile.add("p/flow width=1", "a", Spent({"compiled": 2.0, "computed": 1.0}, 3))
    profile.add("p/flow width=2", "b", Spent({"computed": 1.0}, 0, peak=7))
    profile.add("p/one", None, Spent({"judged": 0.5}))
    profile.add("p/two", None, Spent({"judged": 0.25}))
    assert profile.phases == {"compiled": 2.0, "computed": 2.0, "judged": 0.75}
    assert profile.experiments == {"p/flow": (2, 4.0, 3)}
    assert list(profile.with_runs.items()) == [("p/two", 4.25), ("p/one", 3.5)]
    content = profile.as_json()
    assert content["programs"] == 3 and content["peak"] == 7
    assert [job["job"] for job in content["jobs"]][:2] == [
        "p/flow width=1",
        "p/flow width=2",
    ]
