"""Which code a result depends on: derived from imports, and seen in a copy."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import attnflow
from attnflow.papers import SLUGS, paper
from attnflow.runs import code
from attnflow.runs.code import RUN, modules_behind, signature, sources
from attnflow.runs.runner import run_modules

ROOT = Path(attnflow.__file__).parent

KEYS = """
import json, sys
from pathlib import Path
import attnflow
from attnflow.papers import paper
from attnflow.runs import code
from attnflow.runs.runner import run_modules
from attnflow.runs.verify import verdict_key
from attnflow.site.reproduce import Drawing
from attnflow.sweeps.sweep import plan_sweep

root = Path(attnflow.__file__).parent
mixture, vit = paper("mixture"), paper("vit")
recipe = mixture.recipe("figure1")
drawing = Drawing(mixture, mixture.exhibit("figure1a"), Path())


def keys():
    for cached in (code.code_digest, code._file):
        cached.cache_clear()
    return {
        "run": code.code_digest(*run_modules(recipe.build)),
        "other paper's run": code.code_digest(
            *run_modules(vit.recipe("figure1").build)
        ),
        "verdict": verdict_key(mixture, mixture.claim("B-Sec3-order"), 3),
        "figure": drawing.key,
        "sweep": plan_sweep("mixture/figure1", {"omega": [0.1, 0.2]}).code,
    }


before = keys()
stale = {}
for name, (pattern, old, new) in json.load(sys.stdin).items():
    file = next(f for f in sorted(root.glob(pattern)) if old in f.read_text("utf-8"))
    text = file.read_text("utf-8")
    file.write_text(text.replace(old, new, 1), "utf-8")
    after = keys()
    stale[name] = [key for key in before if before[key] != after[key]]
    file.write_text(text, "utf-8")
print(json.dumps(stale))
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


@pytest.fixture(scope="module")
def stale(tmp_path_factory):
    """What each change makes stale, in a copy of the package."""
    place = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT, place / "attnflow", ignore=shutil.ignore_patterns("__py*"))
    paths = {"PYTHONPATH": str(place), "XDG_CACHE_HOME": str(place / "cache")}
    changes = {name: change[:3] for name, change in CHANGES.items()}
    done = subprocess.run(
        [sys.executable, "-c", KEYS],
        input=json.dumps(changes),
        env={**os.environ, **paths},
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_makes_stale_what_it_can_change(stale, change):
    """One file of each kind is changed, and changed back."""
    assert set(stale[change]) == CHANGES[change][3]


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
    # Next-token systems belong to the runs of the one paper that has them.
    papers = ("mixture", "scansnap")
    reached = sources(*(f"attnflow.papers.{slug}.experiments" for slug in papers), *RUN)
    for room in ("training", "models/forms", "models/problem", "observables"):
        files = set((ROOT / room).rglob("*.py"))
        missing = {f for f in files - reached if f.name != "__init__.py"}
        assert {f.name for f in missing} <= {"deep.py"}, room


def test_partial_functions_count_with_their_arguments():
    from functools import partial

    from attnflow.claims import judge
    from attnflow.runs.verify import verdict_key

    both = partial(judge, scope=partial(verdict_key, seeds=3))
    assert {"attnflow.claims.judgement", "attnflow.runs.verify"} <= set(
        modules_behind(both)
    )
    assert signature(both) == "judge(('scope', verdict_key(('seeds', 3))))"
    assert signature(both) != signature(partial(judge, scope=4))


def test_records_count_with_their_fields_and_without_addresses():
    from attnflow.claims import All, AtMost, judge

    def record(bound):
        return All((AtMost("x", judge, bound),), also={"x": judge})

    text = signature(record(1.0))
    assert "AtMost" in text and "'bound', 1.0" in text and " at 0x" not in text
    assert text == signature(record(1.0)) != signature(record(2.0))
    assert "attnflow.claims.judgement" in set(modules_behind(record(1.0)))


def test_a_module_that_is_gone_is_an_error():
    with pytest.raises(ValueError, match="no modules"):
        code.code_digest("attnflow.claims.no_such_module")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of one module, of an old time, in a session with a cache of its own."""
    path = tmp_path / "session_package" / "inner.py"
    path.parent.mkdir()
    (path.parent / "__init__.py").touch()
    path.write_text("FACTOR = 1\n")
    for file in path.parent.iterdir():
        os.utime(file, (OLD, OLD))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield path
    forget()


OLD = 1_580_601_600
"""2 February 2020: what hatchling writes into every wheel."""


def forget():
    """What a session remembers of files."""
    code.code_digest.cache_clear()
    for known in (code._files, code._file, code._origin, code._targets):
        known.cache_clear()
    code._is_installed.cache_clear()


def test_another_version_with_the_same_time_and_size_is_other_code(package):
    forget()
    before = code.code_digest("session_package.inner")
    time.sleep(0.05)
    package.write_text("FACTOR = 2\n")
    os.utime(package, (OLD, OLD))
    forget()
    assert code.code_digest("session_package.inner") != before


def test_what_is_put_in_place_with_an_older_time_is_newer_than_the_session(
    package, monkeypatch
):
    forget()
    monkeypatch.setattr(code, "_BEGUN", time.time() + 1)
    assert not code.is_newer_than_session("session_package.inner")
    monkeypatch.setattr(code, "_BEGUN", OLD + 1)
    assert code.is_newer_than_session("session_package.inner")


def test_a_source_that_has_gone_is_no_error(package, monkeypatch):
    forget()
    monkeypatch.setattr(code, "_BEGUN", time.time() + 1)
    assert not code.is_newer_than_session("session_package.inner")
    package.unlink()
    assert code.is_newer_than_session("session_package.inner")


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("import numpy as np\nimport xarray\nfrom collections import Counter", False),
        ("from session_package import other\nfrom . import other", False),
        ("import attnflow as af\nfrom attnflow.papers import paper", False),
        ("import a_package_that_is_nowhere", False),
        ("import group_package", True),
        ("def late():\n    from group_package.deep import factor", True),
        ("FUNCTION = 'group_package.deep:factor'", True),
    ],
)
def test_packages_that_no_digest_covers(package, text, others):
    group = package.parent.with_name("group_package")
    group.mkdir()
    (group / "__init__.py").touch()
    (package.parent / "other.py").touch()
    package.write_text(text)
    forget()
    assert code.imports_others(*RUN, "session_package.inner") == others


@pytest.mark.parametrize("slug", SLUGS)
def test_digests_of_our_papers_cover_all(slug):
    for recipe in paper(slug).recipes:
        assert not code.imports_others(*run_modules(recipe.build)), recipe.id


ALL_KEYS = """
import json
from pathlib import Path
from attnflow.papers import SLUGS, paper
from attnflow.runs.runner import Runner
from attnflow.runs.verify import verdict_key
from attnflow.site.reproduce import Drawing

runner, keys = Runner(False), {}
for slug in SLUGS:
    record = paper(slug)
    for claim in record.claims:
        keys[f"{slug}/{claim.id}"] = verdict_key(record, claim, 5)
        for name, request in claim.needs.items():
            keys[f"{slug}/{claim.id}: {name}"] = runner.address(record, request)
    for exhibit in record.shown:
        keys[f"{slug}/{exhibit.id}"] = Drawing(record, exhibit, Path()).key
print(json.dumps(keys))
"""


@pytest.mark.slow
def test_every_session_finds_what_others_stored():
    """Python orders sets of texts in another way in each of its sessions."""
    paths = os.pathsep.join(sys.path)
    keys = [
        subprocess.run(
            [sys.executable, "-c", ALL_KEYS],
            env={**os.environ, "PYTHONHASHSEED": number, "PYTHONPATH": paths},
            capture_output=True,
            check=True,
            text=True,
        )
        for number in ("1", "2")
    ]
    one, other = (json.loads(each.stdout) for each in keys)
    assert {name for name in one if one[name] != other[name]} == set()
