"""How to cite a paper, and the program that checked it."""

from attnflow._version import RELEASED, __version__
from attnflow.papers import paper

_ATTNFLOW = """@software{{attnflow,
  title   = {{attnflow: how shallow transformers learn, computed and checked}},
  author  = {{{{The attnflow developers}}}},
  year    = {{{year}}},
  version = {{{version}}},
  license = {{Apache-2.0}}
}}"""


def citation(slug: str | None = None) -> str:
    """BibTeX of the paper with this short name, if one is given, and of attnflow.

    !!! example

        >>> import attnflow as af
        >>> print(af.citation("vit").splitlines()[0])
        @inproceedings{vit2024,
    """
    ours = _ATTNFLOW.format(version=__version__, year=RELEASED[:4])
    return ours if slug is None else f"{paper(slug).bibtex.strip()}\n\n{ours}"
