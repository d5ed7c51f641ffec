"""Cells of a notebook carried out: what each prints, shows and draws, as Markdown."""

import ast
import contextlib
import io
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def outputs(cells: Iterable[str], folder: Path, name: str) -> list[str]:
    """What comes of each cell, as below it in Jupyter; pictures go into `folder`.

    A cell that needs a package which is not installed ends it, with a sentence.
    """
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.use("agg")
    # The caller may have figures open, which no cell draws.
    plt.close("all")
    space: dict[str, Any] = {"__name__": "notebook"}
    texts: list[str] = []
    # Cells may write files.
    with tempfile.TemporaryDirectory() as work, contextlib.chdir(work):
        for number, cell in enumerate(cells, 1):
            try:
                printed, value = _carry_out(cell, space)
            except ImportError as missing:
                note = f"*Not carried out when this site was built: {missing}.*"
                return [*texts, note]
            shown = _shown(value, folder, f"{name}-{number}")
            output = [f"```text\n{printed}\n```"] if printed else []
            texts.append("\n\n".join([*output, *shown]))
    return texts


def _carry_out(cell: str, space: dict[str, Any]) -> tuple[str, Any]:
    """What a cell prints, and the value of the expression that it ends in."""
    tree = ast.parse(cell)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    text, value = io.StringIO(), None
    with contextlib.redirect_stdout(text):
        exec(compile(tree, "cell", "exec"), space)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), space)
    # Of a line that is written again and again the last state stays.
    lines = [line.split("\r")[-1].rstrip() for line in text.getvalue().split("\n")]
    return "\n".join(lines).strip("\n"), value


def _shown(value: Any, folder: Path, name: str) -> Iterator[str]:
    """The figures that are open, or else the value."""
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

    figures = [plt.figure(number) for number in plt.get_fignums()]
    if isinstance(value, Figure) and value not in figures:
        figures.append(value)
    folder.mkdir(parents=True, exist_ok=True)
    for k, figure in enumerate(figures):
        file = folder / f"{name}{'abcdef'[k]}.png"
        figure.savefig(file, dpi=110, bbox_inches="tight")
        yield f"![What the cell above draws]({file.name})"
    plt.close("all")
    if value is None or figures:
        return
    html = getattr(value, "_repr_html_", None)
    yield f"<div>{html()}</div>" if html else f"```text\n{value!r}\n```"
