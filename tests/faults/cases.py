"""Commands of four kinds, tiny ones, and what they answer without what may differ.

Times differ from run to run, and addresses of folders from trial to trial; everything
else must be equal, bit for bit.
"""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import xarray as xr

from attnflow.runs.store import Store, read_run
from attnflow.sweeps import BatchStore
from tests.faults.zygote import Scratch

RUN = ("run", "mixture/figure1", "steps=20", "records=3", "--seeds", "2")
VERIFY = ("verify", "mixture/B-L6.1", "--workers", "0")
SWEEP = (
    *("sweep", "mixture/figure1", "omega=0.1,0.2,0.3", "steps=20"),
    *("--batch", "2", "--executor", "here"),
)
REPRODUCE = ("reproduce", "mixture/figure1a", "--quick", "--workers", "0")
_TIMES = ("seconds", "created")
_SITE = "site"


@dataclass(frozen=True)
class Case:
    """A command that writes its answer to `answer.json`, and more to other files."""

    words: tuple[str, ...]
    more: tuple[str, ...] = ()

    @property
    def args(self):
        return (*self.words, *self.more, "--json", "answer.json")

    def answer(self, scratch):
        """What the command answered: its JSON, and the files that it wrote."""
        given = json.loads((scratch.work / "answer.json").read_text())
        files = {}
        for path in sorted(scratch.work.rglob("*")):
            if path.suffix == ".nc":
                with xr.open_dataset(path, engine="h5netcdf") as run:
                    files[path.name] = timeless(run.load())
            elif path.suffix == ".svg":
                files[path.name] = path.read_bytes()
        return without_times(given), files


CASES = {
    "run": Case(RUN, ("--out", "run.nc")),
    "verify": Case(VERIFY),
    "sweep": Case(SWEEP, ("--out", "sweep.nc")),
    "reproduce": Case(REPRODUCE, ("--out", _SITE)),
}


def without_times(content):
    """JSON without numbers that are times."""
    if isinstance(content, dict):
        return {
            key: without_times(value)
            for key, value in content.items()
            if not any(word in key for word in _TIMES)
        }
    if isinstance(content, list):
        return [without_times(part) for part in content]
    return content


def timeless(data):
    """A Dataset without attributes that are times."""
    attrs = {k: str(v) for k, v in data.attrs.items() if "seconds" not in k}
    return data.drop_attrs(deep=False).assign_attrs(attrs)


def are_equal(one, other):
    """Whether two answers are equal, bit for bit."""
    (first, files), (second, others) = one, other
    if first != second or list(files) != list(others):
        return False
    return all(
        content == others[name]
        if isinstance(content, bytes)
        else content.identical(others[name])
        for name, content in files.items()
    )


def stored(scratch):
    """All runs and batches of a store, without times: whole, or an error."""
    store, batches = Store(scratch.store), BatchStore(scratch.store)
    runs = {
        path.stem: timeless(read_run(path)) for path in store.root.glob("[!.]*.run")
    }
    return runs | {key: timeless(batches.read(key)) for key in batches.known()}


def leftovers(scratch):
    """Temporary files anywhere in the scratch folder."""
    return [str(path) for path in scratch.root.rglob(".tmp-*")]


def copied(scratch, target: Path):
    """A copy of a scratch folder, to be harmed."""
    shutil.copytree(scratch.root, target, symlinks=True)
    return Scratch(target)
