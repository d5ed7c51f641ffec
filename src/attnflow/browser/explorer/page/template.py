"""An explorer's page: one HTML text with all that it needs, and leave for nothing else.

The content security policy names the page's own style and script by their hashes;
WebAssembly may be compiled, a worker may be started from the page's own text, and no
address may be asked for anything.
"""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from attnflow.browser.explorer.page.prepare import Json, html, prepare
from attnflow.figures.style import DARK, LIGHT, Theme

PLAYER = "player.js"
SCRIPTS = (
    "packed.js",
    "dom.js",
    "numbers.js",
    "scales.js",
    "series.js",
    "colours.js",
    "code.js",
    "address.js",
    "knobs.js",
    "chart.js",
    "stages.js",
    "heatmap.js",
    "transport.js",
    "fieldmap.js",
    "claims.js",
    "conditions.js",
    "compare.js",
    "downloads.js",
    "runner.js",
    "app.js",
)
"""In the order in which the page reads them; `app.js` starts it."""


def render(document: Json) -> str:
    """The page of a document that `attnflow.browser.explorer` has put together."""
    book = prepare(document)
    style = _theme_rules() + _text("style.css")
    # Wrapped in a function, so that its names do not become globals of the page.
    text = _text(PLAYER, "attnflow.browser.explorer")
    names = "{ Model, bytesOf, seriesOf }"
    player = f"const {names} = (() => {{\n{text}\nreturn {names};\n}})();"
    script = "\n".join([player, *map(_text, SCRIPTS)])
    worker = "\n".join([player, _text("packed.js"), _text("worker.js")])
    contents = document.get("book") or [
        {"id": e["id"], "title": e["title"], "file": ""}
        for e in document["experiments"]
    ]
    return _template("page.html").render(
        book=book,
        contents=_json(contents),
        others=_others(document, contents),
        policy=_policy(style, script),
        style=Markup(style),
        script=Markup(script),
        document=_packed(book),
        worker=_json(worker),
    )


def render_shelf(shelf: Sequence[Json]) -> str:
    """A page of links to explorers: of each paper, its experiments."""
    style = _theme_rules() + _text("style.css")
    return _template("shelf.html").render(
        shelf=shelf, style=Markup(style), policy=_policy(style), html=html
    )


def contents_of(page: str) -> list[Json]:
    """The experiments of a page and of those that belong to it, with their files."""
    found = re.search(r'id="contents">(.*?)</script>', page, re.S)
    return json.loads(found[1]) if found else []


def _others(document: Json, contents: Sequence[Json]) -> list[Json]:
    """Experiments that are in other files."""
    here = {experiment["id"] for experiment in document["experiments"]}
    return [item for item in contents if item["id"] not in here]


def _template(name: str) -> Template:
    return Environment(
        loader=PackageLoader("attnflow.browser.explorer", "page"),
        autoescape=True,
        undefined=StrictUndefined,
    ).get_template(name)


def _text(name: str, package: str = "attnflow.browser.explorer.page") -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def _json(value: object) -> Markup:
    """JSON that cannot end the element that it stands in."""
    return Markup(_compact(value).replace("<", "\\u003c"))


def _packed(value: object) -> Markup:
    """JSON as gzip in base64: equal documents give equal texts."""
    packed = gzip.compress(_compact(value).encode(), mtime=0)
    return Markup(base64.b64encode(packed).decode())


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _policy(style: str, script: str = "") -> str:
    own = f"script-src '{_hash(script)}' 'wasm-unsafe-eval'; worker-src blob:; "
    return "; ".join(
        [
            "default-src 'none'",
            f"{own if script else ''}style-src '{_hash(style)}'",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _theme_rules() -> str:
    """The colours of the figures as variables of the style sheet."""
    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}\n"
    return f":root {{ {_variables(LIGHT)} }}\n{dark}"


def _variables(theme: Theme) -> str:
    colours = {
        **theme.kinds,
        "figure": theme.paper,
        "ink": theme.ink,
        "muted": theme.muted,
        "hairline": theme.hairline,
        "stage": theme.stages[0],
    }
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())
