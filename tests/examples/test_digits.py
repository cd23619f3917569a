"""The digits network reads as well as its README says, its pictures as expected.json says."""

import importlib.util
import json
import pathlib
import re
import struct
import zlib

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "digits"
MODEL = (FOLDER / "digits.onnx").read_bytes()


@pytest.fixture(scope="module")
def train():
    spec = importlib.util.spec_from_file_location("digits_train", FOLDER / "train.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_png(path):
    """A grey 8-bit PNG without row filters, as train.py writes it."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
            assert body[8:] == bytes([8, 0, 0, 0, 0])
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()
    return rows[:, 1:]


def test_file_is_small_and_says_what_it_takes(train):
    assert len(MODEL) < 200_000
    model = onnx.load_from_string(MODEL)
    onnx.checker.check_model(model, full_check=True)
    props = {p.key: p.value for p in model.metadata_props}
    assert props == {"labels": ",".join(train.LABELS), "image_layout": "nchw"}
    image = model.graph.input[0].type.tensor_type
    assert image.elem_type == onnx.TensorProto.UINT8
    assert [d.dim_value for d in image.shape.dim] == [1, 1, 64, 64]


def test_the_main_paths_are_there():
    ops = {node.op_type for node in onnx.load_from_string(MODEL).graph.node}
    assert ops >= {"Cast", "AveragePool", "Conv", "BatchNormalization", "Relu", "MaxPool", "Add",
                   "GlobalAveragePool", "Flatten", "Gemm", "Softmax"}  # fmt: skip


def test_accuracy_is_what_the_readme_states(train):
    pytest.importorskip("sklearn")
    ink, digits = train.load()
    out = train.held_out(digits)
    guess = train.predict(MODEL, [train.picture(x) for x in ink[out]]).argmax(1)
    right, count = int((guess == digits[out]).sum()), int(out.sum())
    stated = re.search(
        r"Held out: (\d+) of (\d+) right, ([\d.]+) %", (FOLDER / "README.md").read_text()
    )
    assert stated.groups() == (str(right), str(count), f"{100 * right / count:.2f}")
    assert right >= 0.98 * count


def test_pictures_give_their_labels(train):
    expected = json.loads((FOLDER / "expected.json").read_text())
    assert list(expected) == [f"{label}.png" for label in train.LABELS]
    got = train.predict(MODEL, [read_png(FOLDER / name) for name in expected])
    assert (got.argmax(1) == np.arange(10)).all()
    np.testing.assert_allclose(got, list(expected.values()), rtol=1e-4, atol=1e-6)


def test_pictures_are_held_out_ones(train):
    pytest.importorskip("sklearn")
    ink, digits = train.load()
    out = train.held_out(digits)
    for digit, label in enumerate(train.LABELS):
        first = np.flatnonzero(out & (digits == digit))[0]
        shown = read_png(FOLDER / f"{label}.png")
        assert (shown == train.picture(ink[first])).all()
        means = shown.reshape(8, 8, 8, 8).mean((1, 3))
        assert abs(means - 255 * ink[first]).max() < 1  # rounding to whole grey levels included
