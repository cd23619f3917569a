"""The Python package as its users meet it: sessions as ONNX Runtime's, programs, errors, processes."""

import concurrent.futures
import ctypes
import json
import multiprocessing
import pathlib
import pickle
import subprocess
import sys

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from built import PACKAGE  # noqa: E402
import wick  # noqa: E402


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WICK_CACHE_DIR", str(tmp_path / "cache"))


def model(nodes, inputs, outputs, constants=(), opset=21, **props):
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_tensor_value_info(*o) for o in outputs],
        [numpy_helper.from_array(v, k) for k, v in dict(constants).items()])
    m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10,
                          producer_name="tests")
    helper.set_model_props(m, props)
    return m.SerializeToString()


def layer():
    """x [N, 4] -> relu(x @ w + b), and its sum over the last axis."""
    w = np.arange(12, dtype=np.float32).reshape(4, 3) - 5
    return model(
        [helper.make_node("Gemm", ["x", "w", "b"], ["m"]), helper.make_node("Relu", ["m"], ["y"]),
         helper.make_node("ReduceSum", ["y", "axes"], ["sum"], keepdims=0)],
        [("x", TensorProto.FLOAT, ["N", 4])],
        [("y", TensorProto.FLOAT, ["N", 3]), ("sum", TensorProto.FLOAT, ["N"])],
        {"w": w, "b": np.array([1, 2, 3], np.float32), "axes": np.array([1])}, author="somebody")


def reshape():
    return model([helper.make_node("Reshape", ["x", "shape"], ["y"])],
                 [("x", TensorProto.FLOAT, [6]), ("shape", TensorProto.INT64, [2])],
                 [("y", TensorProto.FLOAT, [None, None])])


def test_a_script_for_onnx_runtime_runs_with_its_import_changed():
    rng = np.random.default_rng(0)
    said = []
    for package in (ort, wick):
        package.set_default_logger_severity(3)
        package.set_seed(1)
        package.disable_telemetry_events()
        options = package.SessionOptions()
        options.intra_op_num_threads = 2
        options.graph_optimization_level = package.GraphOptimizationLevel.ORT_ENABLE_ALL
        session = package.InferenceSession(layer(), options, providers=["CPUExecutionProvider"])
        x = np.linspace(-2, 2, 20, dtype=np.float32).reshape(5, 4)
        both = session.run(None, {"x": x})
        one = session.run(["sum"], {"x": x}, package.RunOptions())
        meta = session.get_modelmeta()
        said.append((
            [(i.name, i.type, i.shape) for i in session.get_inputs()],
            [(o.name, o.type, o.shape) for o in session.get_outputs()],
            session.get_providers(), meta.producer_name, meta.custom_metadata_map,
            meta.graph_name, meta.version, meta.domain, meta.description, meta.graph_description,
            [np.round(a, 4).tolist() for a in (*both, *one)]))
    assert said[0] == said[1]
    del rng


@pytest.mark.parametrize("version", [0, 7, -1])
def test_what_a_file_says_of_itself(version, tmp_path):
    m = onnx.load_from_string(layer())
    m.graph.name, m.graph.doc_string, m.domain, m.doc_string, m.model_version = "net", "of it", "org.tests", "of all", version
    said = []
    for package in (ort, wick):
        meta = package.InferenceSession(m.SerializeToString()).get_modelmeta()
        said.append([getattr(meta, n) for n in ("graph_name", "graph_description", "domain", "description", "version", "custom_metadata_map")])
    assert version == 0 or said[0] == said[1]
    assert said[1][:4] == ["net", "of it", "org.tests", "of all"]


def test_binding_runs_into_the_callers_memory():
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    want = ort.InferenceSession(layer()).run(None, {"x": x})
    session = wick.InferenceSession(layer())
    binding = session.io_binding()
    y = np.empty((2, 3), np.float32)
    binding.bind_cpu_input("x", x)
    binding.bind_output("y", "cpu", 0, np.float32, y.shape, y.ctypes.data)
    binding.bind_output("sum")
    session.run_with_iobinding(binding)
    assert np.array_equal(y, want[0])
    assert np.array_equal(binding.copy_outputs_to_cpu()[1], want[1])
    value = wick.OrtValue.ortvalue_from_numpy(x)
    other = session.io_binding()
    other.bind_ortvalue_input("x", value)
    other.bind_output("sum")
    session.run_with_iobinding(other)
    assert np.array_equal(other.get_outputs()[0].numpy(), want[1])
    assert (value.shape(), value.data_type(), value.device_name()) == ([2, 4], "tensor(float)", "cpu")
    with pytest.raises(wick.InvalidArgument, match="no output \"z\""):
        other.bind_output("z")
    wrong = session.io_binding()
    wrong.bind_cpu_input("x", x)
    wrong.bind_output("y", "cpu", 0, np.float32, (3, 2), y.ctypes.data)
    with pytest.raises(wick.InvalidArgument, match="output \"y\" is f32"):
        session.run_with_iobinding(wrong)


def test_shapes_and_contents_that_vary():
    session = wick.InferenceSession(layer())
    reference = ort.InferenceSession(layer())
    for n in (1, 3, 2, 3, 1):
        x = np.random.default_rng(n).standard_normal((n, 4)).astype(np.float32)
        for a, b in zip(session.run(None, {"x": x}), reference.run(None, {"x": x})):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
    session = wick.InferenceSession(reshape())
    x = np.arange(6, dtype=np.float32)
    for shape in ((2, 3), (3, 2), (2, -1), (6, 1), (2, 3)):
        y, = session.run(None, {"x": x, "shape": np.array(shape)})
        assert np.array_equal(y, x.reshape(shape))


def test_a_program_says_what_it_was_compiled_for(tmp_path):
    program = wick.load(reshape()).compile(contents={"shape": [2, 3]})
    x = np.arange(6, dtype=np.float32)
    assert np.array_equal(program(x, np.array([2, 3])), x.reshape(2, 3))
    with pytest.raises(wick.OutOfRange, match="\"shape\" holds something else"):
        program(x, np.array([3, 2]))
    program.save(tmp_path / "p.wick")
    again = wick.Program.load(tmp_path / "p.wick")
    assert np.array_equal(again(x, np.array([2, 3])), x.reshape(2, 3))
    with pytest.raises(wick.OutOfRange):
        again.run([x, np.array([6, 1])])
    assert again.required_inputs[0] is None and again.required_inputs[1] == np.array([2, 3]).tobytes()


def test_one_call(tmp_path):
    (tmp_path / "net.onnx").write_bytes(layer())
    x = np.ones((1, 4), np.float32)
    y, total = wick.run(tmp_path / "net.onnx", x)
    assert np.allclose(y.sum(1), total)
    program = wick.compile(tmp_path / "net.onnx", shapes={"x": (1, 4)}, threads=1)
    assert np.array_equal(program(x=x)[0], y)
    assert program.memory["constants"] > 0 and program.kernels and "exact" in program.contract or "order" in program.contract


@pytest.mark.parametrize("feed, error, text", [
    ({}, wick.InvalidArgument, "missing inputs: x"),
    ({"z": np.ones((1, 4), np.float32)}, wick.InvalidArgument, 'no input "z"'),
    ({"x": np.ones((1, 4))}, wick.TypeMismatch, "is f32, an array of float64"),
    ({"x": np.ones((1, 5), np.float32)}, wick.TypeMismatch, r"x: f32\[N,4\]: an array of the shape \(1, 5\)"),
    ({"x": np.ones(4, np.float32)}, wick.TypeMismatch, "shape"),
])
def test_wrong_inputs_are_errors_that_name_them(feed, error, text):
    with pytest.raises(error, match=text):
        wick.InferenceSession(layer()).run(None, feed)


def passed(kind):
    return model([helper.make_node("Identity", ["x"], ["y"])], [("x", kind, ["N"])], [("y", kind, ["N"])])


@pytest.mark.parametrize("kind, elem, good, bad", [
    (TensorProto.INT64, "i64", ([1, -2], [True], [2.0]), ([1.5, 2], ["1"], [None], [1 << 63], [float("nan")], [[1], [2, 3]])),
    (TensorProto.UINT8, "u8", ([255, 0], []), ([256], [-1], [0.5])),
    (TensorProto.BOOL, "bool", ([True, False], [1, 0]), ([2], ["a"], [None], [0.5])),
    (TensorProto.FLOAT, "f32", ([1, 0.1], [1 << 70], [True]), (["1"], [None], [1j])),
    (TensorProto.STRING, "string", (["a", "b"], [b"a"]), ([1], [0.5])),
])
def test_lists_become_arrays_where_nothing_is_lost(kind, elem, good, bad):
    session = wick.InferenceSession(passed(kind))
    for x in good:
        want = np.asarray(x, {"f32": "f", "string": object}.get(elem))
        assert session.run(None, {"x": x})[0].tolist() == [s.decode() if isinstance(s, bytes) else s for s in want.tolist()]
    for x in bad:
        with pytest.raises(wick.TypeMismatch, match=f"input \"x\": .* is not a value of type {elem}"):
            session.run(None, {"x": x})


@pytest.mark.parametrize("given, error, text", [
    ({"ranges": {"N": (1, 2, 3, 4)}}, wick.InvalidArgument, r"the size N: expected .least, most.* is given"),
    ({"ranges": {"N": (5,)}}, wick.InvalidArgument, "the size N: expected"),
    ({"ranges": {"N": 5}}, wick.TypeMismatch, "the size N: expected whole numbers, 5 is given"),
    ({"ranges": {"N": (1.5, 8)}}, wick.TypeMismatch, "the size N: 1.5 is no whole number"),
    ({"ranges": {"N": (1, 1 << 70)}}, wick.OutOfRange, "the size N: .* does not fit in 64 bits"),
    ({"ranges": {"N": (1, 9)}, "specialize_dims": {"N": (2.5,)}}, wick.TypeMismatch, "the size N: 2.5 is no whole number"),
    ({"ranges": {"N": (1, 9)}, "specialize_dims": {"N": "2"}}, wick.TypeMismatch, "the size N: '2' is no whole number"),
    ({"sizes": {"N": "x"}}, wick.TypeMismatch, "the size N: 'x' is no whole number"),
    ({"shapes": {"x": 5}}, wick.TypeMismatch, "the shape of \"x\": expected whole numbers"),
    ({"shapes": {"x": ("a",)}}, wick.TypeMismatch, "the shape of \"x\": 'a' is no whole number"),
    ({"shapes": {"x": (1,)}, "contents": {"x": [2.5]}}, wick.TypeMismatch, r"input \"x\": \[2.5\] is not a value of type i64"),
    ({"dynamic": True, "specialize_inputs": {"x": ("y",)}}, wick.TypeMismatch, "is not a value of type i64"),
    ({"dynamic": True, "auto_specialize": -1}, wick.OutOfRange, "auto_specialize: -1 is outside 0 to 1024"),
    ({"dynamic": True, "jobs": 1 << 40}, wick.OutOfRange, "jobs: 1099511627776 is outside 0 to 4096"),
    ({"dynamic": True, "threads": 0.5}, wick.TypeMismatch, "threads: 0.5 is no whole number"),
])
def test_wrong_arguments_are_errors_that_name_them(given, error, text):
    with pytest.raises(error, match=text):
        wick.compile(passed(TensorProto.INT64), **given)


def test_no_number_of_threads_is_any():
    """As for ONNX Runtime."""
    options = wick.SessionOptions()
    options.intra_op_num_threads = -1
    assert wick.InferenceSession(passed(TensorProto.INT64), options).run(None, {"x": [3]})[0] == [3]


def test_wrong_models_are_errors_that_name_their_nodes(tmp_path):
    bad = model([helper.make_node("NoSuchThing", ["x"], ["y"], name="odd")],
                [("x", TensorProto.FLOAT, [1])], [("y", TensorProto.FLOAT, [1])])
    with pytest.raises(wick.Unsupported, match="node \"odd\" .NoSuchThing."):
        wick.InferenceSession(bad)
    with pytest.raises(wick.InvalidModel):
        wick.InferenceSession(layer()[:50])
    with pytest.raises(OSError, match="absent.onnx"):
        wick.InferenceSession(tmp_path / "absent.onnx")
    with pytest.raises(wick.InvalidArgument, match="no input has a size named M"):
        options = wick.SessionOptions()
        options.add_free_dimension_override_by_name("M", 3)
        wick.InferenceSession(layer(), options)


def test_views_are_taken_without_a_copy_where_they_are_dense():
    session = wick.InferenceSession(layer())
    x = np.random.default_rng(1).standard_normal((8, 6)).astype(np.float32)
    part = x[::2, 1:5]  # not dense
    assert np.array_equal(session.run(None, {"x": part})[0],
                          session.run(None, {"x": np.ascontiguousarray(part)})[0])
    frozen = np.ones((1, 4), np.float32)
    frozen.flags.writeable = False
    session.run(None, {"x": frozen})
    program = wick.compile(layer(), shapes={"x": (4, 4)})
    assert wick.program.as_array(program.inputs[0], x[:4, :4].copy()).base is None


class Foreign:
    """Memory that is only seen through DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_in_and_out():
    session = wick.InferenceSession(layer())
    x = np.ones((2, 4), np.float32)
    y = session.run(None, {"x": Foreign(x)})[0]
    assert np.array_equal(y, session.run(None, {"x": x})[0])
    assert np.shares_memory(wick.OrtValue.from_dlpack(x).numpy(), x)
    ml_dtypes = pytest.importorskip("ml_dtypes")
    half = np.arange(6, dtype=np.float32).astype(ml_dtypes.bfloat16).reshape(2, 3)
    back = wick.OrtValue.from_dlpack(wick.OrtValue(half)).numpy()
    assert back.dtype == half.dtype and np.array_equal(back.view(np.uint16), half.view(np.uint16))
    assert back.ctypes.data == half.ctypes.data


def test_small_integers_and_narrow_floats_pass_through():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    from wick import types
    for elem in ("i4", "u4", "i2", "u2", "f4e2m1"):
        a = np.arange(-4, 11).astype(np.int8).view(np.uint8)[:15] & (15 if elem[1] == "4" else 3)
        a = types._unpack(elem, (3, 5), types._pack(a, types._BITS[elem]))
        packed = types.memory(elem, a)
        assert packed.nbytes == types.nbytes(elem, a.shape) and a.dtype == types.dtype(elem)
        assert np.array_equal(types._unpack(elem, a.shape, packed).view(np.uint8), a.view(np.uint8))
    assert types.dtype("bf16") == ml_dtypes.bfloat16


def test_profiles_name_the_users_nodes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = wick.SessionOptions()
    options.enable_profiling = True
    session = wick.InferenceSession(layer(), options)
    session.run(None, {"x": np.ones((2, 4), np.float32)})
    events = json.loads(pathlib.Path(session.end_profiling()).read_text())
    assert events[0]["name"] == "model_run" and any("node" in e["args"] for e in events)


# ---- many at once ----


def test_threads_share_a_session_and_agree():
    session = wick.InferenceSession(layer())
    xs = [np.random.default_rng(i).standard_normal((1 + i % 3, 4)).astype(np.float32) for i in range(16)]
    want = [session.run(None, {"x": x}) for x in xs]

    def work(k):
        for i in range(40):
            j = (k + i) % len(xs)
            got = session.run(None, {"x": xs[j]})
            assert all(np.array_equal(a, b) for a, b in zip(got, want[j]))

    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        list(pool.map(work, range(64)))


_shared = None


def _in_child(x):
    return [a.tobytes() for a in _shared.run(None, {"x": x})]


def _unpickled(args):
    data, x = args
    return [a.tobytes() for a in pickle.loads(data).run(None, {"x": x})]


def test_eight_processes_by_fork_and_by_spawn():
    global _shared
    _shared = wick.InferenceSession(layer())
    x = np.random.default_rng(5).standard_normal((3, 4)).astype(np.float32)
    want = [a.tobytes() for a in _shared.run(None, {"x": x})]  # threads are there before the fork
    with multiprocessing.get_context("fork").Pool(8) as pool:
        assert all(got == want for got in pool.map(_in_child, [x] * 16))
    # A fresh interpreter unpickles the session.
    code = ("import sys, pickle, numpy; sys.path.insert(0, sys.argv[1]); "
            "data, x, want = pickle.load(sys.stdin.buffer); s = pickle.loads(data); "
            "sys.exit([a.tobytes() for a in s.run(None, {'x': x})] != want)")
    sent = pickle.dumps((pickle.dumps(_shared), x, want))
    running = [subprocess.Popen([sys.executable, "-c", code, str(PACKAGE)], stdin=subprocess.PIPE)
               for _ in range(8)]
    for p in running:
        p.stdin.write(sent)
        p.stdin.close()
    assert [p.wait(120) for p in running] == [0] * 8


def test_the_standard_backend():
    from wick import backend
    node = helper.make_node("Add", ["a", "b"], ["c"])
    a = np.ones((2, 3), np.float32)
    assert np.array_equal(backend.run_node(node, [a, a])[0], a + a)
    rep = backend.prepare(onnx.load_from_string(layer()))
    assert len(rep.run([np.ones((1, 4), np.float32)])) == 2
    assert backend.supports_device("CPU") and not backend.supports_device("CUDA")
    assert not backend.is_compatible(onnx.load_from_string(
        model([helper.make_node("Nothing", ["x"], ["y"])], [("x", 1, [1])], [("y", 1, [1])])))


def test_memory_of_an_address():
    x = np.arange(4, dtype=np.float32)
    array = wick.session._array_at(ctypes.addressof(ctypes.c_char.from_buffer(x)), (2, 2), 1)
    assert np.array_equal(array, x.reshape(2, 2)) and np.shares_memory(array, x)
