"""Downloads from a server on this machine, which can break off."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from attnflow.data.real import fetch, place_of, read
from attnflow.schema.installation import MissingData
from tests.data.real.conftest import CONTENT


class Handler(BaseHTTPRequestHandler):
    """Sends all, a part of what it promised, other content, or nothing for long."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        if self.path == "/broken":
            self.wfile.write(CONTENT[:70_000])
        elif self.path == "/other":
            self.wfile.write(bytes(len(CONTENT)))
        else:
            self.wfile.write(CONTENT)

    def log_message(self, format, *args):
        pass


@pytest.fixture(scope="module")
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def left_in(directory):
    return sorted(directory.rglob("*"))


def test_a_file_is_downloaded_once(small_set, server, directory):
    owner = small_set(f"{server}/whole")
    reports = []
    (path,) = fetch("small", progress=lambda done, text: reports.append((done, text)))
    assert path == place_of(owner, owner.files[0])
    assert read("small", "a.txt") == CONTENT
    assert left_in(directory) == [path.parent, path]
    assert reports == [(0.0, "a.txt")]
    before = path.stat().st_mtime_ns
    time.sleep(0.01)
    fetch("small")
    assert path.stat().st_mtime_ns == before


def test_a_damaged_file_is_replaced(small_set, server):
    owner = small_set(f"{server}/whole")
    path = place_of(owner, owner.files[0])
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT[:99])
    fetch("small")
    assert read("small", "a.txt") == CONTENT


@pytest.mark.parametrize("page", ["broken", "other"])
def test_what_breaks_off_or_is_wrong_leaves_nothing_behind(
    small_set, server, directory, page
):
    owner = small_set(f"{server}/{page}")
    with pytest.raises(MissingData) as refused:
        fetch("small")
    assert owner.files[0].sha256 in str(refused.value)
    assert str(place_of(owner, owner.files[0])) in str(refused.value)
    assert not [path for path in left_in(directory) if path != directory]


def test_an_interrupt_leaves_nothing_behind(small_set, server, directory, monkeypatch):
    import requests

    def interrupted(self, chunk_size):
        yield CONTENT[:chunk_size]
        raise KeyboardInterrupt

    small_set(f"{server}/whole")
    monkeypatch.setattr(requests.Response, "iter_content", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch("small")
    assert not [path for path in left_in(directory) if path != directory]


def test_without_network_the_message_says_what_to_put_where(small_set, directory):
    # Port 9 of this machine answers nothing.
    owner = small_set("http://127.0.0.1:9/a.txt")
    with pytest.raises(MissingData) as refused:
        fetch("small")
    message = str(refused.value)
    assert "Without network" in message
    assert str(place_of(owner, owner.files[0])) in message
