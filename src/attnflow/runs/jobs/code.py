"""The code behind a result: what makes runs of a paper, and what reads them."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from attnflow.schema.installation import files_of


@cache
def code_digest(slug: str, places: Sequence[str]) -> str:
    """A digest of what makes runs of a paper and of what turns them into something.

    **Arguments:**

    - `places`: files and folders of the library that read runs; the paper's own folder
      belongs to them always.
    """
    from attnflow.experiments.versions import code_version, digest_files, python_files

    root = Path(__file__).resolve().parents[2]
    files = python_files(root / name for name in (*places, f"papers/{slug}"))
    _, foreign = files_of(slug) or (root, [])
    return digest_files(code_version(slug), (*files, *foreign))
