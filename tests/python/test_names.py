"""Names that are misspelt: of options, keywords, inputs and outputs. Each is an error that names the given name and
the existing ones."""
import pickle

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402

from built import PACKAGE  # noqa: E402, F401
import wick  # noqa: E402
import wick.backend  # noqa: E402


def model():
    graph = helper.make_graph([helper.make_node("Add", ["left", "right"], ["sum"])], "g",
                              [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N", 4]) for n in ("left", "right")],
                              [helper.make_tensor_value_info("sum", TensorProto.FLOAT, ["N", 4])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


X = np.ones((2, 4), np.float32)
FEED = {"left": X, "right": X}


@pytest.fixture(scope="module")
def session():
    return wick.InferenceSession(model(), cache="")


@pytest.mark.parametrize("kind, given, near", [
    (wick.SessionOptions, "intra_op_num_thread", "intra_op_num_threads"), (wick.SessionOptions, "inter_num_threads", "inter_op_num_threads"),
    (wick.SessionOptions, "graph_optimisation_level", "graph_optimization_level"), (wick.SessionOptions, "precison", "precision"),
    (wick.SessionOptions, "add_session_config_entri", "add_session_config_entry"), (wick.RunOptions, "log_severity", "log_severity_level"),
    (wick.RunOptions, "terminated", "terminate")])
def test_fields(kind, given, near):
    options = kind()
    with pytest.raises(AttributeError, match=f'{kind.__name__} has no option "{given}"; did you mean "{near}"'):
        setattr(options, given, 1)
    with pytest.raises(AttributeError, match=f'did you mean "{near}"'):
        getattr(options, given)
    with pytest.raises(AttributeError, match=f'{kind.__name__} has no option "qqq"$'):
        options.qqq = 1


def test_fields_as_they_are():
    """Each field accepts values of its type, also after a pickle; values of other types are refused by name."""
    for kind in wick.SessionOptions, wick.RunOptions:
        options = kind()
        for name in kind.FIELDS:
            setattr(options, name, getattr(options, name))
        again = pickle.loads(pickle.dumps(options))
        assert all(getattr(again, name) == getattr(options, name) for name in kind.FIELDS)
    options = wick.SessionOptions()
    for name, value in [("intra_op_num_threads", "2"), ("intra_op_num_threads", 1.5), ("enable_profiling", "yes"), ("precision", 16),
                        ("execution_mode", 7), ("graph_optimization_level", "all"), ("logid", 3)]:
        with pytest.raises((TypeError, ValueError), match=f"SessionOptions.{name}: "):
            setattr(options, name, value)


def test_fields_of_onnx_runtime():
    """All that ONNX Runtime has are there: they do something, lose nothing, or are refused by name."""
    ort = pytest.importorskip("onnxruntime")
    own = {n for n in dir(ort.SessionOptions) if not n.startswith("_")}
    later = {"add_provider_for_devices", "clear_ep_context_data_read_func", "set_ep_context_data_read_func", "set_load_cancellation_flag",
             "set_provider_selection_policy", "set_provider_selection_policy_delegate"}  # of devices; an AttributeError names them
    assert {n for n in own - later if not hasattr(wick.SessionOptions(), n)} == set()
    assert {n for n in dir(ort.RunOptions) if not n.startswith("_") and not hasattr(wick.RunOptions(), n)} == set()


@pytest.mark.parametrize("lose", [
    lambda o: setattr(o, "optimized_model_filepath", "x.onnx"), lambda o: o.add_initializer("w", None), lambda o: o.register_custom_ops_library("x.so"),
    lambda o: o.add_session_config_entry("session.set_denormal_as_zero", "1"), lambda o: o.add_session_config_entry("session.load_model_format", "ORT"),
    lambda o: o.add_free_dimension_override_by_denotation("DATA_BATCH", 1)])
def test_what_would_be_lost(lose):
    with pytest.raises(wick.Unsupported, match="SessionOptions|session"):
        lose(wick.SessionOptions())


def test_config_entries():
    o = wick.SessionOptions()
    o.add_session_config_entry("session.intra_op.allow_spinning", "0")
    assert o.get_session_config_entry("session.intra_op.allow_spinning") == "0"
    with pytest.warns(UserWarning, match='"session.intra_op.allow_spining" has no effect in Wick; did you mean "session.intra_op.allow_spinning"'):
        o.add_session_config_entry("session.intra_op.allow_spining", "0")
    with pytest.raises(TypeError, match="the value is 0, a str is expected"):
        o.add_session_config_entry("session.intra_op.allow_spinning", 0)
    with pytest.raises(wick.InvalidArgument, match='"session.intra_op.allow" was not set'):
        o.get_session_config_entry("session.intra_op.allow")


@pytest.mark.parametrize("call", [
    lambda k: wick.compile(model(), dynamic=True, **k), lambda k: wick.load(model()).compile(dynamic=True, **k), lambda k: wick.grad(model(), **k),
    lambda k: wick.InferenceSession(model(), **k), lambda k: wick.backend.prepare(onnx.load_from_string(model()), **k)])
def test_keywords(call):
    with pytest.raises(TypeError, match=r'there is no option "thread" \(did you mean "threads"\?\); there are target, tune, precision'):
        call({"thread": 1})


def test_keywords_of_artifacts(tmp_path):
    wick.compile(model(), dynamic=True).save(tmp_path / "m.wick")
    with pytest.raises(TypeError, match="precision"):
        wick.Program.load(tmp_path / "m.wick", precision="bf16")


@pytest.mark.parametrize("call, error, match", [
    (lambda s: s.run(None, {"left": X, "rigth": X}), wick.InvalidArgument,
     r'missing inputs: right; there is no input "rigth" \(did you mean "right"\?\); there are left, right'),
    (lambda s: s.run(["sums"], FEED), wick.InvalidArgument, r'there is no output "sums" \(did you mean "sum"\?\); there is sum'),
    (lambda s: s.run("sum", FEED), TypeError, "output_names: a list of names is expected, 'sum' is given"),
    (lambda s: s.run(None, [X, X]), TypeError, "input_feed: a dict of arrays by name is expected, list is given"),
    (lambda s: s.run(None, FEED, {"terminate": True}), TypeError, "run_options: a wick.RunOptions is expected, builtins.dict is given"),
    (lambda s: s.run(None, {**FEED, "left": X.astype("d")}), wick.TypeMismatch, 'input "left" is f32, an array of float64 is given'),
    (lambda s: s.run(None, {**FEED, "left": X[0]}), wick.TypeMismatch, r"input left: f32\[N,4\]: an array of the shape \(4,\) is given"),
    (lambda s: s.io_binding().bind_cpu_input("lft", X), wick.InvalidArgument, r'no input "lft" \(did you mean "left"\?\)'),
    (lambda s: s.io_binding().bind_output("som"), wick.InvalidArgument, r'no output "som" \(did you mean "sum"\?\)'),
    (lambda s: wick.run(model(), left=X, rihgt=X), wick.InvalidArgument, r'no input "rihgt" \(did you mean "right"\?\); there are left, right'),
    (lambda s: wick.run(model(), X, X, X), wick.InvalidArgument, "3 inputs are given by order; there are 2: left, right"),
    (lambda s: wick.compile(model(), shapes={"lefft": (1, 4)}), wick.WickError, "lefft"),
    (lambda s: wick.compile(model(), sizes={"M": 1}), wick.WickError, "M"),
    (lambda s: wick.compile(model(), contents={"lefft": X}), wick.InvalidArgument, r'no input "lefft" \(did you mean "left"\?\)'),
    (lambda s: wick.InferenceSession(model(), {"threads": 1}), TypeError, "sess_options: a wick.SessionOptions is expected, builtins.dict is given"),
    (lambda s: wick.InferenceSession(model(), providers=["CPUExecutionProvider"], provider_options=[{"use_aren": 1}]), wick.InvalidArgument,
     r'no option of CPUExecutionProvider "use_aren" \(did you mean "use_arena"\?\)'),
    (lambda s: wick.InferenceSession(model(), providers=["CPUExecutionProvider"], provider_options=[]), wick.InvalidArgument, "has 0 elements, providers has 1"),
])
def test_calls(session, call, error, match):
    with pytest.raises(error, match=match):
        call(session)


def test_providers():
    with pytest.warns(UserWarning, match='no provider CPUExecutionProvidr; did you mean "CPUExecutionProvider"'):
        wick.InferenceSession(model(), providers=["CPUExecutionProvidr"])


def test_runs_that_are_terminated(session):
    options = wick.RunOptions()
    session.run(None, FEED, options)
    options.terminate = True
    with pytest.raises(wick.Canceled, match="terminate"):
        session.run(None, FEED, options)
