"""Where runs are kept."""

import os
from pathlib import Path

VARIABLE = "ATTNFLOW_STORE"


def cache_directory() -> Path:
    """The user's cache directory: `$XDG_CACHE_HOME`, or `~/.cache`."""
    # The XDG specification tells to ignore relative paths.
    given = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return given if given.is_absolute() else Path("~/.cache").expanduser()


def default_root() -> Path:
    """The directory of the stored runs: `$ATTNFLOW_STORE`, or in the user's cache."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given).expanduser().absolute()
    return cache_directory() / "attnflow" / "runs"
