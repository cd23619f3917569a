"""Maps: ZipMap, DictVectorizer and CastMap, and maps at the interface, compared with ONNX Runtime."""
import json
import os
import pathlib
import pickle
import subprocess

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from onnx import TensorProto as T  # noqa: E402
from onnx import helper  # noqa: E402

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
from wick import backend  # noqa: E402

WICK = os.environ.get("WICK_COMMAND", "build/wick")
ROOT = pathlib.Path(__file__).parents[2]
RNG = np.random.default_rng(11)
LABELS = {"classlabels_int64s": [7, -3, 12], "classlabels_strings": ["setosa", "Ver\"si\\color", "ünicode\n"]}
FORMS = list(LABELS)


def tensor(kind=T.FLOAT, shape=None):
    return helper.make_tensor_type_proto(kind, shape)


def map_of(key, value):
    return helper.make_map_type_proto(key, tensor(value, []))


def maps(form):
    return helper.make_sequence_type_proto(map_of(T.INT64 if "int64" in form else T.STRING, T.FLOAT))


def ml(op, inputs, outputs, **attrs):
    return helper.make_node(op, inputs.split(), outputs.split(), name=f"{op} {inputs} {outputs}", domain="ai.onnx.ml", **attrs)


def model(nodes, inputs, outputs, functions=(), opset=15):
    """Inputs and outputs are {name: type}."""
    graph = helper.make_graph(nodes, "g", *([helper.make_value_info(n, t) for n, t in v.items()] for v in (inputs, outputs)))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 1), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=functions)


def theirs(m, feed):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    return ort.InferenceSession(m.SerializeToString(), options).run(None, feed)


def same(got, want):
    assert type(got) is type(want)
    if isinstance(want, list):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            same(g, w)
    elif isinstance(want, dict):
        assert list(got) == list(want) and [type(v) for v in got.values()] == [type(v) for v in want.values()]
        assert list(got.values()) == pytest.approx(list(want.values()), rel=2e-6, abs=2e-6)
    elif want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=2e-6, atol=2e-6)
    else:
        np.testing.assert_array_equal(got, want)


# ---- classifiers ----

def classified(op, form, features=4):
    """A classifier of three classes as converters write it."""
    labels = LABELS[form]
    own = {"classlabels_ints" if op != "TreeEnsembleClassifier" and "int64" in form else form: labels}
    numbers = lambda n: RNG.normal(size=n).tolist()
    if op == "LinearClassifier":
        attrs = dict(coefficients=numbers(3 * features), intercepts=numbers(3), multi_class=1, post_transform="SOFTMAX")
    elif op == "SVMClassifier":
        attrs = dict(kernel_type="RBF", kernel_params=[0.4, 0.0, 3.0], coefficients=numbers(2 * 6), rho=numbers(3), post_transform="NONE",
                     support_vectors=numbers(6 * features), vectors_per_class=[2, 3, 1], prob_a=(-1 - RNG.random(3)).tolist(), prob_b=numbers(3))
    else:
        attrs = dict(nodes_treeids=[0] * 5, nodes_nodeids=list(range(5)), nodes_featureids=[0, 1, 0, 0, 0], nodes_modes=["BRANCH_LEQ"] * 2 + ["LEAF"] * 3,
                     nodes_values=[0.1, -0.2, 0.0, 0.0, 0.0], nodes_truenodeids=[1, 2, 0, 0, 0], nodes_falsenodeids=[4, 3, 0, 0, 0],
                     nodes_hitrates=[1.0] * 5, nodes_missing_value_tracks_true=[0] * 5, class_treeids=[0] * 9, class_nodeids=[2] * 3 + [3] * 3 + [4] * 3,
                     class_ids=[0, 1, 2] * 3, class_weights=[0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.25, 0.25, 0.5], post_transform="NONE")
    nodes = [ml(op, "X", "label scores", **own, **attrs), ml("ZipMap", "scores", "probabilities", **{form: labels})]
    kind = T.INT64 if "int64" in form else T.STRING
    return model(nodes, {"X": tensor(T.FLOAT, ["N", features])}, {"label": tensor(kind, ["N"]), "probabilities": maps(form)})


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("op", ["TreeEnsembleClassifier", "LinearClassifier", "SVMClassifier"])
def test_classifiers(op, form):
    m = classified(op, form)
    s, rep = wick.InferenceSession(m.SerializeToString(), cache=""), backend.prepare(m, cache="")
    other = ort.InferenceSession(m.SerializeToString())
    assert [(o.name, o.type) for o in s.get_outputs()] == [(o.name, o.type) for o in other.get_outputs()]
    assert s.get_outputs()[1].shape == []
    for n in (5, 1, 3, 5):
        x = RNG.normal(size=(n, 4)).astype(np.float32)
        want = other.run(None, {"X": x})
        same(s.run(None, {"X": x}), want)
        same(s.run(["probabilities"], {"X": x}), want[1:])
        same(list(rep.run([x])), want)
    again = pickle.loads(pickle.dumps(s))
    same(again.run(None, {"X": x}), want)


@pytest.mark.parametrize("form", FORMS)
def test_one_program_for_all_batches(tmp_path, form):
    m = classified("LinearClassifier", form)
    program = wick.load(m).compile(dynamic=True, cache="")
    program.save(tmp_path / "a.wick")
    for p in (program, wick.Program.load(tmp_path / "a.wick")):
        assert p.outputs[1].type == ("seq(map(i64,f32))" if "int64" in form else "seq(map(string,f32))")
        assert list(p.outputs[1].keys) == LABELS[form]
        for n in (1, 9, 2):
            x = RNG.normal(size=(n, 4)).astype(np.float32)
            same(p.run([x]), theirs(m, {"X": x}))


def zipped(shape, form=FORMS[0], between=(), out="m", kind=None, **more):
    nodes = [ml("ZipMap", "x", "m", **(more or {form: LABELS[form]})), *between]
    return model(nodes, {"x": tensor(T.FLOAT, shape)}, {out: kind or maps(form)})


def test_one_row():
    x = np.array([0.5, 0.25, 0.25], np.float32)
    for shape in ([3], ["E"]):
        m = zipped(shape)
        same(wick.InferenceSession(m.SerializeToString(), cache="").run(None, {"x": x}), theirs(m, {"x": x}))


def test_no_rows():
    x = np.zeros((0, 3), np.float32)
    for shape in ([0, 3], ["N", 3]):
        m = zipped(shape)
        same(wick.InferenceSession(m.SerializeToString(), cache="").run(None, {"x": x}), theirs(m, {"x": x}))


def test_open_number_of_labels():
    s = wick.InferenceSession(zipped(["N", "E"]).SerializeToString(), cache="")
    x = RNG.random((2, 3)).astype(np.float32)
    for _ in range(2):
        same(s.run(None, {"x": x}), theirs(zipped(["N", "E"]), {"x": x}))
    with pytest.raises(wick.WickError, match=r"ZipMap.*3"):
        s.run(None, {"x": RNG.random((2, 4)).astype(np.float32)})


# ---- maps within the graph ----

def identity(a, b):
    return helper.make_node("Identity", [a], [b])


def test_through_identity_and_a_function():
    f = helper.make_function("own", "zip", ["s"], ["t"], [ml("ZipMap", "s", "u", **{FORMS[1]: LABELS[FORMS[1]]}), identity("u", "t")],
                             [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 1)])
    m = model([helper.make_node("zip", ["x"], ["m"], domain="own"), identity("m", "n")], {"x": tensor(T.FLOAT, ["N", 3])}, {"n": maps(FORMS[1])}, [f])
    x = RNG.random((2, 3)).astype(np.float32)
    same(wick.InferenceSession(m.SerializeToString(), cache="").run(None, {"x": x}), theirs(zipped(["N", 3], FORMS[1]), {"x": x}))


def branches(a, b, outputs=("m",)):
    graphs = [helper.make_graph(nodes, name, [], [onnx.ValueInfoProto(name=o) for o in outputs]) for name, nodes in (("then", a), ("else", b))]
    return helper.make_node("If", ["c"], list(outputs), name="choice", then_branch=graphs[0], else_branch=graphs[1])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("equal", [True, False])
def test_in_branches(form, equal):
    labels = LABELS[form]
    other = labels if equal else labels[:1] + ([1, 2] if "int64" in form else ["1", "2"])
    node = branches([ml("ZipMap", "x", "m", **{form: labels})],
                    [helper.make_node("Neg", ["x"], ["y"]), ml("ZipMap", "y", "m", **{form: other})])
    m = model([node], {"x": tensor(T.FLOAT, [2, 3]), "c": tensor(T.BOOL, [])}, {"m": maps(form)})
    s = wick.InferenceSession(m.SerializeToString(), cache="")
    assert (s._model.outputs[0].keys is not None) == equal
    x = RNG.random((2, 3)).astype(np.float32)
    for c in (True, False):
        want = [dict(zip(labels if c else other, row)) for row in (x if c else -x).tolist()]
        got = s.run(None, {"x": x, "c": np.array(c)})[0]
        assert got == want


def test_rows_of_a_sequence():
    at = helper.make_node("SequenceAt", ["m", "i"], ["row"])
    m = zipped(["N", 3], FORMS[1], [at, helper.make_node("SequenceLength", ["m"], ["n"]), ml("DictVectorizer", "row", "y", string_vocabulary=[
        LABELS[FORMS[1]][2], "nobody", LABELS[FORMS[1]][0]])], "row", map_of(T.STRING, T.FLOAT))
    m.graph.input.append(helper.make_tensor_value_info("i", T.INT64, []))
    m.graph.output.extend([helper.make_tensor_value_info("n", T.INT64, []), helper.make_tensor_value_info("y", T.FLOAT, None)])
    s = wick.InferenceSession(m.SerializeToString(), cache="")
    x = RNG.random((4, 3)).astype(np.float32)
    for i in (0, 3, -1):
        row, n, y = s.run(None, {"x": x, "i": np.array(i)})
        assert row == dict(zip(LABELS[FORMS[1]], x[i].tolist())) and n == 4
        np.testing.assert_array_equal(y, [[x[i, 2], 0, x[i, 0]]])


def test_dense_in_the_order_of_keys():
    at = helper.make_node("SequenceAt", ["m", "i"], ["row"])
    m = zipped(["N", 3], FORMS[0], [at, ml("CastMap", "row", "y")], "y", tensor(T.FLOAT, None))
    m.graph.input.append(helper.make_tensor_value_info("i", T.INT64, []))
    x = RNG.random((4, 3)).astype(np.float32)
    y, = wick.InferenceSession(m.SerializeToString(), cache="").run(None, {"x": x, "i": np.array(2)})
    np.testing.assert_array_equal(y, x[2:3, [1, 0, 2]])  # -3, 7, 12


# ---- inputs that are maps ----

def vectorized(key, value, keys):
    attrs = {"string_vocabulary" if key == T.STRING else "int64_vocabulary": keys}
    return model([ml("DictVectorizer", "x", "y", **attrs)], {"x": map_of(key, value)}, {"y": tensor(value)})


@pytest.mark.parametrize("key", [T.STRING, T.INT64])
def test_dict_vectorizer(key):
    keys, others = (["b", "a", "c", "b"], "zz") if key == T.STRING else ([9, -4, 3, 9], 1000)
    m = vectorized(key, T.FLOAT, keys)
    s = wick.InferenceSession(m.SerializeToString(), cache="")
    assert [i.type for i in s.get_inputs()] == [i.type for i in ort.InferenceSession(m.SerializeToString()).get_inputs()]
    for feed in ({keys[1]: 1.5}, {keys[0]: 2, keys[2]: -3.25, others: 8}, {others: 1.0}):
        same(s.run(None, {"x": feed}), theirs(m, {"x": feed}))
    same(s.run(None, {"x": {}}), [np.zeros((1, 4), np.float32)])  # ONNX Runtime refuses it


@pytest.mark.parametrize("key, value", [(T.STRING, T.INT64), (T.STRING, T.DOUBLE), (T.INT64, T.STRING), (T.INT64, T.DOUBLE)])
def test_dict_vectorizer_of_other_values(key, value):
    """ONNX Runtime's Python cannot be given such maps."""
    keys = ["b", "a", "c"] if key == T.STRING else [9, -4, 3]
    numbers = {T.INT64: [1 << 60, -5], T.DOUBLE: [0.1, -1e300], T.STRING: ["x", "ünï"]}[value]
    y, = wick.InferenceSession(vectorized(key, value, keys).SerializeToString(), cache="").run(None, {"x": {keys[2]: numbers[0], keys[0]: numbers[1]}})
    assert y.tolist() == [[numbers[1], "" if value == T.STRING else 0, numbers[0]]] and y.dtype == helper.tensor_dtype_to_np_dtype(value)


def test_wrong_maps():
    s = wick.InferenceSession(vectorized(T.STRING, T.INT64, ["a", "b"]).SerializeToString(), cache="")
    for feed, want in (([1], "list is given"), ({1: 2}, "a string for a key, 1 is given"), ({"a": 1.5}, "an integer for the key 'a', 1.5 is given"),
                       ({"a": "x"}, "'x' is given"), ({"a": 1 << 64}, "does not fit")):
        with pytest.raises(wick.TypeMismatch, match=f"input \"x\" is map.string,i64.*{want}|{want}"):
            s.run(None, {"x": feed})


def cast(value, to, **attrs):
    kind = {"TO_FLOAT": T.FLOAT, "TO_STRING": T.STRING, "TO_INT64": T.INT64}[to]
    return model([ml("CastMap", "x", "y", cast_to=to, **attrs)], {"x": map_of(T.INT64, value)}, {"y": tensor(kind)})


@pytest.mark.parametrize("to", ["TO_FLOAT", "TO_INT64"])
@pytest.mark.parametrize("attrs", [{"map_form": "DENSE"}, {}, {"map_form": "SPARSE", "max_map": 5}, {"map_form": "SPARSE"}])
def test_cast_map(to, attrs):
    m = cast(T.FLOAT, to, **attrs)
    s = wick.InferenceSession(m.SerializeToString(), cache="")
    for feed in ({3: -2.5, 1: 1.75}, {0: 4.0}, {4: 1.0, 900: 2.0, 2: 3.0}, {1: 1.0, 0: -7.5}):
        same(s.run(None, {"x": feed}), theirs(m, {"x": feed}))


def test_cast_map_of_strings():
    """Floats are written as Cast writes them; missing values are ONNX Runtime's."""
    feed = {2: 1.5, 0: -3.0}
    run = lambda m, f=feed: wick.InferenceSession(m.SerializeToString(), cache="").run(None, {"x": f})[0].tolist()
    assert run(cast(T.FLOAT, "TO_STRING")) == [["-3.0", "1.5"]]
    assert run(cast(T.FLOAT, "TO_STRING", map_form="SPARSE", max_map=4)) == [["-3.0", "0.f", "1.5", "0.f"]]
    text = {7: "2", 1: "5", 0: "-1"}
    assert run(cast(T.STRING, "TO_INT64"), text) == [[-1, 5, 2]]
    assert run(cast(T.STRING, "TO_FLOAT", map_form="SPARSE", max_map=3), text) == [[-1.0, 5.0, 0.0]]
    assert run(cast(T.STRING, "TO_STRING", map_form="SPARSE", max_map=3), text) == [["-1", "5", "0.f"]]


def test_several_nodes_look_at_one_map(tmp_path):
    nodes = [ml("DictVectorizer", "x", "y", int64_vocabulary=[3, 5]), ml("DictVectorizer", "x", "z", int64_vocabulary=[7, 5, 5]),
             ml("CastMap", "x", "w", map_form="SPARSE", max_map=4)]
    m = model(nodes, {"x": map_of(T.INT64, T.FLOAT)}, {n: tensor() for n in "yzw"})
    feed = {5: 1.0, 3: 2.0, 7: 3.0, 1: 4.0}
    same(wick.InferenceSession(m.SerializeToString(), cache="").run(None, {"x": feed}), theirs(m, {"x": feed}))
    program = wick.load(m).compile(cache="")
    assert [p.shape for p in program._flat] == [(6,)] and program.inputs[0].keys == (3, 5, 7, 0, 1, 2)
    program.save(tmp_path / "a.wick")
    again = wick.Program.load(tmp_path / "a.wick")
    same(list(again(feed)), theirs(m, {"x": feed}))
    assert "x: map(i64,f32)" in repr(again)


def test_keys_that_runs_know():
    """One node needs the whole map: others then search it."""
    nodes = [ml("DictVectorizer", "x", "y", int64_vocabulary=[3, 5, 8]), ml("CastMap", "x", "z")]
    m = model(nodes, {"x": map_of(T.INT64, T.FLOAT)}, {"y": tensor(), "z": tensor(), "x": map_of(T.INT64, T.FLOAT)})
    s = wick.InferenceSession(m.SerializeToString(), cache="")
    for feed in ({5: 1.0, 4: -2.0, 3: 0.5}, {8: 1.0}, {1: 1.0, 2: 2.0, 3: 3.0, 4: 4.0}):
        y, z, x = s.run(None, {"x": feed})
        np.testing.assert_array_equal(y, [[feed.get(k, 0) for k in (3, 5, 8)]])
        np.testing.assert_array_equal(z, [[feed[k] for k in sorted(feed)]])
        assert x == feed and list(x) == sorted(feed)
    y, z, x = s.run(None, {"x": {}})
    assert y.tolist() == [[0, 0, 0]] and z.shape == (1, 0) and x == {}


@pytest.mark.parametrize("key", [T.STRING, T.INT64])
def test_straight_to_an_output(key):
    kind = map_of(key, T.FLOAT)
    m = model([], {"x": kind}, {"x": kind})
    s = wick.InferenceSession(m.SerializeToString(), cache="")
    for feed in ({"b": 1.0, "a": 0.5}, {"q": 2.0}) if key == T.STRING else ({9: 1.0, -3: 0.5}, {1: 2.0}):
        same(s.run(None, {"x": feed}), theirs(m, {"x": feed}))


def test_an_input_that_nobody_looks_at():
    m = model([identity("a", "b")], {"x": map_of(T.STRING, T.FLOAT), "a": tensor(T.FLOAT, [2])}, {"b": tensor(T.FLOAT, [2])})
    a = np.ones(2, np.float32)
    same(wick.InferenceSession(m.SerializeToString(), cache="").run(None, {"x": {"q": 1.0}, "a": a}), [a])


def test_beside_open_sizes():
    """A map, and tensors whose sizes vary: a program for all."""
    nodes = [ml("DictVectorizer", "d", "v", string_vocabulary=["a", "b", "c"]), helper.make_node("Add", ["v", "x"], ["y"]), ml(
        "ZipMap", "y", "m", **{FORMS[1]: ["a", "b", "c"]})]
    m = model(nodes, {"d": map_of(T.STRING, T.FLOAT), "x": tensor(T.FLOAT, ["N", 3])}, {"m": maps(FORMS[1])})
    s = wick.InferenceSession(m.SerializeToString(), cache="")
    for n in (2, 3, 1, 4):
        x = RNG.random((n, 3)).astype(np.float32)
        same(s.run(None, {"d": {"c": 2.0, "a": 1.0}, "x": x}), theirs(m, {"d": {"c": 2.0, "a": 1.0}, "x": x}))
    assert len({id(p) for ps in s._compiled._programs.values() for p in ps}) == 1


# ---- the rest of the interface ----

def test_values_of_the_interface():
    m = zipped([2, 3])
    s = wick.InferenceSession(m.SerializeToString(), cache="")
    x = RNG.random((2, 3)).astype(np.float32)
    v, = s.run_with_ort_values(None, {"x": wick.OrtValue.ortvalue_from_numpy(x)})
    assert not v.is_tensor() and not v.is_tensor_sequence() and v.data_type() == "seq(map(int64,tensor(float)))"
    same([v.numpy()], theirs(m, {"x": x}))
    b = s.io_binding()
    b.bind_cpu_input("x", x)
    b.bind_output("m")
    s.run_with_iobinding(b)
    same(b.copy_outputs_to_cpu(), theirs(m, {"x": x}))
    b.bind_ortvalue_output("m", wick.OrtValue.ortvalue_from_numpy(x))
    with pytest.raises(Exception, match="cannot be bound"):
        s.run_with_iobinding(b)


# ---- the command ----

def command(*args):
    r = subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=300)
    assert r.returncode == 0, r.stderr
    return r.stdout


@pytest.mark.parametrize("form", FORMS)
def test_convert_and_back(tmp_path, form):
    """What Wick writes has a ZipMap again, for it and for others."""
    m = classified("LinearClassifier", form)
    onnx.save(m, tmp_path / "m.onnx")
    command("convert", tmp_path / "m.onnx", "-o", tmp_path / "n.onnx")
    n = onnx.load(tmp_path / "n.onnx")
    onnx.checker.check_model(n)
    assert n.graph.node[-1].op_type == "ZipMap" and not n.metadata_props
    x = RNG.normal(size=(3, 4)).astype(np.float32)
    want = theirs(m, {"X": x})
    same(theirs(n, {"X": x}), want)
    same(wick.InferenceSession(str(tmp_path / "n.onnx"), cache="").run(None, {"X": x}), want)


@pytest.mark.parametrize("key, value", [(T.STRING, T.FLOAT), (T.INT64, T.FLOAT), (T.INT64, T.STRING), (T.STRING, T.INT64)])
def test_convert_inputs_and_back(tmp_path, key, value):
    keys, x = (["b", "a", "c"], "q") if key == T.STRING else ([9, -4, 3], 5)
    numbers = {T.FLOAT: [1.5, 2.5], T.INT64: [1, -5], T.STRING: ["x", "y"]}[value]
    m, feed = vectorized(key, value, keys), {"x": {keys[1]: numbers[0], x: numbers[1]}}
    onnx.save(m, tmp_path / "m.onnx")
    command("convert", tmp_path / "m.onnx", "-o", tmp_path / "n.onnx")
    onnx.checker.check_model(onnx.load(tmp_path / "n.onnx"))
    want = wick.InferenceSession(m.SerializeToString(), cache="").run(None, feed)
    same(wick.InferenceSession(str(tmp_path / "n.onnx"), cache="").run(None, feed), want)
    if value == T.FLOAT:
        same(theirs(onnx.load(tmp_path / "n.onnx"), feed), want)


def test_what_cannot_be_converted_stays_as_it_is(tmp_path):
    """A map of one row: ONNX has no operator for it."""
    m = zipped([2, 3], FORMS[0], [helper.make_node("SequenceAt", ["m", "i"], ["row"])], "row", map_of(T.INT64, T.FLOAT))
    m.graph.input.append(helper.make_tensor_value_info("i", T.INT64, []))
    onnx.save(m, tmp_path / "m.onnx")
    command("convert", tmp_path / "m.onnx", "-o", tmp_path / "n.onnx")
    x = RNG.random((2, 3)).astype(np.float32)
    for name in ("m", "n"):
        row, = wick.InferenceSession(str(tmp_path / f"{name}.onnx"), cache="").run(None, {"x": x, "i": np.array(1)})
        assert row == dict(zip(LABELS[FORMS[0]], x[1].tolist()))


def test_what_is_said_of_maps(tmp_path):
    onnx.save(classified("LinearClassifier", FORMS[1]), tmp_path / "m.onnx")
    keys = json.dumps(LABELS[FORMS[1]], ensure_ascii=False)
    assert "output probabilities is seq(map(string,f32)), keys [\"setosa\",\"Ver" in command("check", tmp_path / "m.onnx")
    port, = json.loads(command("check", "--json", tmp_path / "m.onnx"))[0]["ports"]
    assert port == {"kind": "output", "name": "probabilities", "type": "seq(map(string,f32))", "keys": json.loads(keys)}


def test_what_run_writes(tmp_path):
    m = zipped([2, 3])
    onnx.save(m, tmp_path / "m.onnx")
    x = np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]], np.float32)
    np.save(tmp_path / "x.npy", x)
    command("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.wick", "--no-cache")
    for model_file, flags in (("m.onnx", ["--no-cache"]), ("m.onnx", ["--reference"]), ("m.wick", [])):
        out = command("run", tmp_path / model_file, "--inputs", tmp_path / "x.npy", "-o", tmp_path / "out", *flags)
        assert [line.split() for line in out.splitlines()[:2]] == [["0:"], ["70.000", "%", "12"]]
        np.testing.assert_array_equal(np.load(tmp_path / "out/output_0.npy"), x)
        assert json.loads((tmp_path / "out/output_0.keys.json").read_text()) == LABELS[FORMS[0]]


@pytest.mark.parametrize("key, value", [(T.STRING, T.FLOAT), (T.INT64, T.DOUBLE), (T.INT64, T.STRING), (T.STRING, T.INT64)])
def test_run_reads_json(tmp_path, key, value):
    keys, other = (["b", "a", "ü\""], "q") if key == T.STRING else ([9, -4, 3], 5)
    x = {T.FLOAT: [1.5, 2], T.DOUBLE: [0.1, 1e300], T.INT64: [1 << 60, 2], T.STRING: ["x", "ü"]}[value]
    onnx.save(vectorized(key, value, keys), tmp_path / "m.onnx")
    feed = {keys[2]: x[0], keys[0]: x[1], other: x[0]}
    (tmp_path / "x.json").write_text(json.dumps({str(k): v for k, v in feed.items()}))
    want = [x[1], "" if value == T.STRING else 0, x[0]]
    for flags in ([], ["--reference"]):
        command("run", tmp_path / "m.onnx", "--inputs", tmp_path / "x.json", "-o", tmp_path / "out", "--no-cache", *flags)
        assert np.load(tmp_path / "out/output_0.npy").tolist() == [want]


def test_run_reads_json_with_any_keys(tmp_path):
    """Keys that are known only at run time, in order, together with maps with known keys and tensors."""
    nodes = [ml("CastMap", "m", "y"), ml("DictVectorizer", "d", "v", string_vocabulary=["a", "b"]), helper.make_node("Add", ["v", "x"], ["z"]),
             ml("CastMap", "l", "w", cast_to="TO_INT64")]
    inputs = {"m": map_of(T.INT64, T.FLOAT), "x": tensor(T.FLOAT, [1, 2]), "d": map_of(T.STRING, T.FLOAT), "l": map_of(T.INT64, T.STRING), "s": map_of(T.STRING, T.DOUBLE)}
    onnx.save(model(nodes, inputs, {"y": tensor(), "z": tensor(), "w": tensor(T.INT64), "s": inputs["s"]}), tmp_path / "m.onnx")
    given = {"m": {"10": 2.5, "-3": 1, "9": 4}, "d": {"b": 3}, "l": {"7": "70", "-7": "-70"}, "s": {"b": 1, "ü": 2, "a": 3, "": 4}}
    np.save(tmp_path / "x.npy", np.ones((1, 2), "f"))
    for name, x in given.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(x))
    files = [tmp_path / f for f in ("m.json", "x.npy", "d.json", "l.json", "s.json")]
    for flags in ([], ["--reference"]):
        command("run", tmp_path / "m.onnx", "--inputs", *files, "-o", tmp_path / "out", "--no-cache", *flags)
        got = [np.load(tmp_path / f"out/output_{k}.npy").tolist() for k in range(4)]
        assert got == [[[1, 4, 2.5]], [[1, 4]], [[-70, 70]], [4, 3, 1, 2]]
        assert json.loads((tmp_path / "out/output_3.keys.json").read_text()) == ["", "a", "b", "ü"]
    for name, text, want in (("m", '{"x": 1}', 'input "m": the key "x" is no i64'), ("l", '{"1": 2}', 'input "l": the value of "1" is no string'),
                             ("s", "{", 'input "s": line 1'), ("l", "{}", None)):
        (tmp_path / f"{name}.json").write_text(text)
        r = subprocess.run([WICK, "run", str(tmp_path / "m.onnx"), "--no-cache", "--inputs", *map(str, files)], capture_output=True, text=True)
        assert r.returncode == (want is not None) and (not want or f"{name}.json: {want}" in r.stderr), r.stderr
        (tmp_path / f"{name}.json").write_text(json.dumps(given[name]))


def test_run_refuses_json(tmp_path):
    onnx.save(vectorized(T.STRING, T.INT64, ["a", "b"]), tmp_path / "m.onnx")
    onnx.save(vectorized(T.INT64, T.FLOAT, [9, -4]), tmp_path / "n.onnx")
    onnx.save(zipped([1, 3]), tmp_path / "z.onnx")
    for model_file, text, want in (("m", "[1]", "no object in JSON"), ("m", '{"a": 1}\0, "b": 2}', "line 1: "), ("m", '{"q": "x"}', 'the value of "q" is no i64'),
                                   *(("n", f'{{"{key}": 1}}', f'the key "{key}" is no i64') for key in ("a", "", "09", " 9", "+9", "9.0", "9x", "-0", 1 << 63)), ("m", '{"a": 1.5}', 'the value of "a" is no i64'), ("m", '{"a": "x"}', "is no i64"), ("n", '{"9": 1e300}', 'the value of "9" is no f32'),
                                   ("m", '{"a": 1', "line 1: "), ("m", '{"a": 1, "a": 2}', "line 1: "), ("z", "{}", "the file has a map, expected f32[1,3]")):
        (tmp_path / "x.json").write_text(text)
        r = subprocess.run([WICK, "run", str(tmp_path / f"{model_file}.onnx"), "--inputs", str(tmp_path / "x.json"), "--no-cache"], capture_output=True, text=True)
        assert r.returncode == 1 and "input \"x\": " in r.stderr and want in r.stderr, r.stderr
    r = subprocess.run([WICK, "run", str(tmp_path / "m.onnx"), "--no-cache"], capture_output=True, text=True)
    assert r.returncode == 1 and "the model has 1 inputs: x map(string,i64)" in r.stderr


def test_run_writes_labels(tmp_path):
    m = classified("LinearClassifier", FORMS[1])
    onnx.save(m, tmp_path / "m.onnx")
    x = RNG.normal(size=(6, 4)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    want = theirs(m, {"X": x})
    for flags in ([], ["--reference"]):
        out = command("run", tmp_path / "m.onnx", "--inputs", tmp_path / "x.npy", "-o", tmp_path / "out", "--no-cache", *flags)
        assert f"output_0 label: string[6]  {want[0][0]}" in out
        np.testing.assert_array_equal(np.load(tmp_path / "out/output_0.npy").astype(object), want[0])
        keys, values = json.loads((tmp_path / "out/output_1.keys.json").read_text()), np.load(tmp_path / "out/output_1.npy")
        for row, w in zip(values.tolist(), want[1]):
            assert dict(zip(keys, row)) == pytest.approx(w, rel=2e-6)


# ---- from C ----

PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include "wick/wick.h"
static void show(const wick_io *io)
{
  printf("%s %u:", io->name, io->keys.n);
  for (uint32_t i = 0; i < io->keys.n; i++)
    if (io->keys.text) printf(" %.*s", (int)io->keys.text[i].nbytes, io->keys.text[i].at);
    else printf(" %lld", (long long)io->keys.number[i]);
  putchar('\n');
}
int main(int argc, char **argv)
{
  wick_context *context;
  wick_compiled *compiled;
  wick_error *e = wick_context_create(NULL, &context);
  if (!e && argc == 2) e = wick_compiled_load(context, argv[1], &compiled);
  if (e) return puts(wick_error_message(e)), 1;
  for (uint32_t i = 0; i < wick_compiled_ninput(compiled); i++) show(wick_compiled_input(compiled, i));
  for (uint32_t i = 0; i < wick_compiled_noutput(compiled); i++) show(wick_compiled_output(compiled, i));
  wick_compiled_free(compiled);
  wick_context_free(context);
  return 0;
}
"""


def compiled_c(folder, text, *more):
    (folder / "p.c").write_text(text)
    subprocess.run([os.environ.get("CC", "cc"), "-std=c17", "-Wall", "-Wextra", "-Werror", str(folder / "p.c"), *map(str, more), "-o", str(folder / "p")], check=True)
    return folder / "p"


def beside():
    nodes = [ml("DictVectorizer", "d", "v", string_vocabulary=["a", "b\"c"]), helper.make_node("Add", ["v", "x"], ["y"]),
             ml("ZipMap", "y", "m", classlabels_int64s=[-9223372036854775808, 5])]
    return model(nodes, {"d": map_of(T.STRING, T.FLOAT), "x": tensor(T.FLOAT, [1, 2])}, {"m": maps(FORMS[0])})


def test_keys_in_c(tmp_path):
    onnx.save(beside(), tmp_path / "m.onnx")
    command("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.wick", "--no-cache")
    build = pathlib.Path(WICK).absolute().parent / "lib"
    p = compiled_c(tmp_path, PROGRAM, f"-I{ROOT / 'include'}", f"-L{build}", "-lwick_rt", f"-Wl,-rpath,{build}")
    assert subprocess.run([p, tmp_path / "m.wick"], capture_output=True, text=True).stdout.splitlines() == [
        "d 2: a b\"c", "x 0:", "m 2: -9223372036854775808 5"]


def test_keys_in_a_bundle(tmp_path):
    onnx.save(beside(), tmp_path / "m.onnx")
    command("compile", tmp_path / "m.onnx", "-o", tmp_path / "b", "--name", "net")
    header = (tmp_path / "b/net.h").read_text()
    p = compiled_c(tmp_path, r"""
#include <stdio.h>
#include "net.h"
int main(void)
{
  static const char *const in[] = NET_INPUT_0_KEYS;
  static const long long out[] = NET_OUTPUT_0_KEYS;
  printf("%s %s %lld %lld\n", in[0], in[1], out[0], out[1]);
  return 0;
}
""", f"-I{tmp_path / 'b'}", f"-I{ROOT / 'include'}")
    assert subprocess.run([p], capture_output=True, text=True).stdout == "a b\"c -9223372036854775808 5\n"
    assert "NET_INPUT_1_KEYS" not in header
