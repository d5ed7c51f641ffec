"""Stage pages, generated pages and the files they link to into one folder."""

import posixpath
import re
import shutil
from pathlib import Path

from tools.documentation.gallery import gallery_page
from tools.documentation.notebooks import notebook_pages
from tools.documentation.papers import paper_pages
from tools.documentation.reference import reference_pages
from tools.documentation.text import table

ROOT = Path(__file__).resolve().parent.parent.parent
OUT = ROOT / "build" / "docs"
KATEX = ROOT / "src/attnflow/site/pages/assets/katex"
# Files of the repository that are pages of the site, under these names.
PAGES = {
    "README.md": "readme.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
FILES = "files"
"""Where other files of the repository go, by their paths."""
LINK = re.compile(r"(\]\()((?!https?:|mailto:|#)[^)\s#]*)((?:#[^)\s]*)?\))")
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)#\s]+)\.svg\)")
FENCE = re.compile(r"(^```.*?^```$)", re.M | re.S)


def stage(out: Path = OUT, *, figures: bool = True) -> Path:
    """Write the folder that `mkdocs.yml` builds from; what was there is replaced."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(ROOT / "docs", out)
    shutil.copytree(KATEX, out / "assets/katex", ignore=_no_pages)
    for path, text in _texts(out, figures=figures).items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_text(text, "utf-8")
    return out


def _no_pages(folder: str, names: list[str]) -> set[str]:
    return {name for name in names if name.endswith(".md")}


def _texts(out: Path, *, figures: bool) -> dict[str, str]:
    """Every page of the site by its path, with links that stay inside the site."""
    homes = pages_by_home()
    texts = {
        page: _inside(home, (ROOT / home).read_text("utf-8"), page, homes, out)
        for home, page in homes.items()
    }
    texts |= paper_pages() | reference_pages()
    texts |= notebook_pages(out, figures=figures)
    texts["decisions/index.md"] = _decisions()
    texts["gallery.md"] = gallery_page(out, figures=figures)
    return texts


def pages_by_home() -> dict[str, str]:
    """Pages that are written by hand: path in the repository → path in the site."""
    written = sorted(path for path in (ROOT / "docs").rglob("*.md"))
    homes = {p.relative_to(ROOT).as_posix(): _below_docs(p) for p in written}
    readmes = sorted((ROOT / "src/attnflow/papers").glob("*/README.md"))
    for path in readmes:
        homes[path.relative_to(ROOT).as_posix()] = f"papers/{path.parent.name}-code.md"
    return homes | PAGES


def _below_docs(path: Path) -> str:
    return path.relative_to(ROOT / "docs").as_posix()


def _inside(home: str, text: str, page: str, homes: dict[str, str], out: Path) -> str:
    """The text with links to files of the repository turned into links of the site."""

    def turned(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(home), match[2]))
        place = _place(target, homes, out)
        return f"{match[1]}{_relative(place, page)}{match[3]}"

    # Code is not text: every second piece is a fenced block.
    pieces = FENCE.split(text)
    pieces[::2] = [LINK.sub(turned, piece) for piece in pieces[::2]]
    return PICTURE.sub(lambda match: _themes(match, home), "".join(pieces))


def _themes(match: re.Match[str], home: str) -> str:
    """A figure in both themes, where there is a dark one beside it."""
    text, name = match.groups()
    if not (ROOT / home).parent.joinpath(f"{name}.dark.svg").is_file():
        return match[0]
    return f"![{text}]({name}.svg#only-light)\n![{text}]({name}.dark.svg#only-dark)"


def _place(target: str, homes: dict[str, str], out: Path) -> str:
    """Where a file of the repository stands in the site; copied if need be."""
    if target in homes:
        return homes[target]
    if target == "docs/decisions":
        return "decisions/index.md"
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    source, copy = ROOT / target, f"{FILES}/{target}"
    if not source.is_file():
        raise FileNotFoundError(f"A page links to {target}, which is not there.")
    # A browser shows a text where it would offer a program for download.
    copy += ".txt" if source.suffix != ".txt" else ""
    (out / copy).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, out / copy)
    return copy


def _relative(place: str, page: str) -> str:
    return posixpath.relpath(place, posixpath.dirname(page) or ".")


def _decisions() -> str:
    """The decisions in their order, by title."""
    lines = ["# Design decisions", "", "One page for each choice that is not obvious."]
    rows = []
    for path in sorted((ROOT / "docs/decisions").glob("[0-9]*.md")):
        title = path.read_text("utf-8").partition("\n")[0].removeprefix("# ")
        # A list would number them anew, and decision 18 has two pages.
        rows.append((str(int(path.name[:4])), f"[{title}]({path.name})"))
    return "\n".join([*lines, "", table(("", "decision"), rows)])
