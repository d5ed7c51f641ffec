"""Downloads, which appear whole and right or not at all."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from attnflow.data.real.catalogue import DataFile, DataSet, data_set
from attnflow.data.real.files import place_of, state_of, where_to_put
from attnflow.schema.installation import MissingData

Progress = Callable[[float, str], None]


def fetch(id: str, *, progress: Progress | None = None) -> list[Path]:
    """Download what is missing or damaged of a data set; where its files are.

    `progress` is called with the fraction of files done and the name of the next.
    """
    owner = data_set(id)
    places = []
    for number, file in enumerate(owner.files):
        if progress is not None:
            progress(number / len(owner.files), file.name)
        if state_of(owner, file) != "present":
            _download(owner, file)
        places.append(place_of(owner, file))
    return places


def _download(owner: DataSet, file: DataFile) -> None:
    # It brings the whole of an HTTP client along, which nothing else needs.
    import pooch

    pooch.get_logger().setLevel("WARNING")
    place = place_of(owner, file)
    try:
        pooch.retrieve(
            file.url, f"sha256:{file.sha256}", fname=place.name, path=place.parent
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
            place.parent.rmdir()
