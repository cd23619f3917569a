"""Models with dynamic sizes: imported once with symbols and evaluated at several sizes, with the same results as
imports with these sizes as numbers. `wick check --inputs` evaluates an import by the slow definitions."""
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

WICK = os.environ.get("WICK_COMMAND", "build/wick")
SHARED = pathlib.Path(os.environ.get("WICK_SHARED", "../shared"))
F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def check(path, dims=(), feed=(), folder=None):
    """The process, and the outputs if it evaluates."""
    command = [WICK, "check", str(path)]
    if dims:
        command += ["--dim", *dims]
    for k, a in enumerate(feed):
        np.save(folder / f"in{k}.npy", a)
    if len(feed):
        command += ["--inputs", *[str(folder / f"in{k}.npy") for k in range(len(feed))], "--outputs", str(folder / "out")]
    r = subprocess.run(command, capture_output=True, text=True)
    count = sum(line.startswith("  output ") for line in r.stdout.splitlines())
    got = [np.load(folder / "out" / f"output_{k}.npy") for k in range(count)] if len(feed) and r.returncode == 0 else []
    return r, got


def compare(path, ranges, sizes, feed, folder, symbolic=True):
    """`ranges` by name, each of `sizes` by name, and the inputs at a size."""
    for at in sizes:
        inputs = feed(at)
        r, got = check(path, [f"{n}={v}" for n, v in ranges.items()], inputs, folder)
        assert r.returncode == 0, r.stderr
        assert ("  size   " in r.stdout) == symbolic, r.stdout
        w, want = check(path, [f"{n}={v}" for n, v in at.items()], inputs, folder)
        assert w.returncode == 0, w.stderr
        assert "  size   " not in w.stdout, w.stdout
        assert len(got) == len(want)
        for a, b in zip(got, want):
            assert a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_array_equal(a, b)


# ---- a small model of each family ----

def node(op, inputs, outputs, **attrs):
    return helper.make_node(op, inputs.split(" "), outputs.split(), outputs.split()[0], **attrs)


def branch(name, nodes, output):
    return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(output, F, None)])


def constants(**values):
    return [numpy_helper.from_array(np.asarray(v), k) for k, v in values.items()]


HALF = branch("half", [node("Slice", "x zero two last", "h1")], "h1")
WHOLE = branch("whole", [node("Slice", "x zero two last", "w1"), node("Neg", "w1", "w2")], "w2")
SQUEEZED = branch("squeezed", [node("Squeeze", "e last", "q1")], "q1")
KEPT = branch("kept", [node("Identity", "e", "q2")], "q2")

FAMILIES = {
    # name: (inputs {name: (type, shape)}, nodes, outputs, constants, extra checks)
    "broadcast": ({"x": (F, "NM"), "y": (F, "NM"), "z": (F, "N1")}, [node("Add", "x y", "a"), node("Mul", "a z", "b")], "b", {}),
    "concat": ({"x": (F, "NM"), "y": (F, "N3")}, [node("Concat", "x y", "b", axis=1)], "b", {}),
    "reshape": ({"x": (F, "NM4")}, [node("Reshape", "x s", "a"), node("Reshape", "a t", "b"), node("Flatten", "x", "c")], "a b c",
                {"s": np.array([0, -1]), "t": np.array([-1, 2])}),
    "shape": ({"x": (F, "NM")},
              [node("Shape", "x", "s"), node("Gather", "s one", "m", axis=0), node("Unsqueeze", "m zero", "u"),
               node("Slice", "s zero last zero", "n"), node("Mul", "n two", "n2"), node("Div", "u two", "h"), node("Sub", "u h", "rest"),
               node("Split", "x hs", "p q", axis=1), node("Concat", "h rest", "hs", axis=0), node("Tile", "p reps", "t"),
               node("Concat", "two n2", "reps", axis=0)],
              "t q", {"one": np.array(1), "zero": np.array([0]), "two": np.array([2]), "last": np.array([1])}),
    "where": ({"x": (F, "NM")},
              [node("Shape", "x", "s"), node("Equal", "t minus", "e"), node("Where", "e s t", "w"), node("Expand", "k w", "a"),
               node("Greater", "s five", "g"), node("Where", "g five s", "c"), node("ConstantOfShape", "c", "b")],
              "a b", {"t": np.array([-1, -1]), "minus": np.array([-1]), "k": np.float32([[3]]), "five": np.array([5])}),
    "range": ({"x": (F, "NM")},
              [node("Shape", "x", "s"), node("Gather", "s one", "m"), node("Range", "nought m one", "r"), node("ReduceSum", "x", "t", keepdims=0),
               node("Cast", "r", "f", to=F), node("Mul", "f t", "b")],
              "b r", {"one": np.array(1), "nought": np.array(0)}),
    "slice": ({"x": (F, "NM")},
              [node("Slice", "x begin end axes", "a"), node("Shape", "x", "s"), node("Sub", "s three", "d"), node("Slice", "x d s", "b")],
              "a b", {"begin": np.array([-3]), "end": np.array([1 << 40]), "axes": np.array([1]), "three": np.array([3])}),
    "pad": ({"x": (F, "NM")},
            [node("Shape", "x", "s"), node("Sub", "eight s", "d"), node("Div", "d two", "l"), node("Sub", "d l", "r"),
             node("Concat", "l r", "p", axis=0), node("Pad", "x p", "b")],
            "b", {"eight": np.array([8, 8]), "two": np.array([2])}),
    "top": ({"x": (F, "NM")},
            [node("Shape", "x", "s"), node("Slice", "s last two zero", "m"), node("Min", "m four", "k"), node("TopK", "x k", "a b", axis=1)],
            "a b", {"last": np.array([1]), "two": np.array([2]), "zero": np.array([0]), "four": np.array([4])}),
    "resize": ({"x": (F, "1NM4")},
               [node("Transpose", "x", "y", perm=[0, 3, 1, 2]), node("Resize", "y  scales", "a", mode="nearest"),
                node("Shape", "y", "s"), node("Slice", "s zero two", "nc"), node("Slice", "s two four", "hw"), node("Mul", "hw two", "h2"),
                node("Concat", "nc h2", "size", axis=0), node("Resize", "y   size", "b", mode="linear")],
               "a b", {"scales": np.float32([1, 1, 2.3, 0.6]), "zero": np.array([0]), "two": np.array([2]), "four": np.array([4])}),
    "floats": ({"x": (F, "NM")},
               [node("Shape", "x", "s"), node("Cast", "s", "f", to=F), node("Mul", "f half", "h"), node("Floor", "h", "d"), node("Cast", "d", "w", to=I),
                node("Div", "f three", "g"), node("Ceil", "g", "e"), node("Concat", "e d", "j", axis=0), node("Cast", "j", "k", to=I),
                node("ConstantOfShape", "w", "a"), node("ConstantOfShape", "k", "b")],
               "a b", {"half": np.float32([2.5, 0.5]), "three": np.float32([3])}),
    "window": ({"x": (F, "1NMM")},
               [node("Transpose", "x", "y", perm=[1, 0, 2, 3]), node("Conv", "y w", "c", strides=[2, 2], pads=[1, 1, 1, 1]),
                node("MaxPool", "c", "a", kernel_shape=[2, 2]), node("GlobalAveragePool", "a", "b")],
               "a b", {"w": np.ones((3, 1, 3, 3), np.float32)}),
    "gemm": ({"x": (F, "N4"), "y": (F, "4M"), "z": (F, "M")}, [node("Gemm", "x y z", "b", alpha=0.5)], "b", {}),
    "product": ({"x": (F, "NM4"), "y": (F, "N4M")}, [node("MatMul", "x y", "a"), node("Softmax", "a", "b")], "b", {}),
    "nonzero": ({"x": (F, "NM"), "c": (B, "N")}, [node("NonZero", "x", "a"), node("Compress", "x c", "b", axis=0)], "a b", {}),
    "boxes": ({"x": (F, "NM4"), "y": (F, "N2M")}, [node("NonMaxSuppression", "x y most overlap", "a")], "a",
              {"most": np.array([3]), "overlap": np.float32([0.4])}),
    "gather": ({"x": (F, "NM"), "i": (I, "N")}, [node("Gather", "x i", "a", axis=1), node("ScatterElements", "x j x", "b", axis=1),
                                                 node("Shape", "x", "s"), node("Expand", "nought s", "j")], "a b", {"nought": np.array([[0]])}),
    "recurrent": ({"x": (F, "MN3")}, [node("GRU", "x w r", "a", hidden_size=2)], "a",
                  {"w": np.full((1, 6, 3), 0.25, np.float32), "r": np.full((1, 6, 2), 0.5, np.float32)}),
    "if": ({"x": (F, "NM")},
           [node("Shape", "x", "s"), node("Gather", "s nought", "n"), node("Greater", "n four", "c"),
            helper.make_node("If", ["c"], ["b"], "b", then_branch=HALF, else_branch=WHOLE)],
           "b", {"nought": np.array(0), "four": np.array(4), "zero": np.array([0]), "two": np.array([2]), "last": np.array([1])}),
    "depth": ({"x": (F, "14NM")}, [node("DepthToSpace", "x", "a", blocksize=2), node("SpaceToDepth", "a", "b", blocksize=2)], "a b", {}),
    "scan": ({"x": (F, "N3"), "z": (F, "3")},
             [helper.make_node("Scan", ["z", "x"], ["a", "b"], "b", num_scan_inputs=1, scan_output_directions=[1], body=helper.make_graph(
                 [node("Add", "u v", "u2"), node("Mul", "u2 v", "w")], "body",
                 [helper.make_tensor_value_info("u", F, [3]), helper.make_tensor_value_info("v", F, [3])],
                 [helper.make_tensor_value_info("u2", F, [3]), helper.make_tensor_value_info("w", F, [3])]))],
             "a b", {}),
    "trips": ({"x": (F, "NM")},
              [node("Shape", "x", "s"), node("Gather", "s nought", "n"),
               helper.make_node("Loop", ["n", "", "x"], ["a", "b"], "b", body=helper.make_graph(
                   [node("Add", "v v", "v2"), node("Identity", "c", "c2"), node("ReduceSum", "v", "r", keepdims=0)], "body",
                   [helper.make_tensor_value_info("i", I, []), helper.make_tensor_value_info("c", B, []), helper.make_tensor_value_info("v", F, None)],
                   [helper.make_tensor_value_info("c2", B, []), helper.make_tensor_value_info("v2", F, None), helper.make_tensor_value_info("r", F, [])]))],
              "a b", {"nought": np.array(0)}),
    "loop": ({"x": (F, "NM")},
             [helper.make_node("Loop", ["three", "", "x"], ["b"], "b", body=helper.make_graph(
                 [node("Add", "v v", "v2"), node("Identity", "c", "c2")], "body",
                 [helper.make_tensor_value_info("i", I, []), helper.make_tensor_value_info("c", B, []), helper.make_tensor_value_info("v", F, None)],
                 [helper.make_tensor_value_info("c2", B, []), helper.make_tensor_value_info("v2", F, None)]))],
             "b", {"three": np.array(3)}),
}


def order(nodes, known):
    """The nodes, sorted so that each comes after the nodes that it reads."""
    left, out, known = list(nodes), [], set(known) | {""}
    while left:
        n = next(n for n in left if set(n.input) <= known)
        left.remove(n)
        out.append(n)
        known |= set(n.output)
    return out


def family(name, folder):
    inputs, nodes, outputs, values = FAMILIES[name]
    dim = lambda c: int(c) if c.isdigit() else c
    infos = [helper.make_tensor_value_info(k, t, [dim(c) for c in s]) for k, (t, s) in inputs.items()]
    graph = helper.make_graph(order(nodes, [*inputs, *values]), name, infos, [helper.make_empty_tensor_value_info(o) for o in outputs.split()],
                              constants(**values))
    opset = 13 if name == "recurrent" else 17
    path = folder / f"{name}.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString())
    return path, inputs


@pytest.mark.parametrize("name", FAMILIES)
def test_family(name, tmp_path):
    path, inputs = family(name, tmp_path)

    def feed(at):
        rng = np.random.default_rng(7)
        shape = lambda s: [int(c) if c.isdigit() else at[c] for c in s]
        return [rng.integers(0, 3, shape(s)) if t == I else rng.integers(0, 2, shape(s)).astype(bool) if t == B else rng.standard_normal(shape(s)).astype(np.float32) for t, s in inputs.values()]

    compare(path, {"N": "2..8", "M": "3..8"}, [{"N": n, "M": m} for n, m in [(2, 3), (5, 4), (8, 8), (3, 7)]], feed, tmp_path)


# ---- checks ----

def one(tmp_path, shapes, nodes, values, outputs="b", opset=17):
    infos = [helper.make_tensor_value_info(k, F, s) for k, s in shapes.items()]
    graph = helper.make_graph(nodes, "g", infos, [helper.make_empty_tensor_value_info(o) for o in outputs.split()], constants(**values))
    path = tmp_path / "m.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString())
    return path


def test_sizes_that_differ(tmp_path):
    path = one(tmp_path, {"x": ["N", "H"], "y": ["N", "K"]}, [node("Add", "x y", "b")], {})
    ones = lambda *s: np.ones(s, np.float32)
    r, got = check(path, [], [ones(2, 3), ones(2, 3)], tmp_path)
    assert r.returncode == 0 and "  equal  H and K, for m.onnx: node \"b\" (Add)\n" in r.stdout
    np.testing.assert_array_equal(got[0], np.full((2, 3), 2, np.float32))
    for wrong in [ones(2, 4), ones(2, 1)]:  # a 1 is never broadcast silently
        r, _ = check(path, [], [ones(2, 3), wrong], tmp_path)
        assert r.returncode == 1
        assert r.stderr == f'm.onnx: node "b" (Add): sizes H and K differ: 3 and {wrong.shape[1]}, for H = 3, K = {wrong.shape[1]}\n'
    r, _ = check(path, ["H=1..4", "K=5..8"])
    assert r.returncode == 1 and "shapes do not broadcast" in r.stderr
    r = subprocess.run([WICK, "check", "--json", str(path)], capture_output=True, text=True)
    said = json.loads(r.stdout)[0]
    assert said["equal"] == [{"location": 'm.onnx: node "b" (Add)', "sizes": ["H", "K"]}]
    assert [s["name"] for s in said["sizes"]] == ["N", "H", "K"]


def test_steps(tmp_path):
    """A model for multiples of 4 needs no check if the range has only these."""
    pooled = [node("MaxPool", "x", "p", kernel_shape=[1, 1], strides=[2, 2]), node("MaxPool", "p", "q", kernel_shape=[1, 1], strides=[2, 2]),
              node("Resize", "q  s", "u", mode="nearest"), node("Add", "p u", "b")]
    path = one(tmp_path, {"x": [1, 1, "H", 8]}, pooled, {"s": np.float32([1, 1, 2, 2])})
    image = lambda h: np.arange(8 * h, dtype=np.float32).reshape(1, 1, h, 8)
    r, _ = check(path, ["H=1..64"], [image(12)], tmp_path)
    assert r.returncode == 0 and "  equal  floordiv(H + 1, 2) and 2*floordiv(H + 3, 4)" in r.stdout
    r, _ = check(path, ["H=1..64"], [image(9)], tmp_path)
    assert r.returncode == 1 and "sizes floordiv(H + 1, 2) and 2*floordiv(H + 3, 4) differ: 5 and 6, for H = 9" in r.stderr
    r, got = check(path, ["H=4..64:4"], [image(12)], tmp_path)
    assert r.returncode == 0 and "  equal  " not in r.stdout and "f32[1,1,4*H_4,8]" in r.stdout
    assert got[0].shape == (1, 1, 6, 4)
    r, _ = check(path, ["H=4..64:4"], [image(10)], tmp_path)
    assert r.returncode == 1 and "expected 4*H_4" in r.stderr


def test_windows_fit(tmp_path):
    path = one(tmp_path, {"x": [1, 1, "H"]}, [node("MaxPool", "x", "b", kernel_shape=[4])], {})
    r, _ = check(path, [], [np.ones((1, 1, 3), np.float32)], tmp_path)
    assert r.returncode == 1 and "sizes min(H - 4, 0) and 0 differ: -1 and 0, for H = 3" in r.stderr
    assert "  equal  " not in check(path, ["H=4..9"])[0].stdout


def test_squeeze_by_condition(tmp_path):
    """`If(Equal(size, 1))` around a squeeze is taken to find 1."""
    nodes = [node("Slice", "x zero last last", "e"), node("Shape", "x", "s"), node("Gather", "s one", "m"), node("Equal", "m one", "c"),
             helper.make_node("If", ["c"], ["b"], "b", then_branch=SQUEEZED, else_branch=KEPT)]
    values = {"zero": np.array([0]), "last": np.array([1]), "one": np.array(1)}
    path = one(tmp_path, {"x": ["N", "M"]}, nodes, values)
    r, got = check(path, [], [np.ones((3, 1), np.float32)], tmp_path)
    assert r.returncode == 0 and "  equal  M and 1, for m.onnx: node \"b\" (If)" in r.stdout
    assert got[0].shape == (3,)
    r, _ = check(path, [], [np.ones((3, 2), np.float32)], tmp_path)
    assert r.returncode == 1 and "sizes M and 1 differ: 2 and 1, for M = 2" in r.stderr


def test_a_size_that_must_be_given(tmp_path):
    path = one(tmp_path, {"x": ["N", 2, 2]}, [node("Shape", "x", "s"), node("Slice", "s zero last", "n"), node("Unsqueeze", "x n", "b")],
               {"zero": np.array([0]), "last": np.array([1])})
    r, _ = check(path)
    assert r.returncode == 1
    assert 'node "b" (Unsqueeze): axes must be known when the model is compiled: a number must be given for N' in r.stderr
    assert check(path, ["N=1"])[0].returncode == 0


# ---- real models ----

def shared(path):
    path = SHARED / path
    if not path.exists():
        pytest.skip("the shared models are not there")
    return path


def uniform(*shape):
    return np.random.default_rng(3).random(shape, np.float32)


P = "p2o.DynamicDimension."
REAL = {
    "models/magika": ({"unk__214": "1..8"}, [{"unk__214": n} for n in (1, 2, 3)],
                      lambda at: [np.random.default_rng(1).integers(0, 257, (at["unk__214"], 2048), np.int32)]),
    "models/minilm_l6_v2": ({"batch": "1..64", "sequence": "1..512"}, [{"batch": b, "sequence": s} for b, s in ((1, 3), (2, 8), (3, 17))],
                            lambda at: [np.random.default_rng(1).integers(0, 9, (at["batch"], at["sequence"])) + 100,
                                        np.ones((at["batch"], at["sequence"]), np.int64), np.zeros((at["batch"], at["sequence"]), np.int64)]),
    "models/ppocr_v2_cls": ({"x.0": "1..8", "x.2": "33..64", "x.3": "8..256"}, [{"x.0": n, "x.2": h, "x.3": w} for n, h, w in ((1, 48, 32), (2, 40, 24), (1, 33, 17))],
                            lambda at: [uniform(at["x.0"], 3, at["x.2"], at["x.3"])]),
    "models/ppocr_v4_det": ({P + "0": "1..4", P + "1": "32..640:32", P + "2": "32..640:32"},
                            [{P + "0": n, P + "1": h, P + "2": w} for n, h, w in ((1, 32, 32), (1, 32, 64), (2, 32, 32))],
                            lambda at: [uniform(at[P + "0"], 3, at[P + "1"], at[P + "2"])]),
    "models/ppocr_v4_rec": ({P + "0": "1..4", P + "1": "8..640", "x.2": "48"}, [{P + "0": n, P + "1": w, "x.2": 48} for n, w in ((1, 24), (1, 40), (2, 16))],
                            lambda at: [uniform(at[P + "0"], 3, 48, at[P + "1"])]),
    "models/silero_vad": ({"input.0": "1..8", "input.1": "576", "state.1": "1..8"}, [{"input.0": n, "input.1": 576, "state.1": n} for n in (1, 2, 4)],
                          lambda at: [uniform(at["input.0"], 576), uniform(2, at["input.0"], 128), np.array(16000)]),
    "frontends/onnx-torch/lenet": ({"batch": "1..8"}, [{"batch": n} for n in (1, 2, 7)], lambda at: [uniform(at["batch"], 1, 28, 28)]),
    "frontends/onnx-torch/lenet_op11": ({"batch": "1..8"}, [{"batch": n} for n in (1, 2, 7)], lambda at: [uniform(at["batch"], 1, 28, 28)]),
    "frontends/onnx-torch/lenet_op13": ({"batch": "1..8"}, [{"batch": n} for n in (1, 2, 7)], lambda at: [uniform(at["batch"], 1, 28, 28)]),
    "frontends/onnx-torch/dynamic": ({"batch": "1..8", "height": "8..64", "width": "8..64"},
                                     [{"batch": n, "height": h, "width": w} for n, h, w in ((1, 16, 16), (2, 20, 33), (3, 9, 12))],
                                     lambda at: [uniform(at["batch"], 3, at["height"], at["width"])]),
    "frontends/onnx-torch/lstm": ({"time": "1..32"}, [{"time": n} for n in (1, 5, 9)], lambda at: [uniform(2, at["time"], 8)]),
    "frontends/onnx-torch/resnet18_narrow": ({"batch": "1..8"}, [{"batch": n} for n in (1, 2, 3)], lambda at: [uniform(at["batch"], 3, 64, 64)]),
    **{f"frontends/onnx-torch/transformer{v}": (
        {"batch": "1..8", "time": "1..32"}, [{"batch": n, "time": t} for n, t in ((1, 4), (2, 7), (3, 12))],
        lambda at: [np.random.default_rng(1).integers(0, 20, (at["batch"], at["time"])), np.ones((at["batch"], at["time"]), np.int64)])
       for v in ("", "_op11", "_op13")},
}
FIXED = ["gru", "if_loop", "mobile"]  # these have no dynamic sizes


@pytest.mark.parametrize("name", REAL)
def test_real(name, tmp_path):
    ranges, sizes, feed = REAL[name]
    compare(shared(f"{name}/model.onnx"), ranges, sizes, feed, tmp_path)


@pytest.mark.parametrize("name", FIXED)
def test_fixed(name):
    r, _ = check(shared(f"frontends/onnx-torch/{name}/model.onnx"))
    assert r.returncode == 0 and "  size   " not in r.stdout
