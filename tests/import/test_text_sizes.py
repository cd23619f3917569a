"""Strings with dynamic sizes, and with branches and loops: one program, against programs for each size."""
import pytest

onnx = pytest.importorskip("onnx")
np = pytest.importorskip("numpy")
import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
from onnx import TensorProto as T  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

WORDS = np.array(["b", "a", "", "häß", "Zürich", "b c  d", "1.5", "a.b", "x@y.z"], object)
node = helper.make_node


def model(nodes, inputs, outputs, constants=()):
    infos = [[helper.make_tensor_value_info(*i) for i in side] for side in (inputs, outputs)]
    g = helper.make_graph(nodes, "g", *infos, [numpy_helper.from_array(v, k) for k, v in dict(constants).items()])
    return helper.make_model(g, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 4)], ir_version=9)


def texts(*shape):
    return WORDS[np.random.default_rng(5).integers(0, len(WORDS), shape)]


def check(m, feeds, tmp_path):
    """Artifacts too; runs of several sizes in any order, and of none twice."""
    program = wick.load(m).compile(dynamic=True, cache="")
    program.save(tmp_path / "a.wick")
    alone = wick.InferenceSession
    for p in (program, wick.Program.load(tmp_path / "a.wick")):
        for feed in feeds + feeds[::-1]:
            names = [i.name for i in m.graph.input]
            fixed = onnx.ModelProto.FromString(m.SerializeToString())
            for i in fixed.graph.input:
                i.type.tensor_type.shape.CopyFrom(helper.make_tensor_value_info("", 1, feed[i.name].shape).type.tensor_type.shape)
            want = alone(fixed.SerializeToString(), cache="").run(None, feed)
            for g, w in zip(p.run([feed[n] for n in names]), want, strict=True):
                assert g.dtype == w.dtype and g.shape == w.shape
                np.testing.assert_array_equal(g, w)


N, S = ("x", T.STRING, ["N"]), ("y", T.STRING, None)
GRID = ("x", T.STRING, ["N", "M"])
ROWS = {
    "move": ([node("Transpose", ["x"], ["y"], perm=[1, 0])], [GRID], [S], {}),
    "lookup": ([node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", keys_strings=["a", "b"], values_int64s=[5, 7], default_int64=-1)],
               [GRID], [("y", T.INT64, None)], {}),
    "concat": ([node("StringConcat", ["x", "s"], ["y"])], [GRID], [S], {"s": np.array("!", object)}),
    "transposed": ([node("Transpose", ["x"], ["t"], perm=[1, 0]), node("StringConcat", ["t", "t"], ["y"])], [GRID], [S], {}),
    "upper": ([node("StringNormalizer", ["x"], ["y"], case_change_action="UPPER", locale="en_US.UTF-8")], [N], [S], {}),
    "regex": ([node("RegexFullMatch", ["x"], ["y"], pattern=r"[a-z]@?.*")], [GRID], [("y", T.BOOL, None)], {}),
    "n-grams": ([node("TfIdfVectorizer", ["x"], ["y"], mode="TF", min_gram_length=1, max_gram_length=2, max_skip_count=1, ngram_counts=[0, 2],
                      ngram_indexes=[0, 1, 2], pool_strings=["a", "b", "b", "a"])], [GRID], [("y", T.FLOAT, None)], {}),
    "slice": ([node("Slice", ["x", "b", "e"], ["t"]), node("StringConcat", ["t", "t"], ["y"])], [GRID], [S],
              {"b": np.array([0, 1]), "e": np.array([9999, 9999])}),
    "to numbers and back": ([node("Cast", ["v"], ["t"], to=T.STRING), node("StringConcat", ["t", "e"], ["u"]), node("Cast", ["u"], ["y"], to=T.FLOAT)],
                            [("v", T.FLOAT, ["N", 3])], [("y", T.FLOAT, None)], {"e": np.array("1", object)}),
    "branch": ([node("If", ["c"], ["y"], then_branch=helper.make_graph([node("StringConcat", ["x", "x"], ["a"])], "t", [], [onnx.ValueInfoProto(name="a")]),
                     else_branch=helper.make_graph([node("Identity", ["x"], ["b"])], "e", [], [onnx.ValueInfoProto(name="b")]))], [N, ("c", T.BOOL, [])], [S], {}),
    "loop": ([node("Loop", ["n", "", "x"], ["y"], body=helper.make_graph([node("StringConcat", ["a", "x"], ["b"]), node("Identity", ["go"], ["on"])], "l", [
        helper.make_tensor_value_info("i", T.INT64, []), helper.make_tensor_value_info("go", T.BOOL, []), helper.make_tensor_value_info("a", T.STRING, ["N"])],
        [onnx.ValueInfoProto(name="on"), onnx.ValueInfoProto(name="b")]))], [N, ("n", T.INT64, [])], [S], {}),
}


def feed_of(inputs, k):
    sizes = {"N": (2, 1, 5)[k], "M": (3, 4, 1)[k]}
    shape = lambda dims: [sizes.get(d, d) for d in dims]
    return {name: texts(*shape(dims)) if kind == T.STRING else np.array(k + 1) if kind == T.INT64 else np.array(k % 2 == 0) if kind == T.BOOL
            else np.random.default_rng(k).integers(0, 99, shape(dims)).astype(np.float32) for name, kind, dims in inputs}


@pytest.mark.parametrize("name", ROWS)
def test_sizes(name, tmp_path):
    nodes, inputs, outputs, constants = ROWS[name]
    check(model(nodes, inputs, outputs, constants), [feed_of(inputs, k) for k in range(3)], tmp_path)


def test_more_strings_than_before():
    """The table of a session grows with its runs, and forgets those of each."""
    program = wick.load(model(*ROWS["concat"])).compile(dynamic=True, cache="")
    for n in (1, 500, 3, 2000):
        x = np.array([[f"{n}:{k}"] for k in range(n)], object)
        np.testing.assert_array_equal(program(x), np.array([[f"{n}:{k}!"] for k in range(n)], object))
