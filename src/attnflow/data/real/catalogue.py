"""The data sets that are known: which files, from where, with which checksums."""

from dataclasses import dataclass

from attnflow.schema.names import look_up


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

CATALOGUE: dict[str, DataSet] = {one.id: one for one in (_MNIST, _WIKITEXT)}


def data_set(id: str) -> DataSet:
    """The data set with this id."""
    return look_up("data set", id, CATALOGUE)
