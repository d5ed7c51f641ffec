"""What README prints works as printed."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


def test_the_example_ends_in_a_table():
    text = README.read_text("utf-8")
    match = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert match is not None
    done = subprocess.run(
        [sys.executable, "-c", match[1]], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("width infinite")]
    assert [line for line in lines if line.startswith("B-L6.1")]
