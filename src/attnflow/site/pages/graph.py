"""The dependency graph of a paper as SVG: statements, and what their proofs rest on.

Each statement is a box with a segment for each of its parts, in the colour of what is
known of it. The picture carries its own colours, so that it can be used alone; on a
page the style sheet replaces them, for dark screens too.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from attnflow.site.pages.inventory import Standing, StatementView, rests_on
from attnflow.site.pages.layers import Layout, depth, layered

GRAPH = "statements.svg"
"""The name of the file beside a paper's page."""
BOX, ROW, MARGIN = 26.0, 36.0, 14.0
"""The height of a box, the distance of rows, and the margin, in pixels."""
GAP, DOWN = 52.0, 40.0
"""Between layers side by side, or below each other, for the edges."""
EDGE = 12.0
"""The room of an edge that passes a layer."""
MOST_LAYERS = 9
"""Side by side: more do not fit on a page, or on a slide."""
LEAST = 640.0
"""The least width of a picture, for its legend."""
LETTER = 6.6
"""The mean width of a letter of the labels."""
COLOURS = {
    Standing.HOLDS: ("#08764f", 0.2),
    Standing.FAILS: ("#a8182b", 0.26),
    Standing.CORRECTED: ("#6b3fa0", 0.22),
    Standing.INCONCLUSIVE: ("#8a5a00", 0.2),
    Standing.OPEN: ("#67635c", 0.0),
}
"""Colour and opacity of a part, on white paper."""
INK, LINE = "#1e1d1b", "#a09a90"
LEGEND = {
    Standing.HOLDS: "holds",
    Standing.CORRECTED: "holds when corrected",
    Standing.FAILS: "fails as printed",
    Standing.INCONCLUSIVE: "inconclusive",
    Standing.OPEN: "not judged",
}
ALONE = "Without edges: no proof here rests on these, nor they on others"
READ = (
    "A box has a segment for each part. Dashed: judged only beyond its conditions. "
    "Edges that follow from others are left out."
)
LONGEST = 22
"""Letters of a label."""
SAMPLE = 16.0
"""The width of a sample in the legend."""
NO_PROOFS = ("figure", "table", "equation", "section", "algorithm", "observation")
"""Kinds of statements that have no proof: shown where a proof rests on them."""
FONT = "Avenir Next, Segoe UI, Noto Sans, Helvetica, Arial, sans-serif"


def drawn_statements(
    views: Mapping[str, StatementView],
) -> tuple[dict[str, list[str]], list[str]]:
    """The statements with edges and what each rests on; and those without edges."""
    uses = {
        id: [used for used in view.statement.uses if used in views and used != id]
        for id, view in views.items()
    }
    used = {id for ids in uses.values() for id in ids}
    linked = {id: ids for id, ids in uses.items() if ids or id in used}
    alone = [
        id
        for id, view in views.items()
        if id not in linked and view.statement.kind not in NO_PROOFS
    ]
    return linked, alone


def draw_graph(views: Mapping[str, StatementView], title: str) -> Markup:
    """The graph of a paper's statements; empty where none rests on another."""
    linked, alone = drawn_statements(views)
    if not linked:
        return Markup("")
    drawing = _arranged(linked)
    places = {id: drawing.corner(id) for id in linked}
    right, lowest = drawing.extent()
    width, bottom = max(right + MARGIN, LEAST), lowest + ROW - BOX
    strip, end = _strip(alone, width, bottom)
    legend, height = _legend(end + 6, width)
    parts = [
        *_edges(drawing),
        *((_words(ALONE, MARGIN, bottom + BOX / 2 + 4),) if alone else ()),
        *(
            _box(views[id], *corner, rests_on(id, views))
            for id, corner in {**places, **strip}.items()
        ),
        legend,
    ]
    opening = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="group" '
        'aria-label="{}" width="{:.0f}" height="{:.0f}" viewBox="0 0 {:.0f} {:.0f}" '
        'font-family="{}" font-size="12">'
    ).format(title, width, height, width, height, FONT)
    return opening + Markup("\n").join(parts) + Markup("</svg>")


@dataclass(frozen=True)
class _Drawing:
    """A layout in pixels, its layers from left to right or, of many, downwards.

    `bands` are where each layer begins and ends; `shift` is what places begin with.
    """

    layout: Layout
    is_tall: bool
    bands: Sequence[tuple[float, float]]
    shift: float

    def corner(self, id: str) -> tuple[float, float]:
        """The left upper corner of a box, in the middle of its layer."""
        along = sum(self.bands[self.layout.layer[id]]) / 2
        across = self.layout.place[id] + self.shift
        x, y = self.turned(along, across)
        return x - _width(id) / 2, y - BOX / 2

    def path(self, used: str, node: str) -> list[tuple[float, float]]:
        """The points of an edge: straight where it passes a layer."""
        (_, start), *between, (_, end) = self.layout.paths[used, node]
        points = [(self._side(used, 1), start + self.shift)]
        for layer, place in between:
            points += [(side, place + self.shift) for side in self.bands[layer]]
        return [*points, (self._side(node, -1), end + self.shift)]

    def extent(self) -> tuple[float, float]:
        """Where boxes and edges end, across and down."""
        points = [
            self.turned(*p) for edge in self.layout.paths for p in self.path(*edge)
        ]
        corners = [(*self.corner(id), _width(id)) for id in self.layout.layer]
        points += [(x + width, y + BOX) for x, y, width in corners]
        return max(x for x, _ in points), max(y for _, y in points)

    def _side(self, id: str, sign: int) -> float:
        """Where the box ends along the layers, behind (1) or before (−1)."""
        middle = sum(self.bands[self.layout.layer[id]]) / 2
        return middle + sign * (BOX if self.is_tall else _width(id)) / 2

    def turned(self, along: float, across: float) -> tuple[float, float]:
        """Across and down, of a point along and across the layers."""
        return (across, along) if self.is_tall else (along, across)


def _arranged(uses: Mapping[str, Sequence[str]]) -> _Drawing:
    """Layers side by side, or below each other where they are more than a page."""
    tall = depth(uses) > MOST_LAYERS
    room = {id: _width(id) + 12 if tall else ROW for id in uses}
    layout = layered(uses, room, EDGE)
    sizes = [
        BOX if tall else max(_width(id) for id in uses if layout.layer[id] == layer)
        for layer in range(max(layout.layer.values()) + 1)
    ]
    bands, start = [], MARGIN
    for size in sizes:
        bands.append((start, start + size))
        start += size + (DOWN if tall else GAP)
    half = {id: _width(id) / 2 if tall else BOX / 2 for id in uses}
    least = min(layout.place[id] - half[id] for id in uses)
    passing = [place for path in layout.paths.values() for _, place in path]
    return _Drawing(layout, tall, bands, MARGIN - min(least, *passing))


def _label(id: str) -> str:
    """The name of a statement, shortened where it is a sentence."""
    return id if len(id) <= LONGEST else f"{id[: LONGEST - 1].rstrip(' ,')}…"


def _width(id: str) -> float:
    return LETTER * len(_label(id)) + 18


def _strip(
    ids: Sequence[str], width: float, top: float
) -> tuple[dict[str, tuple[float, float]], float]:
    """Boxes without edges in rows below the graph, and where they end."""
    x, y, places = MARGIN, top + ROW, {}
    for id in ids:
        if x > MARGIN and x + _width(id) > width - MARGIN:
            x, y = MARGIN, y + ROW
        places[id] = (x, y)
        x += _width(id) + 10
    return places, y + ROW + 8 if ids else top


def _edges(drawing: _Drawing) -> Iterator[Markup]:
    """A curve from what is used to what uses it."""
    for used, node in drawing.layout.paths:
        yield Markup(
            '<path class="edge" data-from="{}" data-to="{}" d="{}" fill="none" '
            'stroke="{}" stroke-width="1.1"/>'
        ).format(used, node, _curve(drawing, drawing.path(used, node)), LINE)


def _curve(drawing: _Drawing, points: Sequence[tuple[float, float]]) -> str:
    """A smooth path that goes along the layers' axis at every point."""

    def text(along: float, across: float) -> str:
        x, y = drawing.turned(along, across)
        return f"{x:.1f} {y:.1f}"

    curve = f"M{text(*points[0])}"
    for (start, place), (end, to) in pairwise(points):
        half = (start + end) / 2
        curve += f"C{text(half, place)} {text(half, to)} {text(end, to)}"
    return curve


def _box(view: StatementView, x: float, y: float, words: str) -> Markup:
    """A statement: a segment for each part, the frame of the worst, and the name."""
    width, count = _width(view.id), max(len(view.parts), 1)
    standings = [part.standing for part in view.parts] or [Standing.OPEN]
    segments = Markup(
        '<rect class="ground" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.0f}" '
        'rx="2" fill="#ffffff"/>'
    ).format(x, y, width, BOX)
    segments += Markup("").join(
        _fill(standing, x + k * width / count, y, width / count)
        for k, standing in enumerate(standings)
    )
    return Markup(
        '<a class="node" href="#{}" data-id="{}"><title>{}: {}</title>{}{}'
        '<text x="{:.1f}" y="{:.1f}" text-anchor="middle" fill="{}"{}>{}</text></a>'
    ).format(
        *(view.anchor, view.id, view.id, words, segments),
        _frame(view.standing, x, y, width, dashed=view.is_beyond),
        *(x + width / 2, y + BOX / 2 + 4.2, INK),
        Markup(' font-weight="600"') if view.statement.kind == "theorem" else "",
        _label(view.id),
    )


def _fill(
    standing: Standing, x: float, y: float, width: float, height: float = BOX
) -> Markup:
    colour, opacity = COLOURS[standing]
    return Markup(
        '<rect class="part {}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.0f}" '
        'fill="{}" fill-opacity="{}"/>'
    ).format(standing, x, y, width, height, colour, opacity)


def _frame(
    standing: Standing,
    x: float,
    y: float,
    width: float,
    height: float = BOX,
    *,
    dashed: bool = False,
) -> Markup:
    return Markup(
        '<rect class="frame {}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.0f}" '
        'rx="2" fill="none" stroke="{}" stroke-width="1.3"{}/>'
    ).format(
        *(standing, x, y, width, height, COLOURS[standing][0]),
        Markup(' stroke-dasharray="4 2.5"') if dashed else "",
    )


def _words(text: str, x: float, y: float) -> Markup:
    colour, _ = COLOURS[Standing.OPEN]
    return Markup(
        '<text class="words" x="{:.1f}" y="{:.1f}" fill="{}">{}</text>'
    ).format(x, y, colour, text)


def _legend(top: float, width: float) -> tuple[Markup, float]:
    """A sample of each colour with its meaning, and where the legend ends."""
    x, y, parts = MARGIN, top, []
    for standing, words in LEGEND.items():
        size = SAMPLE + LETTER * len(words) + 24
        if x > MARGIN and x + size > width:
            x, y = MARGIN, y + 20
        parts += [shape(standing, x, y, SAMPLE, 12.0) for shape in (_fill, _frame)]
        parts += [_words(words, x + SAMPLE + 5, y + 10)]
        x += size
    y += 22
    for line in textwrap.wrap(READ, int((width - 2 * MARGIN) / LETTER)):
        parts += [_words(line, MARGIN, y + 10)]
        y += 16
    return Markup("").join(parts), y + 4
