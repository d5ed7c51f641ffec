"""Generated command lines and calls: an answer, or a sentence, and nothing else.

Every one is a process: no traceback, no exit code but 0, 1, 2 and 130, no death by a
signal, no hang, and no write outside of its folder.
"""

import io
import zipfile
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.faults.lines import calls, command_lines, commands, recipes

CODES = (0, 1, 2, 130)


@pytest.fixture(scope="module")
def furnished(scratch):
    """The scratch folder with files that lines and calls name."""
    # Imported here: what modules do when they are imported is not part of a strategy.
    assert recipes() and commands()
    folder = scratch.work
    (folder / "file.txt").write_text("nothing\n")
    (folder / "table.json").write_text('{"version": 2, "claims": []}')
    (folder / "run.run").write_bytes(b"attnflow 9 000000000002 ")
    (folder / "run.nc").write_bytes(b"\x89HDF\r\n")
    (folder / "folder").mkdir()
    (folder / "circle").symlink_to("circle")
    (folder / "link").symlink_to("folder/linked")
    np.savez(folder / "arrays.npz", W_K=np.zeros((2, 2)), x=np.array(["a"]))
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,)}"
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    for name, member in (("hostile.npz", "W_K.npy"), ("model.pt", "model/data.pkl")):
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as file:
            file.writestr(member, array)
        (folder / name).write_bytes(content.getvalue())
    return scratch


def tried(count, search):
    """Settings for so many examples; none is made smaller, which takes as many."""
    return settings(
        max_examples=count,
        derandomize=not search,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def check(done, what):
    assert done.code in CODES, (what, done.code, done.stderr[-3000:])
    assert "Traceback" not in done.stderr, (what, done.stderr[-3000:])
    assert done.outside == [], (what, done.outside)
    assert done.alone, (what, "a process is left")
    if done.code in (1, 2):
        assert done.stdout.strip() or done.stderr.strip(), (what, "not a word")


def run_lines(programs, scratch, count, *, search):
    codes = Counter()

    @tried(count, search)
    @given(command_lines())
    def each(line):
        done = programs(scratch, *line)
        check(done, line)
        codes[done.code] += 1

    each()
    print(f"{sum(codes.values())} command lines: exit codes {dict(codes)}")
    return codes


def run_calls(programs, scratch, count, *, search):
    codes = Counter()

    @tried(count, search)
    @given(calls())
    def each(expression):
        done = programs.evaluate(scratch, expression)
        check(done, expression)
        codes[done.code] += 1

    each()
    print(f"{sum(codes.values())} calls: {dict(codes)}")
    return codes


def test_a_few_command_lines(programs, furnished):
    codes = run_lines(programs, furnished, 12, search=False)
    assert codes[0] and codes[2]


def test_a_few_calls(programs, furnished):
    codes = run_calls(programs, furnished, 8, search=False)
    assert codes[0] and codes[2]


@pytest.mark.slow
def test_a_thousand_command_lines(programs, furnished):
    codes = run_lines(programs, furnished, 1000, search=True)
    assert sum(codes.values()) >= 1000


@pytest.mark.slow
def test_five_hundred_calls(programs, furnished):
    codes = run_calls(programs, furnished, 500, search=True)
    assert sum(codes.values()) >= 500
