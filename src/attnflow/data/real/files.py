"""Files of data sets on this machine: where they are, and whether they are right."""

import gzip
import hashlib
import os
import zlib
from pathlib import Path
from typing import Literal

from attnflow.data.real.catalogue import DataFile, DataSet, data_set
from attnflow.schema.installation import MissingData, cache_directory

VARIABLE = "ATTNFLOW_DATA"
State = Literal["present", "missing", "damaged"]


def data_directory() -> Path:
    """The directory of all data sets: `$ATTNFLOW_DATA`, or in the user's cache."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given).expanduser().absolute()
    return cache_directory() / "attnflow" / "data"


def place_of(owner: DataSet, file: DataFile) -> Path:
    """Where a file is, or belongs."""
    return data_directory() / owner.id / file.name


def read(id: str, name: str) -> bytes:
    """What is in a file of a data set, unpacked.

    A file that is not there, or that is not what was published, is `MissingData`.
    """
    owner = data_set(id)
    file = owner.file(name)
    try:
        return _checked(owner, file)
    except FileNotFoundError:
        raise _missing(owner, file, f"{name} of {id} is not here.") from None


def state_of(owner: DataSet, file: DataFile) -> State:
    """Whether a file is there, and whether it is the right one."""
    try:
        _checked(owner, file)
    except FileNotFoundError:
        return "missing"
    except MissingData:
        return "damaged"
    return "present"


def where_to_put(owner: DataSet, file: DataFile) -> str:
    """For a machine without network: which file, with which checksum, goes where."""
    return (
        f"Without network, put {file.name} with the sha256 {file.sha256} (from "
        f"{file.url}) to {place_of(owner, file)}, or set {VARIABLE} to a directory "
        f"that has it as {owner.id}/{file.name}."
    )


def _checked(owner: DataSet, file: DataFile) -> bytes:
    """What is in a file; `MissingData` where it is not what it should be."""
    place = place_of(owner, file)
    raw = place.read_bytes()
    try:
        content = gzip.decompress(raw) if file.packed else raw
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        damage = f"{place} cannot be unpacked ({error}): it is damaged or cut off."
        raise _missing(owner, file, damage) from None
    found = hashlib.sha256(content).hexdigest()
    if found == file.content:
        return content
    what = "Its content" if file.packed else "It"
    difference = (
        f"{place} is not the published file. {what} has the sha256 {found} and "
        f"{len(content)} bytes, and must have {file.content}."
    )
    raise _missing(owner, file, difference)


def _missing(owner: DataSet, file: DataFile, what: str) -> MissingData:
    """The error that says what is wrong with a file, and how to get it right."""
    remedy = f"`attnflow data fetch {owner.id}` downloads it."
    return MissingData(f"{what} {remedy}", where_to_put(owner, file))
