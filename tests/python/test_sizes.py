"""Sizes that vary: one program for all of them, through every door of the package."""
import threading

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402

from built import PACKAGE  # noqa: E402, F401
import wick  # noqa: E402


def attention_like():
    """x[N,T,8] -> softmax over T of its products with itself, after a matrix; T*8 numbers in a row, too."""
    rng = np.random.default_rng(3)
    w = helper.make_tensor("w", TensorProto.FLOAT, [8, 8], rng.standard_normal(64).astype("f").tobytes(), raw=True)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["q"]),
             helper.make_node("Transpose", ["x"], ["k"], perm=[0, 2, 1]),
             helper.make_node("MatMul", ["q", "k"], ["s"]),
             helper.make_node("Softmax", ["s"], ["p"], axis=-1),
             helper.make_node("MatMul", ["p", "x"], ["y"]),
             helper.make_node("Shape", ["x"], ["shape"]),
             helper.make_node("Slice", ["shape", "zero", "one"], ["n"]),
             helper.make_node("Concat", ["n", "rest"], ["to"], axis=0),
             helper.make_node("Reshape", ["y", "to"], ["flat"])]
    ints = lambda name, x: helper.make_tensor(name, TensorProto.INT64, [1], [x])
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "T", 8])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", "T", 8]),
                               helper.make_tensor_value_info("flat", TensorProto.FLOAT, None)],
                              [w, ints("zero", 0), ints("one", 1), ints("rest", -1)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString(), \
        np.frombuffer(w.raw_data, "f").reshape(8, 8)


def expected(x, w):
    x = x.astype("d")
    s = (x @ w) @ x.transpose(0, 2, 1)
    p = np.exp(s - s.max(-1, keepdims=True))
    return (p / p.sum(-1, keepdims=True)) @ x


@pytest.fixture(scope="module")
def program():
    model, w = attention_like()
    return wick.compile(model, ranges={"N": (1, 9), "T": (1, 70)}), w


def test_all_sizes(program):
    program, w = program
    assert program.inputs[0].shape == (-1, -1, 8) and program.inputs[0].symbols[:2] == ("N", "T")
    rng = np.random.default_rng(4)
    for n, t in [(1, 1), (9, 70), (2, 3), (1, 16), (3, 17), (9, 1), (2, 3), (4, 33)]:
        x = rng.standard_normal((n, t, 8)).astype("f")
        y, flat = program(x)
        np.testing.assert_allclose(y, expected(x, w), rtol=2e-5, atol=2e-5)
        assert flat.shape == (n, t * 8)
        np.testing.assert_array_equal(flat, y.reshape(n, -1))


def test_outside(program):
    with pytest.raises(wick.WickError, match="the size T is 71, outside of its range 1..70"):
        program[0](np.zeros((1, 71, 8), "f"))
    with pytest.raises(wick.WickError, match="N is 0"):
        program[0](np.zeros((0, 4, 8), "f"))
    with pytest.raises(wick.WickError):
        program[0](np.zeros((1, 4, 9), "f"))


def test_artifact_of_all_sizes(program, tmp_path):
    program, w = program
    program.save(tmp_path / "x.wick")
    again = wick.Program.load(tmp_path / "x.wick")
    x = np.random.default_rng(5).standard_normal((2, 20, 8)).astype("f")
    for a, b in zip(program(x), again(x)):
        np.testing.assert_array_equal(a, b)


def test_threads_meet_sizes_in_any_order(program):
    """The bits are the same as with one thread."""
    program, _ = program
    rng = np.random.default_rng(6)
    xs = [rng.standard_normal((1 + k % 5, 1 + 7 * k % 60, 8)).astype("f") for k in range(40)]
    want = [program(x) for x in xs]
    bad = []

    def work(seed):
        for k in np.random.default_rng(seed).permutation(len(xs)):
            if any((a != b).any() for a, b in zip(program(xs[k]), want[k])):
                bad.append(k)

    threads = [threading.Thread(target=work, args=(s,)) for s in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not bad


def test_steps():
    model, w = attention_like()
    program = wick.compile(model, ranges={"N": (1, 2), "T": (8, 64, 8)})
    x = np.random.default_rng(7).standard_normal((2, 24, 8)).astype("f")
    np.testing.assert_allclose(program(x)[0], expected(x, w), rtol=2e-5, atol=2e-5)
    with pytest.raises(wick.WickError):
        program(np.zeros((1, 12, 8), "f"))


def test_sessions_compile_once_for_all_shapes():
    """In the first run; what takes sizes to be equal that are not, alone."""
    model, w = attention_like()
    session = wick.InferenceSession(model)
    rng = np.random.default_rng(8)
    for n, t in [(1, 4), (2, 5), (3, 40), (1, 4), (5, 1)]:
        x = rng.standard_normal((n, t, 8)).astype("f")
        np.testing.assert_allclose(session.run(["y"], {"x": x})[0], expected(x, w), rtol=2e-5, atol=2e-5)
    programs = {id(p) for of in session._compiled._programs.values() for p in of}
    assert len(programs) == 1


def test_sessions_broadcast():
    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["c"])], "g",
                              [helper.make_tensor_value_info(n, TensorProto.FLOAT, [s]) for n, s in ("aN", "bM")],
                              [helper.make_tensor_value_info("c", TensorProto.FLOAT, None)])
    session = wick.InferenceSession(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    for n, m in [(2, 2), (3, 3), (1, 4), (5, 1), (6, 6)]:
        a, b = np.arange(n, dtype="f"), np.arange(m, dtype="f")
        np.testing.assert_array_equal(session.run(None, {"a": a, "b": b})[0], a + b)
    with pytest.raises(wick.WickError):
        session.run(None, {"a": np.zeros(2, "f"), "b": np.zeros(3, "f")})


def test_ranges_without_an_end():
    """A kernel's scratch memory (here ranks of all elements) is as large as the sizes of the run require."""
    node = helper.make_node
    ints = lambda name, *x: helper.make_tensor(name, TensorProto.INT64, [len(x)], x)
    nodes = [node("Reshape", ["x", "rows"], ["flat"]), node("TopK", ["flat", "k"], ["best", "place"]),
             node("Softmax", ["flat"], ["p"], axis=-1)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4, "H", "W"])],
                              [helper.make_tensor_value_info("best", TensorProto.FLOAT, None),
                               helper.make_tensor_value_info("place", TensorProto.INT64, None),
                               helper.make_tensor_value_info("p", TensorProto.FLOAT, None)],
                              [ints("rows", 0, 4, -1), ints("k", 2)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    program = wick.compile(model, dynamic=True)
    rng = np.random.default_rng(8)
    for shape in [(1, 4, 2, 3), (3, 4, 9, 7), (2, 4, 1, 2), (1, 4, 40, 31)]:
        x = rng.permutation(int(np.prod(shape))).astype("f").reshape(shape)
        best, place, p = program(x)
        flat = x.reshape(shape[0], 4, -1)
        want = np.argsort(-flat, axis=-1)[..., :2]
        np.testing.assert_array_equal(place, want)
        np.testing.assert_array_equal(best, np.take_along_axis(flat, want, -1))
        e = np.exp((flat - flat.max(-1, keepdims=True)).astype("d"))
        np.testing.assert_allclose(p, e / e.sum(-1, keepdims=True), rtol=2e-5, atol=1e-6)


def test_pins(tmp_path):
    """Copies for some sizes: in the program from the start, with the same bits."""
    model, _ = attention_like()
    ranges = {"N": (1, 9), "T": (1, 70)}
    plain, pinned = wick.compile(model, ranges=ranges), wick.compile(model, ranges=ranges, specialize_dims={"N": 2, "T": (5, 33)})
    pinned.save(tmp_path / "x.wick")
    again = wick.Program.load(tmp_path / "x.wick")
    rng = np.random.default_rng(9)
    for n, t in [(2, 5), (2, 33), (2, 6)]:
        x = rng.standard_normal((n, t, 8)).astype("f")
        for a, b, c in zip(plain(x), pinned(x), again(x)):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(a, c)
    profile = {tuple(m["sizes"].values()): m for m in again.profile}
    assert profile[2, 5]["specialization"] == profile[2, 33]["specialization"] == "ahead" and profile[2, 6]["specialization"] == "none"
    assert profile[2, 5]["specialized_ns"] and not profile[2, 6]["specialized_ns"]
    with pytest.raises(wick.WickError, match="the size T is dynamic, too"):
        wick.compile(model, ranges=ranges, specialize_dims={"N": 2})


def test_copies_in_the_background():
    model, _ = attention_like()
    program = wick.compile(model, ranges={"N": (1, 9), "T": (1, 70)}, auto_specialize=1, cache="")
    x = np.random.default_rng(10).standard_normal((3, 20, 8)).astype("f")
    want = program(x)
    for _ in range(40):
        program(x)
    program.wait()
    for a, b in zip(program(x), want):
        np.testing.assert_array_equal(a, b)
    (profile,) = program.profile
    assert profile["specialization"] == "ready" and profile["runs"] == 42 and profile["sizes"] == {"N": 3, "T": 20}


def test_what_runs_decide():
    """Branches and steps of all runs are counted, by the location in the user's model."""
    text = b"""graph @main(%c: bool[], %n: i64[], %x: f32[N[1..9]]) -> f32[N] {
  %0 = if %c () { %1 = add %x, %x; yield %1 } () { yield %x } : f32[N] loc("choice")
  %2 = loop %n, %0 (%i: i64[], %v: f32[N]) {
    %3 = add %v, %x
    %4 = const true : bool[]
    yield %4, %3
  } : f32[N] loc("scan")
  return %2
}
"""
    program = wick.compile(text, dynamic=True, specialize_dims={"N": 3}, cache="")
    for n, steps in (3, 4), (3, 0), (5, 2):
        np.testing.assert_array_equal(program(np.array(n == 3), np.array(steps), np.ones(n, "f")), np.full(n, steps + 1 + (n == 3), "f"))
    assert program.flow == [{"location": "choice", "then": 2, "else": 1}, {"location": "scan", "times": 3, "steps": 6, "least": 0, "most": 4}]


def test_contents_that_copies_hold(tmp_path):
    """Branches that follow from a small input; ahead, and what has always been the same in the background."""
    text = b"""graph @main(%mode: u8[2], %x: f32[N[1..9],4]) -> f32[N,4] {
  %0 = slice %mode {begin=[1], shape=[1]}
  %1 = reshape %0 {shape=[]}
  %2 = const 200 : u8[]
  %3 = eq %1, %2
  %4 = if %3 () { %5 = add %x, %x; yield %5 } () { %6 = mul %x, %x; yield %6 } : f32[N,4] loc("choice")
  return %4
}
"""
    x = np.random.default_rng(3).standard_normal((3, 4)).astype("f")
    program = wick.compile(text, dynamic=True, specialize_dims={"N": 3}, specialize_inputs={"mode": [[7, 200], [1, 2]]}, cache="")
    program.save(tmp_path / "x.wick")
    program = wick.Program.load(tmp_path / "x.wick")
    for mode in [7, 200], [1, 2], [8, 200], [9, 9]:
        np.testing.assert_array_equal(program(np.array(mode, "u1"), x), x + x if mode[1] == 200 else x * x)
    runs = {tuple(m["guards"]["mode"].tolist()) if m["guards"] else (): m for m in program.profile}
    assert {k: m["runs"] for k, m in runs.items()} == {(): 2, (7, 200): 1, (1, 2): 1}
    assert runs[7, 200]["specialization"] == "ahead" and runs[7, 200]["specialized_ns"] and not runs[()]["always"]
    with pytest.raises(wick.WickError, match="is not a value of type u8"):
        wick.compile(text, dynamic=True, specialize_dims={"N": 3}, specialize_inputs={"mode": [1, 256]})
    with pytest.raises(wick.WickError, match="no input"):
        wick.compile(text, dynamic=True, specialize_dims={"N": 3}, specialize_inputs={"mod": [1, 2]})
    with pytest.raises(wick.WickError, match="it has 2 bytes, 3 are given"):
        wick.compile(text, dynamic=True, specialize_dims={"N": 3}, specialize_inputs={"mode": [1, 2, 3]})
    program = wick.compile(text, dynamic=True, auto_specialize=1, cache="")
    for _ in range(33):
        program(np.array([0, 200], "u1"), x)
    assert program.profile[0]["always"]["mode"].tolist() == [0, 200]
    program.wait()
    np.testing.assert_array_equal(program(np.array([0, 200], "u1"), x), x + x)
    np.testing.assert_array_equal(program(np.array([0, 201], "u1"), x), x * x)
    (guarded,) = (m for m in program.profile if m["guards"])
    assert guarded["specialization"] == "ready" and guarded["runs"] == 1 and guarded["guards"]["mode"].tolist() == [0, 200]


def test_part_of_a_row_that_a_loop_takes():
    """Rows of dynamic size, of which a loop selects one in each step, and an element of it by the step's index."""
    text = b"""graph @main(%x: i64[1,3,S[5..13],6]) -> (i64[S,S,6], i64[S]) {
  %0 = shape %x {start=2, end=3} : i64[1]
  %1 = reshape %0 {shape=[]} : i64[]
  %2 = add %x, %x : i64[1,3,S,6]
  %3, %4, %5 = loop %1, %2 {stacked=2, most=[S]} (%i: i64[], %v: i64[1,3,S,6]) {
    %6 = dynamic_index %v, %i {axis=1} : i64[1,S,6]
    %7 = slice %6 {begin=[0, 3, 4], shape=[1, 1, 1]} : i64[1,1,1]
    %8 = reshape %7 {shape=[]} : i64[]
    %9 = const 2 : i64[]
    %10 = lt %i, %9 : bool[]
    %11 = reshape %6 {shape=[S, 6]} : i64[S,6]
    yield %10, %v, %11, %8
  } : i64[1,3,S,6], i64[S,S,6], i64[S]
  return %4, %5
}
"""
    program = wick.compile(text, dynamic=True)
    for s in (5, 13, 7):
        x = np.arange(18 * s).reshape(1, 3, s, 6)
        rows, elements = program(x)
        np.testing.assert_array_equal(rows[:3], 2 * x[0])
        np.testing.assert_array_equal(elements[:3], 2 * x[0, :, 3, 4])
        assert not rows[3:].any() and not elements[3:].any()


def test_sizes_that_one_branch_relies_on():
    """A number chooses between two windows, each of which is for only one length: one program has both."""
    node = helper.make_node
    rng = np.random.default_rng(9)

    def branch(name, window):
        w = rng.standard_normal((4, 1, window)).astype("f")
        const = helper.make_tensor(name + "w", TensorProto.FLOAT, w.shape, w.tobytes(), raw=True)
        nodes = [node("Conv", ["x", name + "w"], [name + "c"]),  # as long as the window: one position is left
                 node("Squeeze", [name + "c", name + "last"], [name + "s"]), node("Relu", [name + "s"], [name])]
        last = helper.make_tensor(name + "last", TensorProto.INT64, [1], [2])
        return w, helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)], [const, last])

    long, yes = branch("yes", 9)
    short, no = branch("no", 5)
    nodes = [node("Equal", ["rate", "sixteen"], ["c"]), node("If", ["c"], ["y"], then_branch=yes, else_branch=no)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1, "L"]),
                                           helper.make_tensor_value_info("rate", TensorProto.INT64, [])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [helper.make_tensor("sixteen", TensorProto.INT64, [], [16])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    program = wick.compile(model, dynamic=True)
    for n, rate, w in [(1, 16, long), (3, 8, short), (2, 16, long), (1, 8, short)]:
        x = rng.standard_normal((n, 1, w.shape[2])).astype("f")
        want = np.maximum(np.einsum("nk,mk->nm", x[:, 0], w[:, 0]), 0)
        np.testing.assert_allclose(program(x, np.array(rate)), want, rtol=2e-5, atol=1e-5)
        with pytest.raises(wick.WickError, match="the branch that is taken is not for these shapes"):
            program(x, np.array(24 - rate))
