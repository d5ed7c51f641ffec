import pytest
import typer

from attnflow.cli.output import guarded
from attnflow.runs.store import StoreError
from attnflow.schema.installation import MissingData


def code_of(command):
    with pytest.raises(typer.Exit) as end:
        guarded(command)()
    return end.value.exit_code


def raising(error):
    def command():
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ValueError("bad value."), 2),
        (StoreError("unwritable."), 2),
        (PermissionError(13, "denied"), 2),
        (MissingData("fetch it."), 2),
        (KeyboardInterrupt(), 130),
    ],
)
def test_messages_without_tracebacks(error, code, capsys):
    assert code_of(raising(error)) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err
    assert "Traceback" not in shown.err


def test_a_full_disk_has_a_remedy(capsys):
    assert code_of(raising(OSError(28, "No space left on device", "a.json"))) == 2
    assert "a.json'. Make room, or write to another disk." in capsys.readouterr().err


@pytest.mark.parametrize("error", [KeyError("x"), OSError("of no system call")])
def test_faults_show_where_and_are_no_verdict(error, capsys):
    assert code_of(raising(error)) == 70
    assert "Traceback" in capsys.readouterr().err


def test_debugging_shows_where(monkeypatch, capsys):
    monkeypatch.setenv("ATTNFLOW_DEBUG", "1")
    assert code_of(raising(ValueError("bad value."))) == 2
    assert "Traceback" in capsys.readouterr().err


def test_codes_are_passed_on():
    assert code_of(lambda: 1) == 1
    assert code_of(lambda: 0) == 0
