"""`wick run` on sequences, optionals and maps: ONNX's own test cases from their .pb files, beside the Python interface."""
import json
import os
import pathlib
import subprocess
import warnings

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import MapProto, OptionalProto, SequenceProto, TensorProto, helper, numpy_helper  # noqa: E402

import built  # noqa: E402, F401: finds the package
from wick import backend  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
F, I, S = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
node = helper.make_node
f32 = np.float32


def is_list(info):
    return info.type.WhichOneof("value") != "tensor_type"


def cases():
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        all = collect_testcases(None)
    return [c for c in all if any(map(is_list, [*c.model.graph.input, *c.model.graph.output]))]


CASES = cases()


def from_dict(value, name=""):
    """numpy_helper's takes no strings."""
    values = numpy_helper.from_list([np.asarray(v) for v in value.values()])
    if all(isinstance(k, str) for k in value):
        return MapProto(name=name, key_type=S, string_keys=[k.encode() for k in value], values=values)
    return MapProto(name=name, key_type=I, keys=list(value), values=values)


def proto(info, value, name=""):
    """As ONNX's test data have it."""
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, name)
    if kind == "map_type":
        return from_dict(value, name)
    return numpy_helper.from_array(np.asarray(value), name)


def read(info, path):
    kind = info.type.WhichOneof("value")
    if kind == "tensor_type":
        return np.load(path.with_suffix(".npy"))
    m = {"sequence_type": SequenceProto, "optional_type": OptionalProto, "map_type": MapProto}[kind]()
    m.ParseFromString(path.with_suffix(".pb").read_bytes())
    assert m.name == info.name
    to = {"sequence_type": "to_list", "optional_type": "to_optional", "map_type": "to_dict"}[kind]
    return getattr(numpy_helper, to)(m)


def same(got, want):
    if isinstance(want, list):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            same(g, w)
    elif want is None:
        assert got is None
    else:
        got = np.asarray(got)
        assert (got.shape, got.dtype) == (np.shape(want), np.asarray(want).dtype)
        np.testing.assert_array_equal(got, want)


def wick(folder, m, inputs, *more, status=0):
    path = folder / "m.onnx"
    path.write_bytes(m.SerializeToString())
    args = ["run", path, "--no-cache", "--outputs", folder / "out", *more]
    args += ["--inputs", *inputs] if inputs else []
    r = subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=100)
    assert r.returncode == status, r.stderr
    if status:
        return r.stderr
    return [read(info, folder / "out" / f"output_{k}") for k, info in enumerate(m.graph.output)]


def files(folder, m, values, named):
    out = []
    for k, (info, value) in enumerate(zip(m.graph.input, values)):
        path = folder / f"input_{k}.pb"
        path.write_bytes(proto(info, value, info.name if named else "").SerializeToString())
        out.append(path)
    return out[::-1] if named else out


@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_onnx(case, tmp_path):
    for inputs, outputs in case.data_sets:
        for named in (True, False):
            for more in ((), ("--reference",)):
                got = wick(tmp_path, case.model, files(tmp_path, case.model, inputs, named), *more)
                for g, w in zip(got, outputs):
                    same(g, w)
        for g, w in zip(backend.prepare(case.model, cache="").run(list(inputs)), got):
            same(g, w)


def test_all_cases_are_found():
    assert len(CASES) >= 29


# ---- values that the cases do not have ----


def tensor(kind=F, shape=None):
    return helper.make_tensor_type_proto(kind, shape)


def model(nodes, inputs, outputs):
    infos = [[helper.make_value_info(n, t) for n, t in v.items()] for v in (inputs, outputs)]
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(helper.make_graph(nodes, "g", *infos), opset_imports=opsets, ir_version=9)


SEQUENCE = helper.make_sequence_type_proto(tensor())
LENGTH = model([node("SequenceLength", ["x"], ["n"])], {"x": SEQUENCE}, {"n": tensor(I, [])})


def test_strings(tmp_path):
    texts = helper.make_sequence_type_proto(tensor(S))
    m = model([node("SequenceInsert", ["x", "y"], ["z"])], {"x": texts, "y": tensor(S, [1])}, {"z": texts})
    x, y = [np.array(["a", "ß"], object), np.array(["", "c"], object)], np.array(["d"], object)
    (got,) = wick(tmp_path, m, files(tmp_path, m, [x, y], True))
    assert [list(a) for a in got] == [["a", "ß"], ["", "c"], ["d"]]


@pytest.mark.parametrize("form", ["classlabels_int64s", "classlabels_strings"])
def test_maps(form, tmp_path):
    """A sequence of maps as an output, and a map as an input, whose keys are known, or are not."""
    labels, key = ([7, -3, 12], I) if "int64" in form else (["b", "a", "ü"], S)
    map_type = helper.make_map_type_proto(key, tensor(F, []))
    m = model([node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", **{form: labels})], {"x": tensor(F, [2, 3])},
              {"y": helper.make_sequence_type_proto(map_type)})  # fmt: skip
    x = np.arange(6, dtype=f32).reshape(2, 3)
    (got,) = wick(tmp_path, m, files(tmp_path, m, [x], False))
    texts = lambda k: k.decode() if isinstance(k, bytes) else k
    assert [{texts(k): float(v) for k, v in d.items()} for d in got] == [dict(zip(labels, r)) for r in x.tolist()]
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "output_0.npy"), x)
    assert json.loads((tmp_path / "out" / "output_0.keys.json").read_text()) == labels
    words = "int64_vocabulary" if "int64" in form else "string_vocabulary"
    take = node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", **{words: labels[::-1]})
    m = model([take], {"x": map_type}, {"y": tensor(F, [3])})
    for given in (dict(zip(labels, [1.5, 2.5, 3.5])), {labels[1]: 4.5}):
        given = {k: f32(v) for k, v in given.items()}
        for more in ((), ("--reference",)):
            (got,) = wick(tmp_path, m, files(tmp_path, m, [given], False), *more)
            np.testing.assert_array_equal(got.ravel(), [given.get(k, 0) for k in labels[::-1]])
    m = model([node("Identity", ["x"], ["y"])], {"x": map_type}, {"y": map_type})
    given = {k: f32(i) for i, k in enumerate(labels)}
    (got,) = wick(tmp_path, m, files(tmp_path, m, [given], False))
    assert {texts(k): float(v) for k, v in got.items()} == given
    (tmp_path / "again").mkdir()
    (again,) = wick(tmp_path / "again", m, [tmp_path / "out" / "output_0.pb"])
    assert {texts(k): float(v) for k, v in again.items()} == given


def test_a_tensor_is_an_optional(tmp_path):
    m = model([node("OptionalGetElement", ["x"], ["y"])], {"x": helper.make_optional_type_proto(tensor(F, [2]))},
              {"y": tensor(F, [2])})  # fmt: skip
    np.save(tmp_path / "x.npy", np.array([1, 2], f32))
    (got,) = wick(tmp_path, m, [f"x={tmp_path / 'x.npy'}"])
    np.testing.assert_array_equal(got, [1, 2])


def test_an_artifact_takes_as_many_as_it_is_compiled_for(tmp_path):
    m = CASES[[c.name for c in CASES].index("test_sequence_insert_at_back")]
    (tmp_path / "m.onnx").write_bytes(m.model.SerializeToString())
    inputs = files(tmp_path, m.model, m.data_sets[0][0], True)
    subprocess.run([WICK, "compile", tmp_path / "m.onnx", "-o", tmp_path / "m.wick", "--inputs", *inputs], check=True)
    run = [WICK, "run", tmp_path / "m.wick", "--outputs", tmp_path / "out", "--inputs"]
    subprocess.run([*run, *inputs], check=True)
    same(read(m.model.graph.output[0], tmp_path / "out" / "output_0"), m.data_sets[0][1][0])
    (tmp_path / "input_0.pb").write_bytes(numpy_helper.from_list([np.zeros(2, np.int64)] * 7, "sequence").SerializeToString())
    r = subprocess.run([*run, *inputs], capture_output=True, text=True)
    assert r.returncode == 1 and "the file has 7 elements, the program is for" in r.stderr


def refused(tmp_path, data, m=LENGTH):
    path = tmp_path / "input_0.pb"
    path.write_bytes(data)
    return wick(tmp_path, m, [path], status=1)


def test_errors(tmp_path):
    good = numpy_helper.from_list([np.zeros(3, f32), np.ones((2, 2), f32)], "x")
    message = refused(tmp_path, numpy_helper.from_list([np.zeros(3, f32), np.zeros(3, np.int64)]).SerializeToString())
    assert "input_0.pb: input \"x\" (seq(f32)): element 1: it is of i64, expected f32" in message
    message = refused(tmp_path, numpy_helper.from_list([[np.zeros(3, f32)]]).SerializeToString())
    assert "SequenceProto: its elements are sequences, expected tensors" in message
    np.save(tmp_path / "x.npy", np.zeros(3, f32))
    assert "the file has f32[3], expected seq(f32) in a file named .pb" in wick(tmp_path, LENGTH, [tmp_path / "x.npy"], status=1)
    assert "no file is given for \"x\", which is seq(f32)" in wick(tmp_path, LENGTH, [], status=1)
    huge = good.SerializeToString()[:-40]
    assert "at byte" in refused(tmp_path, huge)
    absurd = bytes([0x10, 1, 0x1A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F]) + b"abc"
    assert "at byte" in refused(tmp_path, absurd)
    one = TensorProto(data_type=F, dims=[1 << 40, 1 << 40])
    assert "element 0" in refused(tmp_path, SequenceProto(elem_type=1, tensor_values=[one]).SerializeToString())
    path = tmp_path / "m.onnx"
    keys = helper.make_map_type_proto(I, tensor(F, []))
    maps = model([node("Identity", ["x"], ["y"])], {"x": keys}, {"y": keys})
    d = from_dict({1: f32(2), 3: f32(4)})
    assert "its keys are of STRING, expected i64" in refused(
        tmp_path, from_dict({"a": f32(2)}).SerializeToString(), maps)
    d.keys.append(5)
    assert "MapProto: it has 3 keys and 2 values" in refused(tmp_path, d.SerializeToString(), maps)
    d.keys[:] = [1, 1]
    assert "MapProto: a key occurs twice" in refused(tmp_path, d.SerializeToString(), maps)
    option = helper.make_optional_type_proto(tensor(F, [2]))
    m = model([node("OptionalGetElement", ["x"], ["y"])], {"x": option}, {"y": tensor(F, [2])})
    assert "OptionalProto: its kind is sequences, expected tensors" in refused(
        tmp_path, numpy_helper.from_optional([np.zeros(2, f32)]).SerializeToString(), m)
    assert path.exists()


def test_damaged_bytes(tmp_path):
    """Every prefix, and changed bytes: an error that names the file, or a value."""
    rng = np.random.default_rng(3)
    good = numpy_helper.from_list([np.zeros(2, f32), np.ones((1, 2), f32)], "x").SerializeToString()
    damaged = [good[:n] for n in range(0, len(good), 5)]
    for _ in range(20):
        b = bytearray(good)
        b[rng.integers(len(b))] = rng.integers(256)
        damaged.append(bytes(b))
    (tmp_path / "m.onnx").write_bytes(LENGTH.SerializeToString())
    for data in damaged:
        (tmp_path / "x.pb").write_bytes(data)
        r = subprocess.run([WICK, "run", tmp_path / "m.onnx", "--reference", "--inputs", tmp_path / "x.pb"],
                           capture_output=True, text=True, timeout=60)  # fmt: skip
        assert r.returncode == 0 or (r.returncode == 1 and "x.pb" in r.stderr), (data, r.stderr)
