"""Programs: compiled with less effort they compute the same; and they are kept."""

import os
import subprocess
import sys
import warnings
from types import SimpleNamespace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnflow.experiments import run
from attnflow.papers import paper
from attnflow.schema.clock import COUNTS
from attnflow.training import descent, flows, programs
from attnflow.training.programs import Effort, Program, keeping, size_of


def test_each_effort_is_a_program_of_its_own():
    traces = []

    def double(x):
        traces.append(x.shape)
        return 2 * x

    program = Program(double)
    for effort in (*Effort, *Effort):
        np.testing.assert_array_equal(program(effort, np.arange(3.0)), [0, 2, 4])
    assert traces == [(3,)] * 3


def test_effort_follows_from_sizes_and_steps():
    assert size_of({"a": np.ones((2, 3)), "b": 1.0}, None, np.ones(4)) == 11
    assert descent._effort(None, 10, 1000) is Effort.LEAST
    assert descent._effort(None, 100, 10**7) is Effort.LESS
    assert descent._effort(None, 2000, 1000) is Effort.LESS
    assert descent._effort(None, 2000, 10**7) is Effort.FULL
    assert descent._effort(SimpleNamespace(in_products=True), 2000, 10**7) is (
        Effort.LESS
    )


def _course(recipe, effort, monkeypatch, **changes):
    """A run whose programs are compiled with one effort, whatever they are."""
    for module, name in ((descent, "_advance"), (flows, "_flow")):
        real = getattr(module, name)
        monkeypatch.setattr(
            module, name, lambda _, *args, real=real: real(effort, *args)
        )
    course = run(recipe.experiment(recipe.with_overrides(changes)), seeds=(0, 1))
    monkeypatch.undo()
    return course


@pytest.mark.parametrize(
    ("id", "changes", "tolerance"),
    [
        ("figure1", {"steps": 400, "records": 20}, 1e-12),
        # Rounding moves the solver's steps, of which each errs by its tolerance.
        pytest.param(
            "flow",
            {"steps": 40.0, "records": 20, "rtol": 1e-10},
            1e-10,
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_whole_course_is_the_same(id, changes, tolerance, monkeypatch):
    recipe = paper("mixture").recipe(id)
    full = _course(recipe, Effort.FULL, monkeypatch, **changes)
    for effort in (Effort.LEAST, Effort.LESS):
        other = _course(recipe, effort, monkeypatch, **changes)
        for name in ("loss", "score", "value"):
            error = np.abs(other[name] - full[name]).max()
            assert error <= tolerance * np.abs(full[name]).max()


TRACED = []
"""A name for each time that a function below was traced."""
X = np.linspace(0.0, 1.0, 5)


class Pair(NamedTuple):
    """A value with leaves that are arrays and one that is none."""

    sum: jax.Array
    label: str
    product: jax.Array


def pair(x, label):
    TRACED.append("pair")
    return Pair(jnp.cumsum(x), label, jnp.cumprod(x))


class Whole(eqx.Module):
    """A value with arrays and with what is none."""

    sum: jax.Array
    label: object = eqx.field(static=True)


def whole(x):
    TRACED.append("whole")
    return Whole(jnp.cumsum(x), "a")


def whole_without_a_name(x):
    TRACED.append("whole_without_a_name")
    return Whole(jnp.cumsum(x), lambda: "a")


def singular(x):
    TRACED.append("singular")
    return jnp.linalg.svd(jnp.outer(x, x) + jnp.eye(5), compute_uv=False)


def announced(x):
    TRACED.append("announced")
    jax.debug.callback(lambda: None)
    return jnp.sin(x)


@pytest.fixture
def directory(tmp_path, monkeypatch):
    """Where programs are kept, all of them, as in a process that is attnflow's own."""
    monkeypatch.setenv("ATTNFLOW_CACHE", str(tmp_path))
    monkeypatch.setenv("ATTNFLOW_TRACES", "kept")
    monkeypatch.setattr(programs, "WORTH", 0.0)
    TRACED.clear()
    return tmp_path / "compiled"


def called(function, *args, code="as it is", effort=Effort.LEAST):
    """What a new session gets, and how many programs it read."""
    before = COUNTS["kept"]
    with keeping(code):
        value = Program(function)(effort, *args)
    return value, COUNTS["kept"] - before


def endings(directory):
    return sorted(path.suffix for path in directory.iterdir())


def test_another_session_traces_nothing(directory):
    first, read = called(pair, X, "a")
    assert (TRACED, read) == (["pair"], 0)
    again, read = called(pair, X, "a")
    assert (TRACED, read) == (["pair"], 1)
    assert type(again) is Pair and again.label == "a"
    np.testing.assert_array_equal(again.sum, first.sum)
    np.testing.assert_array_equal(again.product, first.product)
    assert endings(directory) == [".program", ".trace"]


def test_a_value_that_is_a_module_is_made_again(directory):
    """Its structure, read from a file, is not the one that Equinox knows."""
    first, _ = called(whole, X)
    again, read = called(whole, X)
    assert (TRACED, read) == (["whole"], 1)
    assert type(again) is Whole and again.label == "a"
    assert jax.tree.structure(again) == jax.tree.structure(first)
    np.testing.assert_array_equal(again.sum, first.sum)


def test_a_value_that_no_other_session_can_make_is_traced(directory):
    for _ in range(2):
        value, _ = called(whole_without_a_name, X)
        assert value.label() == "a"
    assert len(TRACED) == 2
    assert endings(directory) == [".program"]


@pytest.mark.parametrize(
    ("args", "how"),
    [
        ((X, "b"), {}),
        ((X[:3], "a"), {}),
        ((X.astype(np.float32), "a"), {}),
        ((X, "a"), {"effort": Effort.FULL}),
        ((X, "a"), {"code": "changed"}),
    ],
)
def test_what_differs_is_traced(directory, precise, args, how):
    called(pair, X, "a")
    value, _ = called(pair, *args, **how)
    assert TRACED == ["pair"] * 2
    assert value.label == args[1]
    np.testing.assert_allclose(value.sum, np.cumsum(args[0]), rtol=1e-6)


def test_changed_code_that_gives_the_same_program_does_not_compile(directory):
    called(pair, X, "a")
    _, read = called(pair, X, "a", code="changed")
    assert (len(TRACED), read) == (2, 1)
    assert endings(directory) == [".program", ".trace", ".trace"]


def test_a_function_without_a_name_is_traced_and_not_compiled(directory):
    called(lambda x: pair(x, "a"), X)
    _, read = called(lambda x: pair(x, "a"), X)
    assert (len(TRACED), read) == (2, 1)
    assert endings(directory) == [".program"]


def test_sessions_of_python_trace(directory, monkeypatch):
    """There somebody may have replaced a function, as here."""
    monkeypatch.setenv("ATTNFLOW_TRACES", "never")
    called(pair, X, "a")
    monkeypatch.setattr(jnp, "cumsum", jnp.flip)
    value, read = called(pair, X, "a")
    np.testing.assert_array_equal(value.sum, np.float32(X[::-1]))
    assert (len(TRACED), read) == (2, 0)


def test_a_program_that_calls_a_library_is_lowered_which_loads_the_library(directory):
    """In a session that has not lowered one, LAPACK's functions would be missing."""
    first, _ = called(singular, X)
    again, read = called(singular, X)
    np.testing.assert_array_equal(first, again)
    assert (len(TRACED), read) == (2, 1)
    assert endings(directory) == [".program"]


def test_a_program_that_calls_back_is_not_kept(directory):
    called(announced, X)
    _, read = called(announced, X)
    assert read == 0 and not directory.exists()


def reads(position):
    """A function of three arguments that reads one of them."""

    def same_name(*args):
        return 2 * args[position]

    return same_name


@pytest.mark.parametrize("shapes", [(5, 5, 5), (5, 3, 4)])
def test_what_a_program_does_not_read_tells_it_from_others(directory, shapes):
    """Their texts would be the same if arguments that are not used were left out."""
    args = [np.arange(n) + 10 * k for k, n in enumerate(shapes)]
    for position, x in enumerate(args):
        for _ in range(2):
            value, _ = called(reads(position), *args)
            np.testing.assert_array_equal(value, 2 * x)
    assert endings(directory) == [".program"] * 3


def test_what_is_compiled_in_tells_a_program_from_others(directory):
    """Large constants, which differ in one number, are a part of the text."""
    x = np.zeros(3000, np.float32)
    for last in (1.0, 2.0):
        large = np.arange(3000, dtype=np.float32)
        large[-1] = last
        value, read = called(lambda x, large=large: x + jnp.asarray(large), x)
        assert (value[-1], read) == (last, 0)
    assert endings(directory) == [".program"] * 2


def test_a_trace_whose_value_cannot_be_made_is_traced_anew(directory, monkeypatch):
    called(pair, X, "a")
    monkeypatch.setattr(programs.pickle, "loads", lambda _: {}["gone"])
    value, _ = called(pair, X, "a")
    np.testing.assert_allclose(value.sum, np.cumsum(X), rtol=1e-6)
    assert len(TRACED) == 2


@pytest.mark.parametrize("ending", [".program", ".trace"])
def test_a_damaged_program_is_compiled_anew(directory, ending):
    first, _ = called(pair, X, "a")
    (path,) = directory.glob(f"*{ending}")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    with pytest.warns(UserWarning, match="damaged on disk"):
        value, _ = called(pair, X, "a")
    np.testing.assert_array_equal(value.sum, first.sum)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert called(pair, X, "a")[1] == 1
    assert len(TRACED) == 2


def test_a_program_of_another_machine_is_compiled_anew(directory, monkeypatch):
    called(pair, X, "a")
    monkeypatch.setattr(programs, "processor", lambda: "another")
    assert called(pair, X, "a")[1] == 0
    assert endings(directory) == [".program", ".program", ".trace", ".trace"]


TWICE = """
import numpy as np, jax
from attnflow.training import programs
from attnflow.training.programs import Effort, Program
from attnflow.schema.clock import COUNTS

programs.WORTH = 0.0
assert len(jax.devices()) == 3

def double(x):
    return 2 * x

for _ in range(2):
    print(COUNTS["kept"], Program(double)(Effort.LEAST, np.arange(3.0)).tolist())
print(COUNTS["kept"])
"""


def test_a_kept_program_runs_where_there_are_several_devices(directory):
    flags = "--xla_force_host_platform_device_count=3"
    done = subprocess.run(
        [sys.executable, "-c", TWICE],
        env={
            **os.environ,
            "XLA_FLAGS": flags,
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0 [0.0, 2.0, 4.0]\n0 [0.0, 2.0, 4.0]\n1\n"


def test_a_program_that_xla_does_not_load_is_compiled_anew(directory, monkeypatch):
    called(pair, X, "a")
    (path,) = directory.glob("*.program")
    programs._write(path.name, None, program=programs.zlib.compress(b"nonsense"))
    value, read = called(pair, X, "a")
    np.testing.assert_allclose(value.sum, np.cumsum(X), rtol=1e-6)
    assert read == 0 and called(pair, X, "a")[1] == 1


def test_nowhere_to_keep_anything(directory):
    directory.write_text("no directory")
    for _ in range(2):
        value, read = called(pair, X, "a")
        assert (value.label, read) == ("a", 0)


def test_a_program_inside_of_a_program_is_a_part_of_it(directory):
    inner = Program(pair)

    def outer(x):
        return inner(Effort.LEAST, x, "a").sum[-1]

    value, _ = called(jax.grad(outer), X.astype(np.float32))
    np.testing.assert_array_equal(value, np.ones(5))
