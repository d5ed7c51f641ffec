"""Notebooks as pages: their text, code and what comes of it, from tested files."""

import re
from pathlib import Path

from tools.documentation.cells import outputs

FOLDER = Path(__file__).resolve().parent.parent.parent / "examples/notebooks"
ORDER = (
    "figure1",
    "infinite_width",
    "flow_and_descent",
    "phase_diagram",
    "own_checkpoint",
    "attention_animation",
)
_INTRO = (
    "Notebooks are text files (jupytext, percent format) in `examples/notebooks`; the "
    "tests execute them. Open one in Jupyter with jupytext installed, "
    "`pip install 'attnflow[notebooks]'`, or in an editor that knows cells of `# %%`."
)


def notebook_pages(out: Path, *, figures: bool) -> dict[str, str]:
    """A page for each notebook, and their index; with `figures` cells are carried out.

    Pictures are drawn into `out/notebooks`.
    """
    found = {path.stem for path in FOLDER.glob("*.py")}
    assert found == set(ORDER), f"{found ^ set(ORDER)}: name each notebook in ORDER."
    folder = out / "notebooks" if figures else None
    pages = {
        f"notebooks/{name}.md": _page(FOLDER / f"{name}.py", folder) for name in ORDER
    }
    lines = ["# Notebooks", "", _INTRO, ""]
    for name in ORDER:
        title = pages[f"notebooks/{name}.md"].partition("\n")[0].removeprefix("# ")
        lines.append(f"- [{title}]({name}.md)")
    return pages | {"notebooks/index.md": "\n".join([*lines, ""])}


def _page(path: Path, folder: Path | None) -> str:
    body = path.read_text("utf-8").partition("# ---\n\n")[2]
    pieces = [piece.partition("\n") for piece in re.split(r"^# %%", body, flags=re.M)]
    cells = [(kind.strip(), text.strip()) for kind, _, text in pieces[1:]]
    code = [text for kind, text in cells if not kind]
    results = iter(outputs(code, folder, path.stem) if folder else ())
    parts = []
    for kind, text in cells:
        if kind:
            parts.append(re.sub(r"^# ?", "", text, flags=re.M))
        else:
            parts += [f"```python\n{text}\n```", next(results, "")]
    file = f"File: `examples/notebooks/{path.name}`."
    return "\n\n".join([*filter(None, parts), file, ""])
