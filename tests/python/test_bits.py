"""Equal inputs give equal bits in every session: in whatever order sizes occur, specialized or not, on one thread
and two, by `wick run` and from an artifact."""
import os
import pathlib
import subprocess

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from built import BUILD  # noqa: E402
import wick  # noqa: E402

SHARED = pathlib.Path(__file__).parents[2] / "../shared/models"
ORDERS = 200


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    """Sessions of one model share the code; none of it is from before."""
    before = os.environ.get("WICK_CACHE_DIR")
    os.environ["WICK_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
    yield
    os.environ.pop("WICK_CACHE_DIR")
    if before is not None:
        os.environ["WICK_CACHE_DIR"] = before


def random_model(seed):
    """Layers over x: f32[N, T, 16], whose order and weights are the seed's."""
    rng = np.random.default_rng(seed)
    nodes, weights = [], []

    def weight(*shape):
        weights.append(numpy_helper.from_array((rng.standard_normal(shape) / 4).astype("f"), f"w{len(weights)}"))
        return weights[-1].name

    def node(op, *inputs, **attributes):
        nodes.append(helper.make_node(op, inputs, [f"v{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    def attention(x):
        scores = node("MatMul", x, node("Transpose", x, perm=[0, 2, 1]))
        return node("MatMul", node("Softmax", scores, axis=-1), x)

    def conv(x):
        y = node("Conv", node("Transpose", x, perm=[0, 2, 1]), weight(16, 16, 3), weight(16), pads=[1, 1])
        return node("Transpose", y, perm=[0, 2, 1])

    layers = [attention, conv,
              lambda x: node("Add", node("MatMul", x, weight(16, 16)), weight(16)),
              lambda x: node("LayerNormalization", x, weight(16), weight(16), axis=-1),
              lambda x: node(str(rng.choice(["Relu", "Tanh", "Sigmoid", "Erf", "Softplus"])), x),
              lambda x: node("Add", x, node("ReduceMean", x, axes=[1], keepdims=1)),
              lambda x: node("Div", x, node("Add", node("ReduceL2", x, axes=[2], keepdims=1), weight(1))),
              lambda x: node("MatMul", node("Concat", x, node("Softmax", x, axis=1), axis=2), weight(32, 16))]
    x = "x"
    for k in rng.integers(0, len(layers), 6):
        x = layers[k](x)
    s = node("ReduceSum", x, keepdims=0)
    shape = lambda *dims: [TensorProto.FLOAT, list(dims)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", *shape("N", "T", 16))],
                              [helper.make_tensor_value_info(x, *shape("N", "T", 16)), helper.make_tensor_value_info(s, *shape())], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def broadcasting():
    """Sizes that the program for all takes to be equal: others have code of their own."""
    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["c"]), helper.make_node("ReduceSum", ["c"], ["s"], keepdims=0)], "g",
                              [helper.make_tensor_value_info(n, TensorProto.FLOAT, [s]) for n, s in ("aN", "bM")],
                              [helper.make_tensor_value_info("s", TensorProto.FLOAT, [])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()


def feeds_of(session, sizes, seed):
    rng = np.random.default_rng(seed)

    def array(port):
        shape = [d if isinstance(d, int) else sizes[d] for d in port.shape]
        if port.type == "tensor(float)":
            return rng.standard_normal(shape).astype("f")
        return np.ones(shape, np.int64) if "mask" in port.name else np.zeros(shape, np.int64) + rng.integers(0, 2, shape)

    return {i.name: array(i) for i in session.get_inputs()}


def session_of(model, rng, most=None):
    o = wick.SessionOptions()
    o.intra_op_num_threads = int(rng.integers(1, 3))
    return wick.InferenceSession(model, o, auto_specialize=int(rng.choice([0, 4])) if most is None else most)


def bits(outputs):
    return [np.asarray(y).tobytes() for y in outputs]


def orders(model, feeds, want, count, rng, repeat=1):
    for _ in range(count):
        session = session_of(model, rng)
        for k in rng.permutation(len(feeds)):
            for _ in range(repeat):
                assert bits(session.run(None, feeds[k])) == want[k], f"input {k}"


CASES = {f"random{seed}": (lambda seed=seed: random_model(seed), [{"N": n, "T": t} for n, t in [(1, 1), (1, 8), (2, 8), (3, 40), (1, 65), (5, 17)]])
         for seed in range(9)}
CASES["broadcasting"] = broadcasting, [{"N": n, "M": m} for n, m in [(4, 4), (1, 9), (9, 1), (33, 33), (1, 1)]]


@pytest.mark.parametrize("name", CASES)
def test_orders(name, tmp_path):
    make, sizes = CASES[name]
    model, rng = make(), np.random.default_rng(sorted(CASES).index(name))
    feeds = [feeds_of(wick.InferenceSession(model), s, k) for k, s in enumerate(sizes)]
    want = [bits(session_of(model, rng).run(None, f)) for f in feeds]  # each is the first of its session
    orders(model, feeds, want, ORDERS // len(CASES), rng)
    session = session_of(model, rng, most=8)  # sizes that occur often are specialized
    for k in rng.permutation(len(feeds)):
        for _ in range(40):
            assert bits(session.run(None, feeds[k])) == want[k]
    if session._compiled._all:
        session._compiled._all.wait()
    for k in rng.permutation(len(feeds)):
        assert bits(session.run(None, feeds[k])) == want[k]
    elsewhere(model, feeds, want, tmp_path)


def elsewhere(model, feeds, want, folder):
    """By the command, and by an artifact."""
    (folder / "m.onnx").write_bytes(model)
    for threads, (feed, expected) in enumerate(zip(feeds[:2], want), 1):
        files = [folder / f"{k}.npy" for k in range(len(feed))]
        for f, array in zip(files, feed.values()):
            np.save(f, array)
        subprocess.run([BUILD / "wick", "run", folder / "m.onnx", "-t", str(threads), "-i", *files, "-o", folder / "out"], check=True, capture_output=True)
        assert bits(np.load(folder / "out" / f"output_{k}.npy") for k in range(len(expected))) == expected
    program = wick.compile(model, dynamic=True)
    program.save(folder / "m.wick")
    for threads in 1, 2:
        again = wick.Program.load(folder / "m.wick", threads=threads)
        for feed, expected in zip(feeds, want):
            if again.fits(list(feed.values())):
                assert bits(again.run(list(feed.values()))) == expected


@pytest.mark.skipif(not (SHARED / "minilm_l6_v2").exists(), reason="the models of ../shared are not here")
def test_orders_of_a_transformer():
    model, rng = SHARED / "minilm_l6_v2/model.onnx", np.random.default_rng(1)
    first = wick.InferenceSession(model)
    names = [i.shape for i in first.get_inputs()][0]
    feeds = [feeds_of(first, dict(zip(names, s)), k) for k, s in enumerate([(1, 8), (1, 13), (2, 8), (4, 3), (1, 64)])]
    want = [bits(session_of(model, rng).run(None, f)) for f in feeds]
    orders(model, feeds, want, 6, rng)


def test_sizes_that_are_set():
    """They are compiled with the program: at once if no size stays dynamic."""
    o = wick.SessionOptions()
    o.add_free_dimension_override_by_name("N", 2)
    o.add_free_dimension_override_by_name("T", 5)
    session = wick.InferenceSession(random_model(3), o)
    assert session._compiled._all and not session._compiled._all.dynamic
    x = np.random.default_rng(0).standard_normal((2, 5, 16)).astype("f")
    np.testing.assert_allclose(session.run(None, {"x": x})[0], wick.InferenceSession(random_model(3)).run(None, {"x": x})[0], rtol=1e-4, atol=1e-4)
    with pytest.raises(wick.WickError, match="the size T is 6, 5 was set"):
        session.run(None, {"x": np.zeros((2, 6, 16), "f")})


def test_the_contract_says_so():
    assert "equal inputs give equal bits" in wick.compile(random_model(0), dynamic=True).contract.splitlines()[0]
