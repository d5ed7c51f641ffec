"""What a run's address depends on."""

from pathlib import Path

import attnflow
from attnflow.experiment.versions import OWN, sources


def touch(root, *names):
    for name in names:
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("")


def listed(root, paper):
    return [file.relative_to(root).as_posix() for file in sources(root, paper)]


def test_modules_and_packages_that_compute(tmp_path):
    touch(
        tmp_path,
        "rules/plain.py",
        "forms/base.py",
        "claims/base.py",
        "papers/one/experiments.py",
        "papers/one/systems/__init__.py",
        "papers/one/systems/inner/flow.py",
        "papers/one/systems/notes.txt",
        "papers/one/claims/first.py",
        "papers/two/systems.py",
        "papers/two/systems_of_others.py",
    )
    core = ["rules/plain.py", "forms/base.py"]
    assert listed(tmp_path, "one") == [
        *core,
        "papers/one/experiments.py",
        "papers/one/systems/__init__.py",
        "papers/one/systems/inner/flow.py",
    ]
    assert listed(tmp_path, "two") == [*core, "papers/two/systems.py"]


def test_every_paper_has_sources_that_compute():
    root = Path(attnflow.__file__).parent
    for folder in sorted((root / "papers").iterdir()):
        if (folder / "__init__.py").is_file():
            own = [f for f in sources(root, folder.name) if folder in f.parents]
            assert {
                f.relative_to(folder).parts[0].removesuffix(".py") for f in own
            } <= set(OWN)
            assert own, folder.name
