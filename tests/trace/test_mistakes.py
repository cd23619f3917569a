"""Mistakes of programs that are traced: the message names the user's line and says what to do."""
import pathlib

import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402

jnp, lax = wick.numpy, wick.lax
X, V = np.ones((3, 4), np.float32), np.ones(4, np.float32)

# what is written -> what the message says
MISTAKES = [
    (lambda x: x if x.sum() > 0 else -x, "wick.cond"),
    (lambda x: x and True, "wick.cond"),
    (lambda x: [r for r in x if r[0]], "wick.cond"),
    (lambda x: float(x.sum()), "x.astype(float)"),
    (lambda x: range(x[0, 0]), "wick.fori"),
    (lambda x: f"{x.sum():.2f}", 'wick.debug.print("{x:.2f}", x=x)'),
    (lambda x: {1: x}[x[0, 0]], "take elements by an index, as in table[x]"),
    (lambda x: {x}, "the hash of a traced array"),
    (lambda x: x.__setitem__(0, 1), "x.at[index].set(value)"),
    (lambda x: jnp.zeros(x[0, 0].astype(int)), "static argument"),
    (lambda x: jnp.concatenate(x, x), "arrays go into one list: concatenate([x, y])"),
    (lambda x: x[jnp.where(x[:, 0] > 0)], "size="),
    (lambda x: jnp.unique(x), "size="),
    (lambda x: lax.scan(lambda c, a: (jnp.concatenate([c, a]), a), jnp.zeros(4), x), "a carried value is f32[4] before the body and f32[8] after it"),
    (lambda x: lax.cond(x[0, 0] > 0, lambda: (x, 1), lambda: x), "the structures of the results differ"),
    (lambda x: lax.cond(x[0, 0] > 0, lambda a: a, lambda a: a[0], x), "f32[3, 4] and f32[4]"),
    (lambda x: lax.while_loop(lambda c: c[0], lambda c: c, x), "use any, all"),
    (lambda x: lax.fori_loop(0, 3, lambda i, c: None, x), "the body gives the structure None"),
    (lambda x: lax.switch(1.0, [lambda: x, lambda: x]), "1.0 is no whole number"),
    (lambda x: wick.vmap(lambda a, b: a + b)(x, V), "3 and 4"),
    (lambda x: wick.grad(lambda a: a)(x), "a float of shape ()"),
    (lambda x: wick.grad(lambda a: a.sum())(jnp.arange(3)), "convert it with astype"),
    (lambda x: wick.checkpoint(x)(x), "wick.checkpoint(f)(x)"),
    (lambda x: wick.tree.map(lambda a, b: a, {"a": x}, {"b": x}), "the structures differ: {'a': *} and {'b': *}"),
    (lambda x: wick.random.normal((3,)), "wick.random.key(seed)"),
    (lambda x: x.at[0].add(jnp.ones(3)), "the shape (3,) does not broadcast to (4,)"),
    (lambda x: jnp.einsum("ij,jk->ik", x, x), "the sizes of `j`"),
    (lambda x: jnp.reshape(x, (5, -1)), "(3, 4) cannot have the shape (5, -1)"),
    (lambda x: jnp.stack([x, object()]), "a value of the type object is given"),
]


@pytest.mark.parametrize("f, message", MISTAKES, ids=[m[:30] for _, m in MISTAKES])
def test_mistake(f, message):
    with pytest.raises(wick.WickError) as caught:
        wick.function(f)(X)
    text, line = str(caught.value), f.__code__.co_firstlineno
    assert message in text
    assert text.startswith(f"{pathlib.Path(__file__)}:{line}: ")


def test_texts_and_keys_without_contents():
    assert wick.function(lambda x: x + len(f"{x}{x:}"))(V)[0] == 1 + 2 * len("<traced f32[4]>")
    with pytest.raises(TypeError):  # as it is of NumPy's arrays
        wick.function(lambda x: hash(x))(V)
