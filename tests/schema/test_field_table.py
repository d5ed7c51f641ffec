"""The table of settings says what the door takes."""

from dataclasses import dataclass, fields
from typing import Literal

import pytest

from attnflow.papers import papers
from attnflow.schema.field_table import field_table
from attnflow.schema.fields import Duration, Number, Positive, Several, Size
from attnflow.schema.settings import coerce


@dataclass(frozen=True)
class Toy:
    width: Number | Literal["infinite"] = 128
    rate: Positive = 0.1
    sizes: Several[Size] = (2, 3)
    steps: Duration | None = None


def test_rows_come_from_the_declaration():
    rows = {row.name: row for row in field_table({"a": Toy(), "b": Toy(width=64)})}
    assert rows["width"].takes == "an integer from 1 to 2^63 - 1 or 'infinite'"
    assert rows["width"].default == "128 (a); 64 (b)"
    assert rows["rate"].as_json() == {
        "name": "rate",
        "takes": "a number above 0, up to 1e+100",
        "unit": "",
        "kind": "number",
        "default": "0.1",
    }
    assert (rows["sizes"].kind, rows["sizes"].default) == ("shape", "2,3")
    assert rows["steps"].unit == "steps, or a flow's time"


@pytest.mark.parametrize("slug", list(papers()))
def test_every_default_is_typed_as_the_table_shows_it(slug):
    """What the table prints can be given back on the command line."""
    for recipe in papers()[slug].recipes:
        rows = field_table({recipe.id: recipe.setting})
        assert [row.name for row in rows] == [f.name for f in fields(recipe.setting)]
        for row in rows:
            value = getattr(recipe.setting, row.name)
            # A list that may be empty: nothing is what one types for it.
            assert coerce(recipe.setting, row.name, row.default) == value
            with pytest.raises(ValueError, match="is not allowed") as error:
                coerce(recipe.setting, row.name, object())
            assert row.takes in str(error.value)
