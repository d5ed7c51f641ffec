"""Build wheel and sdist, and try the wheel as a stranger would.

    python tools/clean_room.py                every Python from 3.11 on that is here
    python tools/clean_room.py --json out.json python3.12

For each Python an empty environment is made, the wheel is installed with the versions
of constraints.txt, and commands are run in an empty directory with an empty store: a
run, a verdict, an exported claim, an animation. What the sdist gives is compared with
the wheel, file by file. Where the index lacks a library for a Python, our code is only
compiled by it, and the report says so. Then: the wheel's size, the number of its
dependencies, and the time of an import and of a help page, the medians of five.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")
OURS = ("PYTHONPATH", "ATTNFLOW_STORE", "ATTNFLOW_CACHE", "XDG_CACHE_HOME", "XLA_FLAGS")
COMMANDS = (
    "--version",
    "doctor --json doctor.json",
    "list",
    "run mixture/figure1 steps=50 records=11 --out run.nc --animate attention.gif",
    "verify mixture/B-L6.1 --workers 0",
    "export-claims mixture/B-L6.1 --workers 0 --out claims",
    "cite mixture",
)
VERSION = "import platform; print(platform.python_version())"
FILES = ("doctor.json", "run.nc", "attention.gif", "claims/B-L6.1/README.md")


def call(*command: object, cwd: Path, **variables: str) -> str:
    """What a command prints, run outside of the clone; an error with all its output."""
    outside = {k: v for k, v in os.environ.items() if k not in OURS}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**outside, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        text = f"{' '.join(map(str, command))}: exit code {done.returncode}"
        raise SystemExit(f"{text}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(place: Path) -> tuple[Path, Path]:
    """The wheel and the sdist, built from what is in the clone now."""
    for kind in ("--wheel", "--sdist"):
        call(sys.executable, "-m", "build", kind, "--outdir", place, ROOT, cwd=place)
    (wheel,), (sdist,) = place.glob("*.whl"), place.glob("*.tar.gz")
    return wheel, sdist


def pythons_here() -> list[str]:
    """Pythons on the path and those that pyenv has, one of each version."""
    root = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    found: dict[str, str] = {}
    for name in PYTHONS:
        kept = sorted((root / "versions").glob(f"*/bin/{name}"))
        for program in filter(None, (shutil.which(name), *map(str, kept))):
            # A shim of pyenv is there also for versions that are not chosen.
            test = [program, "-c", "import venv"]
            if subprocess.run(test, capture_output=True, check=False).returncode == 0:
                found.setdefault(name, program)
    return list(found.values())


def files_of(wheel: Path) -> dict[str, int]:
    """Names and checksums of the files in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {entry.filename: entry.CRC for entry in archive.infolist()}


def differences(wheel: Path, sdist: Path, place: Path) -> list[str]:
    """Files that differ between the wheel and the one that the sdist gives."""
    options = ("--quiet", "--no-deps", "--wheel-dir", place)
    call(sys.executable, "-m", "pip", "wheel", *options, sdist, cwd=place)
    (other,) = place.glob("*.whl")
    ours, theirs = files_of(wheel), files_of(other)
    return sorted(n for n in {*ours, *theirs} if ours.get(n) != theirs.get(n))


def try_wheel(python: str, wheel: Path, place: Path) -> dict[str, Any]:
    """Install the wheel into an empty environment, use it, and measure it."""
    call(python, "-m", "venv", "--without-pip", place / "venv", cwd=place)
    inside = place / "venv" / "bin" / "python"
    options = ("install", "--quiet", "--disable-pip-version-check")
    pip = (sys.executable, "-m", "pip", "--python", inside, *options)
    version = call(inside, "-c", VERSION, cwd=place).strip()
    try:
        call(*pip, wheel, "-c", ROOT / "constraints.txt", cwd=place)
    except SystemExit as error:
        lacking = re.search(r"No matching distribution found for (\S+)", str(error))
        if lacking is None:
            raise
        # An index need not have every library for every Python: what is left is that
        # this one reads our code.
        call(*pip, "--no-deps", wheel, cwd=place)
        (site,) = (place / "venv").glob("lib/*/site-packages/attnflow")
        call(inside, "-W", "error", "-m", "compileall", "-q", "-f", site, cwd=place)
        return {"python": version, "left_out": f"the index lacks {lacking[1]}"}
    work = place / "work"
    work.mkdir()
    variables = {
        "ATTNFLOW_STORE": str(work / "store"),
        "XDG_CACHE_HOME": str(work / "cache"),
    }
    program = inside.parent / "attnflow"
    for command in COMMANDS:
        call(program, *command.split(), cwd=work, **variables)
    missing = [name for name in FILES if not (work / name).is_file()]
    if missing:
        raise SystemExit(f"{python}: {', '.join(missing)} were not written.")
    home = call(inside, "-c", "import attnflow; print(attnflow.__file__)", cwd=work)
    if not Path(home.strip()).is_relative_to(place):
        raise SystemExit(f"{python} imports {home.strip()}, which is not the wheel's.")
    listing = call(*pip[:-3], "list", "--format", "json", cwd=work)
    return {
        "python": version,
        "packages": len(json.loads(listing)),
        "import_seconds": _median((inside, "-c", "import attnflow"), work),
        "help_seconds": _median((program, "--help"), work),
        "site_megabytes": _size(place / "venv") / 1e6,
    }


def _median(command: tuple[object, ...], cwd: Path) -> float:
    times = []
    for _ in range(6):
        start = time.perf_counter()
        call(*command, cwd=cwd)
        times.append(time.perf_counter() - start)
    # The first one reads files that no other has read.
    return statistics.median(times[1:])


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def requirements(wheel: Path) -> list[str]:
    """What the wheel needs, without its extras."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        text = archive.read(name).decode("utf-8")
    needs = re.findall(r"^Requires-Dist: (.*)$", text, re.M)
    return [need for need in needs if "extra ==" not in need]


def main() -> int:
    """Build, try and report."""
    parser = argparse.ArgumentParser(description="Try the wheel.")
    parser.add_argument("pythons", nargs="*", help="such as python3.12")
    parser.add_argument("--json", type=Path, help="write the report here too")
    options = parser.parse_args()
    pythons = options.pythons or pythons_here()
    with tempfile.TemporaryDirectory(prefix="attnflow-clean-") as directory:
        place = Path(directory)
        (place / "dist").mkdir()
        wheel, sdist = build(place / "dist")
        (place / "again").mkdir()
        report: dict[str, Any] = {
            "wheel": wheel.name,
            "wheel_bytes": wheel.stat().st_size,
            "sdist_bytes": sdist.stat().st_size,
            "files": len(files_of(wheel)),
            "dependencies": len(requirements(wheel)),
            "differs_from_sdist": differences(wheel, sdist, place / "again"),
            "environments": [],
        }
        for python in pythons:
            room = place / f"room{len(report['environments'])}"
            room.mkdir()
            report["environments"].append(try_wheel(python, wheel, room))
    print(json.dumps(report, indent=1))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    return 1 if report["differs_from_sdist"] else 0


if __name__ == "__main__":
    sys.exit(main())
