"""Files for people: they agree with the code, and point at what is there."""

import importlib
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from attnflow._version import RELEASED, __version__
from attnflow.papers.citation import citation
from attnflow.papers.replies import Status

ROOT = Path(__file__).resolve().parent.parent
ARCHITECTURE = ROOT / "docs/architecture.md"
DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
)
WALK = ("run", "mixture/figure1", "width=256", "--seeds", "2")


def test_one_version_and_one_title():
    told = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {__version__}\ndate-released: {RELEASED}\n" in told
    assert f"version = {{{__version__}}}" in citation()
    assert f"year    = {{{RELEASED[:4]}}}" in citation()
    title = re.search(r'title: "(.*)"', told)
    assert title is not None and f"{{{title[1]}}}" in citation()
    assert f"\n## {__version__} ({RELEASED})\n" in (ROOT / "CHANGELOG.md").read_text(
        "utf-8"
    )


def test_options_of_make_verify_are_known_to_pytest(tmp_path):
    """Of `--runs DIR` pytest takes a directory that exists for tests, and no other."""
    said = ["make", "--no-print-directory", "-n", "verify", f"RUNS={tmp_path}"]
    recipe = subprocess.run(said, cwd=ROOT, capture_output=True, text=True).stdout
    line = next(x for x in recipe.replace("\\\n", "").splitlines() if "--runs" in x)
    options = shlex.split(line.partition("-m pytest")[2])
    asked = [sys.executable, "-m", "pytest", *options, "--markers"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_issue_templates_are_forms_with_what_we_need():
    yaml = pytest.importorskip("yaml")
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    needed = {}
    for file in sorted(folder.glob("*.yml")):
        if file.name == "config.yml":
            continue
        form = yaml.safe_load(file.read_text("utf-8"))
        assert {"name", "description", "title", "labels", "body"} <= form.keys()
        needed[file.stem] = {
            entry["id"]
            for entry in form["body"]
            if entry.get("validations", {}).get("required")
        }
    assert needed == {
        "authors-reply": {"paper", "about", "status", "words"},
        "verdict": {"claim", "what", "why"},
    }
    reply = (folder / "authors-reply.yml").read_text("utf-8")
    assert all(f"- {status} (" in reply for status in Status)


def test_the_architecture_names_every_folder():
    """A folder that no row names is one that nobody can place."""
    rows = re.findall(
        r"^\| (`\w+`(?:, `\w+`)*) \|", ARCHITECTURE.read_text("utf-8"), re.M
    )
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    rooms = {p.parent.name for p in (ROOT / "src/attnflow").glob("*/__init__.py")}
    assert rooms == named


@pytest.mark.parametrize("page", DOCUMENTS)
def test_every_module_that_a_page_names_is_there(page):
    """Paths such as `claims/base.py`, and dotted names such as `attnflow.schema`."""
    text = (ROOT / page).read_text("utf-8")
    for path in re.findall(r"`((?:src/attnflow/)?\w+/[\w/]+\.py)`", text):
        places = (ROOT, ROOT / "src/attnflow", ROOT / "src/attnflow/papers")
        is_example = path.startswith("src/needle/") or path == "tests/test_paper.py"
        assert is_example or any((p / path).is_file() for p in places), path
    for name in re.findall(r"(?<!\.)\b(attnflow(?:\.[a-z_]\w*)+)", text):
        assert _resolves(name), name


def test_the_architecture_follows_the_walk():
    """The page tells of files that are there, each of them once."""
    files = _walk_of_the_page()
    assert len(files) == len(set(files))
    assert all((ROOT / "src/attnflow" / file).is_file() for file in files)


@pytest.mark.slow
def test_the_walk_of_a_run_is_as_told():
    done = subprocess.run(
        [sys.executable, ROOT / "tools/walk.py", *WALK],
        capture_output=True,
        text=True,
        check=True,
    )
    entries = re.findall(r"^ +(\d+)  (\S+\.py) ", done.stdout, re.M)
    files = [file for _, file in sorted(entries, key=lambda entry: int(entry[0]))]
    assert done.stdout.endswith(f"\n{len(files)} files\n")
    assert files == _walk_of_the_page()


def _walk_of_the_page():
    text = ARCHITECTURE.read_text("utf-8")
    part = text.partition("\n## One run")[2].partition("\n## ")[0]
    return re.findall(r"^- `([\w/]+\.py)`", part, re.M)


def _resolves(name):
    """Whether a dotted name is a module, or an attribute of one."""
    module, rest = name, []
    while module:
        try:
            found = importlib.import_module(module)
            break
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            rest = [last, *rest]
    else:
        return False
    for attribute in rest:
        found = getattr(found, attribute, None)
    return found is not None
