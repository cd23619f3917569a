"""Inputs and outputs that are sequences or optionals; Unique, whose sizes follow from data."""


import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
from wick import backend  # noqa: E402

F, I = TensorProto.FLOAT, TensorProto.INT64
node, f32 = helper.make_node, np.float32
TENSOR = helper.make_tensor_type_proto(F, None)
SEQ = helper.make_sequence_type_proto(TENSOR)
A = [np.arange(n, dtype=f32) for n in (3, 1, 4)]


def value(name, kind=SEQ):
    return helper.make_value_info(name, kind)


def tensor(name, shape, kind=F):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs, outputs, opset=18):
    g = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(g, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def same(got, want):
    if want is None:
        assert got is None
    elif isinstance(want, list):
        assert isinstance(got, list) and len(got) == len(want)
        for g, w in zip(got, want):
            same(g, w)
    else:
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


APPEND = model([node("SequenceInsert", ["s", "x"], ["t"]), node("SequenceLength", ["t"], ["n"])],
               [value("s"), tensor("x", ["N"])], [tensor("n", [], I), value("t")])


def test_each_length_is_compiled():
    rep = backend.prepare(APPEND, cache="")
    x = np.ones(2, f32)
    for s in (A, A[:1], [], A[::-1], A):
        n, t = rep.run([s, x])
        assert n == len(s) + 1
        same(t, s + [x])


def test_session():
    s = wick.InferenceSession(APPEND.SerializeToString(), cache="")
    assert [(i.name, i.type, i.shape) for i in s.get_inputs()] == [
        ("s", "seq(tensor(float))", []), ("x", "tensor(float)", ["N"])]
    assert [(o.name, o.type) for o in s.get_outputs()] == [("n", "tensor(int64)"), ("t", "seq(tensor(float))")]
    feed = {"x": A[0], "s": A}
    same(s.run(["t"], feed), [A + [A[0]]])
    same(s.run(None, feed), [np.asarray(4, np.int64), A + [A[0]]])
    got = s.run_with_ort_values(None, {"x": wick.OrtValue.ortvalue_from_numpy(A[0]), "s": A})
    assert got[1].is_tensor_sequence() and got[1].data_type() == "seq(tensor(float))" and got[0].is_tensor()
    with pytest.raises(Exception, match="expected a list"):
        s.run(None, {"x": A[0], "s": A[0]})
    with pytest.raises(Exception, match="f32"):
        s.run(None, {"x": A[0], "s": [A[0].astype(np.float64)]})
    with pytest.raises(Exception, match="cannot be bound"):
        b = s.io_binding()
        b.bind_cpu_input("x", A[0])
        b._inputs["s"] = A
        b.bind_ortvalue_output("t", wick.OrtValue.ortvalue_from_numpy(A[0]))
        s.run_with_iobinding(b)


def test_the_number_must_be_given():
    m = wick.load(APPEND)
    assert m.needs_shapes
    with pytest.raises(Exception, match="input \"s\": its number of elements must be given"):
        m.compile(shapes={"x": (2,)}, cache="")
    with pytest.raises(Exception, match="the shape of \"s.0\" must be given"):
        m.compile(shapes={"x": (2,), "s": (1,)}, cache="")
    with pytest.raises(Exception, match=r"its shape must be \[n\]"):
        m.compile(shapes={"x": (2,), "s": (-1,)}, cache="")
    with pytest.raises(Exception, match="no such input"):
        m.compile(shapes={"x": (2,), "x.0": (1,)}, cache="")


def test_compiled_code_is_saved_with_its_lists(tmp_path):
    m = wick.load(APPEND)
    program = m.compile(shapes={"x": (3,), "s": (2,), "s.0": (3,), "s.1": (1,)}, cache="")
    program.save(tmp_path / "a.wick")
    again = wick.Program.load(tmp_path / "a.wick")
    same(list(again(A[:2], A[0])), [np.asarray(3, np.int64), A[:2] + [A[0]]])
    assert "s: seq(f32)" in repr(again)


def test_the_cache_tells_lengths_apart(tmp_path):
    for s in (A, A[:2], A):
        same(backend.prepare(APPEND, cache=str(tmp_path)).run([s, A[0]])[1], s + [A[0]])


OPTIONAL = helper.make_optional_type_proto(helper.make_tensor_type_proto(F, [None]))


def test_optionals():
    m = model([node("Identity", ["o"], ["p"]), node("OptionalHasElement", ["o"], ["h"])],
              [value("o", OPTIONAL)], [value("p", OPTIONAL), tensor("h", [], TensorProto.BOOL)])
    rep = backend.prepare(m, cache="")
    for o in (A[0], None, A[1]):
        same(list(rep.run([o])), [o, np.asarray(o is not None)])
    with pytest.raises(Exception, match="n = 1, or -1"):
        wick.load(m).compile(shapes={"o": (2,)}, cache="")


def test_optional_sequences():
    kind = helper.make_optional_type_proto(SEQ)
    m = model([node("Identity", ["o"], ["p"])], [value("o", kind)], [value("p", kind)])
    rep = backend.prepare(m, cache="")
    for o in (A, None, A[:1], []):
        same(list(rep.run([o])), [o])


def test_a_tensor_twice_and_an_input_as_output():
    m = model([node("SequenceConstruct", ["x", "y", "y", "x"], ["s"]), node("Relu", ["x"], ["y"])][::-1],
              [tensor("x", [3])], [value("s"), tensor("y", [3])])
    x = np.asarray([-1, 0, 2], f32)
    y = np.maximum(x, 0)
    same(list(backend.prepare(m, cache="").run([x])), [[x, y, y, x], y])


def test_kinds_that_do_not_fit_are_refused():
    nested = helper.make_sequence_type_proto(SEQ)
    for nodes, inputs, outputs, words in (
            ([node("Identity", ["s"], ["t"])], [value("s", nested)], [value("t", nested)], "only those of tensors"),
            ([node("Identity", ["x"], ["t"])], [tensor("x", [2])], [value("t")], "it is a tensor"),
            ([node("SequenceConstruct", ["x"], ["t"])], [tensor("x", [2])], [tensor("t", [2])], "it is a sequence"),
            ([node("SequenceConstruct", ["x"], ["t"])], [tensor("x", [2], I)], [value("t")],
             "element 0 is i64, but the model declares f32")):
        with pytest.raises(Exception, match=words):
            wick.load(model(nodes, inputs, outputs))


@pytest.mark.parametrize("kind", [np.float32, np.uint64, np.bool_, np.float16])
@pytest.mark.parametrize("axis", [None, 1])
def test_unique(kind, axis):
    rng = np.random.default_rng(3)
    for shape in ((1, 1, 1), (5, 33, 2)):
        attrs = {} if axis is None else {"axis": axis}
        numbers = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        free = [None] * (3 if axis is not None else 1)
        outputs = [tensor("y", free, numbers)] + [tensor(n, [None], I) for n in "iru"]
        x = rng.integers(0, 2, shape).astype(kind)
        y, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
        inverse = inverse.reshape(-1)
        m = model([node("Unique", ["x"], ["y", "i", "r", "u"], **attrs)], [tensor("x", shape, numbers)], outputs)
        same(list(backend.prepare(m, cache="").run([x])), [y, first, inverse, counts])
        order = np.argsort(first)  # as met
        back = np.argsort(order)
        m = model([node("Unique", ["x"], ["y", "i", "r", "u"], sorted=0, **attrs)], [tensor("x", shape, numbers)], outputs)
        same(list(backend.prepare(m, cache="").run([x])),
             [np.take(y, order, axis or 0), first[order], back[inverse], counts[order]])


def test_unique_of_many_and_of_nan():
    outputs = [tensor("y", [None])] + [tensor(n, [None], I) for n in "iru"]
    rng = np.random.default_rng(5)
    some = np.asarray([np.nan, 1, -np.inf, np.nan, 0, np.inf, -0.0], f32)
    for x in (rng.integers(-500, 500, 5000).astype(f32), some, rng.choice(some, 300), np.zeros(0, f32)):
        m = model([node("Unique", ["x"], ["y", "i", "r", "u"])], [tensor("x", x.shape)], outputs)
        want = np.unique(x, True, True, True)
        same(list(backend.prepare(m, cache="").run([x])), [w.astype(k) for w, k in zip(want, (f32, int, int, int))])
