"""The code of a judge, as pages and folders show it."""

import inspect

import pytest

from attnflow.claims.source_code import sources


def judge(evidence):
    """Nothing, of nothing."""
    return evidence


@pytest.mark.parametrize(
    "home",
    [
        "/home/attnflow/attnflow/.venv/lib/python3.11/site-packages/attnflow",
        "/opt/attnflow/src/attnflow",
    ],
)
def test_a_file_is_named_from_its_package_on_wherever_that_is(home, monkeypatch):
    monkeypatch.setattr(inspect, "getsourcelines", lambda _: (["return 1"], 7))
    monkeypatch.setattr(inspect, "getsourcefile", lambda _: f"{home}/claims/judge.py")
    (source,) = sources(judge)
    assert source.file == "attnflow/claims/judge.py"
