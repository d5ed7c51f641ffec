"""A rule for each part of the state."""

from collections.abc import Mapping

from attnflow.training.rules.flow import Flow
from attnflow.training.rules.named import Descent, Rule

Rules = Rule | Mapping[str, Descent]


def per_part(rules: Rules, parts: tuple[str, ...]) -> dict[str, Rule]:
    """A rule for each part of the state that moves."""
    if not isinstance(rules, Mapping):
        return dict.fromkeys(parts, rules)
    missing = [part for part in parts if part not in rules]
    if missing:
        raise ValueError(
            f"There are rules for {sorted(rules)} but none for {missing}: give one "
            "rule for each part that is trained."
        )
    if any(isinstance(rule, Flow) for rule in rules.values()):
        raise ValueError(
            "A gradient flow moves all trained parts with one clock: give one Flow, or "
            "a descent rule for each part."
        )
    return {part: rules[part] for part in parts}
