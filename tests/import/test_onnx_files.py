"""ONNX files as other writers make them: messages in pieces, lists packed or not, data outside; Python's protobuf
has the expected contents."""
import os
import subprocess

import pytest

onnx = pytest.importorskip("onnx")
np = pytest.importorskip("numpy")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

WICK = os.environ.get("WICK_COMMAND", "build/wick")


def check(path, *flags):
    return subprocess.run([WICK, "check", str(path), *flags], capture_output=True, text=True)


def shown(folder, data):
    """What Wick makes of the bytes, values of constants included."""
    path = folder / "m.onnx"
    path.write_bytes(data)
    run = check(path, "--data")
    assert run.returncode == 0, run.stderr
    return run.stdout


def model(weight):
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["t"], name="first"), helper.make_node("Elu", ["t"], ["y"], alpha=.5)], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4])], [weight])
    m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="tests")
    helper.set_model_props(m, {"labels": "zero,one", "unit": "\u00b5m"})
    return m


WEIGHT = numpy_helper.from_array(np.array([1, 2, -3, .5], np.float32), "w")


def test_pieces_are_merged(tmp_path):
    """Two serialized models, one after the other, are the merged model: scalars of the last, lists of both."""
    whole = model(WEIGHT)
    head, tail = onnx.ModelProto(), onnx.ModelProto()
    head.ir_version, tail.ir_version = 3, whole.ir_version
    head.graph.node.append(whole.graph.node[0])
    tail.graph.node.append(whole.graph.node[1])
    head.graph.name, tail.graph.name = "other", "g"
    head.graph.input.extend(whole.graph.input)
    tail.graph.output.extend(whole.graph.output)
    tail.graph.initializer.extend(whole.graph.initializer)
    head.opset_import.extend(whole.opset_import)
    tail.metadata_props.extend(whole.metadata_props)
    tail.producer_name = whole.producer_name
    pieces = head.SerializeToString() + tail.SerializeToString()
    assert onnx.ModelProto.FromString(pieces) == whole
    assert shown(tmp_path, pieces) == shown(tmp_path, whole.SerializeToString())


def unpacked(tensor):
    """The tensor's bytes with float_data and dims an element at a time, dims partly packed, and fields in another order."""
    data = b""
    for value in numpy_helper.to_array(tensor).ravel():
        data += b"\x25" + np.float32(value).tobytes()
    data += b"\x42" + bytes([len(tensor.name)]) + tensor.name.encode() + b"\x10" + bytes([tensor.data_type])
    dims = list(tensor.dims)
    data += b"\x08" + bytes(dims[:1]) + (b"\x0a" + bytes([len(dims) - 1]) + bytes(dims[1:]) if len(dims) > 1 else b"")
    assert np.array_equal(numpy_helper.to_array(TensorProto.FromString(data)), numpy_helper.to_array(tensor))
    return data


@pytest.mark.parametrize("shape", [(4,), (1, 4)])
def test_lists_may_be_packed_or_not(tmp_path, shape):
    weight = numpy_helper.from_array(np.array([1, 2, -3, .5], np.float32).reshape(shape), "w")
    whole = model(weight)
    packed = shown(tmp_path, whole.SerializeToString())
    del whole.graph.initializer[:]
    tensor = unpacked(weight)
    graph = whole.graph.SerializeToString() + b"\x2a" + bytes([len(tensor)]) + tensor
    whole.ClearField("graph")
    assert shown(tmp_path, whole.SerializeToString() + b"\x3a" + bytes([len(graph) & 127 | 128, len(graph) >> 7]) + graph) == packed


# ---- data outside of the model's file ----

def external(folder, location, offset=0, length=16):
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", str(offset)), ("length", str(length))):
        weight.external_data.add(key=key, value=value)
    path = folder / "m.onnx"
    path.write_bytes(model(weight).SerializeToString())
    return check(path)


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "model"
    (inside / "sub").mkdir(parents=True)
    data = bytes(64) + np.array([1, 2, -3, .5], np.float32).tobytes()
    for path in (inside / "w.bin", inside / "sub" / "w.bin", tmp_path / "outside.bin"):
        path.write_bytes(data)
    (inside / "link.bin").symlink_to("../outside.bin")
    (inside / "near.bin").symlink_to("w.bin")
    (inside / "away").symlink_to("..")
    return inside


@pytest.mark.parametrize("location, offset", [("w.bin", 0), ("w.bin", 64), ("sub/w.bin", 64), ("w.bin", 3)])
def test_external_data(folder, location, offset):
    run = external(folder, location, offset)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("location, offset, length, why", [
    ("../outside.bin", 0, 16, "not a relative path that stays inside"),
    ("sub/../../outside.bin", 0, 16, "not a relative path that stays inside"),
    ("/etc/passwd", 0, 16, "not a relative path that stays inside"),
    ("link.bin", 0, 16, "link"),
    ("near.bin", 0, 16, "link"),
    ("away/outside.bin", 0, 16, "link"),
    ("sub", 0, 16, "sub"),
    ("absent.bin", 0, 16, "No such file"),
    ("w.bin", 65, 16, "ends at byte 65 + 16"),
    ("w.bin", 2**64, 16, "expected a number"),
    ("w.bin", 0, 12, "12 bytes, but its shape requires 16"),
])
def test_external_data_is_refused(folder, location, offset, length, why):
    run = external(folder, location, offset, length)
    assert run.returncode == 1 and not run.stdout
    assert run.stderr.startswith('m.onnx: initializer "w": ') and why in run.stderr


def test_saved_with_external_data(tmp_path):
    rng = np.random.default_rng(1)
    weight = numpy_helper.from_array(rng.standard_normal((300, 1, 4)).astype(np.float32), "w")
    inside = shown(tmp_path, model(weight).SerializeToString())
    onnx.save(model(weight), str(tmp_path / "e.onnx"), save_as_external_data=True, location="e.data", size_threshold=0)
    run = check(tmp_path / "e.onnx", "--data")
    assert run.returncode == 0, run.stderr
    assert run.stdout.replace("e.onnx", "m.onnx") == inside
