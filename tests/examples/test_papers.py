"""The three neighbours: below 200 lines each, held to their authors' trajectories."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

PAPERS = Path(__file__).resolve().parents[2] / "examples" / "papers"
NAMES = sorted(p.parent.name for p in PAPERS.glob("*/pyproject.toml"))
DATA = Path(os.environ.get("ATTNFLOW_DATA", "none"), "references")
FILES = {
    "selection": "token-selection",
    "maxmargin": "max-margin",
    "linear_icl": "linear-attention",
}


def lines_of(name):
    text = "".join(p.read_text("utf-8") for p in PAPERS.glob(f"{name}/src/*/*.py"))
    return [line for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("name", NAMES)
def test_below_200_lines(name):
    assert len(lines_of(name)) < 200


def load(name, monkeypatch):
    """The package's loader of reference files, from its tests."""
    monkeypatch.syspath_prepend(str(PAPERS / name / "src"))
    path = PAPERS / name / "tests" / "reference.py"
    spec = importlib.util.spec_from_file_location(f"{name}_reference", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


CASES = [
    pytest.param(name, path, marks=pytest.mark.slow if name == "linear_icl" else ())
    for name in NAMES
    for path in sorted(DATA.glob(f"{FILES[name]}*.npz")) or [None]
]


@pytest.mark.filterwarnings("ignore::attnflow.experiments.LearningRateWarning")
@pytest.mark.parametrize(("name", "path"), CASES)
def test_equals_the_authors_program(name, path, monkeypatch):
    """Every series of every file, step by step."""
    if path is None:
        pytest.skip("no reference trajectories beside the clone (ATTNFLOW_DATA)")
    errors = load(name, monkeypatch).compare(path)
    assert max(errors.values()) < 1e-10, errors


def register(name, folder):
    metadata = folder / f"{name}-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Name: {name}\nVersion: 0.1.0\n")
    points = f"[attnflow.papers]\n{name} = {name}:PAPER\n"
    (metadata / "entry_points.txt").write_text(points)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_passes_the_shipped_tests(name, tmp_path):
    """As an installed package would, in a process of its own."""
    register(name, tmp_path)
    paths = [
        str(tmp_path),
        str(PAPERS / name / "src"),
        os.environ.get("PYTHONPATH", ""),
    ]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=PAPERS / name,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout[-2000:]
