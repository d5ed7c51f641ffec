"""Seeds on which claims of `vit` are judged."""

PLAN = tuple(range(200, 210))
"""Seeds on which claims are judged; tolerances were set on seeds 0 to 4."""
