import pytest

from attnflow.figures import selector_label, typeset


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("c1", "$c_{1}$"),
        ("-v2", "$-v_{2}$"),
        ("v_12", "$v_{12}$"),
        ("mu1", r"$\mu_{1}$"),
        ("+", "$+$"),
        ("-", "$-$"),
        ("common", "common"),
        ("noise3", "noise3"),
        ("X1+-", "$X_{1}^{+-}$"),
        ("c1 v1 -v2", "$c_{1}$, $v_{1}$, $-v_{2}$"),
        ("before T2", "before $T_{2}$"),
        ("(v1 + v2)ᵀ S c1", r"($v_{1}$ + $v_{2}$)$^{\top}$ S $c_{1}$"),
        ("S Sᵀ", "S Sᵀ"),
        ("$w_+$ and c1", "$w_+$ and c1"),
        ("", ""),
    ],
)
def test_tokens_become_mathematics(text, expected):
    assert typeset(text) == expected


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("score[+,c1,v1]", "$c_{1}$, $v_{1}$"),
        ("loss_by_group[conflicting]", "conflicting"),
        ("largest_score", "largest score"),
        ("score[+,c1,:]", "$c_{1}$"),
    ],
)
def test_a_selector_names_its_curve(selector, expected):
    assert selector_label(selector) == expected
