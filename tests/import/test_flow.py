"""If, Loop, Scan and sequences of ONNX: those that the importer decides, those that are compiled, and those that are
refused."""


import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import built  # noqa: E402, F401: finds the package
from wick import backend  # noqa: E402

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node = helper.make_node
f32 = np.float32


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def graph(nodes, inputs, outputs, constants=()):
    made = [numpy_helper.from_array(np.asarray(a), n) for n, a in constants]
    return helper.make_graph(nodes, "g", inputs, outputs, made)


def model(nodes, inputs, outputs, constants=(), opset=17):
    g = graph(nodes, inputs, outputs, constants)
    return helper.make_model(g, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def check(m, feeds, expected):
    """Compares each feed's results with the expected ones, from one prepared model."""
    rep = backend.prepare(m, cache="")
    for feed in feeds:
        want = expected(*feed)
        got = rep.run([np.asarray(x) for x in feed])
        assert len(got) == len(want)
        for g, w in zip(got, want):
            assert g.shape == np.asarray(w).shape
            np.testing.assert_allclose(g, w, rtol=1e-5, atol=1e-6)


def refused(m, feed, *words):
    with pytest.raises(Exception) as e:
        backend.prepare(m, cache="").run([np.asarray(x) for x in feed])
    for word in words:
        assert word in str(e.value)


X = np.arange(4, dtype=f32)
LOOP = [value("i", I, []), value("c", B, [])]


def test_if():
    yes = graph([node("Add", ["x", "k"], ["a"])], [], [value("a", F, [4])], [("k", np.ones(4, f32))])
    no = graph([node("Identity", ["x"], ["b"])], [], [value("b", F, [4])])
    m = model([node("If", ["c"], ["y"], then_branch=yes, else_branch=no), node("Neg", ["y"], ["z"])],
              [value("c", B, []), value("x", F, [4])], [value("z", F, [4]), value("y", F, [4])])  # fmt: skip
    check(m, [(np.bool_(c), X) for c in (True, False)], lambda c, x: (-(x + c), x + c))


def test_if_of_other_shapes():
    """The contents of the input decide."""
    yes = graph([node("Concat", ["x", "x"], ["a"], axis=0)], [], [value("a", F, [8])])
    no = graph([node("Identity", ["x"], ["b"])], [], [value("b", F, [4])])
    m = model([node("If", ["c"], ["y"], then_branch=yes, else_branch=no)], [value("c", B, []), value("x", F, [4])],
              [value("y", F, ["n"])])  # fmt: skip
    for c in (True, False):
        check(m, [(np.bool_(c), X)], lambda c, x: (np.concatenate([x, x]) if c else x,))


def test_if_by_size():
    """A condition on a shape is known: the other branch, which would not fit, is not looked at."""
    yes = graph([node("MatMul", ["x", "w"], ["a"])], [], [value("a", F, [2, 3])], [("w", np.ones((7, 3), f32))])
    no = graph([node("MatMul", ["x", "v"], ["b"])], [], [value("b", F, [2, 3])], [("v", 2 * np.ones((5, 3), f32))])
    m = model([node("Shape", ["x"], ["s"]), node("Gather", ["s", "one"], ["n"]), node("Equal", ["n", "seven"], ["c"]),
               node("If", ["c"], ["y"], then_branch=yes, else_branch=no)], [value("x", F, [2, "k"])],
              [value("y", F, [2, 3])], [("one", np.int64(1)), ("seven", np.int64(7))])  # fmt: skip
    for k, w in ((7, 1), (5, 2)):
        check(m, [(np.ones((2, k), f32),)], lambda x: (np.full((2, 3), k * w, f32),))


def loop_until():
    body = graph([node("Add", ["v", "d"], ["w"]), node("ReduceSum", ["w"], ["s"], keepdims=0),
                  node("Less", ["s", "limit"], ["go"])], [*LOOP, value("v", F, [4])],
                 [value("go", B, []), value("w", F, [4])])  # fmt: skip
    return model([node("Loop", ["n", "on", "a"], ["r"], body=body)],
                 [value("n", I, []), value("on", B, []), value("a", F, [4]), value("d", F, [4]), value("limit", F, [])],
                 [value("r", F, [4])])  # fmt: skip


def until(n, on, a, d, limit):
    while n > 0 and on:
        a, n = a + d, n - 1
        on = a.sum() < limit
    return (a,)


def test_loop_until():
    feeds = [(np.int64(n), np.bool_(on), X, X + 1, f32(limit))
             for n in (-1, 0, 1, 5, 100) for on in (True, False) for limit in (5, 60, 1e9)]  # fmt: skip
    check(loop_until(), feeds, until)


def test_loop_swaps_and_stacks():
    """Carried values are swapped, a step has a branch, rows are stacked, the index is read."""
    yes = graph([node("Mul", ["u", "two"], ["p"])], [], [value("p", F, [3])], [("two", f32(2))])
    no = graph([node("Tanh", ["u"], ["q"])], [], [value("q", F, [3])])
    body = graph([node("Mod", ["i", "k2"], ["m"]), node("Equal", ["m", "k0"], ["even"]),
                  node("If", ["even"], ["z"], then_branch=yes, else_branch=no), node("Cast", ["i"], ["fi"], to=F),
                  node("Add", ["z", "fi"], ["t"]), node("Identity", ["c"], ["on"])],
                 [*LOOP, value("u", F, [3]), value("v", F, [3])],
                 [value("on", B, []), value("v", F, [3]), value("t", F, [3]), value("t", F, [3])],
                 [("k2", np.int64(2)), ("k0", np.int64(0))])  # fmt: skip
    m = model([node("Loop", ["n", "", "a", "b"], ["r", "s", "rows"], body=body)], [value("a", F, [3]), value("b", F, [3])],
              [value("r", F, [3]), value("s", F, [3]), value("rows", F, [40, 3])], [("n", np.int64(40))])  # fmt: skip

    def expected(u, v):
        rows = []
        for i in range(40):
            t = (u * 2 if i % 2 == 0 else np.tanh(u)) + f32(i)
            u, v = v, t
            rows.append(t)
        return u, v, np.stack(rows)

    rng = np.random.default_rng(0)
    check(m, [(rng.standard_normal(3).astype(f32), rng.standard_normal(3).astype(f32))], expected)


def test_loop_that_grows():
    body = graph([node("Concat", ["v", "one"], ["w"], axis=0), node("Identity", ["c"], ["on"])], [*LOOP, value("v", F, ["n"])],
                 [value("on", B, []), value("w", F, ["m"])], [("one", np.ones(1, f32))])  # fmt: skip
    m = model([node("Loop", ["n", "", "x"], ["y"], body=body)], [value("x", F, [2])], [value("y", F, [13])], [("n", np.int64(11))])
    check(m, [(np.zeros(2, f32),)], lambda x: (np.concatenate([x, np.ones(11, f32)]),))


def test_nested_loops():
    inner = graph([node("Add", ["w", "xx"], ["w1"]), node("Identity", ["c2"], ["c3"])],
                  [value("j", I, []), value("c2", B, []), value("w", F, [2])], [value("c3", B, []), value("w1", F, [2])])  # fmt: skip
    outer = graph([node("Loop", ["k", "", "xx"], ["yy"], body=inner), node("Mul", ["yy", "h"], ["zz"]), node("Identity", ["c"], ["c1"])],
                  [*LOOP, value("xx", F, [2])], [value("c1", B, []), value("zz", F, [2])], [("h", f32(0.3))])  # fmt: skip
    m = model([node("Loop", ["n", "", "x"], ["y"], body=outer)], [value("n", I, []), value("k", I, []), value("x", F, [2])],
              [value("y", F, [2])])  # fmt: skip
    feeds = [(np.int64(n), np.int64(k), np.array([1, 2], f32)) for n in (0, 1, 6) for k in (0, 3)]
    check(m, feeds, lambda n, k, x: (x * f32(((1 + k) * 0.3) ** n),))


def scan_body():
    return graph([node("Add", ["s", "e"], ["t"]), node("Mul", ["t", "f"], ["o"])],
                 [value("s", F, [2]), value("e", F, [2]), value("f", F, [2])], [value("t", F, [2]), value("o", F, [2])])  # fmt: skip


@pytest.mark.parametrize("steps", [1, 3, 50])
def test_scan(steps):
    """Scanned from its end along axis 0 and from its beginning along axis 1; put together the other way."""
    m = model([node("Scan", ["s0", "a", "b"], ["s", "y"], num_scan_inputs=2, body=scan_body(), scan_input_axes=[0, 1],
                    scan_input_directions=[1, 0], scan_output_axes=[1], scan_output_directions=[1])],
              [value("s0", F, [2]), value("a", F, [steps, 2]), value("b", F, [2, steps])],
              [value("s", F, [2]), value("y", F, [2, steps])])  # fmt: skip

    def expected(s, a, b):
        rows = []
        for i in range(steps):
            s = s + a[steps - 1 - i]
            rows.append(s * b[:, i])
        return s, np.stack(rows[::-1], axis=1)

    rng = np.random.default_rng(1)
    check(m, [(np.zeros(2, f32), rng.random((steps, 2), f32), rng.random((2, steps), f32))], expected)


def test_scan_of_batches():
    """Opset 8: a batch in front, each with its own number of steps."""
    m = model([node("Scan", ["n", "s0", "a", "b"], ["s", "y"], num_scan_inputs=2, body=scan_body(), directions=[0, 1])],
              [value("s0", F, [2, 2]), value("a", F, [2, 6, 2]), value("b", F, [2, 6, 2])],
              [value("s", F, [2, 2]), value("y", F, [2, 6, 2])], [("n", np.array([6, 5]))], opset=8)  # fmt: skip

    def expected(s0, a, b):
        s, y = s0.copy(), np.zeros_like(a)
        for k, n in enumerate((6, 5)):
            for i in range(n):
                s[k] = s[k] + a[k, i]
                y[k, i] = s[k] * b[k, n - 1 - i]
        return s, y

    rng = np.random.default_rng(2)
    check(m, [(np.zeros((2, 2), f32), rng.random((2, 6, 2), f32), rng.random((2, 6, 2), f32))], expected)


def test_sequences():
    """A loop collects parts of a split; they are concatenated, counted and selected from."""
    body = graph([node("SequenceAt", ["parts", "i"], ["p"]), node("Neg", ["p"], ["q"]), node("SequenceInsert", ["all", "q"], ["more"]),
                  node("Identity", ["c"], ["on"])],
                 [*LOOP, helper.make_tensor_sequence_value_info("all", F, None)],
                 [value("on", B, []), helper.make_tensor_sequence_value_info("more", F, None)])  # fmt: skip
    m = model([node("SplitToSequence", ["x", "two"], ["parts"]), node("SequenceLength", ["parts"], ["n"]),
               node("SequenceEmpty", [], ["none"]), node("Loop", ["n", "", "none"], ["all"], body=body),
               node("SequenceErase", ["all", "first"], ["rest"]), node("ConcatFromSequence", ["rest"], ["y"], axis=0),
               node("SequenceAt", ["all", "last"], ["z"])],
              [value("x", F, [13])], [value("y", F, [11]), value("z", F, [1]), value("n", I, [])],
              [("two", np.int64(2)), ("first", np.int64(0)), ("last", np.int64(-1))])  # fmt: skip
    x = np.arange(13, dtype=f32)
    check(m, [(x,)], lambda x: (-x[2:], -x[12:], np.int64(7)))


def test_optionals():
    nothing = helper.make_tensor_type_proto(F, [4])
    m = model([node("Optional", ["x"], ["o"]), node("Optional", [], ["p"], type=helper.make_optional_type_proto(nothing)),
               node("OptionalHasElement", ["o"], ["a"]), node("OptionalHasElement", ["p"], ["b"]),
               node("OptionalGetElement", ["o"], ["y"])],
              [value("x", F, [4])], [value("y", F, [4]), value("a", B, []), value("b", B, [])], opset=18)  # fmt: skip
    check(m, [(X,)], lambda x: (x, np.bool_(True), np.bool_(False)))


def test_refused():
    short = graph([node("Identity", ["c"], ["on"])], LOOP, [value("on", B, [])])
    loop = model([node("Loop", ["", "", "x"], ["y"], body=short)], [value("x", F, [4])], [value("y", F, [4])])
    refused(loop, [X], "Loop", "it has 1 outputs, but its body has fewer")
    yes = graph([node("Conv", ["s", "s"], ["a"])], [], [value("a", F, [4])])
    m = model([node("SequenceConstruct", ["x"], ["s"]), node("If", ["c"], ["y"], then_branch=yes, else_branch=yes)],
              [value("c", B, []), value("x", F, [4])], [value("y", F, [4])])  # fmt: skip
    refused(m, [np.bool_(True), X], "Conv", "input 0 is a sequence")
    m = model([node("SequenceConstruct", ["x"], ["s"]), node("SequenceAt", ["s", "k"], ["y"])], [value("x", F, [4])],
              [value("y", F, [4])], [("k", np.int64(3))])  # fmt: skip
    refused(m, [X], "position 3 of a sequence of 1")


def test_sizes_that_data_decides():
    """One program for all contents: results have the sizes of the run."""
    m = model([node("NonZero", ["x"], ["p"]), node("Compress", ["x", "c"], ["q"], axis=1), node("Neg", ["x"], ["y"])],
              [value("x", F, [3, 50]), value("c", B, [50])],
              [value("p", I, [2, "n"]), value("y", F, [3, 50]), value("q", F, [3, "k"])])  # fmt: skip
    rng = np.random.default_rng(3)
    feeds = []
    for share in (0, 0.3, 1):
        x = rng.standard_normal((3, 50)).astype(f32) * (rng.random((3, 50)) < share)
        feeds.append((x.astype(f32), rng.random(50) < share))
    check(m, feeds, lambda x, c: (np.stack(np.nonzero(x)), -x, x[:, c]))


def test_size_of_an_operand():
    """What takes such a result asks for the contents that it follows from."""
    m = model([node("NonZero", ["x"], ["p"]), node("Transpose", ["p"], ["q"]), node("ReduceSum", ["q"], ["y"], keepdims=0)],
              [value("x", F, [9])], [value("y", I, [])])  # fmt: skip
    for x in (np.arange(9), np.arange(9) % 3):
        check(m, [(x.astype(f32),)], lambda x: (np.nonzero(x)[0].sum(),))


def suppressed(boxes, scores, most, overlap, least):
    picked = []
    corner = np.concatenate([np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])], -1)
    area = (corner[..., 2] - corner[..., 0]) * (corner[..., 3] - corner[..., 1])
    for b, c in np.ndindex(scores.shape[:2]):
        order = [k for k in np.argsort(-scores[b, c], kind="stable") if scores[b, c, k] > least]
        kept = []
        for k in order:
            low = np.maximum(corner[b, kept, :2], corner[b, k, :2])
            side = np.maximum(np.minimum(corner[b, kept, 2:], corner[b, k, 2:]) - low, 0)
            both = side[:, 0] * side[:, 1]
            if len(kept) < most and not (both / (area[b, kept] + area[b, k] - both) > overlap).any():
                kept.append(k)
        picked += [(b, c, k) for k in kept]
    return np.array(picked, np.int64).reshape(-1, 3)


def test_non_max_suppression():
    m = model([node("NonMaxSuppression", ["b", "s", "most", "overlap", "least"], ["y"])],
              [value("b", F, [2, 40, 4]), value("s", F, [2, 3, 40])], [value("y", I, ["n", 3])],
              [("most", np.array([7])), ("overlap", np.array([0.4], f32)), ("least", np.array([0.35], f32))])  # fmt: skip
    rng = np.random.default_rng(4)
    feeds = [(rng.random((2, 40, 4)).astype(f32), (share * rng.random((2, 3, 40))).astype(f32)) for share in (0.3, 0.5, 1)]
    check(m, feeds, lambda b, s: (suppressed(b, s, 7, f32(0.4), f32(0.35)),))
