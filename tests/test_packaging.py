"""The wheel alone, outside of the clone."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import attnflow

ROOT = Path(__file__).parents[1]
OUTSIDE = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}


def call(*command, cwd):
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**OUTSIDE, "ATTNFLOW_STORE": str(Path(cwd) / "store")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from what is in the clone now."""
    place = tmp_path_factory.mktemp("wheel")
    command = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]
    call(sys.executable, *command, place, ROOT, cwd=place)
    (built,) = place.glob("*.whl")
    return built


def make_environment(place):
    call(sys.executable, "-m", "venv", "--without-pip", place, cwd=place.parent)
    return place / "bin" / "python"


def install(python, *what):
    flags = ["install", "--quiet", "--disable-pip-version-check"]
    call(
        *(sys.executable, "-m", "pip", "--python", python, *flags, *what),
        cwd=python.parent,
    )


def check_program(python, place):
    program = python.parent / "attnflow"
    home = call(python, "-c", "import attnflow; print(attnflow.__file__)", cwd=place)
    assert Path(home).is_relative_to(python.parents[1])
    listing = json.loads(call(program, "list", "--json", "-", cwd=place))
    assert listing["papers"]
    assert listing["claims"]
    assert call(program, "--version", cwd=place).startswith("attnflow ")


def test_the_wheel_holds_what_is_not_code(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    package = ROOT / "src" / "attnflow"
    wanted = {
        "attnflow/" + path.relative_to(package).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted <= inside
    assert not [name for name in inside if name.startswith("tests/")]


def test_the_wheel_beside_installed_libraries(wheel, tmp_path):
    python = make_environment(tmp_path / "venv")
    install(python, "--no-deps", wheel)
    site = call(
        python,
        "-c",
        "import sysconfig; print(sysconfig.get_path('purelib'))",
        cwd=tmp_path,
    )
    # Its .pth files are not followed from here, so that the clone stays out of sight.
    libraries = sysconfig.get_path("purelib")
    (Path(site.strip()) / "libraries.pth").write_text(libraries + "\n")
    check_program(python, tmp_path)


@pytest.mark.slow
def test_users_are_helped_by_the_types_of_the_wheel(wheel, tmp_path):
    """A strictly typed program has no error, and each mistake of another has one."""
    python = make_environment(tmp_path / "venv")
    install(python, "--no-deps", wheel)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = tmp_path / "venv" / "lib" / version / "site-packages"
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    for file in (ROOT / "tests" / "typed").glob("*.py"):
        shutil.copy(file, tmp_path)
    names = [f"v{k} = af.{name}" for k, name in enumerate(attnflow.__all__)]
    (tmp_path / "names.py").write_text("\n".join(["import attnflow as af", *names]))
    config = {"typeCheckingMode": "strict", "venvPath": ".", "venv": "venv"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    lines = check_types(tmp_path, "good.py"), check_types(tmp_path, "names.py")
    assert lines == ({}, {})
    text = (tmp_path / "bad.py").read_text("utf-8").splitlines()
    wrong = {number for number, line in enumerate(text, 1) if "  # " in line}
    assert set(check_types(tmp_path, "bad.py")) == wrong


def check_types(place, file):
    """The errors of basedpyright, by their lines."""
    done = subprocess.run(
        [Path(sys.executable).with_name("basedpyright"), "--outputjson", file],
        cwd=place,
        env=OUTSIDE,
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout)["generalDiagnostics"]
    errors = [entry for entry in found if entry["severity"] == "error"]
    return {e["range"]["start"]["line"] + 1: e["message"] for e in errors}


@pytest.mark.slow
def test_a_stranger_can_use_the_wheel_and_build_it_from_the_sdist(tmp_path):
    report = tmp_path / "report.json"
    tool = ROOT / "tools" / "clean_room.py"
    call(sys.executable, tool, "--json", report, cwd=tmp_path)
    content = json.loads(report.read_text("utf-8"))
    assert content["differs_from_sdist"] == []
    used = [room for room in content["environments"] if "left_out" not in room]
    assert used
    assert content["wheel_bytes"] < 4e6
    # Nothing that tests, documentation or notebooks need.
    assert content["dependencies"] <= 20


@pytest.mark.slow
def test_the_wheel_in_an_empty_environment(wheel, tmp_path):
    python = make_environment(tmp_path / "venv")
    install(python, wheel, "-c", ROOT / "constraints.txt")
    check_program(python, tmp_path)
    program = python.parent / "attnflow"
    doctor = json.loads(call(program, "doctor", "--json", "-", cwd=tmp_path))
    assert doctor["x64"] is True
    assert doctor["torch"] is None
