"""The dependency graph of a paper as SVG: statements, and what their proofs rest on.

Each statement is a box with a segment for each of its parts, in the colour of what is
known of it. The picture carries its own colours, so that it can be used alone; on a
page the style sheet replaces them, for dark screens too.

The layout: edges that follow from others are left out, layers are longest paths, the
order within a layer is by barycentres (Sugiyama), and places are the least-squares fit
to those of the neighbours that keeps the order.
"""

import textwrap
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from markupsafe import Markup

from attnflow.site.pages.inventory import Standing, StatementView, rests_on

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

SWEEPS = 24
"""Of the order, and of the places; the layouts of five papers change no more."""
Knot = tuple[Hashable, ...]
"""A node, or where a long edge crosses a layer: `(node,)` or `(from, to, layer)`."""


@dataclass(frozen=True)
class Layout:
    """Where nodes are, and along which points edges go.

    **Arguments:**

    - `layer`: of each node; `place`: of its middle within the layer.
    - `paths`: of each edge, by its ends, the (layer, place) it passes.
    """

    layer: Mapping[str, int]
    place: Mapping[str, float]
    paths: Mapping[tuple[str, str], Sequence[tuple[int, float]]]


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


def layered(
    uses: Mapping[str, Sequence[str]], room: Mapping[str, float], edge_room: float
) -> Layout:
    """The layout of a graph in which each node comes after all that it uses.

    Where statements use each other in a circle, the edge that closes it goes back.

    **Arguments:**

    - `uses`: by node, the nodes that it uses.
    - `room`: by node, how much of its layer it takes; `edge_room`: what an edge takes
      that passes.
    """
    depths = _depths(uses)
    uses = without_implied(uses, depths)
    layer = _tightened(depths, uses)
    chains = {
        (used, node): _chain(used, node, layer) for node in uses for used in uses[node]
    }
    links = [link for chain in chains.values() for link in pairwise(chain)]
    order = _ordered(_layers(layer, chains.values()), links)
    rooms = {knot: edge_room for knots in order for knot in knots}
    rooms |= {(node,): room[node] for node in uses}
    place = _places(order, links, rooms)
    at = {knot: number for number, knots in enumerate(order) for knot in knots}
    paths = {
        edge: [(at[knot], place[knot]) for knot in chain]
        for edge, chain in chains.items()
    }
    return Layout(layer, {node: place[node,] for node in uses}, paths)


def depth(uses: Mapping[str, Sequence[str]]) -> int:
    """The number of layers of a graph."""
    return 1 + max(_depths(uses).values(), default=-1)


def without_implied(
    uses: Mapping[str, Sequence[str]], depths: Mapping[str, int]
) -> dict[str, list[str]]:
    """The graph without edges that follow from others (its transitive reduction)."""
    above: dict[str, set[str]] = {}
    for node in sorted(uses, key=depths.__getitem__):
        before = [used for used in uses[node] if depths[used] < depths[node]]
        above[node] = {*before, *(a for used in before for a in above[used])}
    return {
        node: [
            used
            for used in uses[node]
            if not any(used in above[other] for other in uses[node] if other != used)
        ]
        for node in uses
    }


def _depths(uses: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The longest path that ends in each node."""
    depths: dict[str, int] = {}
    waiting: set[str] = set()

    def depth(node: str) -> int:
        if node not in depths:
            waiting.add(node)
            below = [depth(used) for used in uses[node] if used not in waiting]
            waiting.remove(node)
            depths[node] = 1 + max(below, default=-1)
        return depths[node]

    for node in uses:
        depth(node)
    return depths


def _tightened(
    depths: Mapping[str, int], uses: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """Layers: nodes moved on, next to the first node that uses them."""
    layers = dict(depths)
    for node in sorted(uses, key=depths.__getitem__, reverse=True):
        users = [layers[user] for user in uses if node in uses[user]]
        later = [layer for layer in users if layer > layers[node]]
        layers[node] = min(later) - 1 if later else layers[node]
    return layers


def _chain(used: str, node: str, layer: Mapping[str, int]) -> list[Knot]:
    between = range(layer[used] + 1, layer[node])
    return [(used,), *((used, node, number) for number in between), (node,)]


def _layers(layer: Mapping[str, int], chains: Iterable[list[Knot]]) -> list[list[Knot]]:
    layers: list[list[Knot]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for node, number in layer.items():
        layers[number].append((node,))
    for chain in chains:
        for knot in chain[1:-1]:
            layers[int(str(knot[-1]))].append(knot)
    return layers


def _ordered(
    layers: list[list[Knot]], links: Sequence[tuple[Knot, Knot]]
) -> list[list[Knot]]:
    """Layers sorted by the mean place of their neighbours, to and fro."""
    left, right = _neighbours(links)
    best, fewest = layers, _crossed(layers, links)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        side = left if forward else right
        order = layers if forward else layers[::-1]
        layers = [list(knots) for knots in _swept(order, side)]
        layers = layers if forward else layers[::-1]
        crossed = _crossed(layers, links)
        if crossed < fewest:
            best, fewest = layers, crossed
    return best


def _swept(
    layers: Sequence[Sequence[Knot]], neighbours: Mapping[Knot, Sequence[Knot]]
) -> list[list[Knot]]:
    """Each layer sorted by the places that the previous ones have got."""
    place: dict[Knot, float] = {}
    swept = []
    for knots in layers:
        own = np.linspace(0, 1, len(knots)).tolist()
        wanted = {}
        for knot, instead in zip(knots, own, strict=True):
            beside = [place[n] for n in neighbours.get(knot, ()) if n in place]
            wanted[knot] = float(np.mean(beside)) if beside else instead
        swept.append(sorted(knots, key=wanted.__getitem__))
        place |= dict(zip(swept[-1], own, strict=True))
    return swept


def _neighbours(
    links: Sequence[tuple[Knot, Knot]],
) -> tuple[dict[Knot, list[Knot]], dict[Knot, list[Knot]]]:
    left: dict[Knot, list[Knot]] = {}
    right: dict[Knot, list[Knot]] = {}
    for a, b in links:
        left.setdefault(b, []).append(a)
        right.setdefault(a, []).append(b)
    return left, right


def _crossed(layers: list[list[Knot]], links: Sequence[tuple[Knot, Knot]]) -> int:
    at = {
        knot: (number, index)
        for number, knots in enumerate(layers)
        for index, knot in enumerate(knots)
    }
    ends = np.array([(*at[a], at[b][1]) for a, b in links]).reshape(-1, 3)
    first, second = ends[:, None, :], ends[None, :, :]
    crossed = (first[..., 1] - second[..., 1]) * (first[..., 2] - second[..., 2]) < 0
    return int((crossed & (first[..., 0] == second[..., 0])).sum()) // 2


def _places(
    layers: list[list[Knot]],
    links: Sequence[tuple[Knot, Knot]],
    room: Mapping[Knot, float],
) -> dict[Knot, float]:
    """Places near those of the neighbours, in order and with room for each knot."""
    least = {id(knots): _least(knots, room) for knots in layers}
    middle = max((places[-1] for places in least.values()), default=0.0) / 2
    place = {
        knot: value + middle - least[id(knots)][-1] / 2
        for knots in layers
        for knot, value in zip(knots, least[id(knots)], strict=True)
    }
    left, right = _neighbours(links)
    for _ in range(SWEEPS):
        for knots in (*layers, *layers[::-1]):
            nearest = [
                np.mean([place[other] for other in beside])
                if (beside := [*left.get(knot, ()), *right.get(knot, ())])
                else place[knot]
                for knot in knots
            ]
            fitted = _rising(np.array(nearest) - least[id(knots)]) + least[id(knots)]
            place |= dict(zip(knots, fitted.tolist(), strict=True))
    return _compact(place, max(room.values(), default=0.0))


def _least(knots: Sequence[Knot], room: Mapping[Knot, float]) -> np.ndarray:
    """Places of knots as near to each other as they may be."""
    return np.cumsum([0.0, *((room[a] + room[b]) / 2 for a, b in pairwise(knots))])


def _compact(place: Mapping[Knot, float], widest: float) -> dict[Knot, float]:
    """Places from 0 on, without room that is empty in all layers."""
    moved, before, now = {}, None, 0.0
    for value in sorted(set(place.values())):
        now += min(value - before, widest) if before is not None else 0.0
        moved[value], before = now, value
    return {knot: moved[value] for knot, value in place.items()}


def _rising(wanted: np.ndarray) -> np.ndarray:
    """The rising sequence nearest to the wanted one (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for value in wanted.tolist():
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, m), (b, n) = pools[-2:]
            pools[-2:] = [((m * a + n * b) / (m + n), m + n)]
    return np.array([value for value, count in pools for _ in range(count)])
