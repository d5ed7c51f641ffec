"""Files are complete or as they were; what is no file stays what it is."""

import errno
import os
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from attnflow.schema import files
from attnflow.schema.files import WriteError, check_place, write_text


@pytest.fixture
def place(tmp_path):
    return tmp_path / "out.json"


def test_a_file_is_replaced_and_keeps_its_permissions(place):
    write_text(place, "old")
    default = stat.S_IMODE(place.stat().st_mode)
    assert default == 0o666 & ~umask()
    place.chmod(0o640)
    write_text(place, "new")
    assert place.read_text() == "new"
    assert stat.S_IMODE(place.stat().st_mode) == 0o640


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_who_reads_keeps_the_old_file(place):
    write_text(place, "old")
    with place.open() as reader:
        write_text(place, "new")
        assert reader.read() == "old"


@pytest.mark.parametrize("target", ["there", "absent"])
def test_a_link_stays_a_link(place, tmp_path, target):
    (tmp_path / "folder").mkdir()
    other = tmp_path / "folder" / "file"
    if target == "there":
        other.write_text("old")
    place.symlink_to("folder/file")
    write_text(place, "new")
    assert place.is_symlink() and other.read_text() == "new"
    assert os.listdir(tmp_path / "folder") == ["file"]


def test_a_link_in_a_circle_is_refused(place):
    place.symlink_to(place)
    with pytest.raises(WriteError, match=r"symbolic links"):
        write_text(place, "new")


def test_a_pipe_is_written_to(place):
    os.mkfifo(place)
    read = []
    reader = threading.Thread(target=lambda: read.append(place.read_text()))
    reader.start()
    write_text(place, "text")
    reader.join()
    assert read == ["text"]
    assert stat.S_ISFIFO(place.stat().st_mode)


def test_a_directory_and_a_socket_are_refused(tmp_path, place):
    import socket

    with pytest.raises(WriteError, match=r"is a directory\. Give the name of a file"):
        check_place(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        with pytest.raises(WriteError, match="device or a socket"):
            write_text(place, "text")


def test_a_directory_that_is_not_there(tmp_path):
    with pytest.raises(WriteError, match=r"no directory .*absent. Make its directory"):
        check_place(tmp_path / "absent" / "out.json")


def test_a_long_name(tmp_path):
    place = tmp_path / ("x" * 255)
    assert write_text(place, "text").read_text() == "text"
    with pytest.raises(WriteError, match="name too long"):
        write_text(tmp_path / ("x" * 256), "text")


def test_an_error_inside_leaves_the_old_file(place):
    write_text(place, "old")
    with pytest.raises(ZeroDivisionError), files.new_file(place) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert place.read_text() == "old"
    assert os.listdir(place.parent) == [place.name]


ORDINARY = """
import os, sys
from pathlib import Path
from attnflow.schema.files import write_text
os.setuid(65534)
try:
    write_text(Path(sys.argv[1]), "new")
except OSError as error:
    print(error)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="Becomes an ordinary user.")
@pytest.mark.parametrize("what", ["file", "directory"])
def test_what_is_read_only_is_refused(what, tmp_path_factory):
    folder = tmp_path_factory.mktemp("open")
    # Folders of this user's tests, up to the one that all users share.
    shared = Path(tempfile.gettempdir())
    for parent in (folder, *folder.parents):
        if shared in parent.parents:
            parent.chmod(0o755)
    place = folder / "out.json"
    if what == "file":
        folder.chmod(0o777)
        place.write_text("old")
        place.chmod(0o444)
    code = f"import sys; sys.path[:0] = {sys.path!r}\n{ORDINARY}"
    done = subprocess.run(
        [sys.executable, "-c", code, str(place)], capture_output=True, text=True
    )
    assert "is not yours to write to. Give a file in a directory" in done.stdout
    assert not place.exists() or place.read_text() == "old"


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 kilobytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("No disk can be mounted here.")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_a_sentence_and_leaves_the_old_file(small_disk):
    place = write_text(small_disk / "out.json", "old")
    with pytest.raises(WriteError, match=r"No space left on device\. Make") as error:
        write_text(place, "x" * 100_000)
    assert error.value.errno == errno.ENOSPC
    assert place.read_text() == "old" and os.listdir(small_disk) == ["out.json"]


def test_netcdf_on_a_full_disk_is_a_sentence(small_disk, tmp_path):
    code = (
        "import sys, numpy as np, xarray as xr\n"
        "from attnflow.runs.run_files import export_netcdf\n"
        "run = xr.Dataset({'loss': ('time', np.random.rand(100_000))})\n"
        "try: export_netcdf(run, sys.argv[1])\n"
        "except OSError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(small_disk / "run.nc")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "No space left on device. Make room" in done.stdout
    assert os.listdir(small_disk) == []


def test_what_dead_processes_left_is_removed(place):
    code = "from pathlib import Path; from attnflow.schema import files\n"
    code += "print(files._temporary(Path('abc')).name)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    left = place.with_name(done.stdout.strip())
    left.touch()
    ours = place.with_name(left.name.replace(left.name.split("-")[2], str(os.getpid())))
    ours.touch()
    write_text(place, "text")
    assert not left.exists()
    assert ours.exists(), "a living process still writes there"
