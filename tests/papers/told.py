"""The conditions of a paper at a setting, for tests."""

from dataclasses import asdict


def items(paper, setting):
    """By name."""
    return {item.name: item for item in paper.conditions(asdict(setting))}


def unmet(paper, setting):
    """Names of those that are missed; what no number decides is not."""
    return {name for name, item in items(paper, setting).items() if item.met is False}
