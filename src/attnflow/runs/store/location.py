"""Where runs are kept."""

import os
from pathlib import Path

from attnflow.schema.installation import cache_directory as cache_directory

VARIABLE = "ATTNFLOW_STORE"


def default_root() -> Path:
    """The directory of the stored runs: `$ATTNFLOW_STORE`, or in the user's cache."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given).expanduser().absolute()
    return cache_directory() / "attnflow" / "runs"
