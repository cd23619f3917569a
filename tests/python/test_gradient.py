"""Derivatives from Python, and the operator Gradient of ONNX's training preview, against central differences."""

import pickle

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402

TRAINING = "ai.onnx.preview.training"
node = helper.make_node


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WICK_CACHE_DIR", str(tmp_path / "cache"))


def model(nodes, inputs, outputs, constants=(), made=TensorProto.DOUBLE):
    info = [[helper.make_tensor_value_info(n, elem, s) for n, s in which.items()]
            for which, elem in ((inputs, TensorProto.DOUBLE), (outputs, made))]
    graph = helper.make_graph(nodes, "g", *info,
                              [numpy_helper.from_array(v, k) for k, v in dict(constants).items()])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(TRAINING, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def network(w, n=2):
    """A small network in f64: a convolution, norm, pool, product and softmax's loss."""
    nodes = [node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
             node("InstanceNormalization", ["c", "s", "z"], ["i"]), node("Elu", ["i"], ["r"]),
             node("AveragePool", ["r"], ["p"], kernel_shape=[2, 2]), node("Flatten", ["p"], ["f"]),
             node("Gemm", ["f", "m"], ["h"], transB=1), node("LogSoftmax", ["h"], ["l"]),
             node("ReduceMean", ["l"], ["loss"], keepdims=0)]
    rng = np.random.default_rng(1)
    constants = {"w": w, "s": np.ones(4), "z": np.zeros(4), "m": rng.normal(size=(5, 16))}
    return model(nodes, {"x": [n, 3, 5, 6]}, {"loss": [], "h": None}, constants)


def difference(f, x, step=1e-5):
    by = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[at] += step
        down[at] -= step
        by[at] = (f(up) - f(down)) / (2 * step)
    return by


def test_inputs_and_weights():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 3, 5, 6)), rng.normal(size=(4, 3, 3, 3))
    gradient = wick.grad(network(w), wrt=["x", "w"])
    (loss, h), by = gradient(x)
    assert list(by) == ["x", "w"] and h.shape == (2, 5)
    program = wick.compile(network(w))
    np.testing.assert_array_equal(program(x)[0], loss)
    np.testing.assert_allclose(by["x"], difference(lambda v: program(v)[0], x), atol=1e-9)
    some = rng.normal(size=w.shape)
    near = [wick.run(network(w + d * some), x)[0] for d in (1e-5, -1e-5)]
    np.testing.assert_allclose((by["w"] * some).sum(), (near[0] - near[1]) / 2e-5, rtol=1e-6)


def test_a_tensor_on_the_way_weighed():
    rng = np.random.default_rng(0)
    x, w, weight = rng.normal(size=(2, 3, 5, 6)), rng.normal(size=(4, 3, 3, 3)), rng.normal(size=(2, 5))
    gradient = wick.grad(network(w), wrt=["f"], of="h", cotangent=True)
    _, by = gradient(x, **{"h.grad": weight})
    m = np.random.default_rng(1).normal(size=(5, 16))
    np.testing.assert_allclose(by["f"], weight @ m, rtol=1e-12)


def test_open_sizes_and_pickles():
    w = np.random.default_rng(0).normal(size=(4, 3, 3, 3))
    gradient = wick.grad(network(w, "N"))
    again = pickle.loads(pickle.dumps(gradient.model))
    assert [o.name for o in again.outputs] == ["loss", "h", "x.grad"]
    for n in (1, 3):
        x = np.random.default_rng(n).normal(size=(n, 3, 5, 6))
        _, by = gradient(x)
        _, fixed = wick.grad(network(w, n))(x)
        np.testing.assert_array_equal(by["x"], fixed["x"])
    _, by = wick.grad(network(w, "N"), wrt=["w", "x"])(np.zeros((1, 3, 5, 6)))
    assert by["w"].shape == w.shape and by["x"].shape == (1, 3, 5, 6)
    with pytest.raises(wick.InvalidArgument, match="there is no tensor \"q\""):
        wick.grad(network(w, "N"), wrt="q")


def test_of_a_derivative():
    cube = model([node("Mul", ["x", "x"], ["a"]), node("Mul", ["a", "x"], ["y"])], {"x": [3]}, {"y": [3]})
    x = np.float64([1, -2, 0.5])
    first = wick.grad(cube)
    second = wick.grad(first.model, of="x.grad", wrt="x")
    third = wick.grad(second.model, of="x.grad2", wrt="x")
    np.testing.assert_allclose(first(x)[1]["x"], 3 * x * x)
    np.testing.assert_allclose(second(x)[1]["x"], 6 * x)
    np.testing.assert_allclose(third(x)[1]["x"], np.full(3, 6.0))


def test_what_is_refused():
    ints = model([node("ArgMax", ["x"], ["y"])], {"x": [3]}, {"y": [1]}, made=TensorProto.INT64)
    with pytest.raises(wick.InvalidArgument, match="the first result has no derivatives"):
        wick.grad(ints)
    square = model([node("Mul", ["x", "x"], ["y"])], {"x": [3]}, {"y": [3]})
    with pytest.raises(wick.InvalidArgument, match="there is no tensor \"z\""):
        wick.grad(square, wrt="z")


# ---- branches and loops ----


def body(name, nodes, inputs, outputs):
    info = [[helper.make_tensor_value_info(n, *t) for n, t in which] for which in (inputs, outputs)]
    return helper.make_graph(nodes, name, *info)


SCALAR, FLAG, NUMBER, STATE = ((TensorProto.DOUBLE, []), (TensorProto.BOOL, []), (TensorProto.INT64, []),
                               (TensorProto.DOUBLE, [3]))


def compared(nodes, inputs, outputs, constants=(), **arrays):
    m = model(nodes, inputs, outputs, constants)
    program, (_, by) = wick.compile(m), wick.grad(m)(**arrays)
    for name, got in by.items():
        want = difference(lambda v: np.asarray(program(**{**arrays, name: v})).sum(), arrays[name])
        np.testing.assert_allclose(got, want, rtol=5e-6, atol=1e-8 * max(1, np.abs(want).max()))
    return by


def test_a_loop_that_runs_while_its_values_are_small():
    steps = body("steps", [node("Mul", ["h", "w"], ["n"]), node("ReduceMax", ["n"], ["m"], keepdims=0),
                           node("Less", ["m", "four"], ["on1"])],
                 [("i", NUMBER), ("on", FLAG), ("h", STATE)], [("on1", FLAG), ("n", STATE)])
    nodes = [node("Loop", ["", "", "x"], ["y"], body=steps)]
    for last, count in ((1.7, 5), (1.01, 300)):  # differences do not change the count
        w, x = np.float64([1.1, 1.001, last]) ** (5 / count), np.float64([0.1, 0.2, 4 * last ** (0.5 - count)])
        w[2] = last
        by = compared(nodes, {"x": [3], "w": [3]}, {"y": [3]}, {"four": np.float64(4)}, x=x, w=w)
        np.testing.assert_allclose(by["x"], w ** count)


def test_a_scan_in_a_branch():
    step = body("step", [node("MatMul", ["h", "w"], ["a"]), node("Add", ["a", "s"], ["b"]), node("Tanh", ["b"], ["n"]),
                         node("Identity", ["n"], ["r"])],
                [("h", STATE), ("s", STATE)], [("n", STATE), ("r", STATE)])
    rows = (TensorProto.DOUBLE, [5, 3])
    arms = {"then_branch": body("scans", [node("Scan", ["x", "xs"], ["last", "all"], num_scan_inputs=1, body=step)], [],
                                [("all", rows)]),
            "else_branch": body("keeps", [node("Mul", ["xs", "x"], ["all"])], [], [("all", rows)])}
    nodes = [node("ReduceSum", ["x"], ["t"], keepdims=0), node("Greater", ["t", "zero"], ["p"]),
             node("If", ["p"], ["y"], **arms)]
    rng = np.random.default_rng(3)
    for sign in (1, -1):
        compared(nodes, {"x": [3], "w": [3, 3], "xs": [5, 3]}, {"y": [5, 3]}, {"zero": np.float64(0)},
                 x=sign * np.abs(rng.normal(size=3)), w=rng.normal(size=(3, 3)), xs=rng.normal(size=(5, 3)))


def test_operator_through_a_loop_at_other_values():
    steps = body("steps", [node("Mul", ["h", "x"], ["n"]), node("Identity", ["on"], ["on1"])],
                 [("i", NUMBER), ("on", FLAG), ("h", SCALAR)], [("on1", FLAG), ("n", SCALAR)])
    nodes = [node("Loop", ["seven", "", "x"], ["y"], body=steps),
             node("Gradient", ["v"], ["d"], domain=TRAINING, xs=["x"], y="y"),
             node("Gradient", ["x"], ["e"], domain=TRAINING, xs=["x"], y="y"),
             node("Gradient", ["x"], ["f"], domain=TRAINING, xs=["x"], y="e")]
    m = model(nodes, {"x": [], "v": []}, {"d": [], "e": [], "f": []}, {"seven": np.int64(7)})
    d, e, f = wick.run(m, x=np.float64(1.25), v=np.float64(0.75))
    np.testing.assert_allclose([d, e, f], [8 * 0.75 ** 7, 8 * 1.25 ** 7, 56 * 1.25 ** 6])


# ---- the operator ----


def preview(nodes, inputs, gradient, count):
    outs = [f"d{i}" for i in range(count)]
    m = model([*nodes, gradient(outs)], inputs, {o: None for o in outs})
    return lambda **arrays: wick.run(m, **arrays)


CHAIN = [node("Sin", ["x"], ["h"]), node("Mul", ["h", "z"], ["y"])]  # y = sin(x) z


def test_operator_by_a_tensor_on_the_way():
    def gradient(outs):
        return node("Gradient", ["h", "z"], outs, domain=TRAINING, xs=["h", "z"], y="y")

    x, z = np.float64(0.3), np.float64(2)
    dh, dz = preview(CHAIN, {"x": [], "z": []}, gradient, 2)(x=x, z=z)
    assert (float(dh), float(dz)) == (2.0, float(np.sin(x)))


def test_operator_at_other_values():
    def gradient(outs):
        return node("Gradient", ["v", "v"], outs, domain=TRAINING, xs=["x", "z"], y="y")

    run = preview(CHAIN, {"x": [], "z": [], "v": []}, gradient, 2)
    dx, dz = run(x=np.float64(9), z=np.float64(9), v=np.float64(0.7))
    np.testing.assert_allclose([dx, dz], [np.cos(0.7) * 0.7, np.sin(0.7)])


def test_operator_twice_and_without_dependence():
    def gradient(outs):
        return node("Gradient", ["x", "z", "u"], outs, domain=TRAINING, xs=["x", "z"], zs=["u"], y="first")

    first = node("Gradient", ["x", "z"], ["first"], domain=TRAINING, xs=["x"], zs=["z"], y="y")
    run = preview([*CHAIN, first], {"x": [], "z": [], "u": []}, gradient, 2)
    dxx, dxz = run(x=np.float64(0.4), z=np.float64(3), u=np.float64(1))
    np.testing.assert_allclose([dxx, dxz], [-3 * np.sin(0.4), np.cos(0.4)])


def test_operator_refused():
    def gradient(outs):
        return node("Gradient", ["x"], outs, domain=TRAINING, xs=["x", "z"], y="y")

    with pytest.raises(wick.InvalidModel, match="2 tensors are named, and it has 1 inputs"):
        preview(CHAIN, {"x": [], "z": []}, gradient, 2)(x=np.float64(1), z=np.float64(1))


def test_gradients_of_gradients_are_bounded():
    names = ["y"]
    nodes = [node("Tanh", ["x"], ["y"])]
    for k in range(60):
        names.append(f"g{k}")
        nodes.append(node("Gradient", ["x"], names[-1:], domain=TRAINING, xs=["x"], y=names[-2]))
    with pytest.raises(wick.LimitReached, match="too many nodes"):
        wick.load(model(nodes, {"x": []}, {names[-1]: []}))
