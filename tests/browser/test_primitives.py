"""Every primitive against JAX, over generated shapes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from attnflow.browser.lowering import RULES, Unsupported
from tests.browser.compiled import check, compiled

pytestmark = pytest.mark.usefixtures("precise")
RNG = np.random.default_rng(0)
SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)
FEW = settings(max_examples=3)


@pytest.fixture(autouse=True, scope="module")
def precise_for_examples():
    with jax.enable_x64(True):
        yield


def normal(*shape):
    return RNG.normal(size=shape)


def integers(*shape, low=-9, high=9):
    return RNG.integers(low, high, shape)


UNARY = {
    "exp": lax.exp,
    "expm1": lax.expm1,
    "log": lambda x: lax.log(lax.abs(x)),
    "log1p": lambda x: lax.log1p(lax.abs(x)),
    "logistic": lax.logistic,
    "tanh": lax.tanh,
    "sqrt": lambda x: lax.sqrt(lax.abs(x)),
    "floor": lax.floor,
    "ceil": lax.ceil,
    "neg": lax.neg,
    "abs": lax.abs,
    "sign": lax.sign,
    "rsqrt": lambda x: lax.rsqrt(lax.abs(x)),
    "square": lax.square,
    "is_finite": lambda x: lax.is_finite(x / x.round()),
    "round": lambda x: (lax.round(4 * x), jnp.round(x)),
    "integer_pow": lambda x: [x**n for n in (2, 3, 5, 8, -1, -2)],
    "stop_gradient": lambda x: lax.stop_gradient(x) + 1,
    "convert": lambda x: ((9 * x).astype(int), (x > 0).astype(float), x.astype(bool)),
    "bitcast": lambda x: lax.bitcast_convert_type(
        lax.bitcast_convert_type(x, jnp.int64) + 1, jnp.float64
    ),
    "pow": lambda x: lax.pow(lax.abs(x), x),
    "int pow": lambda x: lax.pow(x, 3),
    "clamp": lambda x: lax.clamp(-0.5, x, 0.5),
    "barrier": lambda x: lax.optimization_barrier((x, 2 * x)),
}
BINARY = {
    name: getattr(lax, name)
    for name in ("add", "sub", "mul", "div", "max", "min", "lt", "le", "gt", "ge")
} | {"eq": lax.eq, "ne": lax.ne, "add_any": lambda x, y: jax.grad(_twice)(x, y)}
INTEGER = {
    name: getattr(lax, name)
    for name in ("add", "sub", "mul", "div", "rem", "max", "min")
} | {
    "and": lax.bitwise_and,
    "or": lax.bitwise_or,
    "xor": lax.bitwise_xor,
    "not": lambda x, y: lax.bitwise_not(x),
    "sign": lambda x, y: lax.sign(x),
    "shift": lambda x, y: (
        lax.shift_left(x, abs(y)),
        lax.shift_right_logical(x, abs(y)),
    ),
    "compare": lambda x, y: (x < y, x == y, x >= y),
    "abs": lambda x, y: (abs(x), -y),
}


def _twice(x, y):
    return (x * y * x).sum()


@pytest.mark.parametrize("name", UNARY)
@FEW
@given(shape=SHAPES)
def test_one_operand(name, shape):
    check(UNARY[name], 2 * normal(*shape))


@pytest.mark.parametrize("name", BINARY)
@FEW
@given(shape=SHAPES)
def test_two_operands(name, shape):
    check(BINARY[name], normal(*shape), normal(*shape).round(1))


@pytest.mark.parametrize("name", INTEGER)
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint32", "uint8"])
def test_integers(name, dtype):
    if name == "sign" and dtype.startswith("u"):
        return
    low, high = (0, 100) if dtype == "uint8" else (0, 2**31)
    low = low if dtype.startswith("u") else -high
    x, y = (integers(3, 4, low=low, high=high).astype(dtype) for _ in range(2))
    if name == "shift":
        y = y % 8
    check(INTEGER[name], x, y)


@FEW
@given(shape=SHAPES)
def test_booleans(shape):
    check(_booleans, normal(*shape), normal(*shape))


def _booleans(x, y):
    a, b = x > 0, y > 0
    return a & b, a | b, ~a, a ^ b, lax.select_n(a, x, y), a.any(), b.all()


VIEWS = {
    "transpose": lambda x: jnp.moveaxis(x * 2, 0, -1),
    "rev": lambda x: x[::-1] + 1,
    "reshape": lambda x: (2 * x).reshape(-1),
    "slice": lambda x: x[1:, ::2],
    "squeeze": lambda x: x[0],
    "expand": lambda x: x[:, None] - x[None],
    "split": lambda x: jnp.split(2 * x, [1, 2], axis=1),
    "concatenate": lambda x: jnp.concatenate([x, 2 * x, x[:1]]),
    "stack": lambda x: jnp.stack([x, 3 * x], 1),
    "pad": lambda x: jnp.pad(x * 2, ((1, 2), (0, 1), (0, 0)), constant_values=7.0),
    "iota": lambda x: x + lax.broadcasted_iota(float, x.shape, 1),
    "identity": lambda x: jnp.eye(4) + x.sum(),
    "collected": lambda x: lax.scan(lambda sum, row: (sum + row, sum * row), x[0], x)[
        1
    ],
    "call": jax.nn.relu,
    "constant": lambda x: x[0, 0, 0] * jnp.array([1.0, 0.0, 3.0]),
}
REDUCTIONS = {
    "sum": lambda x: (x.sum(), x.sum(1), x.sum((0, 2))),
    "max": lambda x: x.max((0, 1)),
    "min": lambda x: (2 * x).min(2),
    "prod": lambda x: x.prod(1),
    "argmax": lambda x: (x.argmax(0), x.argmin(2)),
    "cumsum": lambda x: (jnp.cumsum(x, 1), lax.cumsum(x, 0, reverse=True)),
    "logsumexp": lambda x: jax.nn.logsumexp(x, axis=1),
    "integers": lambda x: ((x > 0).sum(0), (9 * x).astype(int).max(1)),
}


@pytest.mark.parametrize("name", VIEWS | REDUCTIONS)
@FEW
@given(shape=st.tuples(st.integers(2, 4), st.integers(3, 5), st.integers(1, 4)))
def test_views_and_reductions(name, shape):
    check((VIEWS | REDUCTIONS)[name], normal(*shape))


@pytest.mark.parametrize(
    "text", ["ij,jk->ik", "ij,ij->", "bij,bkj->bik", "i,j->ij", "aij,bjk->abik"]
)
@FEW
@given(sizes=st.lists(st.integers(1, 9), min_size=5, max_size=5))
def test_products(text, sizes):
    size = dict(zip("ijkab", sizes, strict=True))
    operands = text.split("->")[0].split(",")
    left, right = (normal(*(size[name] for name in names)) for names in operands)
    check(lambda x, y: jnp.einsum(text, x, y), left, right)


@pytest.mark.parametrize("is_left", [True, False])
@FEW
@given(sizes=st.tuples(st.integers(9, 12), st.integers(9, 12), st.integers(1, 5)))
def test_products_with_a_constant_of_many_zeros(is_left, sizes):
    rows, columns, other = sizes
    sparse = normal(rows, columns) * (RNG.random((rows, columns)) < 0.1)
    if is_left:
        check(lambda a, x: a @ jnp.exp(x), sparse, normal(columns, other), level=[0, 1])
    else:
        check(lambda a, x: x @ (a * 2), sparse, normal(other, rows), level=[0, 1])
    check(lambda a, x: a @ x, 0 * sparse, normal(columns), level=[0, 1])


INDEXED = {
    "gather": lambda x, i: x[i],
    "last": lambda x, i: x[:, 1][..., i % 3],
    "take": lambda x, i: jnp.take(x, i, axis=1, mode="clip"),
    "fill": lambda x, i: x.at[i].get(mode="fill", fill_value=5.0),
    "along": lambda x, i: jnp.take_along_axis(x[:, :, 0], i[:, None] % 3, 1),
    "set": lambda x, i: x.at[:, i % 2].set(2.0),
    "add": lambda x, i: x.at[i].add(1.5),
    "drop": lambda x, i: x.at[i].add(x[:1], mode="drop"),
    "multiply": lambda x, i: x.at[i].multiply(x[:1]),
    "dynamic": lambda x, i: lax.dynamic_slice(x, (i[0], i[1], 0), (2, 1, 2)),
    "update": lambda x, i: lax.dynamic_update_slice(x, -x[:2, :1], (i[0], i[1], 0)),
    "batched": lambda x, i: jax.vmap(lambda row, k: row[k])(x, i),
}


@pytest.mark.parametrize("name", INDEXED)
@FEW
@given(inside=st.booleans(), count=st.integers(4, 4))
def test_indices(name, inside, count):
    x = normal(count, 3, 2)
    check(INDEXED[name], x, integers(count, low=0 if inside else -6, high=count))


def _loops(x):
    def body(carry, row):
        a, b = carry
        return (b, a + row.sum()), (a * row, b)

    scanned = lax.scan(body, (x[0, 0], x.sum()), x)
    backwards = lax.scan(body, (1.0, 2.0), x, reverse=True)
    once = lax.scan(body, (1.0, 2.0), x[:1])
    counted = lax.fori_loop(0, jnp.argmax(x[0]) + 2, lambda i, y: y * 0.5 + i, x)
    halved = lax.while_loop(lambda y: jnp.abs(y).max() > 1e-3, lambda y: y * 0.3, x)
    swapped = lax.fori_loop(0, 3, lambda i, ab: (ab[1], ab[0]), (x, 2 * x))
    return scanned, backwards, once, counted, halved, swapped


def _branches(x):
    which = (x.sum() > 0).astype(int) + (x[0, 0] > 0)
    args = (x, 3.0)
    ways = [lambda x, a: x * a, lambda x, a: x - a, lambda x, a: x * 0]
    three = lax.switch(which, ways, *args)
    two = lax.cond(x[0, 0] > 0, lambda: jnp.exp(x), lambda: x)

    def step(i, y):
        return lax.cond(i > 1, jnp.exp, jnp.negative, y)

    def chosen(x):
        ways = jnp.exp, lambda x: jnp.tanh(x) * jnp.log1p(x**2)
        return lax.cond(x[0, 0] > 0, *ways, x).sum()

    return three, two, lax.fori_loop(0, 3, step, x), jax.grad(chosen)(x)


@pytest.mark.parametrize("function", [_loops, _branches])
@pytest.mark.parametrize("level", [0, 1])
@FEW
@given(shape=st.tuples(st.integers(2, 4), st.integers(1, 4)))
def test_loops_and_branches(function, level, shape):
    check(function, normal(*shape), level=level)


@FEW
@given(size=st.integers(1, 6), count=st.integers(1, 3))
def test_matrices(size, count):
    half = normal(2, size, size + 1)

    # Errors grow with the condition of the matrix: up to some thousands here.
    check(_matrices, half, normal(size, count), rtol=1e-10)


def _matrices(half, b):
    a = half @ jnp.swapaxes(half, 1, 2)
    low = jnp.linalg.cholesky(a[0], symmetrize_input=False)
    both = jnp.linalg.cholesky(a, symmetrize_input=False)
    solve = lax.linalg.triangular_solve
    options = [(True, False), (True, True), (False, False), (False, True)]
    solved = [
        solve(low if lower else low.T, b, left_side=True, lower=lower, transpose_a=t)
        for lower, t in options
    ]
    return low, both, solved


def test_special_values():
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5])

    def function(x):
        return jnp.maximum(x, 1.0), jnp.sign(x), x.max(), jnp.isfinite(x), x == x

    check(function, x)


def test_what_is_shared_is_computed_once():
    """Equal equations, and what does not vary inside a loop."""

    def function(x, y):
        loop = lax.fori_loop(0, 4, lambda i, a: a + jnp.exp(y).sum(), x)
        return loop, jnp.exp(y) * 2 + jnp.exp(y)

    check(function, normal(3), normal(4), level=[1, 0])


def test_an_unknown_primitive_fails_by_name():
    with pytest.raises(Unsupported, match="'sin'"):
        compiled(jnp.sin, normal(2))
    with pytest.raises(Unsupported, match="float32"):
        compiled(lambda x: x.astype(jnp.float32) + 1, normal(2))


def names_in(jaxpr):
    """The primitives of a jaxpr, and of those inside it."""
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for parameter in equation.params.values():
            several = isinstance(parameter, tuple | list)
            for item in parameter if several else [parameter]:
                inner = getattr(item, "jaxpr", item)
                if hasattr(inner, "eqns"):
                    yield from names_in(inner)


def test_every_rule_is_tried():
    """A rule that no test here compiles is not known to be right."""
    x, y, i = normal(4, 3, 2), normal(4, 3, 2), integers(4, low=0, high=4)
    n = integers(3, 4, low=1)
    cases = [(f, (x,)) for f in (UNARY | VIEWS | REDUCTIONS).values()]
    cases += [(f, (x, y)) for f in BINARY.values()]
    cases += [(f, (n, n)) for f in INTEGER.values()]
    cases += [(f, (x, i)) for f in INDEXED.values()]
    cases += [(f, (x[0],)) for f in (_loops, _branches)]
    cases += [(_booleans, (x, y)), (_matrices, (normal(2, 3, 4), normal(3, 2)))]
    tried = set()
    for function, args in cases:
        tried |= set(names_in(jax.make_jaxpr(function)(*args).jaxpr))
    # Calls of other names, other spellings, and what only gradients bring.
    other = {"pjit", "remat", "checkpoint", "closed_call", "custom_vjp_call", "copy_p"}
    other |= {"scatter_add", "scatter_mul", "platform_index", "expand_dims", "copy"}
    assert set(RULES) - other - tried == set()
