"""Sequences whose length is known only at run time: SplitToSequence of a dynamic size, SequenceMap over it, and
operators on the result."""
import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402

F, I = TensorProto.FLOAT, TensorProto.INT64
RNG = np.random.default_rng(3)
node = helper.make_node


def value(name, shape, kind=F):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs, outputs, constants=()):
    g = helper.make_graph(nodes, "g", inputs, [onnx.ValueInfoProto(name=o) if isinstance(o, str) else o for o in outputs],
                          [numpy_helper.from_array(np.array(v), k) for k, v in dict(constants).items()])
    return helper.make_model(g, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def body(nodes, inputs, outputs):
    return helper.make_graph(nodes, "body", [onnx.ValueInfoProto(name=n) for n in inputs], [onnx.ValueInfoProto(name=n) for n in outputs])


def check(m, feeds):
    """One program for all sizes, against ONNX's reference."""
    program = wick.load(m).compile(dynamic=True, cache="")
    for feed in feeds:
        want = ReferenceEvaluator(m).run(None, feed)
        got = program.run([feed[i.name] for i in m.graph.input])
        for g, w in zip(got, want, strict=True):
            assert g.dtype == w.dtype and g.shape == w.shape
            np.testing.assert_allclose(g, w, rtol=2e-6, atol=2e-6)


def rows(*shapes):
    return [{"x": RNG.normal(size=s).astype(np.float32)} for s in shapes]


SIZES = ((3, 4), (1, 4), (7, 4))


@pytest.mark.parametrize("axis, shape, sizes", [(0, ["N", 4], SIZES), (1, [4, "N", 2], ((4, 3, 2), (4, 1, 2), (4, 6, 2))), (-1, [2, 3, "N"], ((2, 3, 5), (2, 3, 1)))])
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("fresh, to", [(0, 0), (0, -1), (1, 0), (1, -1)])
def test_split_and_concat(axis, shape, sizes, keep, fresh, to):
    m = model([node("SplitToSequence", ["x"], ["s"], axis=axis, keepdims=keep), node("ConcatFromSequence", ["s"], ["y"], axis=to, new_axis=fresh)],
              [value("x", shape)], ["y"])
    check(m, rows(*sizes))


def test_map():
    """A body with a tensor of the node's, and several results of other types and shapes."""
    b = body([node("Mul", ["a", "k"], ["t"]), node("Exp", ["t"], ["u"]), node("ReduceSum", ["u"], ["v"], keepdims=0), node(
        "Cast", ["u"], ["w"], to=I)], ["a", "k"], ["u", "v", "w"])
    m = model([node("SplitToSequence", ["x"], ["s"], keepdims=0), node("SequenceMap", ["s", "c"], ["p", "q", "r"], body=b),
               *(node("ConcatFromSequence", [s], [s + "y"], axis=0, new_axis=1) for s in "pqr")], [value("x", ["N", 4]), value("c", [4])], ["py", "qy", "ry"])
    check(m, [{**f, "c": RNG.normal(size=4).astype(np.float32)} for f in rows(*SIZES)])


def test_map_sees_what_is_around():
    m = model([node("SplitToSequence", ["x"], ["s"]), node("Neg", ["c"], ["n"]), node("SequenceMap", ["s"], ["t"], body=body(
        [node("Add", ["a", "n"], ["b"])], ["a"], ["b"])), node("ConcatFromSequence", ["t"], ["y"], axis=0)], [value("x", ["N", 4]), value("c", [4])], ["y"])
    program = wick.load(m).compile(dynamic=True, cache="")
    for f in rows(*SIZES):
        np.testing.assert_array_equal(program(f["x"], f["x"][0]), f["x"] - f["x"][0])


def test_map_over_two():
    b = body([node("MatMul", ["a", "b"], ["c"])], ["a", "b"], ["c"])
    m = model([node("SplitToSequence", ["x"], ["s"]), node("SplitToSequence", ["z"], ["t"], axis=1), node("SequenceMap", ["s", "t"], ["u"], body=b),
               node("SequenceMap", ["u"], ["v"], body=body([node("Relu", ["a"], ["b"])], ["a"], ["b"])), node("ConcatFromSequence", ["v"], ["y"], axis=0)],
              [value("x", ["N", 4]), value("z", [4, "N"])], ["y"])
    check(m, [{**f, "z": RNG.normal(size=(4, len(f["x"]))).astype(np.float32)} for f in rows(*SIZES)])


def test_items():
    m = model([node("SplitToSequence", ["x"], ["s"], keepdims=0), node("SequenceAt", ["s", "i"], ["a"]), node("SequenceAt", ["s", "last"], ["b"]),
               node("SequenceLength", ["s"], ["n"]), node("SequenceInsert", ["s", "a"], ["t"]), node("SequenceInsert", ["t", "b", "zero"], ["u"]),
               node("SequenceErase", ["u", "zero"], ["v"]), node("SequenceErase", ["u"], ["w"]), *(node(
                   "ConcatFromSequence", [s], [s + "y"], axis=0, new_axis=1) for s in "tuvw")],
              [value("x", ["N", 4]), value("i", [], I)], ["a", "b", "n", "ty", "uy", "vy", "wy"], {"last": -1, "zero": 0})
    check(m, [{**f, "i": np.array(k)} for f, k in zip(rows(*SIZES), (2, 0, -3))])


def test_through_branches():
    b = [body([node("SequenceMap", ["s"], ["t"], body=body([node(op, ["a"], ["b"])], ["a"], ["b"]))], [], ["t"]) for op in ("Neg", "Abs")]
    m = model([node("SplitToSequence", ["x"], ["s"]), node("If", ["c"], ["t"], then_branch=b[0], else_branch=b[1]), node(
        "ConcatFromSequence", ["t"], ["y"], axis=0)], [value("x", ["N", 4]), value("c", [], TensorProto.BOOL)], ["y"])
    check(m, [{**f, "c": np.array(k % 2 == 0)} for k, f in enumerate(rows(*SIZES))])


def test_pieces_that_a_list_gives():
    m = model([node("SplitToSequence", ["x", "sizes"], ["s"], axis=0), node("SequenceAt", ["s", "one"], ["y"])], [value("x", ["N", 4])], ["y"],
              {"sizes": [2, 3], "one": 1})
    program = wick.load(m).compile(dynamic=True, cache="")
    x = RNG.normal(size=(5, 4)).astype(np.float32)
    np.testing.assert_array_equal(program(x), x[2:])
    with pytest.raises(wick.WickError, match="SplitToSequence"):
        program(x[:4])


def test_what_wants_a_number():
    """Each number of rows gets its own code, because the number of output tensors depends on it, or pieces differ."""
    seq = helper.make_value_info("s", helper.make_sequence_type_proto(helper.make_tensor_type_proto(F, None)))
    for m in (model([node("SplitToSequence", ["x"], ["s"])], [value("x", ["N", 4])], [seq]),
              model([node("SplitToSequence", ["x", "two"], ["s"])], [value("x", ["N", 4])], [seq], {"two": 2}),
              model([node("SplitToSequence", ["x"], ["t"]), node("SequenceErase", ["t", "one"], ["s"])], [value("x", ["N", 4])], [seq], {"one": 1})):
        s = wick.InferenceSession(m.SerializeToString(), cache="")
        for feed in rows((3, 4), (5, 4)):
            got, want = s.run(None, feed)[0], ReferenceEvaluator(m).run(None, feed)[0]
            assert len(got) == len(want) and all(np.array_equal(g, w) for g, w in zip(got, want))
        with pytest.raises(wick.Unsupported, match="length of|size that is split"):
            wick.load(m).compile(dynamic=True, cache="")
