"""Arrays that a user gives: a mapping, or an npz file, checked before it is believed.

A file is known by its content, not by its name, and nothing is allocated for what it
only says of itself: an array's header must agree with the bytes that the file has.
"""

import hashlib
import math
from collections.abc import Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from zipfile import ZipFile, ZipInfo

if TYPE_CHECKING:
    import numpy as np

ArraySource = Mapping[str, Any] | str | Path
"""Arrays by name, or the path of an npz file of them."""
LARGEST_FILE = 2**33
"""Bytes of all arrays of a file: far more than any model here has."""
NUMBERS = "biuf"
"""NumPy's kinds of real numbers: booleans, integers and floats."""


def load(source: ArraySource) -> "dict[str, np.ndarray]":
    """The arrays of a mapping, or of an npz file by its path: real numbers alone."""
    if isinstance(source, Mapping):
        return {str(name): real(str(name), value) for name, value in source.items()}
    if not isinstance(cast("object", source), str | PathLike):
        raise ValueError(
            f"{source!r} ({type(source).__name__}) holds no arrays: give them by name, "
            "or the path of an npz file."
        )
    path = Path(source)
    if not path.is_file():
        raise ValueError(f"There is no file {path}: give an npz file of arrays.")
    return {name: real(name, value) for name, value in read_npz(path).items()}


def read_npz(path: Path) -> "dict[str, np.ndarray]":
    """The arrays of an npz file, of any type; a `ValueError` if it is none."""
    try:
        with ZipFile(path) as file:
            return _read(file)
    # A hostile header may raise any error: NumPy parses it as Python.
    except Exception as problem:
        raise ValueError(
            f"{path} is not a readable npz file ({problem}): write it by numpy.savez."
        ) from problem


def real(name: str, value: object) -> "np.ndarray":
    """An array of real numbers; a `ValueError` where it holds anything else."""
    # Settings are read for `--help` too, which needs no arrays.
    import numpy as np

    try:
        array = np.asarray(value)
    except ValueError as problem:
        raise ValueError(f"{name} is not an array ({problem}).") from problem
    if array.dtype.kind == "V" and array.dtype.names is None:
        # JAX's bfloat16 and its like are numbers that NumPy does not know.
        with suppress(TypeError, ValueError):
            return array.astype(float)
    if array.dtype.kind not in NUMBERS:
        raise ValueError(
            f"{name} has the type {array.dtype}, and must be an array of real numbers "
            "(float64, say): give its values as numbers."
        )
    return array


def _read(file: ZipFile) -> "dict[str, np.ndarray]":
    """The arrays of an npz file, once all of their headers are seen to be true."""
    members = {member.filename: member for member in file.infolist()}
    strange = [name for name in members if not name.endswith(".npy")]
    if strange or not members:
        raise ValueError(f"it holds {strange[0] if strange else 'nothing'}, no array")
    if sum(member.file_size for member in members.values()) > LARGEST_FILE:
        raise ValueError(f"its arrays have more than {LARGEST_FILE // 2**30} GB")
    for member in members.values():
        _check_header(file, member)
    return {
        name.removesuffix(".npy"): _read_array(file, member)
        for name, member in members.items()
    }


def _check_header(file: ZipFile, member: ZipInfo) -> None:
    """Refuse an array whose header promises other bytes than the file has."""
    from numpy.lib import format as npy

    with file.open(member) as stream:
        version = npy.read_magic(stream)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"{member.filename} has a header of version {version}")
        is_first = version == (1, 0)
        read = npy.read_array_header_1_0 if is_first else npy.read_array_header_2_0
        shape, _, kind = read(stream)
        promised = math.prod(shape) * kind.itemsize
        if not kind.hasobject and stream.tell() + promised != member.file_size:
            raise ValueError(
                f"{member.filename} is said to have {promised} bytes, and has "
                f"{member.file_size - stream.tell()}"
            )


def _read_array(file: ZipFile, member: ZipInfo) -> "np.ndarray":
    from numpy.lib import format as npy

    with file.open(member) as stream:
        return npy.read_array(stream, allow_pickle=False)


def fingerprint(source: ArraySource) -> str:
    """A digest of arrays, their names, types and shapes."""
    arrays = load(source)
    total = hashlib.sha256()
    for name in sorted(arrays):
        total.update(f"{name} {arrays[name].dtype} {arrays[name].shape} ".encode())
        total.update(arrays[name].copy(order="C").data)
    return total.hexdigest()[:16]
