"""Notes on the statements and proofs."""

from attnflow.schema.declarations import Note

PROOFS = (
    Note(
        id="D-N1a",
        place="Appendix B.2, equation (4) and the sentence after it",
        printed="∂softmax(a_i)/∂a_j = softmax(a_i) softmax(a_j) for i ≠ j.",
        ours="With a minus sign, as the quotient before it has; equation (5) is right.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="D-N2a",
        place="Lemma E.5",
        printed="L_S(θ(T)) ≥ 0.1, under the title of convergence.",
        ours="L_S(θ(T)) ≤ ε, as in Theorem 4.2 and Lemma D.7.",
        shown_by="D-LemE.5",
        effect="typo",
    ),
    Note(
        id="D-N12a",
        place="Lemma 5.1, the bound on ρ",
        printed="|ρ_V,n,i^(t+1) − ρ_V,n,i^(t)| bounded by the attention that ξ_n,i "
        "gets.",
        ours=(
            "The proof's equation (17) also has ⟨ξ_n,i, ξ_n',i'⟩ with all other noise "
            "tokens. In Appendix A's harmful run, where strong noise gets all "
            "attention, weak tokens exceed the printed bound in 60% of steps, 14- to "
            "22-fold at most; in the benign one strong noise exceeds it in two seeds "
            "of three, 3.2-fold at most. With the term it holds."
        ),
        shown_by="D-Lem5.1-rho-harmful",
        effect="statement",
    ),
    Note(
        id="D-N3a",
        place="Lemmas 5.4 and 5.5, T3",
        printed="T3 = Θ(η^−1 ε^−1 ‖μ‖^−2 ‖w_O‖^−2 log(6N²M²/δ)^−1).",
        ours=(
            "Theorem 4.1, Appendix D.3 and Lemma D.7 have no logarithm. Once attention "
            "has settled, e^V grows by η‖w_O‖²‖μ‖²/2 a step and the loss is e^−V: no "
            "logarithm belongs there."
        ),
        shown_by="text",
        effect="constant",
    ),
    Note(
        id="D-N3b",
        place="Appendix E.3, T2",
        printed="T2 = Θ(N / (η σ_p² d ‖w_O‖²)).",
        ours=(
            "With 1/log(6N²M²/δ), as in Lemma E.4, which keeps values o(1) only up to "
            "there; Appendix D.3 continues from T2 in the same way."
        ),
        shown_by="text",
        effect="constant",
    ),
    Note(
        id="D-N4a",
        place="Lemma 5.3, bounds on the noise",
        printed="|ξᵀ W_V^(T) w_O|.",
        ours="W_V^(t), the same time as on the left.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="D-N4b",
        place="Appendix E.3, conditions at T2",
        printed="V_n,2^(T1) ≥ 3M max(|V_+^(T1)|, |V_n,i^(T1)|), and the same for −.",
        ours="At T2, where the stage begins; the values at T1 have changed since.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="D-N5a",
        place="Appendix E.1, opening",
        printed="Values separate until |V_±| is sufficiently larger than |V_n,i|.",
        ours="Until |V_n,2| is larger than the others, as Lemma E.3 says.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="D-N5b",
        place="Appendix E.2, opening",
        printed="Scores of the signal grow and those of noise fall, as attention does.",
        ours="The other way round for ξ_2: it is the benign text.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="D-N5c",
        place="Proof of Lemma E.1, after (143)",
        printed="The last inequality is by N · SNR² = Ω(1).",
        ours="By N^−1 · SNR^−2 = Ω(1), the condition of Theorem 4.2.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="D-N6a",
        place="Table 1, row of β_n,i",
        printed="Coefficients for the dynamics of q_n,i.",
        ours="Of k_n,i, which the formula in the row expands.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="D-N6b",
        place="Lemma B.3",
        printed="The dynamics of xᵀ W_Q W_K x.",
        ours="Of xᵀ W_Q W_Kᵀ x.",
        shown_by="text",
        effect="typo",
    ),
)
