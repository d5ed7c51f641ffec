"""Reader's notes on `cooccurrence`: slips and ambiguities in the paper's text.

We read text extracted from the NeurIPS 2024 paper. Its formulas are mangled and bars of
absolute values are often lost, which is not noted: what looks like a slip may be due to
the extraction, or be corrected elsewhere. The theorems hold in their regime, up to
logarithms; most notes concern proofs, and affect no statement.
"""

from attnflow.schema.declarations import Note

_STATEMENTS = (
    Note(
        id="A-N1",
        place="Theorem 3.2, third item",
        printed="−G(μ3) is at most Ω(1) in Phase 2.",
        ours="At least Ω(1): this holds at T1, and −G(μ3) grows.",
        shown_by="A-Thm3.2-i3",
        effect="typo",
    ),
    Note(
        id="A-N2",
        place="Corollary F.17, statement",
        printed="Attention between targets moves at the rate Θ̃(Loss σ0² m) / (√m L²).",
        ours=(
            "With 1/m for 1/√m, as in the proof: scores move with 1/√m (Lemma F.16) "
            "and enter the softmax divided by √m once more. The corollary's use, "
            "a change of at most O(1/L²), is only strengthened."
        ),
        shown_by="A-F.17",
        effect="statement",
    ),
    Note(
        id="A-N3a",
        place="Theorem 3.3, second item, and Lemma F.16, second item",
        printed="C12, C21, −C31 and −C32 are Θ of a power of the sizes.",
        ours=(
            "Θ̃: they grow like the square of log(bt), b the readout gain, because the "
            "readouts that drive them grow like log(bt). The proof has Õ, an upper "
            "bound."
        ),
        shown_by="A-Thm3.3-C",
        effect="statement",
    ),
    Note(
        id="A-N3b",
        place="Theorem 3.3, second item, and Lemma F.16",
        printed="The theorem counts scores from time 0, the lemma from T1.",
        ours=(
            "The change in Phase 1 is bounded by Lemma E.23, whose factor Õ(1/L) "
            "exceeds the change in Phase 2 by a factor L. The line before it in that "
            "proof has σ0² m / L, of order 1/L² under Condition 1, and suffices."
        ),
        shown_by="A-Thm3.1-i3",
        effect="typo",
    ),
    Note(
        id="A-N9",
        place="Abstract and introduction, automatic balancing",
        printed="The losses of all samples fall at almost the same rate.",
        ours=(
            "True where a target is present: class weights tend to 7 : 5 : 5. Margins "
            "of samples with neither target grow three times as fast, so that their "
            "loss falls like t^−3 and their class weight becomes negligible. Theorem "
            "F.8 needs margins to grow at rates of the same order, and these do."
        ),
        shown_by="A-R4",
        effect="statement",
    ),
)
_EXPERIMENT = (
    Note(
        id="A-N8a",
        place="Appendix A, against Assumption 2.3 and Condition 1",
        printed="n = 60, L = 5, d = 64, m = 128, m1 = 256 illustrate the theorems.",
        ours=(
            "160 slots for 61 fillers, so that fillers repeat, within samples too, "
            "where the assumption allows each at most once; m < m1 where the condition "
            "requires m above m1. The assumption needs d ≥ n(L − 7/3) + 3, a little "
            "less than the nL ≤ d that the paper mentions. The figure nevertheless "
            "shows both phases."
        ),
        shown_by="text",
        effect="statement",
    ),
    Note(
        id="A-N8b",
        place="Corollary F.15 and Section F.10, generalisation",
        printed="Fillers contribute O(1) to every output, so test loss follows train.",
        ours=(
            "Their share grows like (L/n) log t: bounded where n exceeds L² by the "
            "logarithms that Condition 1 asks for, and not at n = 60, L = 5, where "
            "the test loss stays far above the training loss."
        ),
        shown_by="A-Thm3.3-test",
        effect="statement",
    ),
    Note(
        id="A-N8c",
        place="Section F.10, generalisation",
        printed="Definition F.1 bounds the fillers' part of a new sample.",
        ours=(
            "That definition is about training samples, whose initial part is bounded "
            "through their initial outputs. A new sample has other fillers, which "
            "contribute √L times a readout's initial size typically, and L times at "
            "worst. The argument covers most new samples; the mean over all needs a "
            "word on the rest."
        ),
        shown_by="text",
        effect="typo",
    ),
)
_INITIAL = (
    Note(
        id="A-N5a",
        place="Lemma 4.2, last term",
        printed="σ1² m F.",
        ours="(σ0² + σ1²) m F, as in Lemma E.16; the same under Condition 1.",
        shown_by="A-L4.2",
        effect="typo",
    ),
    Note(
        id="A-N5b",
        place="Lemma E.4, proof",
        printed="The main term is 1/3 of (σ0² + σ1²) m.",
        ours="1/6: the factor g = 1/2 at small outputs is missing. Θ is the same.",
        shown_by="A-L4.1",
        effect="constant",
    ),
    Note(
        id="A-N7a",
        place="Lemma D.8",
        printed="The statement lacks a factor log(m1 n L / δ) that is in its proof.",
        ours=(
            "It holds without: conditionally on the values the output is normal, and "
            "no bound on single neurons is needed. It is below 0.01 where the "
            "constants in Condition 1 are small enough."
        ),
        shown_by="A-D.8",
        effect="constant",
    ),
    Note(
        id="A-N10a",
        place="Corollary D.5",
        printed="All are within sqrt(log(m1 n L / δ)) standard deviations.",
        ours=(
            "sqrt(2 log(2 m1 n L / δ)): a normal variable is beyond sqrt(log x) with "
            "probability about x^−1/2, too much for a union over m1 n L of them. Later "
            "steps have Õ."
        ),
        shown_by="A-D.5",
        effect="constant",
    ),
    Note(
        id="A-N10b",
        place="Lemmas D.1 and D.3",
        printed="log(2d/δ) for all pairs of d tokens.",
        ours=(
            "Lemma H.2 and a union over pairs give log(d²/δ) and a constant. The "
            "lemmas hold: the tail of a product falls as the square of Lemma H.2's "
            "bound."
        ),
        shown_by="A-D.1",
        effect="constant",
    ),
    Note(
        id="A-N10c",
        place="Lemma H.1, second bound",
        printed="exp(−min(t²/2V, t/2M)), V the sum of variances.",
        ours=(
            "It does not follow: at V = Mt the first exponent is 3t/8M, below t/2M. "
            "exp(−min(t²/4V, 3t/4M)) does, and so does the last line of the lemma."
        ),
        shown_by="text",
        effect="constant",
    ),
    Note(
        id="A-N10d",
        place="Lemma H.2, proof",
        printed="A squared entry is sub-Gamma with (4/m², 4/m).",
        ours=(
            "With (2/m², 2/m), from which the lemma follows; the printed constants "
            "give sqrt(8/m) instead of sqrt(4/m). The proof uses Bernstein's "
            "inequality for sub-Gamma variables, not Lemma H.1, which is for bounded "
            "ones."
        ),
        shown_by="A-H.2",
        effect="constant",
    ),
)
_PHASE_ONE = (
    Note(
        id="A-N6a",
        place="Corollary E.20",
        printed="T' is when the outputs of samples with one target exceed C.",
        ours="When their margins y F do: these outputs should be negative.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="A-N7d",
        place="Lemma E.17",
        printed="A bound for t ≤ T1 on a derivative that is written at time 0.",
        ours="At time t.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="A-N12a",
        place="Proposition E.3",
        printed="From R_S = O(m^−3/2): R_P = O(1/(√m L) + L/m).",
        ours=(
            "That is what R_S = O(m^−1/2) gives. From Definition E.2 and the scores' "
            "1/√m it is smaller by powers of m; as an upper bound it holds."
        ),
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="A-N12b",
        place="Theorem E.19, proof",
        printed="From t = Θ(F/m) on, samples with neither target are correct.",
        ours=(
            "From Θ(√F/m), fillers aside: the initial velocity of G(μ3) is small, and "
            "it falls like t². The proof needs O(1/m) only. That their class weight is "
            "the smallest holds from Θ(F/m), as printed."
        ),
        shown_by="text",
        effect="constant",
    ),
    Note(
        id="A-N12c",
        place="Proposition E.21",
        printed="The bound is O(F); the proof ends with initial G(μ1), G(μ2) as well "
        "as F.",
        ours=(
            "Differences of initial outputs between types bound these by 2F and a "
            "mean over fillers, so that the statement holds."
        ),
        shown_by="A-E.21",
        effect="typo",
    ),
    Note(
        id="A-N12d",
        place="Corollary E.24, rates",
        printed="Õ(1/(L(L² + n)√m)) between fillers, Õ(1/(L²√m)) else.",
        ours=(
            "The proof, and the changes stated below, have 1/m instead of 1/√m. The "
            "second rate is looser and holds; the first follows where n ≤ L²√m. Later "
            "steps use the second."
        ),
        shown_by="text",
        effect="constant",
    ),
    Note(
        id="A-N12e",
        place="Lemma E.6, and Theorem E.27, proof",
        printed="O(σ0² √(mL)); T1 = C/m.",
        ours="Õ, by the logarithms of Proposition E.5; T1 = C/(σ1² m m1), so Õ(1/m).",
        shown_by="A-E.6",
        effect="typo",
    ),
)
_PHASE_TWO = (
    Note(
        id="A-N4",
        place="Lemma F.6, proof, c/a",
        printed="c/a is near +2.",
        ours="Near −2, as a and c are defined; the root is computed with −2.",
        shown_by="A-F.6-root",
        effect="typo",
    ),
    Note(
        id="A-N7c",
        place="Lemma F.6, proof, margins divided by a difference of class weights",
        printed="The fourth display, of samples with neither target, has i1.",
        ours="i4.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="A-N13a",
        place="Lemma F.6, proof, bounds on sums of g'",
        printed="Factors 1/(1 + exp(yF)), and weights g(F).",
        ours="1/(1 + exp(−yF)), as in Lemma F.5, and g(yF): −g' is g(1 − g).",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="A-N13b",
        place="Lemma F.5, proof, where (12) is an equality",
        printed="Samples of I3 get the margins' rate of I2, samples of I2 that of I3.",
        ours=(
            "The other way round, as two displays before; and the ratio in the last "
            "line lacks a −1. The result is symmetric in both, and holds."
        ),
        shown_by="A-L4.4",
        effect="typo",
    ),
    Note(
        id="A-N13c",
        place="Lemma F.3 and Theorem F.20, lists of conditions",
        printed="All of Definition F.1 is checked at T1, and then up to T2.",
        ours=(
            "At T1 the order of the class weights is missing, which Theorem E.19 "
            "gives; later |G| = O(log m) is, which follows by integrating Theorem F.8."
        ),
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="A-N13d",
        place="Sections F.9 and F.10",
        printed="Theorem 3.2 by F.13 and F.16; Theorem 3.3 by F.6 and F.20.",
        ours=(
            "Items 3 and 4 of Theorem 3.2 need Theorem E.27 and Lemma F.6 too. The "
            "attention matrix of Theorem 3.3 is Lemma F.16."
        ),
        shown_by="text",
        effect="typo",
    ),
)
_DISPLAYS = (
    Note(
        id="A-N6b",
        place="Lemma C.1, proof of D.8, Definition E.2, Corollary E.13, Theorem E.26",
        printed="Neurons j run to m.",
        ours="To m1. Lemma C.1 has j and j1 for the same neuron.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="A-N7b",
        place="Proofs of Lemmas E.9, E.11 and E.16",
        printed="σ̇ and α, an extra L, 1/L² for an error of attention, v(μ1) for v(μ3).",
        ours=(
            "Neither σ̇ nor α exists here: apparently leftovers of a model with an "
            "activation and a scale. Lemma E.11's statement correctly has no L; "
            "initial attention is within Õ(1/Lm) of 1/L; the common token is meant."
        ),
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="A-N11a",
        place="Equation (4), and the comparison below it",
        printed="A factor a_{j1} outside any sum over j1; below, sums without it.",
        ours="Its square, 1, is in the m1 before the sum; Definition E.18 is right.",
        shown_by="A-App.C",
        effect="typo",
    ),
    Note(
        id="A-N11b",
        place="Lemmas C.2, D.6 and D.7",
        printed="Sets U and S±1 without definition; in D.7's proof a sum without a_j.",
        ours="Any set of tokens; the neurons with a_j = ±1; a_j has no effect there.",
        shown_by="text",
        effect="typo",
    ),
    Note(
        id="A-N11c",
        place="Displays in the proofs of E.19, E.23, F.8, F.14 and F.16",
        printed=(
            "Sums of g without 1/n, also in (8), and G(μ3) without its minus; (9) "
            "without m1 in the middle; the loss's derivative without 1/n; an integral "
            "without σ0² m; a sum over neurons without a_j."
        ),
        ours="With them, as in the surrounding lines.",
        shown_by="text",
        effect="typo",
    ),
)

NOTES = (
    *_STATEMENTS,
    *_EXPERIMENT,
    *_INITIAL,
    *_PHASE_ONE,
    *_PHASE_TWO,
    *_DISPLAYS,
)
