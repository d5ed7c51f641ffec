"""Which code a result depends on: derived from imports, and seen in a copy."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import attnflow
from attnflow.papers import SLUGS, paper
from attnflow.runs import code
from attnflow.runs.code import RUN, modules_behind, signature, sources

ROOT = Path(attnflow.__file__).parent

KEYS = """
import json
from pathlib import Path
from attnflow.papers import paper
from attnflow.runs.runner import run_code
from attnflow.runs.verify import verdict_key
from attnflow.site.reproduce import Drawing
from attnflow.sweeps.sweep import plan_sweep

mixture, vit = paper("mixture"), paper("vit")
recipe = mixture.recipe("figure1")
drawing = Drawing(mixture, mixture.exhibit("figure1a"), Path())
keys = {
    "run": run_code(recipe.experiment(recipe.setting), recipe.build),
    "other paper's run": run_code(None, vit.recipe("figure1").build),
    "verdict": verdict_key(mixture, mixture.claim("B-Sec3-order"), 3),
    "figure": drawing.key,
    "sweep": plan_sweep("mixture/figure1", {}).sweep.code,
}
print(json.dumps(keys))
"""
EVERYTHING = {"run", "other paper's run", "verdict", "figure", "sweep"}

CHANGES = {
    "numerics": (
        "models/problem/*.py",
        "class Logistic",
        "VERSION = 2\n\n\nclass Logistic",
        EVERYTHING,
    ),
    "numerics of a paper": (
        "papers/mixture/experiments.py",
        "BUILD = ",
        "VERSION = 2\nBUILD = ",
        {"run", "verdict", "figure", "sweep"},
    ),
    "judges": (
        "claims/*.py",
        "def decide(",
        "VERSION = 2\n\n\ndef decide(",
        {"verdict"},
    ),
    "judges of a paper": (
        "papers/mixture/claims/experiments.py",
        "\nfrom attnflow",
        "\nVERSION = 2\nfrom attnflow",
        {"verdict"},
    ),
    "drawing": (
        "figures/*.py",
        "def curve(",
        "X = 2\n\n\ndef curve(",
        {"figure"},
    ),
    "drawing of a paper": (
        "papers/mixture/figures/training.py",
        "\nfrom attnflow",
        "\nVERSION = 2\nfrom attnflow",
        {"figure"},
    ),
    "a caption": (
        "papers/mixture/figures/training.py",
        "caption=(",
        'caption=("Another caption. " ',
        set(),
    ),
    "a note": ("papers/mixture/notes.py", "ours=(", 'ours=("Another note. " ', set()),
    "a docstring": (
        "models/problem/*.py",
        '"""',
        '"""Another sentence. ',
        set(),
    ),
    "a page": (
        "site/pages/*.py",
        "def write_page(",
        "X = 2\n\n\ndef write_page(",
        set(),
    ),
    "the command line": ("cli/app.py", "\nimport", "\nVERSION = 2\nimport", set()),
}


def keys_in(root: Path, cache: Path) -> dict[str, str]:
    environment = {**os.environ, "PYTHONPATH": str(root), "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", KEYS],
        env=environment,
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def replace_once(files: list[Path], old: str, new: str) -> None:
    """Change the first of the files that has the text."""
    for file in files:
        text = file.read_text("utf-8")
        if old in text:
            file.write_text(text.replace(old, new, 1), "utf-8")
            return
    raise AssertionError(f"no file has {old!r}")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    place = tmp_path_factory.mktemp("original")
    return keys_in(ROOT.parent, place), place


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_makes_stale_what_it_can_change(original, tmp_path, change):
    """One file of each kind is changed in a copy of the package."""
    pattern, old, new, stale = CHANGES[change]
    before, cache = original
    shutil.copytree(ROOT, tmp_path / "attnflow", ignore=shutil.ignore_patterns("__py*"))
    replace_once(sorted((tmp_path / "attnflow").glob(pattern)), old, new)
    after = keys_in(tmp_path, cache)
    assert {name for name in before if before[name] != after[name]} == stale


@pytest.mark.parametrize("slug", SLUGS)
def test_runs_depend_on_no_judge_and_no_drawing(slug):
    builds = {recipe.build.partition(":")[0] for recipe in paper(slug).recipes}
    rooms = {path.relative_to(ROOT).parts for path in sources(*builds, *RUN)}
    assert not {parts for parts in rooms if parts[0] in ("figures", "site", "cli")}
    judging = {parts for parts in rooms if parts[:1] == ("claims",)}
    assert {parts[1] for parts in judging} <= {"statistics", "statistics.py"}
    assert not {p for p in rooms if p[0] == "papers" and p[2] in ("claims", "figures")}


@pytest.mark.parametrize("slug", SLUGS)
def test_functions_of_computations_are_found_through_their_paths(slug):
    """Paths are put together from texts: none may be lost."""
    for recipe in paper(slug).recipes:
        experiment = recipe.experiment(recipe.setting)
        function = getattr(experiment, "function", "").partition(":")[0]
        build = recipe.build.partition(":")[0]
        assert not function or code._file(function) in sources(build)


def test_every_module_of_the_models_belongs_to_a_run():
    reached = sources("attnflow.papers.mixture.experiments", *RUN)
    for room in ("training", "models/forms", "models/problem", "observables"):
        files = set((ROOT / room).rglob("*.py"))
        missing = {f for f in files - reached if f.name != "__init__.py"}
        assert {f.name for f in missing} <= {"deep.py"}, room


def test_partial_functions_count_with_their_arguments():
    from functools import partial

    from attnflow.claims import judge
    from attnflow.runs.verify import verdict_key

    both = partial(judge, scope=partial(verdict_key, seeds=3))
    assert {"attnflow.claims.verify", "attnflow.runs.verify"} <= set(
        modules_behind(both)
    )
    assert signature(both) == "judge(('scope', verdict_key(('seeds', 3))))"
    assert signature(both) != signature(partial(judge, scope=4))
