"""Formulas are found in running text, and turned into TeX."""

import pytest

from attnflow.figures.formulas import mathematics, pieces, to_tex


def marked(text):
    """The text with its formulas in brackets and its code in bars."""
    signs = {"words": "{}", "formula": "⟦{}⟧", "code": "¦{}¦"}
    return "".join(signs[piece.kind].format(piece.text) for piece in pieces(text))


@pytest.mark.parametrize(
    "text",
    [
        "Stage 2 lasts ⟦O(log 1/ω)⟧: it ends after ⟦(9/w_c) ln(1/ω) + O(1)⟧, we find.",
        "within ⟦σ0² m (sqrt(4/m log(2d/δ)) + 4/m log(2d/δ))⟧ of their means",
        "for ⟦(ω, T1) = (0.1, 10)⟧, (0.01, 10)",
        "at the rate ⟦(4/3)(2/3) g ω² w_c⟧.",
        "a slope of ⟦1 ± 0.03⟧ over ⟦ε = 0.03 … 3e-4⟧, and ⟦O(1/ε)⟧ by the rule",
        "It outputs +1 for both labels: for ⟦y = −1⟧ the head attends to ⟦−v_k⟧.",
        "at most ⟦1/poly(m)⟧ (90% of seeds, of ⟦K ≥ 3⟧)",
        "⟦S[c_k,v_k] = −(K − 1) S[c_k,v_j]⟧. For ⟦K = 2⟧",
        "a remark (0.66 to 0.69 at 0.01), setting (a) of Figure 1c (Figure 2b)",
        "on ⟦(c1, v1, −v2)⟧, or ⟦X1+-⟧, it is ⟦(ω²/2) sinh(2 w_c t/9)⟧",
        "⟦mu1⟧ weighted by ⟦−ℓ'⟧, falls as ⟦m^(−1/2)⟧: ⟦dw₋/dt⟧ does",
    ],
)
def test_formulas_are_found(text):
    plain = text.replace("⟦", "").replace("⟧", "")
    assert marked(plain) == text


@pytest.mark.parametrize(
    "text",
    [
        "After 3 of 5 seeds a rule holds; I would say so.",
        "the setting learning_rate of it, see https://example.org",
        "Of panels a and b, a: values grow. b: keys turn. Signs in c and d are fixed.",
        "claim B-Thm4.1-T2 and a self-score, to 90% (200, 201, 202), as in (b, c)",
    ],
)
def test_words_are_left_alone(text):
    assert marked(text) == text


def test_dollars_mark_formulas_and_backticks_code():
    assert marked("so $a b$ is, but not `x_1 = 2`") == "so ⟦a b⟧ is, but not ¦x_1 = 2¦"


def test_names_of_ours_are_code():
    text = "It is in attnflow.data.token_sequences; tests/oracle/vit.py has it."
    assert marked(text) == (
        "It is in ¦attnflow.data.token_sequences¦; ¦tests/oracle/vit.py¦ has it."
    )


def test_a_parenthesis_that_is_never_closed_is_no_formula():
    assert "⟦" not in marked("O(log " + "and so on " * 60)


@pytest.mark.parametrize(
    ("plain", "tex"),
    [
        ("w_c", "w_{c}"),
        ("T_half", r"T_{\mathrm{half}}"),
        ("σ0² m", "σ_{0}^{2} m"),
        ("e^{−4a}", "e^{-4a}"),
        ("d_h^−½", "d_{h}^{-1/2}"),
        ("m^(−1/2)", "m^{-1/2}"),
        ("W_V^(t)", "W_{V}^{(t)}"),
        ("V_n,2^(T1) S[c_k,v_k]", "V_{n,2}^{(T_{1})} S[c_{k},v_{k}]"),
        ("X1+-", "X_{1}^{+-}"),
        ("s^¼", "s^{1/4}"),
        ("n^*(L)", "n^{*}(L)"),
        ("mu1", r"\mu_{1}"),
        ("−ℓ'", r"-\ell '"),
        ("10¹⁸", "10^{18}"),
        ("4e-11", r"4\cdot 10^{-11}"),
        ("1e6", "10^{6}"),
        ("√m1/S_{c1,v1}", r"\sqrt{m_{1}}/S_{c_{1},v_{1}}"),
        ("1/√m_k", r"1/\sqrt{m_{k}}"),
        ("√(m L)", r"\sqrt{m L}"),
        ("sqrt(2 log(2d/δ))", r"\sqrt{2 \log (2d/δ)}"),
        ("Θ̃(1)", r"\tilde{Θ}(1)"),
        ("Õ(ω)", r"\tilde{O}(ω)"),
        ("N·SNR*²", r"N\cdot \mathrm{SNR}^{*2}"),
        ("c_kᵀ", r"c_{k}^{\top}"),
        ("v1ᵀ T2_SGN", r"v_{1}^{\top} T_{2,\mathrm{SGN}}"),
    ],
)
def test_plain_notation_as_tex(plain, tex):
    assert to_tex(plain) == tex


def test_a_formula_carries_its_tex_and_shows_plain_indices():
    html = mathematics("where w_c < e^{-4a}")
    assert html == (
        'where <span class="tex" data-tex="w_{c} &lt; e^{-4a}">'
        "<var>w</var><sub>c</sub> &lt; e<sup>−4a</sup></span>"
    )


def test_no_line_begins_with_the_punctuation_after_a_formula():
    html = mathematics("at T1, (of K = 2).")
    assert html == (
        'at <span class="tex" data-tex="T_{1}\\text{,}">T1,</span> (of '
        '<span class="tex" data-tex="K = 2\\text{).}">K = 2).</span>'
    )


@pytest.mark.parametrize("text", ["<b>&", "f_{<b>} = 1", "`<b>`", "$<b>$"])
def test_all_is_escaped(text):
    assert "<b>" not in mathematics(text)
