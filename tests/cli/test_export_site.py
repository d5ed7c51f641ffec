import pytest

from attnflow.site.pages import keep_reason


def files(site):
    names = {str(p.relative_to(site)) for p in site.rglob("*") if p.is_file()}
    return {name for name in names if not name.startswith("assets/")}


def test_a_site_is_exported_with_all_that_it_shows(program, tmp_path):
    program("reproduce")
    content = program.json("export-site", "given")
    assert content["pages"] == ["given/toy/index.html", "given/index.html"]
    source = tmp_path / "attnflow-output"
    assert files(tmp_path / "given") == files(source)
    assert (tmp_path / "given" / "assets" / "katex" / "LICENSE").is_file()
    page = (tmp_path / "given" / "toy" / "index.html").read_text("utf-8")
    assert page == (source / "toy" / "index.html").read_text("utf-8")


def test_it_has_the_verdicts_that_are_known_by_then(program, tmp_path):
    program("reproduce")
    program("verify", "--seeds", "3")
    program("export-site", "given")
    page = (tmp_path / "given" / "toy" / "index.html").read_text("utf-8")
    assert "not judged for this page" not in page


def test_it_says_why_an_exhibit_is_left_out(program, tmp_path):
    program("reproduce")
    folder = tmp_path / "attnflow-output" / "toy"
    (folder / "figure1.json").unlink()
    keep_reason("figure1", "digits.gz is not here.", folder)
    program("export-site", "given")
    page = (tmp_path / "given" / "toy" / "index.html").read_text("utf-8")
    assert "digits.gz is not here." in page
    assert not (tmp_path / "given" / "toy" / "figure1.svg").exists()


def test_an_exported_site_can_be_exported_again(program, tmp_path):
    program("reproduce", "--quick")
    assert program("export-site", "given", "--quick").exit_code == 0
    again = program("export-site", "given", "--from", "attnflow-output/quick")
    assert again.exit_code == 0
    assert "given/index.html" in again.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("given",), "Make one with `attnflow reproduce`"),
        (("given", "--from", "nowhere"), "There is no site in nowhere"),
    ],
)
def test_nothing_to_export(program, arguments, message):
    assert message in program.refused("export-site", *arguments)


def test_a_folder_of_something_else_is_refused(program, tmp_path):
    program("reproduce")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    assert "mine is not empty" in program.refused("export-site", "mine")
