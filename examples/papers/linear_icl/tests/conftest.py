"""Fixtures and protocols of attnflow."""

pytest_plugins = ["attnflow.testing"]
