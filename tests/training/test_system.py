"""Compiled programs are forgotten before they fill up a process's mappings."""

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from attnflow.training import programs
from attnflow.training.programs import make_room

MAPS = Path("/proc/self/maps")


@pytest.mark.skipif(not MAPS.exists(), reason="only Linux tells its mappings")
def test_programs_are_forgotten_beyond_the_limit_alone():
    programs = [
        jax.jit(lambda x, k=k: jnp.cumsum(jnp.sin(x)) * k)(jnp.ones(k + 3))
        for k in range(40)
    ]
    before = _mapped()
    assert not make_room(10 * before, 10**12)
    assert _mapped() >= before - 20
    assert make_room(1)
    # 40 programs, of which each had several mappings.
    assert _mapped() < before - 40
    assert float(programs[1][0]) == pytest.approx(0.8414709848, rel=1e-6)


@pytest.mark.skipif(not MAPS.exists(), reason="only Linux tells its memory")
def test_programs_are_forgotten_where_memory_grows(monkeypatch):
    monkeypatch.setattr(programs, "_LEFT", [0])
    jax.jit(lambda x: jnp.sin(x) * 5.5)(jnp.ones(4))
    assert not make_room(10**9, 10**12)
    assert make_room(10**9, 1)
    jax.jit(lambda x: jnp.sin(x) * 6.5)(jnp.ones(4))
    # What is left after programs were forgotten is something else's.
    assert not make_room(10**9, 2)
    programs._LEFT[0] -= programs.GROWTH + 10**8
    jax.jit(lambda x: jnp.sin(x) * 7.5)(jnp.ones(4))
    assert make_room(10**9, 2)


def _mapped():
    return MAPS.read_bytes().count(b"\n")
