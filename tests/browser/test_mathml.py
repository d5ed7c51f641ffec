"""TeX as MathML and as labels of charts."""

from xml.etree import ElementTree

import pytest

from attnflow.browser.explorer.page.mathml import mathml, runs
from attnflow.browser.explorer.page.prepare import html, shown
from attnflow.figures.formulas import pieces, to_tex
from attnflow.papers import paper


def words(markup):
    return "".join(ElementTree.fromstring(f"<p>{markup}</p>").itertext())


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"\omega^2", "<msup><mrow><mi>ω</mi></mrow><mrow><mn>2</mn></mrow></msup>"),
        (r"T_{1}", "<msub><mrow><mi>T</mi></mrow><mrow><mn>1</mn></mrow></msub>"),
        (r"\sqrt{m}", "<msqrt><mi>m</mi></msqrt>"),
        (
            r"\frac{1}{L}",
            "<mfrac><mrow><mn>1</mn></mrow><mrow><mi>L</mi></mrow></mfrac>",
        ),
        (r"a<b", '<mo stretchy="false">&lt;</mo>'),
    ],
)
def test_mathml(tex, expected):
    assert expected in mathml(tex)


def test_indices_and_powers_of_one_letter_stand_together():
    markup = mathml(r"W_K^{\top}")
    assert markup.count("<msubsup>") == 1
    assert words(markup) == "WK⊤"


def test_an_unknown_command_is_shown_by_its_name():
    assert words(mathml(r"\unheard x")) == "unheardx"


def test_unbalanced_braces_end():
    assert words(mathml(r"a_{b")) == "ab"
    assert words(mathml(r"a}b")) == "ab"


def test_runs_are_raised_and_lowered():
    assert runs(r"w_+^{\top}\mu") == [
        {"text": "w", "italic": True, "level": 0},
        {"text": "+", "italic": False, "level": -1},
        {"text": "⊤", "italic": False, "level": 1},
        {"text": "μ", "italic": True, "level": 0},
    ]


def test_a_fraction_on_one_line_has_a_stroke():
    assert "".join(run["text"] for run in runs(r"\frac{a}{2}")) == "a/2"


def test_text_around_formulas_is_escaped():
    markup = html("if a < b & `x<y`, then $x^2$.")
    assert "&amp;" in markup
    assert "<code>x&lt;y</code>" in markup
    assert markup.endswith("</math>.</span>")


def test_names_have_plain_text_too():
    name = shown("score $S_{c}$")
    assert name["text"] == "score Sc"
    assert [run["text"] for run in name["runs"]] == ["score ", "S", "c"]


@pytest.mark.parametrize(
    "slug", ["mixture", "signgd", "vit", "cooccurrence", "scansnap"]
)
def test_formulas_of_all_claims_are_well_formed(slug):
    statements = [claim.statement for claim in paper(slug).claims]
    formulas = {p.text for s in statements for p in pieces(s) if p.kind == "formula"}
    assert len(formulas) > 20
    for formula in formulas:
        markup = mathml(to_tex(formula))
        ElementTree.fromstring(str(markup))
        assert "\\" not in words(markup), formula
