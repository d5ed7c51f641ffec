"""Real data sets: MNIST and WikiText-2, in files that are known by their checksums.

Files lie in `$ATTNFLOW_DATA`, or in the user's cache. Nothing here imports JAX.
"""

import gzip
import hashlib
import os
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from attnflow.schema.installation import MissingData, cache_directory
from attnflow.schema.settings import look_up

VARIABLE = "ATTNFLOW_DATA"
State = Literal["present", "missing", "damaged"]
Progress = Callable[[float, str], None]
DigitSplit = Literal["train", "test"]
TextSplit = Literal["valid", "test"]
LINE_END = "<eos>"
"""Stands at the end of each line that is not empty."""


@dataclass(frozen=True)
class DataFile:
    """One file of a data set.

    **Arguments:**

    - `name`: what it is called within its data set's directory.
    - `url`: where it is published.
    - `sha256`: of the published file, which a download must have.
    - `content`: sha256 of what is in it. A file `.gz` is unpacked first, so that a copy
      that somebody packed anew is as good as the published one.
    - `size`: of the published file, in bytes.
    """

    name: str
    url: str
    sha256: str
    content: str
    size: int

    @property
    def packed(self) -> bool:
        """Whether it must be unpacked before it is read."""
        return self.name.endswith(".gz")


@dataclass(frozen=True)
class DataSet:
    """Files that belong together; `id` is the name of their directory."""

    id: str
    title: str
    licence: str
    files: tuple[DataFile, ...]

    def file(self, name: str) -> DataFile:
        """The file with this name."""
        return look_up(f"file of {self.id}", name, {f.name: f for f in self.files})


_DIGITS = "https://ossci-datasets.s3.amazonaws.com/mnist/"
_TEXTS = (
    "https://raw.githubusercontent.com/pytorch/examples/main/"
    "word_language_model/data/wikitext-2/"
)


def _packed(name: str, size: int, sha256: str, content: str) -> DataFile:
    return DataFile(name, _DIGITS + name, sha256, content, size)


def _text(name: str, size: int, sha256: str) -> DataFile:
    return DataFile(name, _TEXTS + name, sha256, sha256, size)


_MNIST = DataSet(
    "mnist",
    "MNIST: 70,000 handwritten digits of 28 × 28 pixels",
    "CC BY-SA 3.0, Y. LeCun and C. Cortes",
    (
        _packed(
            "train-images-idx3-ubyte.gz",
            9912422,
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        ),
        _packed(
            "train-labels-idx1-ubyte.gz",
            28881,
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        ),
        _packed(
            "t10k-images-idx3-ubyte.gz",
            1648877,
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        ),
        _packed(
            "t10k-labels-idx1-ubyte.gz",
            4542,
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        ),
    ),
)
_WIKITEXT = DataSet(
    "wikitext-2",
    "WikiText-2, word level: the splits valid (214 k words) and test (241 k words)",
    "CC BY-SA 3.0, S. Merity and others",
    (
        _text(
            "valid.txt",
            1121681,
            "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8",
        ),
        _text(
            "test.txt",
            1256449,
            "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0",
        ),
    ),
)

CATALOGUE: dict[str, DataSet] = {known.id: known for known in (_MNIST, _WIKITEXT)}


def data_set(id: str) -> DataSet:
    """The data set with this id."""
    return look_up("data set", id, CATALOGUE)


def data_directory() -> Path:
    """The directory of all data sets: `$ATTNFLOW_DATA`, or in the user's cache."""
    directory = os.environ.get(VARIABLE)
    if directory:
        return Path(directory).expanduser().absolute()
    return cache_directory() / "attnflow" / "data"


def place_of(owner: DataSet, file: DataFile) -> Path:
    """The path at which a file is, or belongs."""
    return data_directory() / owner.id / file.name


def read(id: str, name: str) -> bytes:
    """The content of a file of a data set, unpacked.

    Raises `MissingData` where the file is absent, or is not the published one.
    """
    owner = data_set(id)
    file = owner.file(name)
    try:
        return _content(owner, file)
    except FileNotFoundError:
        raise _missing(owner, file, f"{name} of {id} is not here.") from None


def state_of(owner: DataSet, file: DataFile) -> State:
    """Whether a file is `present`, `missing`, or `damaged` (another checksum)."""
    try:
        _content(owner, file)
    except FileNotFoundError:
        return "missing"
    except MissingData:
        return "damaged"
    return "present"


def where_to_put(owner: DataSet, file: DataFile) -> str:
    """Instructions for a machine without network: which file goes where."""
    return (
        f"Without network, put {file.name} with the sha256 {file.sha256} (from "
        f"{file.url}) to {place_of(owner, file)}, or set {VARIABLE} to a directory "
        f"that has it as {owner.id}/{file.name}."
    )


def _content(owner: DataSet, file: DataFile) -> bytes:
    """The unpacked content of a file, whose checksum must be the published one."""
    path = place_of(owner, file)
    raw = path.read_bytes()
    try:
        content = gzip.decompress(raw) if file.packed else raw
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        damage = f"{path} cannot be unpacked ({error}): it is damaged or cut off."
        raise _missing(owner, file, damage) from None
    checksum = hashlib.sha256(content).hexdigest()
    if checksum == file.content:
        return content
    what = "Its content" if file.packed else "It"
    difference = (
        f"{path} is not the published file. {what} has the sha256 {checksum} and "
        f"{len(content)} bytes, and must have {file.content}."
    )
    raise _missing(owner, file, difference)


def _missing(owner: DataSet, file: DataFile, what: str) -> MissingData:
    """The error that says what is wrong with a file, and how to get it right."""
    remedy = f"`attnflow data fetch {owner.id}` downloads it."
    return MissingData(f"{what} {remedy}", where_to_put(owner, file))


def fetch(id: str, *, progress: Progress | None = None) -> list[Path]:
    """Download missing or damaged files of a data set; the paths of all its files.

    `progress` is called with the fraction of files done and the name of the next.
    """
    owner = data_set(id)
    paths: list[Path] = []
    for number, file in enumerate(owner.files):
        if progress is not None:
            progress(number / len(owner.files), file.name)
        if state_of(owner, file) != "present":
            _download(owner, file)
        paths.append(place_of(owner, file))
    return paths


def _download(owner: DataSet, file: DataFile) -> None:
    # pooch imports an HTTP client, which nothing else needs.
    import pooch  # pyright: ignore[reportMissingTypeStubs] # it has none

    pooch.get_logger().setLevel("WARNING")
    path = place_of(owner, file)
    try:
        pooch.retrieve(  # pyright: ignore[reportUnknownMemberType] # nor annotations
            file.url, f"sha256:{file.sha256}", fname=path.name, path=path.parent
        )
    except (OSError, ValueError) as error:
        # Pooch says by a ValueError that what arrived has another checksum; those of
        # the HTTP client are OSErrors without a number of the operating system.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise MissingData(
            f"{file.name} of {owner.id} could not be downloaded: {error}.",
            where_to_put(owner, file),
        ) from error
    finally:
        with suppress(OSError):
            path.parent.rmdir()


_STEMS = {"train": "train", "test": "t10k"}
_HEADER = 4
"""Bytes of a number in an idx header, and of its magic number."""


class Digits(NamedTuple):
    """Images `(images, 28, 28)` of bytes, and which digit each of them is."""

    image: np.ndarray
    digit: np.ndarray


def digits(split: DigitSplit) -> Digits:
    """MNIST's 60,000 training digits, or its 10,000 test digits."""
    stem = _STEMS[split]
    return Digits(
        _array(read("mnist", f"{stem}-images-idx3-ubyte.gz")),
        _array(read("mnist", f"{stem}-labels-idx1-ubyte.gz")),
    )


def _array(content: bytes) -> np.ndarray:
    """The array of an idx file: a magic number with its rank, its shape, its data."""
    rank = content[_HEADER - 1]
    shape = np.frombuffer(content, ">i4", count=rank, offset=_HEADER)
    data = np.frombuffer(content, np.uint8, offset=_HEADER * (1 + rank))
    return data.reshape(shape)


def words(split: TextSplit) -> list[str]:
    """All words of a split of WikiText-2, with `<eos>` at the end of each line."""
    text = read("wikitext-2", f"{split}.txt").decode("utf-8")
    lines = (line.split() for line in text.split("\n"))
    return [word for line in lines if line for word in (*line, LINE_END)]
