import json

import numpy as np
import pytest

from attnflow.claims import Verdict
from attnflow.cli.output import (
    Output,
    Table,
    draw,
    number,
    plain_lines,
    seconds,
    spread,
)
from attnflow.schema.settings import plain, typed
from tests.toy import ToyRow


def test_plain_values_are_strict_json():
    value = {
        "verdict": Verdict.HOLDS,
        "array": np.array([1.0, np.nan, np.inf]),
        "number": np.float64(0.5),
        "flag": np.bool_(True),
        "row": ToyRow("one", None, float("-inf")),
        3: (1, 2),
    }
    text = json.dumps(plain(value), allow_nan=False)
    assert json.loads(text) == {
        "verdict": "holds",
        "array": [1.0, None, None],
        "number": 0.5,
        "flag": True,
        "row": {
            "name": "one",
            "formula": None,
            "detected": None,
            "spread": None,
            "note": "",
        },
        "3": [1, 2],
    }


def test_plain_tables_are_aligned_and_not_wrapped():
    long = "x" * 200
    lines = plain_lines(Table(("a", "long"), [("1", long), ("22", "y")]))
    assert lines == ["a   long", f"1   {long}", "22  y", ""]


def test_an_option_is_no_file():
    with pytest.raises(ValueError, match=r"given '--out'.*--json out\.json --out"):
        Output("--out")


def test_json_alone_on_stdout(capsys):
    output = Output("-")
    output.say("for people")
    output.show(Table(("a",), [("1",)]))
    output.give({"x": 1})
    assert json.loads(capsys.readouterr().out) == {"version": 2, "x": 1}


def test_nothing_is_given_unless_asked(capsys):
    Output(None).give({"x": 1})
    assert capsys.readouterr().out == ""


def test_a_terminal_gets_a_drawn_table(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    Output(None).show(Table(("claim", "statement"), [("[B]", "loss ≤ 1")]))
    shown = capsys.readouterr().out
    assert "─" in shown
    assert "[B]" in shown


def test_a_narrow_terminal_gets_sentences_below(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    sentence = "The loss falls, and falls, and falls again."
    draw(Table(("claim", "verdict", "statement"), [("T-Thm1", "holds", sentence)] * 2))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    once = ["T-Thm1  holds", "    The loss falls, and falls, and falls", "    again."]
    assert lines == ["claim   verdict", *once, *once, ""]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (3, "3"), (0.123456, "0.1235"), ("a", "a"), (1e12, "1e+12")],
)
def test_numbers(value, shown):
    assert number(value) == shown


def test_spread_passes_over_what_is_missing():
    assert spread([1.0, float("nan"), 3.0]) == "2 (1 … 3)"
    assert spread([float("nan")]) == "–"


def test_settings_as_typed():
    settings = {"a": None, "b": True, "c": [1, 2], "d": "infinite"}
    assert " ".join(typed(settings)) == "a=none b=true c=1,2 d=infinite"


@pytest.mark.parametrize(
    ("value", "shown"), [(0.05, "50 ms"), (2.0, "2.0 s"), (120.0, "2.0 min")]
)
def test_seconds(value, shown):
    assert seconds(value) == shown
