"""Which processes of this machine run."""

from pathlib import Path


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False
