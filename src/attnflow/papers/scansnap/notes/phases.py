"""Notes on attention and on the snap: Sections 5 and 6, Appendices E and F."""

from attnflow.schema.declarations import Note

PHASES = (
    Note(
        id="E-N1a",
        place="Equations 14 and 124 to 132",
        printed="B(t) = ¼ ln(C₀ + 4Γ(t)).",
        ours=(
            "B(0) = 0 by its definition, so that B(t) = ¼ ln(1 + 4Γ(t)/C₀): the "
            "printed one is larger by ¼ ln C₀. Slopes and what is said of them stand; "
            "values do not, such as the bounds on χ or B < 0 for C₀ < 1."
        ),
        shown_by="E-Thm4-form",
        effect="constant",
    ),
    Note(
        id="E-N2a",
        place="Equation 10, 94 to 98, and Theorem 4",
        printed="dz_m/dt = η_Z γ Σ_{n: ψ(n) = m} …, with γ of t/K.",
        ours=(
            "The decoder's clock counts samples, t/K for each class, and so must that "
            "of the scores: the sum has the factor 1/K. Section 6 uses it silently for "
            "the common token (C₀ = ρ₀⁴/K); Theorem 3's B_n then is (η_Z/K) ∫ξ_n. "
            "Descent with single samples and a decorrelated decoder decides for 1/K: "
            "at K = 5, M = 100 and η_Y = η_Z = 0.02 it brings z of the common token to "
            "−2.307 in 20000 samples, the flow with 1/K to −2.307, and Equation 10 as "
            "printed to −2.786."
        ),
        shown_by="E-Lem4",
        effect="constant",
    ),
    Note(
        id="E-N7a",
        place="Equation 13",
        printed="(f_nl² − 1) f_nl', and 1 − f_n · f_n' ≈ 1 before it.",
        ours="(f_nl² − 1) f_n'l, and 1 − f_nl² ≈ 1.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="E-N10a",
        place="Figure 9, caption, and Equation 130",
        printed="ν = η_Z/η_Y in the caption, ν = η_Y/η_Z in the equation.",
        ours="The equation's; Figure 9 holds the ratio fixed either way.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="E-N11a",
        place="before Equation 132",
        printed="t ≫ (M η_Y)⁻¹ exp(1/√(2ν)).",
        ours=(
            "The scale that is needed is (K/(M η_Y)) exp(√(C₀ν/(2K))). At ν = 10⁴, K "
            "= 10, M = 1000 and t = 10⁶, where the printed condition is met by nine "
            "orders, B is 0.063 and Equation 132 gives −0.31."
        ),
        shown_by="text",
        effect="constant",
    ),
    Note(
        id="E-N12a",
        place="Section 6, C₀",
        printed="C₀ = ρ₀⁴/K.",
        ours=(
            "The sum over n' ≠ n has K − 1 terms: ρ₀⁴/(K − 1), twice the printed one "
            "at K = 2. There, with f² = 0.023 of the common token and M = 1000, B at t "
            "= 10⁴ K/η_Y is 0.188 with the printed one and 0.111 with ours; z in the "
            "quasi-static system is −0.114."
        ),
        shown_by="E-Sec6-approx",
        effect="constant",
    ),
)
