"""The choice of a form, and its construction.

The rule, in order:

1. Data that are orbit representatives need the `quotient`.
2. Rules that do not commute with rotations need coordinates. SignGD takes `signs`,
   Adam and mixtures of rules take `coordinates`: both leave out what data do not cover
   and keep signs and ratios of gradients that underflow. Merged keys and queries,
   neurons behind `W_V`, and final weights that are recorded, need `weights`.
   So do such rules beside one that sees weights whole (Muon for scores, Adam for
   values), and Muon where single neurons are followed.
3. Rules with memory (momentum, Muon) need `transport`, and so do single neurons that
   are to be followed, and full weights that are recorded at the end (under decay
   these need `weights`).
4. **Conditioning.** A Gram matrix begins with entries ω² beside scores that become of
   order one, so that a direction that starts late is kept to eps/ω² alone; the factor
   that `transport` carries keeps it to eps/ω, as plain weights do. So `transport` is
   taken where ω² is below `GRAM_SQUARE`. Measured at rank 4 on two groups of tokens
   that are learned one after the other, as the largest error of a table against plain
   weights, the worst of three seeds (twins: plain weights one ulp apart):

   | ω | 1e-2 | 1e-3 | 1e-4 | 1e-5 |
   |---|---|---|---|---|
   | Gram | 4e-12 | 5e-10 | 5e-8 | 6e-6 |
   | transport | 4e-13 | 5e-12 | 2e-11 | 2e-10 |
   | twins | 5e-14 | 3e-13 | 9e-12 | 5e-11 |

5. **Sparsity.** Gradient descent, with momentum or decay or without, takes `tokens`
   where most tokens stand in one sample alone and where test samples bring tokens of
   their own, which `transport` would have to carry along: a force is known at the
   positions of samples, and all else is one product with the tokens' Gram matrix (7.6
   against 17 ms a step at 302 tokens of 20 samples, 0.2 against 111 ms at 32 tokens
   beside a test of 1,500).
6. **One query.** Where all samples are read by one token, as by a trained prompt, they
   see one column of scores: `prompt` carries it alone, on the training tokens' span
   (0.05 against 6.6 ms a step for a merged prompt at 22 tokens beside a test of 1,000),
   for every rule that commutes with rotations.
7. **Moments.** Linear attention under the squared loss takes `moments` where these are
   fewer numbers than samples have, whatever the rule that commutes with rotations.
8. **Cost.** Gradient flow and gradient descent take `gram` where the rank r of the
   tokens is at most 4: two products of `2r × 2r` matrices a step, at every width (5.3
   against 6.4 µs at r = 4). Beyond, `transport` is cheaper, since it uses the zero
   blocks of Ω (15 against 22 µs at r = 6, 154 against 280 at r = 64); and where samples
   see few pairs of the tokens, all but these (`sparse.py`).

One merged key–query matrix, and values that are linear in one set of weights, are
tables in both forms: they have no Gram matrix, and what is chosen is about the other
part. Where both parts are tables, the two names stand for the same computation.

A caller may name a form; it is refused, with the reason, where it would not be exact.
"""

import numpy as np

from attnflow.data import Sequences, random
from attnflow.data.random import Key
from attnflow.data.token_sequences import on_device
from attnflow.models.forms.base import (
    PARTS,
    AbstractForm,
    DrawnWeights,
    Form,
    State,
    Weights,
    decays,
    is_apart,
)
from attnflow.models.forms.column_maps import ColumnPlan
from attnflow.models.forms.frames import frames_of, prompt_of
from attnflow.models.forms.initial import Initial, draw_weights
from attnflow.models.forms.initial_chains import Neurons
from attnflow.models.forms.initial_coordinates import (
    COORDINATE_FORMS,
    build_coordinates,
    coordinate_refusal,
)
from attnflow.models.forms.initial_tokens import build_tokens
from attnflow.models.forms.initial_values import Vector
from attnflow.models.forms.prompt import build_prompt
from attnflow.models.forms.quotient import AbstractSymmetry, quotient_frame
from attnflow.models.forms.scores import (
    Gram,
    check_scores,
    plain_scores,
    reduced_scores,
    sampled_scores,
)
from attnflow.models.forms.shared import shared
from attnflow.models.forms.sparse import sparse_if_few
from attnflow.schema.settings import look_up, part_of
from attnflow.training.rules import AbstractDescent, Flow, Rule, SignGD

FORMS = (
    "weights",
    "coordinates",
    "signs",
    "tokens",
    "transport",
    "gram",
    "infinite",
    "quotient",
    "prompt",
    "moments",
)
# Up to this rank a Gram matrix is moved faster than a factor of it.
GRAM_RANK = 4
# Below this size of its initial entries a Gram matrix loses more than 1e-9.
GRAM_SQUARE = 1e-6


def choose(
    name: str,
    rules: list[dict[str, Rule]],
    *,
    initial: Initial,
    rank: int,
    symmetric: bool,
    sparse: bool = False,
    lift: bool = False,
    column: bool = False,
    moments: bool = False,
    linear: bool = False,
    rows: bool = False,
) -> tuple[str, str]:
    """The name of the form for these rules (one mapping per stage), and why.

    A `name` other than `auto` is taken as it is. `initial` has the initial scale ω and
    what is to be followed; `rank` is that of the tokens; `symmetric` says that the data
    are orbits, `sparse` that a form over tokens pays (`is_sparse`); `lift` that full
    weights are recorded at the end, `rows` that single rows of keys and queries are;
    `column` that one query reads all samples and a form of its column pays
    (`is_column`); `linear` that attention is linear, `moments` that two moments of the
    samples are all that training sees.
    """
    if name != "auto":
        look_up("form", name, dict.fromkeys(("auto", *FORMS)))
        return name, "as asked"
    if symmetric:
        return "quotient", "the data are one representative per orbit"
    every = [rule for stage in rules for rule in stage.values()]
    names = [name for stage in rules for name in stage]
    odd = next((r for r in every if not r.equivariant), None)
    if odd is not None or rows:
        why = "single rows of keys and queries are recorded"
        if odd is not None:
            why = f"{odd.name} does not commute with rotations"
        apart = is_apart(names)
        return _by_coordinate(
            why, every, initial, lift=lift, apart=apart, linear=linear
        )
    if lift and any(decays(r) for r in every):
        return "weights", "weights outside the tokens' span decay, and are asked for"
    followed = isinstance(initial.values, Neurons) and initial.values.follow
    if followed and is_apart(name for name in names if part_of(name) == "values"):
        return "weights", "single neurons are followed, and their weights move apart"
    if followed and any(r.sees == "matrices" for r in every):
        return "weights", "single neurons are followed through orthogonal updates"
    if moments:
        return "moments", "exact at every width; the squared loss sees two moments"
    if column and not lift and all(name in PARTS for name in names):
        return "prompt", "exact at every width; one query sees one column of scores"
    if sparse and not lift and not (is_apart(names) and any(map(decays, every))):
        return "tokens", "exact at every width; most tokens stand in one sample alone"
    if any(not r.memoryless for r in every):
        return "transport", "exact at every width for rules with memory"
    if lift:
        return "transport", "exact at every width; full weights come back from it"
    if followed:
        return "transport", "exact at every width; it carries single neurons along"
    if min(initial.scales) ** 2 < GRAM_SQUARE and not initial.merged:
        small = f"omega² is below {GRAM_SQUARE:g}"
        return "transport", f"exact at every width; well conditioned where {small}"
    if rank > GRAM_RANK:
        return "transport", "exact at every width; the cheapest at this rank of tokens"
    return "gram", "exact at every width; the cheapest for flow and gradient descent"


def is_sparse(data: Sequences, rules: list[dict[str, Rule]], initial: Initial) -> bool:
    """Whether a form over tokens pays, and knows what the rules need.

    It pays where samples have fewer pairs of positions than their tokens have, and few
    tokens stand at several positions.
    """
    values = initial.values
    followed = isinstance(values, Neurons) and values.follow
    every = [rule for stage in rules for rule in stage.values()]
    if any(isinstance(rule, Flow) or rule.sees != "entries" for rule in every):
        return False
    if initial.merged or initial.shared or followed:
        return False
    count, embed = data.vectors.shape
    pairs = data.key.size * data.query.shape[1]
    fits = GRAM_RANK < count <= embed and pairs <= count**2
    return fits and max(data.key.size, data.query.size) <= 2 * count


def is_column(data: Sequences, initial: Initial) -> bool:
    """Whether one query reads all samples, and its column is less than the tables."""
    values = initial.values
    followed = isinstance(values, Neurons) and values.follow
    many = len(data.vectors) > GRAM_RANK and not initial.shared
    return many and not followed and prompt_of(data) is not None


def _by_coordinate(
    why: str,
    every: list[Rule],
    initial: Initial,
    *,
    lift: bool,
    apart: bool,
    linear: bool,
) -> tuple[str, str]:
    """The form where coordinates of weights count, and why they do."""
    reason = "final weights are asked for" if lift else coordinate_refusal(initial)
    if reason is None and linear:
        reason = "linear attention has no logarithms"
    if reason is None and any(isinstance(r, Flow) for r in every):
        reason = "forms over coordinates follow steps alone"
    if reason is None and any(decays(r) for r in every):
        reason = "weights that no token covers decay"
    whole = next((r for r in every if r.sees != "entries"), None)
    if reason is None and whole is not None:
        clips = isinstance(whole, AbstractDescent) and whole.looks_at == "entries"
        what = "the length of the whole gradient" if clips else "the whole gradient"
        reason = f"{whole.name}{', clipped,' if clips else ''} sees {what}"
    if reason is not None:
        return "weights", f"{why}, and {reason}"
    if all(isinstance(r, SignGD) for r in every) and not apart:
        return "signs", f"{why}; exact signs of every coordinate, the fewest numbers"
    return "coordinates", f"{why}; exact on the coordinates that tokens cover"


def build(
    name: str,
    data: Sequences,
    initial: Initial,
    *,
    heads: int,
    key: Key,
    weights: Weights | None = None,
    symmetry: AbstractSymmetry | None = None,
    test: Sequences | None = None,
    plan: ColumnPlan | None = None,
    rotated: bool = True,
    normalised: bool = False,
    careful: bool = False,
) -> tuple[AbstractForm, State]:
    """The form and its initial state for one seed.

    Initial `weights` are drawn by the key where they are not given. What is drawn must
    know every token that is ever read: tokens of `test` are among those of `data`, or
    stand beside them. `plan` has the sizes of a form over coordinates, where seeds must
    have the same. `rotated` says that all rules commute with rotations, `normalised`
    that all see signs of gradients alone, `careful` that some see directions of small
    ones.
    """
    check_scores(name, initial, weights)
    embed = data.vectors.shape[1]
    if name == "quotient":
        _check_quotient(initial, symmetry, weights)
        assert symmetry is not None
        return _quotient(data, initial, symmetry, test=test, key=key)
    if name in COORDINATE_FORMS:
        weights = weights or drawn_weights(
            name, initial, heads=heads, rank=0, embed=embed, key=key
        )
        assert weights is not None
        return build_coordinates(name, data, initial, weights, test=test, plan=plan)
    if name == "tokens":
        return build_tokens(
            data, initial, heads=heads, key=key, weights=weights, test=test
        )
    if name == "prompt":
        count = len(data.vectors) + (0 if test is None else len(test.vectors))
        weights = weights or drawn_weights(
            name, initial, heads=heads, rank=min(count, embed), embed=embed, key=key
        )
        return build_prompt(
            data,
            initial,
            heads=heads,
            key=key,
            weights=weights,
            test=test,
            normalised=normalised,
            careful=careful,
        )
    basis, frame, test_frame = frames_of(
        data, test, rotated=rotated or name != "weights"
    )
    span = basis.vectors
    rank, gram = basis.rank, name != "transport"
    weights = weights or drawn_weights(
        name, initial, heads=heads, rank=rank, embed=embed, key=key
    )
    if weights is None:
        draw, keys = initial.drawn_without_weights, random.split(key)
        blocks = initial.score_heads(heads)
        scores = sampled_scores(name, initial, blocks, rank, key=keys[0], draw=draw)
        values = initial.values.sampled(heads, rank, gram=gram, key=keys[1], draw=draw)
    elif name == "weights":
        scores = plain_scores(weights, span)
        values = initial.values.plain(weights, span)
    else:
        scores = reduced_scores(name, initial, weights, span)
        values = initial.values.reduced(weights, span, gram=gram)
    form = Form(frame, scores[0], values[0], name, test_frame, normalised, careful)
    state = {"scores": scores[1], "values": values[1]}
    if initial.shared:
        return shared(form, heads), state
    return sparse_if_few(form) if name == "transport" else form, state


def drawn_weights(
    name: str, initial: Initial, *, heads: int, rank: int, embed: int, key: Key
) -> DrawnWeights | None:
    """The weights from which a form starts; `None` where none are drawn."""
    plain = name in ("weights", *COORDINATE_FORMS)
    how = initial.draw if plain else initial.drawn_as(rank, embed)
    if not plain and how != "weights":
        return None
    if how in ("limit", "expected"):
        raise ValueError(
            f"draw is {how!r}, which gives Gram matrices and no weights: use "
            "form='gram' or 'transport', or draw='weights'."
        )
    return draw_weights(initial, heads, embed, key=key)


def _check_quotient(
    initial: Initial, symmetry: AbstractSymmetry | None, weights: Weights | None
) -> None:
    quiet = initial.width == "infinite" or initial.draw == "expected"
    free = initial.draw == "expected" or initial.values == Vector()
    free = free and not initial.merged
    if symmetry is None or weights is not None or not (quiet and free):
        raise ValueError(
            "A quotient needs data with a symmetry, one representative per orbit, and "
            "an initial state that shares it: draw='expected', or width='infinite' "
            "with values=Vector(), and keys and queries apart (given: "
            f"width={initial.width}, draw={initial.draw}, merged={initial.merged}, "
            f"values={initial.values}, {'no ' if weights is None else ''}initial "
            "weights). Use the data without the quotient otherwise."
        )


def _quotient(
    data: Sequences,
    initial: Initial,
    symmetry: AbstractSymmetry,
    *,
    test: Sequences | None,
    key: Key,
) -> tuple[Form, State]:
    eye = np.square(initial.scale_by_column(symmetry.size)) * np.eye(2 * symmetry.size)
    state = on_device(np.tile(eye, (symmetry.blocks, 1, 1)))
    part, values = initial.values.sampled(
        1, symmetry.size, gram=True, key=key, draw="expected"
    )
    frame = quotient_frame(data, symmetry)
    test_frame = None if test is None else quotient_frame(test, symmetry)
    form = Form(frame, Gram(), part, "quotient", test_frame)
    return form, {"scores": state, "values": values}
