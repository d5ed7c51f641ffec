import json

import pytest
from typer.testing import CliRunner

from attnflow.cli.app import app
from attnflow.runs.pool import Here


class Program:
    """`attnflow` with the toy paper, called inside this process."""

    def __call__(self, *args):
        return CliRunner().invoke(app, [str(arg) for arg in args])

    def json(self, *args, code=0):
        """What `--json -` prints, alone on stdout."""
        done = self(*args, "--json", "-")
        assert done.exit_code == code, done.output
        return json.loads(done.stdout)

    def refused(self, *args):
        """The message of a call that is wrong usage."""
        done = self(*args)
        assert done.exit_code == 2, done.output
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        return " ".join(done.stderr.replace("│", " ").split())


@pytest.fixture
def program(toy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Spawned processes know nothing of the toy paper.
    monkeypatch.setattr("attnflow.runs.verify.Pool", lambda workers, deaths: Here())
    return Program()
