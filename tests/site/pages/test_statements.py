"""Statements of a page: what judges their parts, their weakest links, the graph."""

import xml.etree.ElementTree as ElementTree

import pytest

from attnflow.claims import Scope, Verdict
from attnflow.site.pages.claims import claim_views
from attnflow.site.pages.graph import draw_graph, drawn_statements
from attnflow.site.pages.inventory import (
    Standing,
    foundations,
    part_counts,
    rests_on,
    statement_views,
)
from tests.site.pages.papers import corrected, paper, row

SVG = "{http://www.w3.org/2000/svg}"


def views(*rows, **changes):
    whole = paper(**changes)
    return statement_views(whole, claim_views(whole, rows))


def test_standings_are_the_worst_of_the_parts():
    standings = {id: view.standing for id, view in views().items()}
    assert standings == {
        "Theorem 1": Standing.HOLDS,
        "Lemma 2": Standing.CORRECTED,
        "Lemma 3": Standing.HOLDS,
        "Lemma 4": Standing.OPEN,
        "Figure 1": Standing.OPEN,
    }


@pytest.mark.parametrize(
    ("verdict", "correction", "standing"),
    [
        (Verdict.HOLDS, None, Standing.HOLDS),
        (Verdict.FAILS, None, Standing.FAILS),
        (Verdict.FAILS, corrected(), Standing.CORRECTED),
        (Verdict.FAILS, corrected(verdict=Verdict.FAILS), Standing.FAILS),
        (Verdict.INCONCLUSIVE, corrected(), Standing.CORRECTED),
        (Verdict.INCONCLUSIVE, None, Standing.INCONCLUSIVE),
        (Verdict.UNCHECKED, corrected(), Standing.OPEN),
    ],
)
def test_the_standing_of_a_claim(verdict, correction, standing):
    judged = row("A-L2.1", verdict, corrected=correction)
    assert views(judged)["Lemma 3"].standing is standing


def test_parts_are_counted_by_how_they_are_judged():
    assert part_counts(views().values()) == {
        "whole": 1,
        "special case": 1,
        "consequence": 1,
        "not judged": 1,
    }


def test_a_statement_links_its_figures_and_notes():
    assert views()["Lemma 2"].links == (("1", "note-1"),)
    assert views()["Figure 1"].links == (("figure1", "exhibit-figure1"),)


def test_a_theorem_shows_its_weakest_link():
    assert rests_on("Theorem 1", views()) == (
        "holds; rests on Lemma 2 (the proof: fails as printed; holds with another "
        "constant)"
    )
    fails = row("A-L2.1", Verdict.FAILS, Verdict.FAILS)
    assert rests_on("Theorem 1", views(fails)) == (
        "holds; rests on Lemma 3 (its constant: fails)"
    )
    # What does not extend beyond its conditions is no weak link.
    beyond = row("A-L2.2", Verdict.FAILS, scope=Scope.BEYOND)
    assert rests_on("Theorem 1", views(beyond)) == (
        "holds; rests on 2 statements, of which 2 judged and none failing"
    )
    assert rests_on("Lemma 4", views()) == "not judged"


def test_foundations_are_found_through_others_and_in_circles():
    chain = {f"Lemma {k}": [f"Lemma {k % 3 + 1}"] for k in (1, 2, 3)}
    entries = [{"id": id, "uses": uses, "about": "."} for id, uses in chain.items()]
    circle = views(inventory={"lemma": entries})
    assert [v.id for v in foundations("Lemma 1", circle)] == ["Lemma 2", "Lemma 3"]
    assert draw_graph(circle, "A circle").count('class="node"') == 3


def test_the_graph_has_all_statements_and_edges():
    linked, alone = drawn_statements(views())
    assert linked == {
        "Theorem 1": ["Lemma 2", "Lemma 3"],
        "Lemma 2": ["Lemma 3"],
        "Lemma 3": [],
    }
    # A figure is no statement without a proof.
    assert alone == ["Lemma 4"]
    graph = ElementTree.fromstring(draw_graph(views(), "A <paper> & more"))
    nodes = {a.get("data-id"): a for a in graph.iter(f"{SVG}a")}
    assert nodes.keys() == {*linked, *alone}
    edges = {(p.get("data-from"), p.get("data-to")) for p in graph.iter(f"{SVG}path")}
    # That the theorem rests on Lemma 3 follows from the others.
    assert edges == {("Lemma 3", "Lemma 2"), ("Lemma 2", "Theorem 1")}
    assert nodes["Lemma 2"].get("href") == "#statement-Lemma-2"
    segments = [r.get("class") for r in nodes["Theorem 1"].iter(f"{SVG}rect")]
    assert segments == ["ground", "part holds", "part open", "frame holds"]
    assert graph.get("aria-label") == "A <paper> & more"


def test_a_box_is_dashed_where_all_is_judged_beyond_its_conditions():
    def dashes(*rows):
        graph = ElementTree.fromstring(draw_graph(views(*rows), "A paper"))
        (node,) = (a for a in graph.iter(f"{SVG}a") if a.get("data-id") == "Lemma 3")
        return [r.get("stroke-dasharray") for r in node.iter(f"{SVG}rect")][-1]

    assert dashes() is None
    assert dashes(row("A-L2.1", scope=Scope.BEYOND)) is not None


def test_many_layers_are_drawn_downwards():
    chain = [
        {"id": f"Lemma {k}", "uses": [f"Lemma {k - 1}"] if k else [], "about": "."}
        for k in range(12)
    ]

    def size(count):
        graph = draw_graph(views(inventory={"lemma": chain[:count]}), "A chain")
        svg = ElementTree.fromstring(graph)
        return float(svg.get("width")), float(svg.get("height"))

    width, height = size(9)
    assert width > height
    width, height = size(12)
    assert height > width


def test_without_edges_there_is_no_graph():
    entry = {"id": "Lemma 1", "about": "Alone."}
    assert draw_graph(views(inventory={"lemma": [entry]}), "A paper") == ""
