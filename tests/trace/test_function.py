"""wick.function and the transformations: structures, caching, static arguments, errors, derivatives."""
import collections
import dataclasses
import functools
import inspect

import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
import wick.numpy as wnp  # noqa: E402
from wick import lax  # noqa: E402

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Layer:
    w: object
    b: object


def close(a, b, tolerance=1e-5):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def slope(f, x, h=1e-6):
    """The gradient by central differences, in f64."""
    x = np.array(x, np.float64)
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[i] = h
        out[i] = (f(x + d) - f(x - d)) / (2 * h)
    return out


# ---- structures and calls ----


def test_structures():
    @wick.function
    def f(a, b, *, c=None, d):
        return {"sum": a["x"] + a["y"][0], "point": Point(b.w * 2, (b.b,)), "list": [c, d["k"], None], "layer": Layer(b.w, a["y"])}

    x = np.arange(3, dtype=np.float32)
    out = f({"x": x, "y": (1.0, x)}, Layer(x, 2), d=collections.OrderedDict(k=x > 1))
    close(out["sum"], x + 1)
    assert isinstance(out["point"], Point) and out["point"].x.tolist() == [0, 2, 4] and out["point"].y[0] == 2
    assert out["list"][0] is None and out["list"][1].tolist() == [False, False, True] and out["list"][2] is None
    assert isinstance(out["layer"], Layer) and out["layer"].b[0] == 1


def test_structures_are_flattened_and_built():
    t = wick.tree
    x = {"b": [1, (2, None)], "a": Point(3, Layer(4, [5]))}
    leaves, structure = t.flatten(x)
    assert leaves == [3, 4, 5, 1, 2] and t.unflatten(structure, leaves) == x
    assert hash(structure) == hash(t.structure(x)) and structure == t.structure(x) and structure != t.structure([1])
    assert t.map(lambda a, b: a + b, x, x)["b"] == [2, (4, None)]
    assert t.leaves(x) == leaves and "Point" in repr(structure)
    with pytest.raises(wick.InvalidArgument):
        t.unflatten(structure, [1])
    with pytest.raises(wick.TypeMismatch):
        t.map(lambda a, b: a, [1, 2], [1])

    class Own:
        def __init__(self, a, tag):
            self.a, self.tag = a, tag

    t.register(Own, lambda o: ((o.a,), o.tag), lambda tag, parts: Own(parts[0], tag))
    out = wick.function(lambda o: Own(o.a * 2, o.tag))(Own(np.ones(2, np.float32), "t"))
    assert out.a.tolist() == [2, 2] and out.tag == "t"


def test_a_call_traces_once_for_each_kind_of_arguments():
    count = []

    @wick.function
    def f(x):
        count.append(x.shape)
        return x + 1

    for n in (3, 3, 4, 3):
        f(np.ones(n, np.float32))
    f(np.ones(3, np.float64))
    f(2.0), f(3.5), f(2)
    assert count == [(3,), (4,), (3,), (), ()]
    assert f(np.float32(1)) == 2


def test_the_cache_is_bounded(monkeypatch):
    from wick.trace import function
    monkeypatch.setattr(function, "PROGRAMS", 2)
    f = wick.function(lambda x: x * 2)
    for n in range(1, 5):
        f(np.ones(n, np.float32))
    assert len(f._programs) == 2


def test_static_arguments():
    @functools.partial(wick.function, static=("axis", "mode"))
    def f(x, axis, mode="sum"):
        return x.sum(axis=axis) if mode == "sum" else x.mean(axis=axis)

    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    close(f(x, 0), x.sum(0)), close(f(x, axis=1), x.sum(1)), close(f(x, 1, mode="mean"), x.mean(1))
    g = wick.function(lambda n, x: [x * k for k in range(n)], static=0)
    assert len(g(3, x)) == 3
    with pytest.raises(wick.InvalidArgument, match="static: .*parameter"):
        wick.function(lambda x: x, static="y")
    with pytest.raises(wick.TypeMismatch, match="hashable"):
        g([1], x)
    with pytest.raises(wick.TypeMismatch, match="static"):
        wick.function(lambda x, s: x)(x, "text")


def test_donated_arguments():
    @functools.partial(wick.function, donate="state")
    def step(x, state):
        return {"w": state["w"].at[x].add(1.0), "n": state["n"] + 1}

    state = {"w": np.zeros((1000, 4), np.float32), "n": np.zeros(3, np.int64)}
    memory = state["w"].ctypes.data
    for i in range(3):
        state = step(np.int32(i), state)
    assert state["w"].ctypes.data == memory and state["w"][:4, 0].tolist() == [1, 1, 1, 0] and state["n"].tolist() == [3, 3, 3]
    again = wick.function(lambda x, y: (x + y, y * 2), donate=(0,), static=())
    close(again(np.ones(3, np.float32), np.ones(3, np.float32))[0], [2, 2, 2])
    with pytest.raises(wick.InvalidArgument, match="donate: .*parameter"):
        wick.function(lambda x: x, donate="y")


def test_results_of_all_kinds():
    x = np.arange(3, dtype=np.float32)
    f = wick.function(lambda x: (x, x, 1, 2.5, True, [], wnp.zeros(0), np.arange(40), {"k": x[0]}))
    a, b, one, real, truth, empty, none, big, k = f(x)
    assert a.tolist() == b.tolist() == [0, 1, 2] and one == 1 and one.dtype == np.int64 and real.dtype == np.float32 and truth and empty == []
    assert none.shape == (0,) and big.tolist() == list(range(40)) and k["k"] == 0
    assert wick.function(lambda: ())() == () and wick.function(lambda x: None)(x) is None
    assert wick.function(lambda: wnp.arange(3))().tolist() == [0, 1, 2]


def test_numbers_that_have_no_literal():
    f = wick.function(lambda x: [x + wnp.inf, x * 0 - wnp.inf, wnp.nan + x, x * 1e30, x + 1e-45, x.astype(wnp.uint64) + np.uint64(2**64 - 1), x.astype(wnp.int64) + np.int64(-2**63)])
    out = f(np.float32(1))
    assert out[0] == np.inf and out[1] == -np.inf and np.isnan(out[2]) and out[3] == np.float32(1e30) and out[4] == 1
    assert out[5] == 0 and out[6] == -2**63 + 1
    with pytest.raises(wick.OutOfRange, match="300 does not fit in u8"):
        wick.function(lambda x: x + 300)(np.uint8([1]))


@pytest.mark.parametrize("kind", ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64").split())
def test_constants_of_all_types(kind):
    for shape in ((), (3,), (2, 3), (50,)):
        array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(kind)
        out = wick.function(lambda: (array, array[..., None]))()
        assert out[0].dtype == array.dtype and np.array_equal(out[0], array) and out[1].shape == (*shape, 1)


def test_a_constant_is_that_of_the_trace():
    table = np.arange(100, dtype=np.float32)
    f = wick.function(lambda i: table[5] + wnp.asarray(table)[i])
    assert f(3) == 8
    table[:] = 0
    assert f(3) == 8


@pytest.mark.parametrize("size", [17, 1024])
def test_indices_and_masks_are_written_into_the_program(size):
    """Integers and bools, also in the bodies of loops and of transformed functions; longer ones are inputs."""
    i, keep = np.arange(size)[::-1], np.arange(size) % 3 > 0

    def f(x):
        return lax.fori_loop(0, 2, lambda _, x: x + wick.grad(lambda x: wnp.sum(wnp.where(keep, x[i], 0) ** 2))(x), x)

    x = np.arange(size) / np.float32(size)
    lowered = wick.function(f).lower(x)
    assert not lowered.constants and lowered.text.count("let k") == 2
    close(wick.function(f)(x), np.where(keep[::-1], 9 * x, x))
    many = np.zeros(1025, int)
    assert len(wick.function(lambda x: x[many]).lower(x).constants) == 1
    n = line() + 3
    with pytest.raises(wick.WickError) as error:
        wick.function(lambda x, k: x[i] + wnp.sum(
            i // k))(x, np.int64(0))
    assert f"test_function.py:{n}" in str(error.value)


def test_methods_and_functions_in_functions():
    class Model:
        scale = 3.0

        @functools.partial(wick.function, static=0)
        def run(self, x):
            return inner(x) * self.scale

    @wick.function
    def inner(x):
        return x + 1

    assert Model().run(np.float32(1)) == 6


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.ones(3, ml_dtypes.bfloat16)
    out = wick.function(lambda x: x * 1.5 + 1)(x)
    assert out.dtype == ml_dtypes.bfloat16 and out.astype(float).tolist() == [2.5] * 3


# ---- ahead of time ----


def test_lower_compile_save(tmp_path):
    f = wick.function(lambda p, x: {"y": x @ p["w"] + p["b"]})
    low = f.lower({"w": wick.ShapeDtype((3, 2)), "b": wick.ShapeDtype((2,))}, wick.ShapeDtype((4, 3)))
    assert "op.matmul" in low.text and low.text.startswith("fn traced_lambda") or "fn" in low.text
    program = low.compile(threads=1)
    p, x = {"w": np.ones((3, 2), np.float32), "b": np.ones(2, np.float32)}, np.ones((4, 3), np.float32)
    assert program(p, x)["y"].tolist() == [[4, 4]] * 4
    with pytest.raises(wick.TypeMismatch, match=r"compiled for f32\[4, 3\]"):
        program(p, x[:2])
    path = tmp_path / "f.wick"
    program.save(path)
    again = wick.Program.load(path)
    assert np.array_equal(again(p["b"], p["w"], x), program(p, x)["y"])
    (tmp_path / "module.wick").write_text(low.text)
    module = wick.load(tmp_path / "module.wick")
    assert np.array_equal(next(iter(module.functions.values()))(p["b"], p["w"], x), program(p, x)["y"])


# ---- modules of the language ----


def test_functions_of_a_module(tmp_path):
    (tmp_path / "layers.wick").write_text("""
struct Dense[i, o] { w: f32[i, o], b: f32[o] }
fn apply(d: Dense[i, o], x: f32[n, i]) -> f32[n, o] { tanh(x @ d.w + d.b) }
fn both(d: Dense[i, o], p: (f32, f32[i])) -> (Dense[i, o], f32[2 * i]) { (Dense(w = d.w * p.0, b = d.b), concat(p.1, p.1)) }
fn twice(x: f32) -> f32 { if x > 1.0 { x } else { twice(2.0 * x) } }
""")
    m = wick.load(tmp_path / "layers.wick")
    d = m.Dense(w=np.ones((3, 2), np.float32), b=np.zeros(2, np.float32))
    x = np.random.default_rng(0).normal(size=(4, 3)).astype("f")

    @wick.function
    def f(d, x):
        y = m.apply(d, x)
        scaled, pair = m.both(d, (2, x[0]))
        return y.sum(), scaled, pair, m.apply(d=scaled, x=x)

    total, scaled, pair, again = f(d, x)
    close(total, np.tanh(x @ d.w).sum()), close(scaled.w, 2 * d.w), close(pair, np.tile(x[0], 2)), close(again, np.tanh(2 * x @ d.w))
    g = wick.grad(lambda d, x: m.apply(d, x).sum())(d, x)
    close(g.w, x.T @ (1 - np.tanh(x @ d.w) ** 2))
    close(wick.vmap(m.twice)(np.float32([0.3, 5])), [1.2, 5])

    @wick.function
    def layers(x):  # the name of the module
        return m.twice(x)

    assert layers(np.float32(0.3)) == np.float32(1.2)
    refused(lambda d, x: m.apply(d, x[0]), d, x, kind=wick.TypeMismatch, match=["apply: x is f32[n, i]", "f32[3]"])


# ---- errors ----


def line():
    return inspect.currentframe().f_back.f_lineno


def refused(f, *args, kind, match):
    """A call fails with an error that names this file, the line of the lambda, and all of the words."""
    with pytest.raises(kind) as caught:
        wick.function(f)(*args)
    text = str(caught.value)
    assert "test_function.py:" in text, text
    for word in match:
        assert word in text, (word, text)
    return text


def test_errors_name_the_users_line():
    x = np.ones(3, np.float32)

    def branch(x):
        y = x * 2
        if y[0] > 0:
            return y
        return x

    text = refused(branch, x, kind=wick.TypeMismatch, match=["wick.cond", "`if y[0] > 0:`"])
    assert f":{branch.__code__.co_firstlineno + 2}:" in text
    refused(lambda x: float(x[0]), x, kind=TypeError, match=["float()"])
    refused(lambda x: int(x[0]), x, kind=TypeError, match=["int()"])
    refused(lambda x: np.asarray(x), x, kind=TypeError, match=["np.asarray", "wick.numpy"])
    refused(lambda x: range(x.astype(int)[0]), x, kind=TypeError, match=["wick.fori"])
    refused(lambda x: x + np.ones(4, np.float32), x, kind=ValueError, match=["(3,)", "(4,)"])
    refused(lambda x: x @ np.ones((4, 2), np.float32), x, kind=ValueError, match=["(3,)", "(4, 2)", "3 and 4"])
    refused(lambda x: x.reshape(2, 2), x, kind=ValueError, match=["(3,)", "(2, 2)"])
    refused(lambda x: wnp.concat([x, x[None]]), x, kind=ValueError, match=["(3,)", "(1, 3)"])
    refused(lambda x: x.sum(axis=2), x, kind=IndexError, match=["axis 2"])
    refused(lambda x: x & 1, x, kind=TypeError, match=["bitwise_and", "f32"])
    refused(lambda x: x.astype("datetime64[s]"), x, kind=TypeError, match=["datetime64"])
    refused(lambda x: wnp.zeros(x.astype(int)), x, kind=TypeError, match=["static"])
    refused(lambda x: x.at[0].set(np.ones(2, np.float32)), x, kind=ValueError, match=["(2,)", "()"])
    with pytest.raises(TypeError, match="at\\[index\\]"):
        def assign(x):
            x[0] = 1
        wick.function(assign)(x)
    with pytest.raises(TypeError, match="datetime64"):
        wick.function(lambda x: x)(np.ones(2, "datetime64[s]"))


def test_arrays_of_a_trace_do_not_leave_it():
    kept = []
    wick.function(lambda x: kept.append(x))(np.ones(2, np.float32))
    with pytest.raises(wick.InvalidArgument, match="outside of the function that was traced"):
        wick.function(lambda x: x + kept[0])(np.ones(2, np.float32))


def test_a_run_that_fails_names_the_users_line():
    f = wick.function(lambda x, i: x.at[wnp.stack([i])].set(1.0, mode="promise_in_bounds"))
    with pytest.raises(wick.OutOfRange, match=r"test_function.py:\d+: .*index"):
        f(np.ones(3, np.float32), 5)


# ---- derivatives ----


def rosenbrock(x):
    return wnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_np(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def test_gradients():
    x = np.random.default_rng(0).normal(size=5)
    close(wick.grad(rosenbrock)(x), slope(rosenbrock_np, x), 1e-4)
    value, g = wick.value_and_grad(rosenbrock)(x)
    close(value, rosenbrock_np(x)), close(g, slope(rosenbrock_np, x), 1e-4)
    h = np.array([slope(lambda x: slope(rosenbrock_np, x, 1e-4)[i], x, 1e-4) for i in range(5)])
    close(wick.hessian(rosenbrock)(x), h, 1e-3)
    close(wick.jacfwd(wick.grad(rosenbrock))(x), h, 1e-3), close(wick.jacrev(wick.jacrev(rosenbrock))(x), h, 1e-3)


def test_gradients_of_structures():
    def loss(p, x, y):
        return wnp.mean((wnp.tanh(x @ p["w"].w + p["w"].b) @ p["v"][0] - y) ** 2)

    r = np.random.default_rng(1)
    p = {"w": Layer(r.normal(size=(3, 4)), r.normal(size=4)), "v": (r.normal(size=4),)}
    x, y = r.normal(size=(6, 3)), r.normal(size=6)
    g = wick.grad(loss)(p, x, y)

    def plain(w):
        return np.mean((np.tanh(x @ w + p["w"].b) @ p["v"][0] - y) ** 2)

    assert isinstance(g["w"], Layer)
    close(g["w"].w, slope(plain, p["w"].w), 1e-6)
    gp, gy = wick.grad(loss, argnums=(0, 2))(p, x, y)
    close(gp["v"][0], g["v"][0])
    close(gy, slope(lambda y: np.mean((np.tanh(x @ p["w"].w + p["w"].b) @ p["v"][0] - y) ** 2), y), 1e-6)
    close(wick.grad(loss, 1)(p, x, y), slope(lambda x: np.mean((np.tanh(x @ p["w"].w + p["w"].b) @ p["v"][0] - y) ** 2), x), 1e-6)
    (value, aux), g2 = wick.value_and_grad(lambda p: (loss(p, x, y), {"n": 3, "x": p["v"][0] * 2}), has_aux=True)(p)
    close(aux["x"], p["v"][0] * 2), close(g2["w"].b, g["w"].b), close(value, loss_np(p, x, y))
    g3, aux = wick.grad(lambda p: (loss(p, x, y), p["v"][0]), has_aux=True)(p)
    close(g3["w"].w, g["w"].w)


def loss_np(p, x, y):
    return np.mean((np.tanh(x @ p["w"].w + p["w"].b) @ p["v"][0] - y) ** 2)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("index", [[3, 0, -4], [2, 2, 1, 0], [1, 4, 0, 2, 3], [[3, -1], [0, 2]], [-2], [[1, 3, 4, 0, 2] * 2]])
def test_gradients_of_indices_that_are_known(index, axis):
    """They are put in their places, or added where an index occurs twice; other elements have the derivative 0."""
    index, rng = np.array(index), np.random.default_rng(0)
    x = rng.normal(size=(5, 5, 5))
    at = (slice(None),) * axis + (index,)
    w = rng.normal(size=x[at].shape)

    def f(x):
        return wnp.sum(x[at] ** 3 * w)

    expected, second = np.zeros_like(x), np.zeros_like(x)
    np.add.at(expected, at, 3 * x[at] ** 2 * w)
    np.add.at(second, at, 6 * x[at] * w)
    close(wick.function(wick.grad(f))(x), expected, 1e-12)
    close(wick.function(lambda x, i: wick.grad(lambda x: wnp.sum(x[at[:-1] + (i,)] ** 3 * w))(x))(x, index), expected, 1e-12)
    close(wick.function(wick.grad(lambda x: wnp.sum(wick.grad(f)(x))))(x), second, 1e-12)


def test_an_infinite_cotangent_stays_in_its_place():
    i = np.array([4, 1, 3])
    g = wick.function(wick.grad(lambda x: wnp.sum(wnp.sqrt(x[i]))))(np.array([1, 0, 1, 4, 1], np.float32))
    close(g, [0, np.inf, 0, 0.25, 0.5])


def test_vjp_and_jvp():
    f = lambda x, y: (wnp.sin(x) * y, wnp.sum(x * y))
    x, y = np.float64([1, 2, 3]), np.float64([0.5, 0.1, 2])
    (a, b), back = wick.vjp(f, x, y)
    close(a, np.sin(x) * y), close(b, np.sum(x * y))
    gx, gy = back((np.ones(3), np.float64(2)))
    close(gx, np.cos(x) * y + 2 * y), close(gy, np.sin(x) + 2 * x)
    (a, b), (da, db) = wick.jvp(f, (x, y), (np.ones(3), np.zeros(3)))
    close(da, np.cos(x) * y), close(db, y.sum())
    inside = wick.function(lambda x, y: wick.vjp(f, x, y)[1]((x * 0 + 1, x[0] * 0 + 2)))
    close(inside(x, y)[0], gx)
    out, back, aux = wick.vjp(lambda x: (x * x, {"a": x + 1}), x, has_aux=True)
    close(back(np.ones(3))[0], 2 * x), close(aux["a"], x + 1)


def test_derivatives_of_what_is_beside_a_value():
    """A derivative leaves alone what is beside the value; a derivative of it does not."""
    x = np.float64([1, 2, 3])
    loss = lambda x: (wnp.sum(x ** 3), (wnp.sin(x), wnp.sqrt(x - x[0])))

    def outer(x):
        (value, (aux, _)), slope = wick.value_and_grad(loss, has_aux=True)(x)
        return value + wnp.sum(aux) + wnp.sum(slope)

    close(wick.grad(outer)(x), 3 * x ** 2 + np.cos(x) + 6 * x)
    close(wick.jvp(outer, (x,), (x,))[1], np.sum((3 * x ** 2 + np.cos(x) + 6 * x) * x))

    def pulled(x):
        (a, b), back, aux = wick.vjp(lambda x: ((x ** 2, wnp.exp(x)), wnp.sin(x)), x, has_aux=True)
        return wnp.sum(a + b + aux + back((x, 0 * x))[0])

    close(wick.grad(pulled)(x), 2 * x + np.exp(x) + np.cos(x) + 4 * x)


def test_vmap():
    r = np.random.default_rng(2)
    w, x = r.normal(size=(3, 4)).astype("f"), r.normal(size=(5, 4)).astype("f")
    f = lambda w, x: {"y": w @ x, "n": wnp.sum(x)}
    close(wick.vmap(f, in_axes=(None, 0))(w, x)["y"], x @ w.T)
    close(wick.vmap(f, in_axes=(None, 1))(w, x.T)["y"], x @ w.T)
    close(wick.vmap(f, in_axes=(None, 0), out_axes={"y": 1, "n": 0})(w, x)["y"], w @ x.T)
    close(wick.vmap(wick.vmap(lambda a, b: a * b, (0, None)), (None, 0))(x[0], x[1]), np.outer(x[1], x[0]))
    close(wick.vmap(lambda p, x: p["a"] * x, in_axes=({"a": 0}, None))({"a": x[0]}, 2.0), 2 * x[0])
    close(wick.vmap(wick.grad(lambda w, x: wnp.sum(wnp.sin(w @ x))), (None, 0))(w, x)[2], np.outer(np.cos(w @ x[2]), x[2]))
    close(wick.grad(lambda x: wnp.sum(wick.vmap(lambda r: wnp.sum(r * r))(x)))(x), 2 * x)
    close(wick.vmap(lambda x, *, k: x * k)(x, k=x), x * x)
    with pytest.raises(wick.InvalidArgument, match="4 and 5"):
        wick.vmap(lambda a, b: a)(x, x[0])


def test_jacobians_of_structures():
    f = lambda p: (p["a"] ** 2 * p["b"], wnp.sum(p["a"]))
    p = {"a": np.float64([1, 2, 3]), "b": np.float64(2.0)}
    for jacobian in (wick.jacfwd, wick.jacrev):
        first, second = jacobian(f)(p)
        close(first["a"], np.diag(2 * p["a"] * p["b"])), close(first["b"], p["a"] ** 2)
        close(second["a"], np.ones(3)), close(second["b"], 0)


def test_checkpoint_stop_gradient_and_own_derivatives():
    x = np.float64([0.3, 0.7])
    f = lambda x: wnp.sum(wnp.sin(x) * x)
    close(wick.grad(wick.checkpoint(f))(x), np.cos(x) * x + np.sin(x))
    close(wick.grad(lambda x: wnp.sum(wick.stop_gradient(x) * x))(x), x)

    @wick.custom_vjp
    def clipped(x, y):
        return {"out": x * y}

    clipped.defvjp(lambda x, y: (clipped(x, y), (x, y)), lambda kept, d: (wnp.clip(d["out"] * kept[1], -1, 1), None))
    gx, gy = wick.grad(lambda x, y: wnp.sum(clipped(x, y)["out"] * 3), argnums=(0, 1))(x, np.float64([0.2, 5]))
    close(gx, [0.6, 1.0]), close(gy, [0, 0])
    close(clipped(x, x)["out"], x * x)


def test_own_derivatives_with_derivatives_of_captured_arrays():
    @wick.function
    def f(a, x):
        @wick.custom_vjp
        def newton(shift):
            value = lambda w: wnp.sum((a @ w) ** 2) + w @ w
            return -wnp.linalg.solve(wick.stop_gradient(wick.hessian(value)(x)), wick.grad(value)(x)) + shift

        newton.defvjp(lambda shift: (newton(shift), shift), lambda _, d: (7 * wnp.sum(d),))
        return newton(0.5), wick.grad(lambda shift: wnp.sum(newton(shift)))(0.5)

    value, slope = f(np.float32([[1, 2], [0, 3]]), np.float32([1, -1]))
    close(value, [-0.5, 1.5]), close(slope, 14)


def test_gradients_of_whole_numbers_may_be_allowed():
    p = {"w": np.float64([1, 2]), "n": np.int32(3), "on": np.array([True])}
    found = wick.grad(lambda p: wnp.sum(wnp.where(p["on"], p["w"] ** p["n"], 0)), allow_int=True)(p)
    close(found["w"], [3, 12])
    assert found["n"] == 0 and found["n"].dtype == np.int32 and found["on"].tolist() == [False]
    (value, aux), found = wick.value_and_grad(lambda n, w: (w * n, n + 1), argnums=(0, 1), has_aux=True, allow_int=True)(3, 2.0)
    assert value == 6 and aux == 4 and found[0] == 0 and found[1] == 3


def test_gradients_of_whole_numbers_are_refused():
    with pytest.raises(wick.TypeMismatch, match="i64"):
        wick.grad(lambda i: i * 2.0)(3)
    with pytest.raises(wick.TypeMismatch, match=r"f32\[2\]"):
        wick.grad(lambda x: x)(np.ones(2, np.float32))


def test_grad_serves_models_and_functions():
    model = wick.load(b"graph @main(%x: f32[3]) -> f32[] { %y = reduce_sum_square %x {keepdims=false} : f32[] return %y }", "m.wick")
    x = np.float32([1, 2, 3])
    close(wick.grad(model)(x)[1]["x"], 2 * x)
    close(wick.grad(lambda x: wnp.sum(x * x))(x), 2 * x)


# ---- random transformations of random functions ----


def random_function(rng, depth):
    """(f on wick.numpy, f on NumPy) of a vector of four elements, smooth on (0.2, 2)."""
    if depth == 0:
        return (lambda m, x: x), (lambda m, x: x)
    f, g = random_function(rng, depth - 1), random_function(rng, depth - 1)
    k = int(rng.integers(0, 8))
    c = float(rng.uniform(0.5, 1.5))
    w = rng.normal(size=(4, 4)) / 2
    rules = [lambda m, x, f, g: m.sin(f(m, x)) + c, lambda m, x, f, g: f(m, x) * g(m, x) / 4, lambda m, x, f, g: m.tanh(m.matmul(w, f(m, x))), lambda m, x, f, g: m.exp(-f(m, x) ** 2),
             lambda m, x, f, g: f(m, x)[::-1] + m.sum(g(m, x)) / 8, lambda m, x, f, g: m.cumsum(f(m, x)) / 3, lambda m, x, f, g: m.where(x > 1, f(m, x), 0.5 * g(m, x)),
             lambda m, x, f, g: m.sqrt(f(m, x) ** 2 + c) - m.roll(g(m, x), 1)]
    return tuple([lambda m, x, a=a, b=b: rules[k](m, x, a, b) for a, b in zip(f, g)])


@pytest.mark.parametrize("seed", range(8))
def test_transformations_of_random_functions(seed):
    rng = np.random.default_rng(seed)
    f = random_function(rng, 4)[0]
    x, d = rng.uniform(0.2, 0.9, 4), rng.normal(size=4)
    plain, traced = (lambda x: f(np, x)), (lambda x: f(wnp, x))
    close(wick.function(traced)(x), plain(x), 1e-10)
    jacobian = np.stack([slope(lambda x: plain(x)[i], x) for i in range(4)])
    close(wick.jacfwd(traced)(x), jacobian, 1e-6), close(wick.jacrev(traced)(x), jacobian, 1e-6)
    close(wick.jvp(traced, (x,), (d,))[1], jacobian @ d, 1e-6)
    close(wick.vjp(traced, x)[1](d)[0], jacobian.T @ d, 1e-6)
    xs = rng.uniform(0.2, 0.9, (3, 4))
    close(wick.vmap(traced)(xs), np.stack([plain(r) for r in xs]), 1e-10)
    close(wick.vmap(wick.jacrev(traced))(xs)[1], np.stack([slope(lambda x: plain(x)[i], xs[1]) for i in range(4)]), 1e-6)
    second = lambda x: np.dot(slope(lambda y: plain(y).sum(), x, 1e-5), d)
    close(wick.grad(lambda x: wnp.dot(wick.grad(lambda y: wnp.sum(traced(y)))(x), d))(x), slope(second, x, 1e-4), 1e-3)


def test_names_of_the_program_are_not_types():
    """The 32nd name of a trace is no type of the language, though f32 and i32 are."""
    from wick.trace.scope import Root
    for prefix in ("f", "i", "v"):
        root = Root("name")
        assert not {"f16", "f32", "f64", "i8", "i16", "i32", "i64"} & {root.fresh(prefix) for _ in range(70)}


def test_limits_of_an_arrays_type():
    assert wick.function(lambda x: x * 0 + wnp.finfo(x.dtype).max)(np.float32(1)) == np.finfo(np.float32).max
    assert wnp.iinfo(np.zeros(1, np.int8)).max == 127 and wnp.finfo("float64").bits == 64


def test_at_of_results():
    """Results outside of traced functions have x.at, which gives new arrays."""
    x = wnp.zeros((3, 4))
    y = x.at[0].set(1.0).at[:, 1].add(2).at[np.array([2, 9]), -1].set(5.0)
    close(x, np.zeros((3, 4)))
    close(y, [[1, 3, 1, 1], [0, 2, 0, 0], [0, 2, 0, 5]])
    close((y * 2).at[1:3, ::2].add(1).at[wnp.array([True, False, False])].set(0), [[0, 0, 0, 0], [1, 4, 1, 0], [1, 4, 1, 10]])
    assert y.at[..., None].get().shape == (3, 4, 1) and y.at[0, 0].apply(lambda v: v * 4)[0, 0] == 4
    for scalar in (y.sum(), y.max(), y.mean(), y[0, 1], np.sum(y), y.std(), y.dot(y[0])[0], y.any()):
        assert isinstance(scalar, np.generic), type(scalar)
    made = wick.function(lambda x: {"a": x + 1, "b": x.sum()})(y)
    close(made["a"].at[1].max(2.5)[1], [2.5, 3, 2.5, 2.5])
    assert isinstance(made["a"], np.ndarray) and repr(made["a"][0]) == "array([2., 4., 2., 2.], dtype=float32)"
    refused(lambda: y.at[0].set(np.ones(2, np.float32)), kind=ValueError, match=["(2,)", "(4,)"])


def test_numbers_alone_have_the_default_types():
    for x in (0.7, np.float64(0.7), np.float32(0.7)):
        assert wick.grad(lambda v: v * v)(x).dtype == np.float32
        assert wick.function(lambda v: v * v)(x).dtype == np.float32
    assert wick.grad(lambda v: v * v)(np.array(0.7)).dtype == np.float64
    assert wick.function(lambda v: v * v)(np.int64(3)).dtype == np.int64
