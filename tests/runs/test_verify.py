"""Claims judged side by side: the same table whoever judges, and whoever is killed."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from attnflow.claims import Verdict
from attnflow.runs.pool import Here, Pool
from attnflow.runs.store import Store
from attnflow.runs.verify import verify_claims
from attnflow.schema.installation import MissingData
from tests import toy as toys

ROOT = Path(__file__).parents[2]


def table(rows):
    """Rows but for times."""
    return [replace(row, seconds=0.0) for row in rows]


def judged(paper=None, pool=None, **options):
    paper = paper or toys.toy_paper()
    selection = [(paper, paper.claims)]
    return verify_claims(selection, pool=pool or Here(), seeds=2, **options)


def broken(error):
    def judge(evidence):
        raise error

    return toys.toy_paper(claims=(replace(toys.toy_claim(), judge=judge),))


def test_processes_give_what_this_process_gives(toy, tmp_path):
    here = judged(store=Store(tmp_path / "here"))
    with closing(Pool(2, prepare=toys.install)) as pool:
        there = judged(pool=pool, store=Store(tmp_path / "there"))
    assert table(there) == table(here)
    assert [row.id for row in there] == ["T-Thm1", "T-Thm2"]


def test_progress_goes_from_nothing_to_all(toy):
    told = []
    judged(progress=lambda share, text: told.append((share, text)))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, pytest.approx(1.0))
    assert told[0][1] == "0 of 2 claims"
    assert told[-1][1] == "2 of 2 claims"
    assert all(" left" in text for _, text in told[1:-1])


def test_a_fault_names_its_claim_and_place(toy):
    paper = broken(KeyError("loss"))
    toys.install(toy, paper)
    with pytest.raises(RuntimeError, match="toy/T-Thm1 could not be judged") as raised:
        judged(paper)
    assert "KeyError: 'loss'" in str(raised.value)
    assert "test_verify.py" in str(raised.value)


def test_missing_data_leave_a_claim_unchecked_and_are_looked_for_again(toy):
    paper = broken(MissingData("the data set is not here."))
    toys.install(toy, paper)
    (row,) = judged(paper)
    assert (row.verdict, row.note) == (Verdict.UNCHECKED, "the data set is not here.")
    (again,) = judged(paper, changed=True)
    assert again.verdict is Verdict.UNCHECKED


def test_warnings_of_workers_are_told_once(toy, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(UserWarning) as caught:
        judged(store=Store(tmp_path / "file"))
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == len(set(texts)) > 0
    assert all("could not be stored" in text for text in texts)


PROGRAM = """
from pathlib import Path
from attnflow.runs.pool import Pool
from attnflow.runs.verify import verify_claims
from tests import toy
toy.install()
paper = toy.toy_paper()
pool = Pool(1, prepare=toy.install)
verify_claims([(paper, paper.claims)], pool=pool, seeds=2)
"""


@pytest.mark.parametrize(
    ("seen", "left"),
    [pytest.param("computing", 2, marks=pytest.mark.slow), ("store/*.run", 1)],
)
def test_killed_at_any_moment_it_goes_on_where_it_was(toy, tmp_path, seen, left):
    """In the middle of the first run, and after it."""
    program, store = tmp_path / "program.py", tmp_path / "store"
    program.write_text(PROGRAM)
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    slow = {"TOY_SECONDS": "0.5", "ATTNFLOW_STORE": str(store), "PYTHONPATH": paths}
    process = subprocess.Popen(
        [sys.executable, str(program)], env={**os.environ, **slow}, cwd=tmp_path
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(seen)) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    assert process.returncode == -signal.SIGKILL
    rows = judged(store=Store(store))
    assert len(toy.calls) <= left
    assert table(rows) == table(judged(store=Store(tmp_path / "undisturbed")))
