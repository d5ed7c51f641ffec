"""Notes on the decoder: Section 4 and Appendix D."""

from attnflow.schema.declarations import Note

DECODER = (
    Note(
        id="E-N3a",
        place="Lemma 3 and Theorem 1, β",
        printed="If λ₁ is small, the modification of the gradient is small as well.",
        ours=(
            "It is of first order in E, and so is β: under the true gradient classes "
            "are coupled by how they confuse each other, (γβ)_nn' = (η_Y/K) ∫ [α_n(n'; "
            "t) + α_n'(n; s) − α_n(t) · α_n'(s)] ds. That is 0.05 to 0.07 of Theorem "
            "1's β at K = 10, M = 1000, and 0.001 to 0.005 of it at K = 3, M = 10⁴ and "
            "ρ = 0.1, where Assumption 2 is met; near it where K is about M. "
            "Statements about the quasi-static system stand; whether it describes "
            "training is another question."
        ),
        shown_by="E-Thm1-true",
        effect="statement",
    ),
    Note(
        id="E-N4a",
        place="Remark 1, Equation 43",
        printed="With equal correlations ρ the true dynamics have the rate (1 − ρ)η_Y.",
        ours=(
            "The sum over the K classes is taken as one over all M outputs, and (1 − "
            "ρ)h(η_Y) as h((1 − ρ)η_Y). At K = 5, M = 1000, ρ = 0.3 and η_Y t/K = 20 "
            "the own logit is 6.574 above another class's and 9.304 above a token that "
            "is no next token; the two readings give 8.597 and 6.497. Only for K = M "
            "is the first margin that of the smaller rate."
        ),
        shown_by="E-Rem1",
        effect="statement",
    ),
    Note(
        id="E-N5a",
        place="Equation 88",
        printed="β with + q₀(1 + θ_n').",
        ours=(
            "β = (1 + σ)[q₁(1 + θ_n)E'_nn' + q₀(Σ_k (1 + θ_k)E'_kn' − (1 + θ_n'))]: "
            "the last term has the other sign, a difference of 2/M."
        ),
        shown_by="E-Thm1-form",
        effect="typo",
    ),
    Note(
        id="E-N6a",
        place="Appendix D.1, E'",
        printed="E' = (I + E)⁻¹ − I, as far as the extracted text shows.",
        ours="I − (I + E)⁻¹, as in Lemma 14 and Equations 26 to 30.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="E-N8a",
        place="Lemma 8",
        printed="ω_i with i = 2, 3.",
        ours="i = 0, 1, as in the rest of the lemma.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="E-N8b",
        place="Lemma 9, first bullet",
        printed="e^{Mh} ≤ min(M − 1, (M − 1)Mh) for t ≤ K ln M/η_Y.",
        ours=(
            "Mh vanishes with t and e^{Mh} does not: false for t < K/(M η_Y). Remark 3 "
            "excludes that for visits of its size, η_Y ≫ M^−0.99; what is concluded, γ "
            "= O(η_Y t/K), holds from the start with the constant 1."
        ),
        shown_by="text",
        effect="constant",
    ),
    Note(
        id="E-N9a",
        place="Equation 64",
        printed="dg/ds as a positive number.",
        ours="It is negative; the absolute value is meant.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="E-N13a",
        place="Assumption 2",
        printed="M ≫ K².",
        ours=(
            "With |λ_i(E)| ≥ 6/√M for all i and |λ₁| < 1/K, M > 36K² is needed at "
            "least, and M > 36K²(K − 1)² for equal correlations: 3600 and 291600 at K "
            "= 10. No experiment of the paper meets it: Figure 3 has M = 1000, and λ₁ "
            "is 0.72 in Syn-Small."
        ),
        shown_by="E-R-room",
        effect="constant",
    ),
    Note(
        id="E-N17a",
        place="Theorem 1(b) and the text of Theorem 4",
        printed="γ = O(K ln(η_Y t/K)/(η_Y t)) for late t.",
        ours=(
            "Lemma 9 has ln(M η_Y t/K). At t₀ the printed ratio is 3.5, 5.6 and 7.9 "
            "for M = 34, 10³ and 10⁵; only Lemma 9's form is uniform in M."
        ),
        shown_by="E-Thm1-b",
        effect="constant",
    ),
    Note(
        id="E-N20a",
        place="Remark 2",
        printed="h* ≤ h(s + c) with a constant c = O(ln M) for all later s.",
        ours=(
            "The lag is ½ ln(1 + e^{Mh}/M), about ½ ln(η_Y s), and grows with s: 2.69 "
            "visits at s = 200 and 5.00 at s = 20000 for M = 30, η_Y = 1. The gap h* − "
            "h is of the order ln(η_Y s)/(M s), which still tends to 0."
        ),
        shown_by="E-Rem2",
        effect="constant",
    ),
)
