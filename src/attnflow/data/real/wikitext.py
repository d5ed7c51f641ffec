"""WikiText-2 as a list of words."""

from typing import Literal

from attnflow.data.real.files import read

Split = Literal["valid", "test"]
LINE_END = "<eos>"
"""Stands at the end of each line that is not empty."""


def words(split: Split) -> list[str]:
    """All words of a split in their order, with a mark at the end of each line."""
    text = read("wikitext-2", f"{split}.txt").decode("utf-8")
    lines = (line.split() for line in text.split("\n"))
    return [word for line in lines if line for word in (*line, LINE_END)]
