import pytest
import xarray as xr

from attnflow.runs.run_files import export_netcdf, read_run_file
from attnflow.runs.store import Store, StoreError


def test_netcdf_round_trip(run, tmp_path):
    path = export_netcdf(run, tmp_path / "run.nc")
    again = read_run_file(path)
    xr.testing.assert_identical(again, run)
    assert again["recorded"].dtype == bool
    assert again["outcome"].dtype == run["outcome"].dtype


def test_netcdf_attributes(run, tmp_path):
    run.attrs.update(converged=True, nothing=None, table={"a": 1}, many=[1.0, 2.0])
    before = dict(run.attrs)
    again = read_run_file(export_netcdf(run, tmp_path / "run.nc"))
    assert again.attrs["converged"] == 1
    assert again.attrs["nothing"] == "null"
    assert again.attrs["table"] == '{"a": 1}'
    assert again.attrs["many"] == [1.0, 2.0]
    assert run.attrs == before


def test_netcdf_leaves_the_run_unchanged(run, tmp_path):
    run["time"].attrs["exact"] = True
    export_netcdf(run, tmp_path / "run.nc")
    assert run["time"].attrs["exact"] is True


def test_a_failing_export_leaves_the_old_file(run, tmp_path, monkeypatch):
    path = tmp_path / "run.nc"
    path.write_text("old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("attnflow.schema.files.os.fsync", full)
    with pytest.raises(StoreError, match=r"No space left on device. Make room"):
        export_netcdf(run, path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


def test_export_into_nowhere(run, tmp_path):
    with pytest.raises(StoreError, match="there is no directory"):
        export_netcdf(run, tmp_path / "absent" / "run.nc")


def test_read_a_stored_run(run, tmp_path):
    place = Store(tmp_path / "runs").write(run)
    xr.testing.assert_identical(read_run_file(place), run)


def test_reading_what_is_no_run(tmp_path):
    with pytest.raises(ValueError, match="no file"):
        read_run_file(tmp_path / "absent.nc")
    (tmp_path / "text.nc").write_text("not netCDF")
    with pytest.raises(ValueError, match="could not be read as a run"):
        read_run_file(tmp_path / "text.nc")
    with pytest.raises(ValueError, match="could not be read as a run"):
        read_run_file(tmp_path)


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(ValueError, match="3 is of type int"):
        export_netcdf(3, tmp_path / "x.nc")
    assert list(tmp_path.iterdir()) == []
