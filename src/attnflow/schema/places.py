"""Where this user keeps what can be made again."""

import os
from pathlib import Path


def cache_directory() -> Path:
    """The user's cache directory: `$XDG_CACHE_HOME`, or `~/.cache`."""
    # The XDG specification tells to ignore relative paths.
    given = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return given if given.is_absolute() else Path("~/.cache").expanduser()
