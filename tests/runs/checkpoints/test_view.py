"""A run that was observed, or read from a file, has its view without any other run."""

import subprocess
import sys

import pytest

import attnflow as af
from tests.core import mostly_slow


@pytest.mark.parametrize(
    "used",
    mostly_slow(["af.observe", "af.read_run_file({path!r})"], "af.observe"),
)
def test_the_view_is_there(used, tmp_path):
    path = tmp_path / "run.nc"
    af.export_netcdf(af.run("mixture/figure1", steps=4, records=2, store=False), path)
    code = (
        f"import attnflow as af, xarray as xr\n{used.format(path=str(path))}\n"
        "assert hasattr(xr.Dataset, 'attnflow')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
