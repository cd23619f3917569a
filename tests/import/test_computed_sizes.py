"""Operators whose sizes follow from data that is known only at run time: from an input's contents, from arithmetic
on them, from the shape of another tensor, through an If or a Loop, from the number of elements that NonZero finds.
Outputs have no declared shape. One session runs several contents, and its results are compared with ONNX Runtime's."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import built  # noqa: E402, F401  (finds the package)
import wick  # noqa: E402

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

WICK = os.environ.get("WICK_COMMAND", "build/wick")
F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
TYPES = {np.dtype(np.float32): F, np.dtype(np.int64): I, np.dtype(bool): B, np.dtype(np.uint8): TensorProto.UINT8}
OPSET = 20


def node(op, inputs, outputs, **attrs):
    return helper.make_node(op, inputs.split(" "), outputs.split(), outputs.split()[0], **attrs)


def info(name, elem, shape=None):
    return helper.make_tensor_value_info(name, elem, shape)


X = np.arange(24, dtype=np.float32).reshape(4, 6) - 9
IMAGE = np.random.default_rng(3).standard_normal((1, 2, 4, 4)).astype(np.float32)
POOLED = np.float32([[[[5, 7], [13, 15]]]])
PLACES = np.int64([[[[5, 7], [13, 15]]]])

# name: (x, nodes from x and v to y, the output's type, constants, contents of v). v is a vector of integers.
OPERATORS = {
    "Slice": (X, [node("Slice", "x v last axis", "y")], F, {"last": [6], "axis": [1]}, [[0], [2], [-3]]),
    "Slice.ends": (X, [node("Slice", "x begin v", "y")], F, {"begin": [0, 1]}, [[4, 6], [2, 3], [-1, -2]]),
    "Slice.steps": (X, [node("Slice", "x begin end axis v", "y")], F, {"begin": [5], "end": [-(1 << 60)], "axis": [1]}, [[-1], [-2]]),
    "Reshape": (X, [node("Reshape", "x v", "y")], F, {}, [[6, 4], [2, 12], [3, -1]]),
    "Expand": (X[:, :1], [node("Expand", "x v", "y")], F, {}, [[4, 3], [4, 1]]),
    "Tile": (X, [node("Tile", "x v", "y")], F, {}, [[1, 2], [3, 1]]),
    "TopK": (X, [node("TopK", "x v", "y at", axis=1)], F, {}, [[2], [6], [1]]),
    "Pad": (X, [node("Pad", "x v", "y")], F, {}, [[1, 0, 0, 2], [0, 3, 1, 0]]),
    "Pad.reflect": (X, [node("Pad", "x v", "y", mode="reflect")], F, {}, [[1, 0, 0, 2], [0, 3, 1, 0]]),
    "Resize": (IMAGE, [node("Resize", "x   v", "y", mode="linear")], F, {}, [[1, 2, 8, 6], [1, 2, 3, 3]]),
    "Resize.scales": (IMAGE, [node("Cast", "v", "f", to=F), node("Resize", "x  f", "y", mode="nearest")], F, {}, [[1, 1, 2, 3], [1, 1, 1, 2]]),
    "Range": (X, [node("Squeeze", "v", "s"), node("Range", "zero s two", "r"), node("Cast", "r", "y", to=F)], F,
              {"zero": 0, "two": 2}, [[7], [2], [10]]),
    "Trilu": (X, [node("Squeeze", "v", "s"), node("Trilu", "x s", "y")], F, {}, [[0], [1], [-2]]),
    "Split": (X, [node("Split", "x v", "y z", axis=1)], F, {}, [[2, 4], [5, 1]]),
    "SplitToSequence": (X, [node("SplitToSequence", "x v", "s", axis=1), node("SequenceAt", "s one", "y")], F, {"one": 1},
                        [[2, 3, 1], [1, 4, 1]]),
    "OneHot": (np.int64([0, 2, 1]), [node("OneHot", "x v pair", "y")], F, {"pair": np.float32([0, 1])}, [[3], [5]]),
    "ConstantOfShape": (X, [node("ConstantOfShape", "v", "y")], F, {}, [[2, 3], [4, 1]]),
    "Squeeze": (X.reshape(1, 4, 1, 6), [node("Squeeze", "x v", "y")], F, {}, [[0, 2], [2, 0]]),
    "Unsqueeze": (X, [node("Unsqueeze", "x v", "y")], F, {}, [[0], [2], [1]]),
    "ReduceSum": (X, [node("ReduceSum", "x v", "y", keepdims=0)], F, {}, [[0], [1], [-1]]),
    "ReduceMax": (X, [node("ReduceMax", "x v", "y")], F, {}, [[0], [1]]),
    "CumSum": (X, [node("Squeeze", "v", "s"), node("CumSum", "x s", "y")], F, {}, [[0], [1]]),
    "Col2Im": (np.ones((1, 4, 4), np.float32), [node("Col2Im", "x v block", "y")], F, {"block": [2, 2]}, [[3, 3], [2, 5]]),
    "MaxUnpool": (POOLED, [node("MaxUnpool", "x places v", "y", kernel_shape=[2, 2], strides=[2, 2])], F, {"places": PLACES},
                  [[1, 1, 4, 4], [1, 1, 5, 5]]),
    "DFT": (X.reshape(1, 24, 1), [node("Squeeze", "v", "s"), node("DFT", "x s axis", "y")], F, {"axis": 1}, [[24], [16]]),
    "BlackmanWindow": (X, [node("Squeeze", "v", "s"), node("BlackmanWindow", "s", "y")], F, {}, [[5], [8]]),
    "EyeLike": (X, [node("ConstantOfShape", "v", "s"), node("EyeLike", "s", "y", dtype=F)], F, {}, [[2, 3], [4, 4]]),
    "NonMaxSuppression": (np.float32([[[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3]]]),
                          [node("NonMaxSuppression", "x scores v overlap", "y")], I,
                          {"scores": np.float32([[[0.9, 0.8, 0.7]]]), "overlap": np.float32([0.5])}, [[1], [3]]),
    "RandomUniformLike": (X, [node("ConstantOfShape", "v", "s"), node("RandomUniformLike", "s", "r", seed=1.0), node("Sub", "r r", "y")], F, {},
                          [[2, 3], [4, 1]]),
    "Gather.axis": (X, [node("ConstantOfShape", "v", "s"), node("Cast", "s", "i", to=I), node("Gather", "x i", "y")], F, {}, [[3], [5]]),
    "Concat": (X, [node("Slice", "x zero v", "a"), node("Concat", "a x", "y", axis=0)], F, {"zero": [0]}, [[1], [3]]),
    "MatMul": (X, [node("Slice", "x zero v", "a"), node("Transpose", "x", "t"), node("MatMul", "a t", "y")], F, {"zero": [0]}, [[1], [3]]),
}


def from_input(v):
    return [], {"v": v}, {}


def from_arithmetic(v):
    return [node("Mul", "u k2", "w"), node("Add", "w k1", "v")], {"u": v // 2}, {"k2": [2], "k1": v % 2}


def from_shape(v):
    if (v < 0).any() or (v == 0).all() and v.size > 1:
        return None
    return [node("Shape", "sized", "v")], {"sized": np.zeros(v, np.float32)}, {}


def from_if(v):
    arms = [helper.make_graph([node("Add" if k else "Sub", "u k1", f"v{k}")], f"arm{k}", [], [info(f"v{k}", I)]) for k in (0, 1)]
    return [helper.make_node("If", ["c"], ["v"], "if", then_branch=arms[1], else_branch=arms[0])], \
        {"u": v + 1, "c": np.array(False)}, {"k1": [1]}


def from_loop(v):
    body = helper.make_graph([node("Add", "s k1", "s2"), node("Identity", "c", "c2")], "body",
                             [info("i", I, []), info("c", B, []), info("s", I, None)], [info("c2", B, []), info("s2", I, None)])
    return [helper.make_node("Loop", ["n", "", "u"], ["v"], "loop", body=body)], {"u": v - 3, "n": np.array(3)}, {"k1": [1]}


def from_count(v):
    mask = np.array([True, False, True, True, False])
    return [node("NonZero", "m", "found"), node("Shape", "found", "both"), node("Slice", "both k1 k2", "k"), node("Add", "u k", "v")], \
        {"u": v - 3, "m": mask}, {"k1": [1], "k2": [2]}


SOURCES = {"input": from_input, "arithmetic": from_arithmetic, "shape": from_shape, "if": from_if, "loop": from_loop, "count": from_count}
# Constants of the source differ from content to content.
ONCE = {"arithmetic"}


def build(operator, source, v):
    """(the model, its inputs); None if the source cannot have these contents."""
    x, nodes, elem, constants, _ = OPERATORS[operator]
    made = SOURCES[source](np.array(v))
    if made is None:
        return None
    before, feed, more = made
    values = {k: np.asarray(c) for k, c in {**more, **constants}.items()}
    feed = {"x": x, **feed}
    graph = helper.make_graph([*before, *nodes], operator, [info(k, TYPES[a.dtype], [f"{k}_{i}" for i in range(a.ndim)] if k == "sized" else a.shape)
                                                           for k, a in feed.items()],
                              [info("y", elem)], [numpy_helper.from_array(a, k) for k, a in values.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
    return model.SerializeToString(), feed


def reference(model, feed):
    if any(n.op_type == "MaxUnpool" for n in onnx.load_from_string(model).graph.node):  # ONNX Runtime keeps flat indices, not positions
        return ReferenceEvaluator(model).run(None, feed)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, feed)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("operator", OPERATORS)
def test_operator(operator, source):
    sessions = {}
    for v in OPERATORS[operator][4]:
        made = build(operator, source, v)
        if made is None:
            continue
        model, feed = made
        session = sessions.setdefault(model, None) or wick.InferenceSession(model)
        sessions[model] = session
        want = reference(*build(operator, "input", v))  # all sources give v
        for _ in range(2):
            got = session.run(None, feed)
            for a, b in zip(got, want):
                assert a.dtype == b.dtype and a.shape == b.shape
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-3 if operator == "DFT" else 1e-5)  # its own is no better
    assert source in ONCE or source == "shape" or len(sessions) == 1


# ---- inputs without a rank ----

def unranked():
    graph = helper.make_graph([node("Relu", "x", "r"), node("Add", "r y", "z")], "g", [info("x", F), info("y", F, [1])], [info("z", F)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9).SerializeToString()


def test_an_input_without_a_rank():
    """It has the rank of its input, and another one in the next run."""
    session = wick.InferenceSession(unranked())
    assert [(i.name, i.shape) for i in session.get_inputs()] == [("x", []), ("y", [1])]
    y = np.float32([2])
    for shape in (3,), (2, 3), (2, 1, 2, 2), (), (3,):
        x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        got, = session.run(None, {"x": x, "y": y})
        np.testing.assert_array_equal(got, np.maximum(x, 0) + y)
    model = wick.load(unranked())
    assert model.needs_shapes and model.inputs[0].shape is None and "x: f32[...]" in repr(model)
    with pytest.raises(wick.TypeMismatch, match=r'input "x": the model does not declare a shape: one must be given'):
        model.compile()
    program = model.compile(shapes={"x": (-1, 3)}, dynamic=True)  # the rank alone
    for n in 1, 4:
        x = np.full((n, 3), -1, np.float32)
        np.testing.assert_array_equal(program(x, y), np.full((n, 3), 2, np.float32))


def test_an_input_without_a_rank_from_files(tmp_path):
    (tmp_path / "m.onnx").write_bytes(unranked())
    np.save(tmp_path / "y.npy", np.float32([2]))
    for shape in (3,), (2, 2):
        np.save(tmp_path / "x.npy", np.ones(shape, np.float32))
        for command in ["run", "--outputs", str(tmp_path / "out")], ["bench", "--seconds", "0.01"]:
            r = subprocess.run([WICK, *command, str(tmp_path / "m.onnx"), "--inputs", str(tmp_path / "x.npy"), str(tmp_path / "y.npy")],
                               capture_output=True, text=True)
            assert r.returncode == 0, r.stderr
        np.testing.assert_array_equal(np.load(tmp_path / "out" / "output_0.npy"), np.full(shape, 3, np.float32))
    r = subprocess.run([WICK, "bench", str(tmp_path / "m.onnx")], capture_output=True, text=True)
    assert r.returncode == 1 and r.stderr == 'm.onnx: input "x": the model does not declare a shape: one must be given\n'


# ---- what check says ----

def check(tmp_path, model, *more):
    (tmp_path / "m.onnx").write_bytes(model)
    return subprocess.run([WICK, "check", str(tmp_path / "m.onnx"), *more], capture_output=True, text=True)


def test_check_says_what_is_needed(tmp_path):
    """Contents, shapes and sizes that run would have: a remark, no refusal."""
    model, feed = build("Reshape", "arithmetic", [6, 4])
    r = check(tmp_path, model)
    assert r.returncode == 0, r.stderr
    assert r.stdout.splitlines()[1:] == [
        "  input  x: f32[4,6]", "  input  u: i64[2]", "  output y: f32[...]", '  needs  the contents of the input "u"',
        '  why    m.onnx: node "y" (Reshape): the shape must be known when the model is compiled (ai.onnx, opset 20)',
        "  give   --inputs FILE..., the tensors of all inputs"]
    said, = json.loads(check(tmp_path, model, "--json").stdout)
    assert said["good"] and said["problems"] == [] and said["outputs"] == [{"name": "y", "type": "f32[...]"}]
    assert said["needs"]["contents"] == ["u"] and not said["needs"]["sizes"] and not said["needs"]["shapes"]
    assert said["needs"]["why"][0]["operator"] == "Reshape"
    for k, a in feed.items():
        np.save(tmp_path / f"{k}.npy", a)
    r = check(tmp_path, model, "--inputs", str(tmp_path / "x.npy"), str(tmp_path / "u.npy"))
    assert r.returncode == 0 and "output y: f32[6,4]" in r.stdout and "needs" not in r.stdout


def test_check_of_an_input_without_a_rank(tmp_path):
    r = check(tmp_path, unranked())
    assert r.returncode == 0 and "  input  x: f32[...]\n" in r.stdout and "  needs  the shapes of inputs\n" in r.stdout
    np.save(tmp_path / "x.npy", np.ones((2, 2), np.float32))
    np.save(tmp_path / "y.npy", np.float32([2]))
    r = check(tmp_path, unranked(), "--inputs", str(tmp_path / "x.npy"), str(tmp_path / "y.npy"), "--outputs", str(tmp_path / "out"))
    assert r.returncode == 0 and "output z: f32[2,2]" in r.stdout
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "output_0.npy"), np.full((2, 2), 3, np.float32))


def test_check_refuses_what_nothing_mends(tmp_path):
    """An operator that is not supported is no remark, though contents are needed, too."""
    nodes = [node("Reshape", "x v", "r"), helper.make_node("Foo", ["x"], ["z"], "z", domain="other")]
    graph = helper.make_graph(nodes, "g", [info("x", F, [4]), info("v", I, [2])], [info("r", F), info("z", F)])
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("other", 1)]
    r = check(tmp_path, helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString())
    assert r.returncode == 1 and "the operator other.Foo is not supported" in r.stderr


# ---- sizes that a network computes from its inputs ----

IMAGES = [np.random.default_rng(k).standard_normal((1, 3, 20, 20)).astype(np.float32) for k in (0, 1, 0)]
WEIGHTS = np.random.default_rng(5).standard_normal((4, 3, 3, 3)).astype(np.float32)
CONV = [node("Conv", "x w", "c"), node("Relu", "c", "r")]
FOUND = [node("NonZero", "r", "found"), node("Transpose", "found", "at")]


def counting(limit):
    """A Loop whose number of steps is the contents of `limit`, and which is not unrolled."""
    body = helper.make_graph([node("Add", "s one", "s2"), node("Less", "s2 limit", "c2")], "body",
                             [info("i", I, []), info("c", B, []), info("s", I, [1])], [info("c2", B, None), info("s2", I, [1])])
    return [node("Squeeze", limit, "limit"), helper.make_node("Loop", ["", "true", "zero"], ["v"], "loop", body=body)]


# name: (nodes, contents of the inputs, constants)
COMPUTED = {
    "elements found by NonZero": ([*CONV, *FOUND, node("GatherND", "r at", "y")], [{"x": x} for x in IMAGES], {"w": WEIGHTS}),
    "their number": ([*CONV, *FOUND, node("Shape", "at", "n", end=1), node("ConstantOfShape", "n", "y")],
                     [{"x": x} for x in IMAGES], {"w": WEIGHTS}),
    "rows that Compress keeps": ([node("Compress", "x keep", "a", axis=0), node("MatMul", "a w", "y")],
                                 [{"x": X, "keep": np.array(k, bool)} for k in ([1, 0, 1, 1], [0, 0, 1, 0], [1, 0, 1, 1])], {"w": X.T.copy()}),
    "the largest of a convolution": ([*CONV, node("ReduceMax", "r", "m", keepdims=0), node("Cast", "m", "i", to=I), node("Reshape", "i row", "k"),
                                      node("Reshape", "r all", "f"), node("TopK", "f k", "y at")],
                                     [{"x": x} for x in IMAGES], {"w": WEIGHTS, "row": [1], "all": [-1]}),
    "steps of a loop": ([*counting("most"), node("Expand", "x v", "y")], [{"x": np.ones(1, np.float32), "most": np.array([n])} for n in (40, 7, 40)],
                        {"one": [1], "zero": [0], "true": np.array(True)}),
    "many elements": ([node("Unique", "x", "u"), node("Slice", "u zero two", "a"), node("Concat", "a u", "y", axis=0)],
                      [{"x": (np.arange(9000) % n).astype(np.float32)} for n in (100, 7)], {"zero": [0], "two": [2]}),
}


def computed(name):
    nodes, feeds, constants = COMPUTED[name]
    graph = helper.make_graph(nodes, name, [info(k, TYPES[a.dtype], a.shape) for k, a in feeds[0].items()], [info("y", F)],
                              [numpy_helper.from_array(np.asarray(a), k) for k, a in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9).SerializeToString(), feeds


@pytest.mark.parametrize("name", COMPUTED)
def test_computed(name, tmp_path):
    model, feeds = computed(name)
    session = wick.InferenceSession(model)
    shapes = set()
    for feed in feeds:
        (want,), (got,) = reference(model, feed), session.run(None, feed)
        shapes.add(want.shape)
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
    assert len(shapes) > 1
    r = check(tmp_path, model)
    assert r.returncode == 0 and "  needs  the contents of the input " in r.stdout, r.stderr
    for k, a in feeds[0].items():
        np.save(tmp_path / f"{k}.npy", a)
    files = [str(tmp_path / f"{k}.npy") for k in feeds[0]]
    for command in ["run"], ["run", "--reference"], ["check"]:
        r = subprocess.run([WICK, *command, str(tmp_path / "m.onnx"), "--inputs", *files, "--outputs", str(tmp_path / "out")],
                           capture_output=True, text=True)
        assert r.returncode == 0, r.stderr
        np.testing.assert_allclose(np.load(tmp_path / "out" / "output_0.npy"), reference(model, feeds[0])[0], rtol=1e-4, atol=1e-4)
