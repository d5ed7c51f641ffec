"""Second witnesses: scripts of their own, and their numbers beside ours."""

from dataclasses import replace

import pytest

from attnflow.claims import Witness, verify
from attnflow.runs import witnesses
from attnflow.runs.witnesses import is_alike, run_script, run_witness, with_witnesses
from attnflow.schema.installation import MissingData
from tests.claims.test_judgement import Gatherer
from tests.claims.toy import corrected_claim, make_paper

CLAIM = replace(
    corrected_claim(),
    witness=Witness("witnesses/time.py", {"time": ("time",)}),
)
PAPER = make_paper(claims=(CLAIM,))


@pytest.fixture
def script(tmp_path, monkeypatch):
    """The witness of the claim, with this text."""
    file = tmp_path / "time.py"
    monkeypatch.setattr(witnesses, "witness_file", lambda paper, witness: file)

    def write(text):
        file.write_text(text)
        return file

    return write


@pytest.fixture
def row():
    return verify(CLAIM, PAPER, Gatherer(), 5)


def test_a_witness_that_agrees_to_its_digits(script, row):
    script("import math\nprint('time =', round(math.log(10) / 0.1, 2))")
    answer = run_witness(PAPER, CLAIM, row)
    assert answer.agrees is True
    assert answer.note.startswith("time: 23.03, ours 23.0")


def test_a_witness_that_does_not_agree(script, row):
    script("print('time = 46.05')")
    assert run_witness(PAPER, CLAIM, row).agrees is False


def test_rows_get_the_answers_and_each_script_is_run_once(script, row):
    counted = script(
        "import sys\nprint('time = 23.03')\nopen(sys.argv[0] + 'n', 'a').write('.')"
    )
    paper = make_paper(claims=(CLAIM, replace(CLAIM, id="T-Again")))
    rows = [row, replace(row, id="T-Again")]
    answers = with_witnesses([(paper, paper.claims)], rows)
    assert [answer.witness.agrees for answer in answers] == [True, True]
    assert counted.with_name("time.pyn").read_text() == "."


def test_claims_without_a_witness_stay_as_they_are(row):
    bare = replace(row, witness=None)
    assert with_witnesses([(PAPER, PAPER.claims)], [bare]) == [bare]


@pytest.mark.parametrize(
    ("ours", "theirs", "alike"),
    [
        (23.0259, "23.03", True),
        (23.0259, "23.0", True),
        (23.0259, "23.05", False),
        (0.25, "0.26", True),
        (0.25, "0.27", False),
        (1234.0, "1.2e3", True),
        (float("nan"), "1.0", False),
        (float("inf"), "1.0", False),
        (1.0, "nan", False),
    ],
)
def test_numbers_are_compared_to_the_digits_that_are_printed(ours, theirs, alike):
    assert is_alike(ours, theirs) is alike


def test_what_is_no_number_is_refused():
    with pytest.raises(ValueError, match="print digits alone"):
        is_alike(1.0, "about 1")


def test_numbers_are_found_by_the_parts_of_their_path(script, row):
    script("print('time = 3.0')")
    deep = Witness("witnesses/time.py", {"time": ("m/s, by run", "a/b", 1)})
    claim = replace(CLAIM, witness=deep)
    numbers = {"m/s, by run": {"a/b": [1.0, 3.0]}}
    assert run_witness(PAPER, claim, replace(row, numbers=numbers)).agrees is True


def test_a_path_that_is_a_text_is_refused():
    with pytest.raises(TypeError, match=r"\('time',\)"):
        Witness("witnesses/time.py", {"time": "time"})


def test_a_number_that_is_not_known_agrees_with_nothing(script, row):
    script("print('time = 1.0')")
    assert (
        run_witness(PAPER, CLAIM, replace(row, numbers={"time": None})).agrees is False
    )


def test_mistakes_are_named(script, row):
    script("print('speed = 1.0')")
    with pytest.raises(ValueError, match=r"prints no 'time'. It prints speed"):
        run_witness(PAPER, CLAIM, row)
    script("print('time = 1.0')")
    with pytest.raises(ValueError, match=r"no number \('time',\)"):
        run_witness(PAPER, CLAIM, replace(row, numbers={}))
    with pytest.raises(RuntimeError, match="ended with ZeroDivisionError"):
        run_script(script("1 / 0"))
    with pytest.raises(MissingData, match="no_such_module"):
        run_script(script("import no_such_module"))
