"""Two claims tables side by side."""

import json

import pytest


def write(path, *rows):
    path.write_text(json.dumps({"version": 2, "claims": list(rows)}))
    return path


@pytest.fixture
def table(program):
    """The rows of the toy's claims, to be changed."""
    return program.json("verify")["claims"]


@pytest.fixture
def compared(program, tmp_path, table):
    """New rows → what `diff` says of them beside the old ones."""
    old = write(tmp_path / "old.json", *table)

    def compare(*rows, code=0):
        return program.json("diff", old, write(tmp_path / "new.json", *rows), code=code)

    return compare


def test_equal_tables_but_for_times(compared, table):
    later = [{**row, "seconds": 9.0, "margin": row["margin"] + 0.001} for row in table]
    assert compared(*later) == {"version": 2, "changes": [], "same": 2}


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"verdict": "inconclusive"}, "decided in one alone"),
        ({"scope": "beyond"}, "another scope"),
        ({"held": 4, "seeds": 5}, "in other seeds"),
        ({"margin": 0.1}, "another margin"),
    ],
)
def test_how_a_claim_differs(compared, table, change, kind):
    one, two = table
    comparison = compared({**one, **change}, two)
    assert comparison["same"] == 1
    (row,) = comparison["changes"]
    assert (row["paper"], row["id"], row["kind"]) == ("toy", "T-Thm1", kind)
    assert {name: row["new"][name] for name in change} == change
    assert {name: row["old"][name] for name in change} == {n: one[n] for n in change}


def test_another_verdict_comes_first_and_is_exit_code_1(compared, table):
    one, two = table
    comparison = compared(
        {**one, "margin": 0.1},
        {**two, "verdict": "fails"},
        {**one, "id": "T-New"},
        code=1,
    )
    kinds = [change["kind"] for change in comparison["changes"]]
    assert kinds == ["another verdict", "in the new one alone", "another margin"]
    assert comparison["changes"][1]["old"] is None


def test_a_table_of_version_1(program, tmp_path, table):
    fields = ("kind", "slack", "corrected", "witness", "missed", "unread")
    first = {name: x for name, x in table[0].items() if name not in fields}
    fixed = {**first, "id": "T-Thm2", "verdict": "holds-corrected"}
    fixed |= {"expected": "holds-corrected", "correction": "It falls to 0.2."}
    old = write(tmp_path / "old.json", first, fixed)
    new = write(tmp_path / "new.json", *table)
    comparison = program.json("diff", old, new)
    assert comparison["same"] == 1
    (told,) = comparison["changes"]
    assert (told["id"], told["kind"]) == ("T-Thm2", "decided in one alone")


def test_a_claim_that_is_gone(compared, table):
    (row,) = compared(table[0])["changes"]
    assert (row["kind"], row["new"]) == ("in the old one alone", None)


def test_for_people(program, tmp_path, table):
    old = write(tmp_path / "old.json", *table)
    new = write(tmp_path / "new.json", {**table[0], "verdict": "fails"}, table[1])
    done = program("diff", old, new)
    assert done.exit_code == 1
    header, row, *_ = done.stdout.splitlines()
    assert header.split() == ["claim", "differs", "old", "new", "statement"]
    assert "holds (theorem) 1/1" in row and "fails (theorem) 1/1" in row
    assert "Alike in both: 1. another verdict: 1" in done.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "There is no file"),
        ("{", "is not a claims table"),
        ('{"runs": []}', "is not a claims table"),
        ('{"claims": 12}', "is not a claims table"),
        ('{"claims": [{"id": "B-1"}]}', "is not a row of a claims table"),
    ],
)
def test_what_is_no_table(program, tmp_path, table, text, message):
    old, new = write(tmp_path / "old.json", *table), tmp_path / "new.json"
    if text is not None:
        new.write_text(text)
    assert message in program.refused("diff", old, new)
