"""Notes on statements, figures and experiments of the main text and Appendices B, F."""

from attnflow.schema.declarations import Note

STATEMENTS = (
    Note(
        id="C-N1a",
        place="Lemma 4.5, first item",
        printed="s21 = exp(−O(m_k t² η² σ_p² s²)).",
        ours=(
            "exp(−Θ(…)): an O in the exponent would allow no decay at all. Equation "
            "(33) has it with the constant 2/π."
        ),
        shown_by="C-L4.5",
        effect="typo",
    ),
    Note(
        id="C-N1b",
        place="Lemma 4.8, first item",
        printed="Query noise, query noise again and the query signal have one sign.",
        ours="Query noise, key noise and the query signal, as in Appendix E.1.",
        shown_by="C-L4.8-1",
        effect="typo",
    ),
    Note(
        id="C-N1c",
        place="Lemma 4.8, second item",
        printed="The training loss is Θ(1) at T4.",
        ours=(
            "Asymptotically, since margins at T4 are of order log(σ_p s)/√m_k. At "
            "Table 3's sizes all signs agree only when the loss is already small."
        ),
        shown_by="C-L4.8-2",
        effect="constant",
    ),
    Note(
        id="C-N2a",
        place="Figure 1, caption",
        printed="The set of pairs K−, Q− is given twice, once with Q > 0.",
        ours="With Q < 0; the repetition may be due to the extraction.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N2b",
        place="Table 3 and all figures, against Condition 3.1",
        printed="n = 20, s = 80 or 800, d = 2000, m_k = 100 illustrate the theory.",
        ours=(
            "Supports overlap: n s / d is 0.8 or 8, where Condition 3.1 has s = "
            "Θ(d^½/n²), here 0.1. n is far below m_k^4 = 10^8. The formulas' order at "
            "these sizes is T1 < T2_SGN < T4⁻ < T3 < T2, and σ_p s / (3√2 n) is below "
            "1, so that the lower formula for T4⁻ has no value in any row. The events "
            "in the figures are in the printed order all the same; our experiment "
            "lattice has disjoint supports and formulas in that order."
        ),
        shown_by="C-Eq9",
        effect="statement",
    ),
    Note(
        id="C-N2c",
        place="Appendix B.1, Lemmas 4.2 to 4.8",
        printed="Statements for all neurons and samples.",
        ours=(
            "At n = 20 the vote of a neuron is tied with probability 0.18, and on "
            "disjoint supports a pair whose key and query noise cross zero in the same "
            "step oscillates for ever at a fixed rate. Our claims are about fractions "
            "of pairs."
        ),
        shown_by="C-L4.2",
        effect="statement",
    ),
    Note(
        id="C-N3a",
        place="Section 3.2 and Appendix B.3, Adam",
        printed="That minority queries do not turn is due to momentum.",
        ours=(
            "β1 hardly matters, as Appendix B.7 says too. At β2 = 0.99 and above the "
            "memory of squared gradients is the cause. At β2 ≤ 0.9 it is ε: query "
            "gradients fall below 10^−15 while keys turn, and with ε = 0 most of the "
            "minority turns."
        ),
        shown_by="C-Adam-2",
        effect="statement",
    ),
    Note(
        id="C-N3b",
        place="Appendix B.7, training dynamics",
        printed="Only small β2 prevent minority query noise from turning positive.",
        ours="Only small β2 allow it, as Figure 17 is described.",
        shown_by="C-B7-small",
        effect="typo",
    ),
    Note(
        id="C-N3c",
        place="Appendix B.7, convergence rate",
        printed="For β2 > 0.9 the training loss of Adam falls sublinearly.",
        ours=(
            "It falls exponentially, at the rate r with "
            "r = r0 √((1 − β2 e^{2r})/(1 − β2)), r0 that of SignGD: always below "
            "−log(β2)/2. For β2 = 0.999 two thousand steps are only twice its memory, "
            "and the transient looks like a power of t."
        ),
        shown_by="C-Adam-3",
        effect="statement",
    ),
    Note(
        id="C-N3d",
        place="Appendix B.1, noisy digits",
        printed="In all settings the training loss ends below 0.05.",
        ours=(
            "It depends on the scale of the pixels, which is not stated. On seed 0, at "
            "λ = 0.3, 0.5, 0.7 and 0.9, standardised pixels give 0.054, 0.014, 0.017, "
            "0.040 with SignGD, 0.005, 0.014, 0.029, 0.058 with gradient descent, and "
            "less than 0.002 with Adam. With pixels from 0 to 1 SignGD and gradient "
            "descent end between 0.14 and 0.5 at every λ; standardised after noise was "
            "added, at 0.3 and more for λ ≤ 0.5; from 0 to 255 nothing trains."
        ),
        shown_by="C-MNIST-train",
        effect="constant",
    ),
    Note(
        id="C-N3e",
        place="Appendix B.6",
        printed=(
            "Deeper models keep the four stages; with MLP the last one halts, since "
            "gradients are rounded to zero."
        ),
        ours=(
            "This depends on the blocks, which are not defined. Where a block's output "
            "is a mean over its neurons, outvoted queries turn without MLP; with MLP "
            "some begin to turn in plain float32 and then halt, and hardly any do with "
            "exact signs (d = 600, seed 0). Where it is a sum, signals turn instead as "
            "the loss collapses. So rounding ends training, but is not what keeps "
            "outvoted noise from turning."
        ),
        shown_by="C-B6-prec",
        effect="statement",
    ),
    Note(
        id="C-N4a",
        place="Appendix F.1, definition",
        printed="The 0–1 loss is P[y f > 0], and small where this is near 1.",
        ours="P[y f < 0].",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N4b",
        place="Appendix F.1, large σ_0",
        printed="|P[y f > 0] − 1/2| ≤ 1 − n^−O(1).",
        ours="A bound that tends to 0 is meant: the printed one holds for every "
        "probability.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N4c",
        place="Appendix F.1, small σ_0",
        printed="For σ_0 = o(σ_p^−2 s^−3/2 m_v^½) the 0–1 loss is small.",
        ours=(
            "Only where test noise overlaps no training support. Setting (a) has σ_0 = "
            "0.0022 against 0.125, and a 0–1 loss that is not small: test supports "
            "overlap with those of training."
        ),
        shown_by="C-F1",
        effect="statement",
    ),
    Note(
        id="C-N4d",
        place="Appendix F.1",
        printed="Condition 4.1; Lemma C.6 for the mean value.",
        ours="Condition 3.1; Lemma C.7, which has the factor m_v^−½.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N5a",
        place="Appendix F.2, different noise patches",
        printed="The sum of ‖ξ^(l')‖₁ over l' < L is o(‖ξ^(l')‖_L).",
        ours="o(‖ξ^(L)‖₁), the norm of the largest patch.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="C-N5b",
        place="Appendix F.3",
        printed="Training the linear layer has no effect on other parameters.",
        ours=(
            "Signs stay, and so do the stages. |θ| = 1/m_v + ηt exactly, so that "
            "outputs grow like t² and the loss falls faster than exponentially."
        ),
        shown_by="text",
        effect="statement",
    ),
)
