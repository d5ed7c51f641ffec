"""Blocks as Markdown and HTML: what is written is what is read."""

import pytest

from attnflow.site.export.document import (
    Code,
    Grid,
    Heading,
    Items,
    Link,
    Paragraph,
    Picture,
    html,
    markdown,
)

BLOCKS = [
    Heading("B-L1: a < b & c", 1),
    Paragraph("The loss falls.", Link("data", "a/README.md")),
    Items(["one", Link("two", "b.csv")]),
    Grid(("x", "|y|"), [("1", "a|b"), (Link("c", "c.csv"), "")]),
    Code("print('<x>')\n```\n", "python"),
    Picture("picture.png", "a curve"),
]


def test_markdown():
    assert markdown(BLOCKS).split("\n\n") == [
        "# B-L1: a \\< b & c",
        "The loss falls. [data](a/README.md)",
        "- one\n- [two](b.csv)",
        "| x | \\|y\\| |\n| --- | --- |\n| 1 | a\\|b |\n| [c](c.csv) |  |",
        "````python\nprint('<x>')\n```\n````",
        "![a curve](picture.png)\n",
    ]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("h* and 2*x*3", "h\\* and 2\\*x\\*3"),
        ("w_+ = w_- and v_k", "w_+ = w_- and v_k"),
        ("_x_ is not emphasised", "\\_x_ is not emphasised"),
        ("[0, 1](a)", "[0, 1]\\(a)"),
        ("> 3", "\\> 3"),
        ("y > 3 in [0, 1]", "y > 3 in [0, 1]"),
        ("two\n  lines", "two lines"),
    ],
)
def test_only_what_markdown_would_read_is_escaped(text, written):
    assert markdown([Paragraph(text)]) == written + "\n"


def test_a_table_of_names_and_values_has_no_head_on_a_page():
    facts = [Heading("x", 1), Grid(("", ""), [("verdict", "holds")])]
    assert "<thead>" not in html(facts)
    assert "<thead>" in html(BLOCKS)


def test_html_is_one_file_that_escapes_all():
    page = html(BLOCKS)
    assert "<title>B-L1: a &lt; b &amp; c</title>" in page
    assert "print(&#x27;&lt;x&gt;&#x27;)" in page
    assert 'href="a/index.html"' in page and 'href="b.csv"' in page
    assert "<script" not in page and "http" not in page


def test_a_list_without_spaces_can_be_broken():
    page = html([Heading("x", 1), Paragraph("record=loss,score, and 1,2")])
    assert "record=loss,<wbr>score, and 1,<wbr>2" in page
