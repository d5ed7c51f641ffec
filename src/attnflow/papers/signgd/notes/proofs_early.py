"""Notes on Appendix E up to Stage III."""

from attnflow.schema.declarations import Note

EARLY = (
    Note(
        id="C-N8a",
        place="Appendix E.1, key timesteps",
        printed="T2 and T2⁺ are Õ(σ_0 s^−½/η), and T2/T3 is Õ(s^−½) (E.7.1).",
        ours="With a factor n each, as in Section 4.2: n s^−½ must be small.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N8b",
        place="Appendix E.1, key timesteps",
        printed="T4⁺ ≤ (1 + θ_c) T2⁻; Stage IV.c is in E.7.1.",
        ours="T4⁻; E.7.3.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N8c",
        place="Appendix E.1, mean value noise",
        printed="√2 tησ_p s ≤ v_i for t ≥ T1, and v_i = √(2/π) tησ_p s for t ≥ T2.",
        ours=(
            "tησ_p s ≤ v_i, as in E.4: at T1 the initial value still matters. And "
            "2√(2/π) tησ_p s, as in Lemma E.8: v moves by 2η. The products in the "
            "proofs of Lemmas E.11, E.23, E.24 and Claim E.34 lack the same factor 2, "
            "inside a sign, where it is harmless."
        ),
        shown_by="C-E1-value",
        effect="constant",
    ),
    Note(
        id="C-N8d",
        place="Appendix E.1, noise dynamics, second group",
        printed="Both groups have query and key noise of equal initial signs.",
        ours="The second has opposite signs.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N8e",
        place="Appendix E.1 and start of E.6, signal dynamics",
        printed="The sums of noise determine the updates of query and key noise.",
        ours="Of query and key signals.",
        shown_by="C-L4.4-1",
        effect="typo",
    ),
    Note(
        id="C-N8f",
        place="Appendices E.1 and E.15",
        printed="ℓ' = 1/2 + o(1), with y_i inside some exponentials.",
        ours="−ℓ'; the margins have no further y_i.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N8g",
        place="Appendix E.4, mean value signal",
        printed="It barely moves by T1, by ηT1 and Lemma C.12.",
        ours=(
            "By 2ηT1, and by an analogue of Lemma C.12 for the mean value. What is "
            "used, v_μ = o(v_i), only needs a large σ_p √s."
        ),
        shown_by="C-L4.1-2",
        effect="typo",
    ),
    Note(
        id="C-N9a",
        place="Lemma E.5 and its proof",
        printed="t in [3T3', T3⁺]; bounds at 12T3'.",
        ours="T2' and T2⁺ throughout.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N9b",
        place="Appendix E.5, second case",
        printed="T2² ≤ 1.5 k_i/(η‖ξ‖₁).",
        ours="|k_i|: it is negative there.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N9c",
        place="Lemma E.6, proof",
        printed="k_μ − q_μ has variance σ_0²‖μ‖²; binomials (n over k) of n − 1 votes.",
        ours="2σ_0²‖μ‖², of which only the symmetry matters; (n − 1 over k).",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N9d",
        place="Lemma E.9, proof",
        printed="The induction starts from T3.",
        ours="From T2.",
        shown_by="text",
        effect="typo",
    ),
)
