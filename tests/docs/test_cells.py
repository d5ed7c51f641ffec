"""Notebooks on the site show what comes of their cells."""

import matplotlib.pyplot as plt
from tools.documentation.cells import outputs


def test_a_cell_prints_and_ends_in_a_value(tmp_path):
    cells = (
        "x = 2\nprint('\\r 10%', end='')\nprint('\\r100%', end='')",
        "print('a')\nx + 1",
        "x = 3",
    )
    assert outputs(cells, tmp_path, "n") == [
        "```text\n100%\n```",
        "```text\na\n```\n\n```text\n3\n```",
        "",
    ]


def test_figures_that_were_open_before_are_of_no_cell(tmp_path):
    plt.figure()
    assert outputs(["1"], tmp_path, "n") == ["```text\n1\n```"]


def test_figures_are_shown_in_the_place_of_the_value(tmp_path):
    cells = (
        "import matplotlib.pyplot as plt\nplt.plot([0, 1])",
        "from matplotlib.figure import Figure\nFigure()",
        "1",
    )
    first, second, third = outputs(cells, tmp_path / "pictures", "n")
    assert first == "![What the cell above draws](n-1a.png)"
    assert second == "![What the cell above draws](n-2a.png)"
    assert third == "```text\n1\n```"
    names = {path.name for path in (tmp_path / "pictures").iterdir()}
    assert names == {"n-1a.png", "n-2a.png"}


def test_what_has_a_table_shows_it(tmp_path):
    cell = "import pandas as pd\npd.DataFrame({'x': [1]})"
    (shown,) = outputs([cell], tmp_path, "n")
    assert shown.startswith("<div>") and "<table" in shown


def test_a_package_that_is_missing_ends_it(tmp_path):
    (only,) = outputs(["import no_such_package", "1"], tmp_path, "n")
    assert "Not carried out" in only and "no_such_package" in only
