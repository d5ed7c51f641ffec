import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnflow.claims.stages import Selector, parse_selector, quantile, select
from attnflow.schema.names import UnknownName
from tests.claims.stages.runs import make_run

RUN = make_run()
NAMES = st.from_regex(r"[a-z]\w{0,8}", fullmatch=True).filter(str.isascii)
LABELS = st.text("abcXYZ019+-_.*:'= ", min_size=1).map(str.strip).filter(bool)


@given(NAMES, st.lists(LABELS, max_size=4))
def test_a_selector_survives_printing(name, labels):
    selector = Selector(name, tuple(labels))
    assert parse_selector(str(selector)) == selector
    assert parse_selector(f"  {name} [ {' , '.join(labels)} ] ") == selector


@pytest.mark.parametrize("text", ["", "score[+", "a b", "score[[+]]", "score+]"])
def test_texts_that_select_nothing(text):
    with pytest.raises(ValueError, match="selects no series"):
        parse_selector(text)


def test_labels_stand_in_the_order_of_the_dims():
    series = select(RUN, "score[-,v1]")
    assert series.dims == ("seed", "time")
    np.testing.assert_array_equal(series, RUN["score"].sel(head="-", key="v1"))


def test_dims_can_be_kept():
    assert select(RUN, "score").dims == ("seed", "time", "head", "key")
    assert select(RUN, "score[+]").dims == ("seed", "time", "key")
    assert select(RUN, "score[:,c1]").dims == ("seed", "time", "head")


def test_labels_by_dim():
    by_text = select(RUN, "loss_by_group[conflicting]")
    by_dim = select(RUN, "loss_by_group", {"group": "conflicting"})
    assert by_text.identical(by_dim)
    assert select(RUN, "score[+]", {"key": "c1"}).dims == ("seed", "time")


def test_numbers_and_dims_without_labels():
    assert select(RUN, "numbered[64]").width == 64
    assert select(RUN, "numbered[8.0]").width == 8
    assert select(RUN, "numbered", {"width": 64}).width == 64
    np.testing.assert_array_equal(select(RUN, "bare[1]"), RUN["bare"][..., 1])


def test_wrong_names_get_the_likely_one():
    with pytest.raises(UnknownName, match="Did you mean 'growth'"):
        select(RUN, "grwth")
    with pytest.raises(UnknownName, match="Did you mean 'conflicting'"):
        select(RUN, "loss_by_group[conflict]")
    with pytest.raises(UnknownName, match="Did you mean 'group'"):
        select(RUN, "loss_by_group", {"gruop": "conflicting"})
    with pytest.raises(ValueError, match=r"3 labels.*\(head, key\)"):
        select(RUN, "score[+,c1,v1]")
    with pytest.raises(ValueError, match="no dims of its own"):
        select(RUN, "growth[+]")


def test_quantiles_over_a_dim():
    run = make_run(seeds=(0,))
    middle = quantile(run["loss_by_group"], 0.5, "group")
    assert middle.dims == ("seed", "time")
    np.testing.assert_allclose(middle, run["loss_by_group"].mean("group"))
    with pytest.raises(UnknownName, match="dim of growth"):
        quantile(run["growth"], 0.5, "group")
