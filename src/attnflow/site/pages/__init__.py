"""Figures and tables as files, a page per paper, and a site over all papers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
