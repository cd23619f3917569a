"""Nodes of more operands or results than an ordinary model's have: 300, and what a node cannot have."""

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402

import built  # noqa: E402, F401: finds the package
from wick import backend  # noqa: E402

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
N = 300
PARTS = [f"part{i}" for i in range(N)]
X = np.arange(N, dtype=np.float32)
node = helper.make_node


def value(name, shape, kind=F):
    return helper.make_tensor_value_info(name, kind, shape)


def values(suffix=""):
    return [value(part + suffix, [1]) for part in PARTS]


def split(x="x", suffix=""):
    return node("Split", [x], [part + suffix for part in PARTS], axis=0, num_outputs=N)


def run(nodes, inputs, outputs, *feed):
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return backend.prepare(m, cache="").run(list(feed))


def test_split_into_outputs():
    got = run([split()], [value("x", [N])], values(), X)
    np.testing.assert_array_equal(np.concatenate(got), X)


def test_split_and_concat():
    join = node("Concat", PARTS[::-1], ["y"], axis=0)
    (got,) = run([split(), join], [value("x", [N])], [value("y", [N])], X)
    np.testing.assert_array_equal(got, X[::-1])


@pytest.mark.parametrize("op,expected", [("Sum", X.sum()), ("Max", X.max()), ("Mean", X.mean())])
def test_variadic(op, expected):
    (got,) = run([node(op, PARTS, ["y"])], values(), [value("y", [1])], *(X[i : i + 1] for i in range(N)))
    np.testing.assert_allclose(got, [expected], rtol=1e-6)


def test_if():
    yes = helper.make_graph([split(suffix="t")], "yes", [], values("t"))
    no = helper.make_graph([node("Neg", ["x"], ["n"]), split("n", "e")], "no", [], values("e"))
    nodes = [
        node("If", ["c"], PARTS, then_branch=yes, else_branch=no),
        node("Concat", PARTS[::-1], ["y"], axis=0),
    ]
    for c in (True, False):
        (got,) = run(nodes, [value("c", [], B), value("x", [N])], [value("y", [N])], np.array(c), X)
        np.testing.assert_array_equal(got, X[::-1] if c else -X[::-1])


def test_loop():
    body = helper.make_graph(
        [node("Identity", ["c"], ["d"])] + [node("Neg", [p + "i"], [p + "o"]) for p in PARTS],
        "body",
        [value("i", [], I), value("c", [], B), *values("i")],
        [value("d", [], B), *values("o")],
    )
    nodes = [
        split(suffix="s"),
        node("Loop", ["count", ""] + [p + "s" for p in PARTS], PARTS, body=body),
        node("Concat", PARTS, ["y"], axis=0),
    ]
    for count in (2, 3):
        (got,) = run(nodes, [value("count", [], I), value("x", [N])], [value("y", [N])], np.array(count), X)
        np.testing.assert_array_equal(got, (-1) ** count * X)


def test_more_than_a_node_has():
    n = 65536
    parts = [f"part{i}" for i in range(n)]
    nodes = [node("Split", ["x"], parts, axis=0, num_outputs=n), node("Neg", parts[:1], ["y"])]
    with pytest.raises(Exception, match="Split.*: parts is 65536, expected 1 to 65535"):
        run(nodes, [value("x", [n])], [value("y", [1])], np.zeros(n, np.float32))
    with pytest.raises(Exception, match="concat: too many operands"):
        run([node("Concat", ["x"] * n, ["y"], axis=0)], [value("x", [1])], [value("y", [n])], X[:1])
