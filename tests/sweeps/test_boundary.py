"""Refined sweeps: the full grid's boundary with a part of its cells, and its law."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import attnflow as af
from attnflow.sweeps import Cell, Column, Shelf, run_sweep, status_in
from attnflow.sweeps.boundary import fit_refined, run_refined
from attnflow.sweeps.executors import Here
from attnflow.sweeps.refine import boundary_of
from tests.sweeps.trivial import make_sweep

GRID = {"b": "4..35:32", "a": "0.02..1:50"}
SEEDS = tuple(range(6))


@dataclass(frozen=True)
class Loss:
    """A loss that falls through 1 at b · a² = 2, in each seed a little elsewhere."""

    text: str = "loss"
    rises: bool = False
    reads: tuple[str, ...] = ()
    has_series: bool = False

    @property
    def identity(self) -> str:
        return f"{self.text} {self.rises}"

    @property
    def columns(self) -> Mapping[str, Column]:
        return {"loss": Column(), "verdict": Column(by_seed=False, text=True)}

    def of(self, run: None, cell: Cell) -> Mapping[str, Any]:
        a, b = cell.changes["a"], cell.changes["b"]
        shift = np.random.default_rng(cell.seeds).normal(0, 0.05, len(cell.seeds))
        loss = (2.0 * np.exp(shift) / (b * a**2)) ** (-1 if self.rises else 1)
        return {"loss": loss, "verdict": "holds" if loss.mean() > 1 else "fails"}


def sweep_of(**options):
    return make_sweep(GRID, measures=(Loss(**options),), seeds=SEEDS)


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return run_sweep(sweep_of(), Here(), shelf=Shelf(tmp_path_factory.mktemp("full")))


def test_the_boundary_is_that_of_the_full_grid(tmp_path, full):
    shelf = Shelf(tmp_path)
    found = run_refined(sweep_of(), Here(), level=1.0, shelf=shelf, band=0)
    inside = full["loss"].mean("seed").values > 1.0
    np.testing.assert_array_equal(found["inside"], inside)
    np.testing.assert_array_equal(found["boundary"], boundary_of(inside))
    computed = np.isfinite(found["loss"]).all("seed").values
    assert computed.sum() == found.attrs["cells_computed"] < 0.25 * computed.size
    assert found.attrs["cells_full"] == computed.size == 1600
    np.testing.assert_array_equal(
        found["loss"].values[computed], full["loss"].values[computed]
    )
    assert ((found["outcome"] == "pending").all("seed").values == ~computed).all()
    assert status_in(found).is_complete and status_in(found).cells == computed.sum()
    (listed,) = shelf.sweeps()
    assert listed["cells"] == computed.sum()


def test_verdicts_are_answers_too(tmp_path, full):
    found = run_refined(
        sweep_of(), Here(), level="holds", shelf=Shelf(tmp_path), band=0
    )
    np.testing.assert_array_equal(found["inside"], full["verdict"] == "holds")


def test_a_refined_sweep_is_not_computed_again(tmp_path, monkeypatch):
    options = {"level": 1.0, "shelf": Shelf(tmp_path)}
    first = run_refined(sweep_of(), Here(), **options)
    monkeypatch.setattr(Loss, "of", None)
    assert run_refined(sweep_of(), Here(), **options).identical(first)


@pytest.mark.parametrize("rises", [False, True])
def test_the_law_of_the_boundary(tmp_path, rises):
    found = run_refined(
        sweep_of(rises=rises), Here(), level=1.0, shelf=Shelf(tmp_path), band=2
    )
    law = fit_refined(
        found, "loss", 1.0, generator=np.random.default_rng(0), scale="log"
    )
    # Mean losses: 2 e^(mean of shifts), to second order in 0.05; x is known to 2%.
    assert law.exponent == pytest.approx(-0.5, abs=0.01)
    assert law.constant == pytest.approx(2.0, rel=0.05)
    low, high = law.constant_interval
    assert low < law.constant < high and high - low < 0.3
    assert law.lost == 0.0


def test_what_cannot_be_refined_is_refused(tmp_path):
    line = make_sweep({"a": "0..1:9"}, measures=(Loss(),))
    with pytest.raises(ValueError, match="1 axes are swept"):
        run_refined(line, Here(), level=1.0, shelf=Shelf(tmp_path))
    numbers = make_sweep(GRID, measures=("sum",))
    with pytest.raises(ValueError, match="belongs to texts"):
        run_refined(numbers, Here(), level="holds", shelf=Shelf(tmp_path))


@pytest.mark.slow
def test_the_boundary_of_a_real_map(tmp_path):
    """Benign and harmful overfitting over samples and signal, at small sizes."""
    samples = [4, 6, 8, 10, 12, 14, 16]
    given = {
        "samples": samples,
        "room": [16] * len(samples),
        "snr": "2..16:8",
        "embed": 256,
        "key_width": 64,
        "value_width": 64,
        "steps": 1000,
        "records": 0,
    }
    options = {
        "zip": [("samples", "room")],
        "measure": "test_loss",
        "executor": "here",
        "store": af.Store(tmp_path),
    }
    whole = af.sweep("vit/figure1", given, **options)
    found = af.sweep("vit/figure1", given, refine=0.4, coarse=3, **options)
    inside = whole["test_loss"].mean("seed").values > 0.4
    assert 8 < inside.sum() < 48
    np.testing.assert_array_equal(found["boundary"], boundary_of(inside))
    np.testing.assert_array_equal(found["inside"], inside)
    computed = np.isfinite(found["test_loss"]).values
    # One after the other in their programs, cells are the same in every batch.
    assert (found["test_loss"].values == whole["test_loss"].values)[computed].all()
    assert found.attrs["cells_computed"] == computed.sum() < whole["error"].size
