"""Notebooks as pages: their text and code, from the files that tests execute."""

import re
from pathlib import Path

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


def notebook_pages() -> dict[str, str]:
    """A page for each notebook, and their index."""
    found = {path.stem for path in FOLDER.glob("*.py")}
    assert found == set(ORDER), f"{found ^ set(ORDER)}: name each notebook in ORDER."
    pages = {f"notebooks/{name}.md": _page(FOLDER / f"{name}.py") for name in ORDER}
    lines = ["# Notebooks", "", _INTRO, ""]
    for name in ORDER:
        title = pages[f"notebooks/{name}.md"].partition("\n")[0].removeprefix("# ")
        lines.append(f"- [{title}]({name}.md)")
    return pages | {"notebooks/index.md": "\n".join([*lines, ""])}


def _page(path: Path) -> str:
    body = path.read_text("utf-8").partition("# ---\n\n")[2]
    parts = []
    for cell in re.split(r"^# %%", body, flags=re.M)[1:]:
        kind, _, text = cell.partition("\n")
        if kind.strip() == "[markdown]":
            parts.append(re.sub(r"^# ?", "", text, flags=re.M).strip())
        else:
            parts.append(f"```python\n{text.strip()}\n```")
    return "\n\n".join([*parts, f"File: `examples/notebooks/{path.name}`.", ""])
