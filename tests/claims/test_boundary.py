"""Everything right of the Dataset works without JAX."""

import subprocess
import sys

CODE = """
import sys
import attnflow.claims, attnflow.claims.stages, attnflow.claims.statistics
heavy = {"jax", "equinox", "diffrax", "optax", "torch", "matplotlib"}
print(sorted(heavy & set(sys.modules)))
"""


def test_claims_stages_and_measures_import_no_jax():
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
