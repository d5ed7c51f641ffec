"""`attnflow data`."""

from attnflow.data.real import CATALOGUE


def test_list_says_what_is_known_and_what_is_here(program, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNFLOW_DATA", str(tmp_path))
    content = program.json("data", "list")
    assert content["version"] == 2
    assert content["directory"] == str(tmp_path)
    assert [item["id"] for item in content["datasets"]] == list(CATALOGUE)
    files = [file for item in content["datasets"] for file in item["files"]]
    assert {file["state"] for file in files} == {"missing"}
    assert all(len(file["sha256"]) == 64 for file in files)
    text = program("data", "list").stdout
    assert "train-images-idx3-ubyte.gz" in text
    assert "CC BY-SA" in text


def test_path_says_where_files_belong(program, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNFLOW_DATA", str(tmp_path))
    place = tmp_path / "wikitext-2" / "valid.txt"
    content = program.json("data", "path", "wikitext-2", code=1)
    assert content["datasets"][0]["files"][0]["path"] == str(place)
    place.parent.mkdir()
    place.write_text("something else")
    files = program.json("data", "path", "wikitext-2", code=1)["datasets"][0]["files"]
    assert [file["state"] for file in files] == ["damaged", "missing"]
    assert str(place) in program("data", "path").stdout


def test_path_of_what_is_here(program, data_at_hand):
    assert program("data", "path").exit_code == 0


def test_wrong_names(program):
    assert "Did you mean 'mnist'" in program.refused("data", "path", "minst")
    assert "Did you mean 'mnist'" in program.refused("data", "fetch", "minst")


def test_fetch_without_network(program, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNFLOW_DATA", str(tmp_path))
    # No address of this machine answers there.
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    said = program.refused("data", "fetch", "wikitext-2")
    assert "Without network" in said
    assert not list(tmp_path.iterdir())


def test_fetch_of_what_is_here_downloads_nothing(program, data_at_hand, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    content = program.json("data", "fetch")
    files = [file for item in content["datasets"] for file in item["files"]]
    assert {file["state"] for file in files} == {"present"}
