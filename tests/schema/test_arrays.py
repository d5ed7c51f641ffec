"""Arrays of users: real numbers alone, and files that are what they say."""

import io
import zipfile

import jax.numpy as jnp
import numpy as np
import pytest

from attnflow.schema.arrays import fingerprint, load, read_npz


def test_files_and_mappings_give_the_same_arrays(tmp_path):
    arrays = {"W_K": np.arange(6.0).reshape(1, 2, 3), "flags": np.array([True, False])}
    np.savez(tmp_path / "a.npz", **arrays)
    np.savez_compressed(tmp_path / "b.npz", **arrays)
    for source in (arrays, tmp_path / "a.npz", tmp_path / "b.npz"):
        result = load(source)
        assert set(result) == set(arrays)
        assert all((result[name] == arrays[name]).all() for name in arrays)
        assert fingerprint(source) == fingerprint(arrays)


@pytest.mark.parametrize(
    "value",
    [
        np.array(["a"]),
        np.zeros(2, complex),
        np.array(["2026-01-01"], "datetime64[D]"),
        np.zeros(2, [("x", float)]),
        np.array([None]),
    ],
)
def test_only_real_numbers_are_arrays(value):
    with pytest.raises(ValueError, match=r"W_K has the type .* real numbers"):
        load({"W_K": value})


def test_ragged_lists_are_no_arrays():
    with pytest.raises(ValueError, match="W_K is not an array"):
        load({"W_K": [[1.0], [1.0, 2.0]]})


def archive(path, **members):
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def npy(array, **changes):
    """The bytes of an array; `shape` is what its header says."""
    stream = io.BytesIO()
    header = np.lib.format.header_data_from_array_1_0(array) | changes
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + array.tobytes()


def test_a_file_that_pytorch_saved_is_known_by_its_content(tmp_path):
    path = archive(tmp_path / "model.npz", **{"archive/data.pkl": b"x"})
    with pytest.raises(ValueError, match=r"archive/data.pkl, no array.*numpy.savez"):
        load(path)


def test_a_header_that_promises_more_than_the_file_has_allocates_nothing(tmp_path):
    content = npy(np.zeros(4), shape=(2**35,))
    path = archive(tmp_path / "large.npz", **{"W_K.npy": content})
    with pytest.raises(ValueError, match="said to have 274877906944 bytes, and has 32"):
        load(path)


def test_too_large_an_archive_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("attnflow.schema.arrays.LARGEST_FILE", 100)
    path = archive(tmp_path / "large.npz", **{"W_K.npy": npy(np.zeros(40))})
    with pytest.raises(ValueError, match="more than 0 GB"):
        load(path)


@pytest.mark.parametrize("content", [b"", b"\x80\x04hello", b"PK\x03\x04" + 50 * b"x"])
def test_what_is_no_npz_file_is_said_to_be_none(tmp_path, content):
    (tmp_path / "weights.npz").write_bytes(content)
    with pytest.raises(ValueError, match="not a readable npz file"):
        load(tmp_path / "weights.npz")


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (2,",
        b"{'descr': ['<f8', 3], 'fortran_order': False, 'shape': (2,), }",
        b"(" * 4000,
        b"[1, 2]",
    ],
)
def test_hostile_headers_are_sentences(tmp_path, header):
    padded = header.ljust(8000) + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded
    path = archive(tmp_path / "a.npz", **{"W_K.npy": content + bytes(16)})
    with pytest.raises(ValueError, match="not a readable npz file"):
        load(path)


def test_a_checkpoint_may_hold_other_entries(tmp_path):
    np.savez(tmp_path / "a.npz", W_K=np.zeros(2), rule="adam")
    assert set(read_npz(tmp_path / "a.npz")) == {"W_K", "rule"}
    with pytest.raises(ValueError, match="rule has the type"):
        load(tmp_path / "a.npz")


def test_bfloat16_is_a_number():
    array = load({"W_K": np.ones(2, jnp.bfloat16)})["W_K"]
    assert array.dtype == float and (array == 1).all()


def test_pickled_objects_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", W_K=np.array([{}], object))
    with pytest.raises(ValueError, match="Object arrays cannot be loaded"):
        load(tmp_path / "a.npz")
