import sys

import numpy as np
import pytest
from safetensors.numpy import save_file

from attnflow.runs.checkpoints.states import read_checkpoint

ARRAYS = {"W_K": np.linspace(0, 1, 6).reshape(2, 3)}


def check(path):
    assert (np.asarray(read_checkpoint(path)["W_K"]) == ARRAYS["W_K"]).all()


def test_npz_and_safetensors(tmp_path):
    np.savez(tmp_path / "a.npz", **ARRAYS)
    save_file(ARRAYS, tmp_path / "a.safetensors")
    check(tmp_path / "a.npz")
    check(tmp_path / "a.safetensors")


def test_what_pytorch_saves(tmp_path):
    torch = pytest.importorskip("torch")
    state = {name: torch.tensor(value) for name, value in ARRAYS.items()}
    torch.save(state, tmp_path / "a.pt")
    check(tmp_path / "a.pt")
    torch.save(torch.zeros(3), tmp_path / "b.pth")
    with pytest.raises(ValueError, match="holds a Tensor: save a state dict"):
        read_checkpoint(tmp_path / "b.pth")


@pytest.mark.parametrize("suffix", [".npz", ".safetensors", ".pt"])
def test_files_that_are_something_else(tmp_path, suffix):
    if suffix == ".pt":
        pytest.importorskip("torch")
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"not a file of this kind")
    with pytest.raises(ValueError, match=rf"a{suffix} .*: (save|write)"):
        read_checkpoint(path)


def test_other_endings(tmp_path):
    path = tmp_path / "a.pickle"
    path.touch()
    with pytest.raises(ValueError, match=r"ends in \.pickle: give one of \.npz"):
        read_checkpoint(path)


def test_pytorch_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    path = tmp_path / "a.pt"
    path.touch()
    with pytest.raises(ValueError, match=r"pip install 'attnflow\[torch\]'"):
        read_checkpoint(path)


@pytest.mark.parametrize("harm", ["cut off", "cut in its middle", "empty", "one array"])
def test_an_npz_that_is_damaged_is_said_to_be(tmp_path, harm):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, **ARRAYS)
    whole = path.read_bytes()
    half = len(whole) // 2
    if harm == "one array":
        with path.open("wb") as file:
            np.save(file, np.zeros(3))
    else:
        middle = whole[:40] + bytes(half - 40) + whole[half:]
        contents = {"cut off": whole[:half], "cut in its middle": middle, "empty": b""}
        path.write_bytes(contents[harm])
    with pytest.raises(ValueError, match=r"a\.npz is not a readable npz file"):
        read_checkpoint(path)
