"""What samples that are never trained on see of a run."""

from jaxtyping import Array

from attnflow.observables.registry import observable
from attnflow.observables.view import View


@observable(about="mean loss on the test samples")
def test_loss(view: View) -> Array:  # noqa: D103
    return view.test.mean(view.test.losses)


@observable(about="accuracy on the test samples")
def test_accuracy(view: View) -> Array:  # noqa: D103
    return view.test.mean(view.test.correct)


@observable(
    "group", about="mean loss within each group of test samples", group_means="test"
)
def test_loss_by_group(view: View) -> Array:  # noqa: D103
    return view.test.by_group(view.test.losses)


@observable(
    "group", about="accuracy within each group of test samples", group_means="test"
)
def test_accuracy_by_group(view: View) -> Array:  # noqa: D103
    return view.test.by_group(view.test.correct)


@observable("test_sample", about="label times output on each test sample")
def test_margin(view: View) -> Array:  # noqa: D103
    return view.test.margins


@observable(
    "test_sample",
    "head",
    "query_position",
    "key_position",
    about="attention p(key | query) at each test sample's positions",
)
def test_attention(view: View) -> Array:  # noqa: D103
    return view.test.attention


@observable(
    "test_sample",
    "head",
    "key_position",
    about="values at each test sample's positions",
)
def test_pair_value(view: View) -> Array:  # noqa: D103
    return view.test.pairs.values
