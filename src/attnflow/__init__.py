"""How shallow transformers learn, exactly where that is possible."""

__version__ = "0.1.0"
