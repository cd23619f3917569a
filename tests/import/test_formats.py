"""Files of other formats are recognized by their contents: in every command, in Python and C alike."""

import io
import json
import os
import pathlib
import pickle
import shutil
import struct
import subprocess
import tarfile
import zipfile

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import numpy_helper  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
SHARED = ROOT.parent / "shared" / "frontends"


def refused(*args):
    r = subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=60, errors="replace")
    assert r.returncode == 1, (args, r.returncode, r.stdout, r.stderr)
    return r.stdout + r.stderr


def zipped(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, data in files.items():
            z.writestr(name.replace("__", "/").replace("_dot_", "."), data)
    return out.getvalue()


def tarred():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as t:
        t.addfile(tarfile.TarInfo("a"), io.BytesIO())
    return out.getvalue()


def npy():
    out = io.BytesIO()
    np.save(out, np.zeros(3))
    return out.getvalue()


def length(field, data):
    assert len(data) < 128
    return bytes([field << 3 | 2, len(data)]) + data


HEADER = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
SAMPLES = {
    "an empty file": b"",
    "a file of zeros": bytes(100),
    "a pointer of Git LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n",
    "a page in HTML": b"\n <!DOCTYPE HTML>\n<html><body>404</body></html>",
    "a server's message": b"Entry not found",
    "an ExecuTorch program": b"\x1c\0\0\0ET12" + bytes(40),
    "a model in ONNX Runtime's own format": b"\x1c\0\0\0ORTM" + bytes(40),
    "a GGUF file": b"GGUF\3\0\0\0" + bytes(40),
    "a TensorRT engine": b"ftrt" + bytes(40),
    "an ncnn model": b"7767517\n75 83\nInput data 0 1 data\n",
    "a program of torch.export": zipped(m__archive_format="pt2", m__data__weights="x"),
    "a TorchScript model": zipped(m__data_dot_pkl="x", m__code____torch___dot_py="x"),
    "a checkpoint of PyTorch": zipped(archive__data_dot_pkl="x", archive__data__0="x"),
    "a file of safetensors": struct.pack("<Q", len(HEADER)) + HEADER + bytes(4),
    "a Core ML package": zipped(m_dot_mlpackage__Data__com_dot_apple_dot_CoreML__model="x"),
    "tensors of NumPy": zipped(x_dot_npy=npy()),
    "a tensor of NumPy": npy(),
    "a model of OpenVINO": b'<?xml version="1.0"?>\n<net name="m" version="11"><layers></layers></net>',
    "a model of PaddlePaddle": b'{"base_code":{"magic":"pir","version":1}}',
    "parameters of MXNet": struct.pack("<QQ", 0x112, 0) + bytes(16),
    "a model of Keras or TensorFlow.js in JSON": b'{"class_name": "Sequential", "config": {}}',
    "a model of XGBoost": b'{"learner": {"attributes": {}}}',
    "a model of LightGBM": b"tree\nversion=v4\n",
    "a network of Darknet": b"[net]\nbatch=1\n[convolutional]\n",
    "a module of MLIR": b"module {\n  func.func @main() {\n    return\n  }\n}\n",
    "a picture in PNG": b"\x89PNG\r\n\x1a\n" + bytes(20),
    "a picture in JPEG": b"\xff\xd8\xff\xe0" + bytes(20),
    "a PDF": b"%PDF-1.7\n",
    "a program or library": b"\x7fELF\2\1\1" + bytes(20),
    "an archive of gzip": b"\x1f\x8b\x08" + bytes(20),
    "an archive of tar": tarred(),
    "a zip archive": zipped(readme="x"),
    "a pickle of Python": pickle.dumps({"a": 1}),
    "an ONNX tensor": numpy_helper.from_array(np.zeros(3, np.float32), "x").SerializeToString(),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_by_content(name, tmp_path):
    path = tmp_path / "model.onnx"  # a name says nothing
    path.write_bytes(SAMPLES[name])
    assert f"this is {name.strip()}" in refused("plan" if SAMPLES[name] else "run", path)


@pytest.mark.parametrize("command", [["run"], ["bench"], ["plan"], ["check"], ["compile", "-o", "x.wick"], ["convert", "-o", "x.onnx"],
                                     ["explain"], ["tune", "-m", "0"], ["opt"]], ids=lambda c: c[0])  # fmt: skip
def test_every_command(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m").write_bytes(b"RKNN" + bytes(40))
    said = refused(command[0], "m", *command[1:])
    assert "m: this is an RKNN model, which Wick does not read: take the ONNX file it was made from" in said


def test_inputs(tmp_path):
    (tmp_path / "x.npy").write_bytes(SAMPLES["a page in HTML"])
    said = refused("run", ROOT / "examples/digits/digits.onnx", "-i", tmp_path / "x.npy")
    assert "this is a page in HTML, expected .npy" in said


def test_folders(tmp_path):
    (tmp_path / "s").mkdir()
    assert "this is a folder" in refused("run", tmp_path / "s")
    (tmp_path / "s" / "saved_model.pb").write_bytes(b"x")
    for command in ("run", "check", "plan"):
        assert "s: at byte 1" in refused(command, tmp_path / "s")
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "Manifest.json").write_text("{}")
    assert "p/Manifest.json: it names no root model" in refused("run", tmp_path / "p")


NAMES = {"torchscript": "a TorchScript model"}


@pytest.mark.skipif(not SHARED.exists(), reason="the samples of other formats are not there")
@pytest.mark.parametrize("kind", NAMES)
def test_samples(kind):
    """Written by the libraries that own the formats."""
    paths = [p for folder in SHARED.glob(f"{kind}*") for p in folder.glob("*/*") if p.is_file() and p.suffix != ".npy" and p.name != "model.json"]
    assert len(paths) >= 4
    for path in paths:
        assert NAMES[kind] in refused("plan", path), path


def test_what_is_cut_off_is_no_crash(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "m"
    for name in ("a GGUF file", "a file of safetensors", "an ONNX tensor"):
        data = SAMPLES[name]
        for n in rng.integers(0, len(data), 4):
            path.write_bytes(data[:n])
            refused("plan", path) if n else refused("run", path)


def test_onnx_is_never_taken_for_another_format(tmp_path):
    shutil.copy(ROOT / "examples/digits/digits.onnx", tmp_path / "digits.tflite")
    r = subprocess.run([WICK, "check", tmp_path / "digits.tflite"], capture_output=True)
    assert r.returncode == 0
    models = list((ROOT / "tests").rglob("*.onnx")) + list((SHARED / "onnx-torch").glob("*/*.onnx"))
    for path in models:
        r = subprocess.run([WICK, "check", path], capture_output=True, text=True, errors="replace")
        assert "this is a" not in r.stdout + r.stderr, path
