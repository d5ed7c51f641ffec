"""Reader's notes on `mixture`: suspected slips in the text that we read.

The version read is an anonymous draft under review, and its text was extracted from
a file: what looks like a slip may have been corrected since, or may be due to the
extraction. All theorems stand: what changes are constants and signs within proofs, and
the construction in Lemma 6.1, whose statement holds with another one.
"""

from attnflow.schema.declarations import Note

_CONSTRUCTION = (
    Note(
        id="B-N1a",
        place="Lemma 6.1, construction",
        printed=(
            "A transformer whose two heads read the values Σ v_k and −Σ v_k, with "
            "scores ±2C between key v_k and query c_k, has y f(X) > 0 on every sample."
        ),
        ours=(
            "It outputs +1 for both labels: for y = −1 the negative head attends to "
            "−v_k, whose value under −Σ v_k is again +1. The lemma holds with "
            "w_+ = w_- = Σ c_k, S_+ = −C Σ v_k c_k^T and S_- = +C Σ v_k c_k^T: then "
            "y f = 1/(L − 1 + e^{−C}) − 1/(L − 1 + e^C) > 0 for every K, L ≥ 2, C > 0 "
            "and b ≥ 0. Exchanging the two heads' printed scores and using the same "
            "values works too, with a margin that tends to 1."
        ),
        shown_by="B-L6.1-proof",
        effect="statement",
    ),
    Note(
        id="B-N1b",
        place="Lemma 6.1, proof",
        printed="The second sum of both displays has the matrices W_{K+} and W_{Q+}.",
        ours="Those of the negative head are meant, W_{K−} and W_{Q−}.",
        shown_by="text",
        effect="typo",
    ),
)
_CONSTANTS = (
    Note(
        id="B-N2",
        place="Appendix E.5.1, and the proof of Lemma E.1",
        printed="At T1 the main score grows at the rate (4/3)(2/3) g ω² w_c.",
        ours=(
            "(2/9) g ω² w_c, a quarter of it: the conditional mean over the four "
            "conflicting samples is taken as a sum. Only constants change, but times "
            "that are derived from the formula are four times too short."
        ),
        shown_by="B-E.5.1",
        effect="constant",
    ),
    Note(
        id="B-N3a",
        place="Lemma E.1, proof",
        printed="The derivative of v_1^T W_K^T W_Q c_1 at T1 is positive.",
        ours=(
            "It is negative, −1/2 of the main score's; Lemma E.5 has the right sign. "
            "The proof stands, since it compares absolute values."
        ),
        shown_by="B-E.1-sign",
        effect="typo",
    ),
    Note(
        id="B-N3b",
        place="Lemma E.1, proof",
        printed="The derivative of the main score at T1 has a factor m.",
        ours="It has none; neither has the next line of the same display.",
        shown_by="B-E.5.1",
        effect="typo",
    ),
    Note(
        id="B-N3c",
        place="Lemma E.3, proof",
        printed="The comparison system moves at the rate b/√m.",
        ours="At the rate b, which is also the rate in its printed solution.",
        shown_by="text",
        effect="typo",
    ),
)
_SYSTEM = (
    Note(
        id="B-N4a",
        place="Appendix B.1",
        printed="dw₋/dt is an average over the attention p^{(+)}.",
        ours="Over that of its own head, p^{(−)}.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="B-N4b",
        place="Section 5.2 and Appendix G, the system of 36 variables",
        printed="The scores μ^T W_K^T W_Q ν appear twice, the key self-scores never.",
        ours=(
            "The second block must be the key self-scores μ^T W_K^T W_K ν, as the "
            "count 16 + 10 + 10 shows. This may be due to the extraction."
        ),
        shown_by="text",
        effect="typo",
    ),
)
_SIGNS = (
    Note(
        id="B-N5a",
        place="Lemma E.5, last line",
        printed="v_1^T A_K c_1 ≥ 0 and v_1^T A_K c_2 ≤ 0, with A_K = W_K^T W_K.",
        ours=(
            "Since A_K is symmetric, this contradicts the line c_1^T A_K v_1 ≤ 0. The "
            "intended line is v_1^T A_K v_1 ≥ 0 and v_1^T A_K v_2 ≤ 0, which holds."
        ),
        shown_by="B-E.5",
        effect="typo",
    ),
    Note(
        id="B-N5b",
        place="Lemma E.5, proof",
        printed="By Lemma E.2 the derivative of c_1^T A_K v_1 is not negative.",
        ours="Lemma E.2 is about c_1^T A_K c_1.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="B-N5c",
        place="Lemma E.5, proof",
        printed="At T1 all the variables are zero.",
        ours="The diagonal self-scores are ω² there, which has the required sign.",
        shown_by="B-C",
        effect="typo",
    ),
)
_REST = (
    Note(
        id="B-N6",
        place="Section 5.2, near symmetry at T1",
        printed="c_1^T A_K c_1 ≈ −c_1^T A_K c_2 is used at T1, for a factor 4.",
        ours=(
            "At T1 these are ω² and 0. The relation holds later, up to ω²; at T1 the "
            "factor is 2 (and a quarter of that, see the note on Appendix E.5.1)."
        ),
        shown_by="B-E.5.1",
        effect="constant",
    ),
    Note(
        id="B-N7a",
        place="Lemma G.1, proof",
        printed="W_K μ is normal with covariance ω² I.",
        ours="The covariance is ω² I / m, for which the lemma's bound is right.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="B-N7b",
        place="Lemma G.1",
        printed="The bounds on ⟨W_K μ, W_K ν⟩ and ⟨W_Q μ, W_Q ν⟩ are for all μ and ν.",
        ours="They hold for μ ≠ ν; μ = ν gives the squared norms of the next display.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="B-N8",
        place="Section 2.2",
        printed="b is introduced among the parameters of a single head.",
        ours="It is a single number, shared by both heads in equation (1) and fixed.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="B-N9",
        place="Section 3.1 and Appendix A.2, attention alone",
        printed="With Gaussian neurons and attention alone the model is not trainable.",
        ours=(
            "The loss of nearly every run settles far from zero. But a lucky draw of "
            "large neurons can be trained (5 of 200 runs end below 0.05, one of them, "
            "at standard deviation 4, at 2e-4), and small neurons classify every "
            "sample in 15 of 40 runs, with outputs so small that the loss stays near "
            "log 2."
        ),
        shown_by="B-A.2",
        effect="statement",
    ),
)

NOTES = (*_CONSTRUCTION, *_CONSTANTS, *_SYSTEM, *_SIGNS, *_REST)
