"""The command line: it parses, prints and returns an exit code."""

from attnflow.cli.app import main as main
