"""Notes on Appendix E from Stage IV on."""

from attnflow.schema.declarations import Note

LATE = (
    Note(
        id="C-N10a",
        place="Lemma E.25, upper formula for T4⁻",
        printed="√(1.01 (π/2) log(σ_p s)), for large σ_p s.",
        ours=(
            "The proof has √((π/2) log(4√(2/π) σ_p s)); the factor 1.01 compensates "
            "for the constant only for σ_p s above 10^50. With the constant, the "
            "formula is where minority keys turn on disjoint supports: 1.07 times the "
            "printed time at σ_p s = 2000, the size of the lattice."
        ),
        shown_by="C-L4.6",
        effect="constant",
    ),
    Note(
        id="C-N10b",
        place="E.7.1, T4⁻ is well defined",
        printed="At T3, sums minus (t − T2)η(σ_p s/4√2 − n/2) are positive, twice.",
        ours="Plus: noise grows faster than signals.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N10c",
        place="Claim E.19, proof",
        printed="Inner products with μ grow and stay positive.",
        ours="With y_i ξ_i.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N10d",
        place="Lemmas E.20 and E.36, proofs",
        printed="m_k T4² η² σ_p² s² = o(1).",
        ours=(
            "It is a squared logarithm. The step needs it to be small compared with "
            "√s, which follows from Condition 3.1."
        ),
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N11a",
        place="E.7.2, T4⁺ is well defined",
        printed="½ Σ s11 s12 |q_μ| = ⅛ n s11 s12 |q_μ|.",
        ours="⅛ n |q_μ|, with s11 s12 = ¼ inserted once, compared with ½ n |q_μ| in "
        "(29).",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N11b",
        place="E.7.2, induction hypotheses D(t) and F(t)",
        printed="Key noise of the minority is of the sign opposite to its query noise.",
        ours=(
            "Of the same sign, until it turns. In F(t), the key signal is opposite in "
            "sign to the query noise of aligned pairs only."
        ),
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N11c",
        place="Claim E.33, proof",
        printed="−k_μ + k_i > k_i > 0 for minority pairs.",
        ours=(
            "There k_i < 0 and −k_μ > 0, so that signs alone do not suffice. |k_i| is "
            "of order (1 − θ) T4⁻ η σ_p s by Lemma E.29, far above |k_μ|: the claim "
            "stands."
        ),
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N11d",
        place="E.7.3, sums and (49)",
        printed="Sums over s in [n]; a sum of two inner products is O(‖ξ‖₁² η²).",
        ours="Over [m_k]; O(T4⁻ ‖ξ‖₁ η).",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N12a",
        place="Lemma E.41, proof",
        printed="v_μ grows by ηT.",
        ours="By 2ηT, see (14); Θ is the same.",
        shown_by="text",
        effect="typo",
    ),
)
