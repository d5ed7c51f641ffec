"""What a run's address depends on."""

from pathlib import Path

import attnflow
from attnflow.experiments import Computation, address, record, versions
from attnflow.experiments.versions import (
    OWN,
    code_version,
    setting_sources,
    setting_version,
    sources,
)
from attnflow.sweeps import sweep as sweeping
from attnflow.sweeps.sweep import plan_sweep


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


def test_what_settings_mean_is_found_through_imports(tmp_path):
    root = tmp_path / "attnflow"
    touch(
        root,
        "papers/one/__init__.py",
        "papers/one/settings.py",
        "papers/one/stages/__init__.py",
        "papers/one/stages/clock.py",
        "papers/one/figures.py",
        "papers/two/settings.py",
        "mixing/build.py",
    )
    (root / "papers/one/experiments.py").write_text(
        "import attnflow\n"
        "from attnflow.models.forms import Vector\n"
        "from attnflow.papers.one import sizes\n"
        "from attnflow.papers.two.settings import Train\n"
    )
    (root / "papers/one/sizes.py").write_text(
        "from attnflow.papers.one.settings import Train\n"
        "from attnflow.papers.one.stages.clock import steps_at\n"
        "from attnflow.papers.one.sizes import sizes\n"
    )
    found = [f.relative_to(root).as_posix() for f in setting_sources(root, "one")]
    assert found == [
        "papers/one/experiments.py",
        "papers/one/settings.py",
        "papers/one/sizes.py",
        "papers/one/stages/clock.py",
        "mixing/build.py",
    ]


def test_sizes_are_what_settings_mean():
    root = Path(attnflow.__file__).parent
    for paper in ("signgd", "vit"):
        assert root / f"papers/{paper}/sizes.py" in setting_sources(root, paper)


def test_what_is_known_by_its_setting_alone_hangs_on_what_that_means(monkeypatch):
    """Cells of sweeps and computations; records of experiments have all numbers."""
    plan = Computation("signgd", "updates", {}, "module:function")
    assert setting_version("signgd") != code_version("signgd")
    before = address(plan, seeds=[0])
    monkeypatch.setattr(record, "setting_version", lambda paper: "another")
    assert address(plan, seeds=[0]) != before


def test_cells_of_sweeps_hang_on_what_settings_mean(monkeypatch):
    def code():
        sweeping._code.cache_clear()
        return plan_sweep("vit/figure1", {}).sweep.code

    before = code()
    monkeypatch.setattr(versions, "setting_version", lambda paper: "another")
    assert code() != before
    sweeping._code.cache_clear()
