"""The layout of graphs: layers, crossings, and room for every node."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnflow.site.pages.graph import depth, layered, without_implied


def arranged(uses):
    """The layout with boxes of one size, and half of it for edges."""
    return layered(uses, dict.fromkeys(uses, 1.0), 0.5)


def crossings(layout):
    """How many pairs of edges cross between neighbouring layers."""
    steps = [step for path in layout.paths.values() for step in pairwise(path)]
    return sum(
        (a[1] - c[1]) * (b[1] - d[1]) < 0
        for i, (a, b) in enumerate(steps)
        for c, d in steps[:i]
        if a[0] == c[0] and b[0] == d[0]
    )


@st.composite
def graphs(draw):
    """A graph in which each node uses some of those before it."""
    count = draw(st.integers(1, 14))
    return {
        str(k): [str(j) for j in range(k) if draw(st.integers(0, 3)) == 0]
        for k in range(count)
    }


@given(graphs())
def test_each_node_stands_right_of_what_it_uses(uses):
    layout = arranged(uses)
    for node, used in uses.items():
        assert all(layout.layer[other] < layout.layer[node] for other in used)


@given(graphs())
def test_nodes_of_a_layer_are_a_row_apart(uses):
    layout = arranged(uses)
    for layer in set(layout.layer.values()):
        inside = [layout.place[n] for n, c in layout.layer.items() if c == layer]
        assert np.diff(sorted(inside)).min(initial=1.0) > 1 - 1e-9


@given(graphs())
def test_edges_pass_every_layer_between_their_ends(uses):
    layout = arranged(uses)
    for (used, node), path in layout.paths.items():
        assert path[0] == (layout.layer[used], layout.place[used])
        assert path[-1] == (layout.layer[node], layout.place[node])
        assert np.diff([layer for layer, _ in path]).tolist() == [1] * (len(path) - 1)


def test_a_leaf_stands_next_to_its_first_user():
    chain = {"a": [], "b": ["a"], "c": ["b"], "leaf": []}
    layout = arranged({**chain, "top": ["c", "leaf"]})
    assert layout.layer == {"a": 0, "b": 1, "c": 2, "leaf": 2, "top": 3}


def test_a_tangle_that_has_a_plain_order_is_untangled():
    """Six pairs, given crosswise: a node uses the one with its own number."""
    rng = np.random.default_rng(0)
    first = {f"a{k}": [] for k in rng.permutation(6)}
    uses = first | {f"b{k}": [f"a{k}"] for k in rng.permutation(6)}
    assert crossings(arranged(uses)) == 0


def test_crossings_that_must_be_are_counted():
    """Both of two nodes use both of two others."""
    assert (
        crossings(arranged({"a": [], "b": [], "c": ["a", "b"], "d": ["a", "b"]})) == 1
    )


def test_rows_that_are_empty_everywhere_are_left_out():
    pairs = {f"x{k}": [] for k in range(9)} | {"y": [f"x{k}" for k in range(9)]}
    layout = arranged(pairs | {"p": [], "q": ["p"]})
    heights = sorted(layout.place.values())
    assert heights[0] == pytest.approx(0)
    assert np.diff(heights).max() <= 1 + 1e-9


def reached(uses, node):
    return {node} | {below for used in uses[node] for below in reached(uses, used)}


@given(graphs())
def test_edges_that_follow_from_others_are_left_out(uses):
    """What can be reached stays; without any edge that is drawn, it would not."""
    drawn = {node: [] for node in uses}
    for used, node in arranged(uses).paths:
        drawn[node].append(used)
    for node, kept in drawn.items():
        assert reached(drawn, node) == reached(uses, node)
        for used in kept:
            others = [other for other in kept if other != used]
            assert all(used not in reached(uses, other) for other in others)


def test_a_circle_is_kept():
    circle = {"a": ["c"], "b": ["a"], "c": ["b"]}
    assert depth(circle) == 3
    assert sum(map(len, without_implied(circle, dict(a=0, b=1, c=2)).values())) == 3
