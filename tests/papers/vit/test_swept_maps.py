"""Refined map of Figure 1 against the full grid."""

from dataclasses import replace

import numpy as np
import pytest

from attnflow.papers.vit import PAPER
from attnflow.papers.vit import boundary as b
from attnflow.papers.vit.swept_maps import FINE
from attnflow.runs.runner import Runner
from attnflow.runs.store import Store
from attnflow.site.reproduce import gather_sweep
from attnflow.sweeps.boundary import boundary_of


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_refined_boundary_is_the_whole_grids_cell_for_cell(tmp_path):
    """The declared map on fewer cells and at smaller sizes, cut where the paper cuts.

    Islands of one cell, which a lattice does not promise to find, are not there.
    """
    request = replace(FINE.sweeps["map"], coarse=4)
    runner = Runner(Store(tmp_path), quick=True)
    refined = gather_sweep(runner, PAPER, request)
    whole = gather_sweep(runner, PAPER, replace(request, refine=None))
    inside = whole["test_loss"].mean("seed").values > b.CUT
    assert 0.2 < inside.mean() < 0.8
    np.testing.assert_array_equal(refined["boundary"], boundary_of(inside))
    np.testing.assert_array_equal(refined["inside"], inside)
    assert refined.attrs["cells_computed"] < refined.attrs["cells_full"] == inside.size
    computed = np.isfinite(refined["test_loss"]).values
    # One after the other in their programs, cells are the same in every batch.
    assert (refined["test_loss"].values == whole["test_loss"].values)[computed].all()
