"""Notes on Condition 3.1, Theorem 3.2 and the preliminary lemmas of Appendix C."""

from attnflow.schema.declarations import Note

CONDITIONS = (
    Note(
        id="C-N6a",
        place="Lemma C.11, and Lemma 4.1, third item",
        printed="m_v = Ω(polylog d) suffices for noise to barely move by T1.",
        ours=(
            "Lemma C.11 requires 256 log²(12 m_k n/δ) / (π² log²(1 − δ²/4m_k²n²)), of "
            "order (m_k n/δ)^4: 10^22 at m_k = 100, n = 20, δ = 0.1. With m_v = 20, "
            "noise moves by a multiple of its initial value by T1."
        ),
        shown_by="C-L4.1-3",
        effect="statement",
    ),
    Note(
        id="C-N6b",
        place="Lemmas C.10 and C.12",
        printed="σ_p² s and s must exceed expressions in m_k, n and δ.",
        ours=(
            "At m_k = 100, n = 20, δ = 0.1 these are 1.5 · 10^11 and 3.3 · 10^13; "
            "setting (a) has 4 and 80. Condition 3.1 implies them for d that is a "
            "large power of n."
        ),
        shown_by="text",
        effect="constant",
    ),
    Note(
        id="C-N6c",
        place="Theorem 3.2, probability",
        printed="At least 1 − n^−1/3.",
        ours=(
            "Lemma E.5 fails with probability O(m_k/√n), because of tied votes; n = "
            "Ω(m_k^4) makes this O(n^−1/4). The printed probability needs n = "
            "Ω(m_k^6), or odd n, which has no ties."
        ),
        shown_by="text",
        effect="constant",
    ),
    Note(
        id="C-N6d",
        place="Lemma E.36, and the θ_c of Lemmas 4.6 and 4.7",
        printed="A small constant θ_c with 0.99(1 + θ_c) − O(θ_c/√m_k) > 1.",
        ours=(
            "Its proof needs 9 √(2/π) σ_p s (3√2 n / σ_p s)^{0.99(1+θ_c)} ≤ 1 too: for "
            "θ_c = 0.1, σ_p s must be of order n^12, and 10^33 at n = 20. d = "
            "Ω(poly(n)) allows that, with a degree that grows as θ_c shrinks."
        ),
        shown_by="text",
        effect="constant",
    ),
    Note(
        id="C-N7a",
        place="Lemma C.1",
        printed="s = Ω(d^½ n^−2) makes supports disjoint.",
        ours="s = O(d^½ n^−2): larger supports overlap. Condition 3.1 has Θ.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N7b",
        place="Before Lemma C.3",
        printed="S_−1 is the set of samples with y = 1.",
        ours="With y = −1.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N7c",
        place="Lemma C.4, third line",
        printed="‖ξ‖₁ deviates by O(√log(4n/δ) s^−½).",
        ours="By O(σ_p √(s log(4n/δ))), as in the proof.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N7d",
        place="Lemma C.8, last line",
        printed="Key noise is bounded with log(12 m_k/δ).",
        ours="With log(12 m_k n/δ), as query noise.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N7e",
        place="Lemma C.9, proof",
        printed="P(|x| ≤ c) = 2 erf(c/√2σ), from an erf without its factor 2.",
        ours="erf(c/√2σ), as stated; twice that is 1.37 at c = σ.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N7f",
        place="Lemma C.14",
        printed=(
            "A wedge has probability π/2 − 2 arctan(…), and a union over samples "
            "suffices."
        ),
        ours=(
            "That is the angle, 2π times the probability. The lemma is used for all "
            "neurons, so n d^−1/5 needs a factor m_k; and with ‖ξ‖₁ in place of σ_p s, "
            "since noise moves by the former."
        ),
        shown_by="text",
        effect="constant",
    ),
)
