"""A layered layout of a directed acyclic graph: layers, the order in them, places.

Edges that follow from others are left out, layers are longest paths, the order within
a layer is by barycentres (Sugiyama), and places are the least-squares fit to those of
the neighbours that keeps the order.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

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
