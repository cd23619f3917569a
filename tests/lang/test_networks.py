"""examples/networks: the programs agree with ONNX Runtime, and take as many kernels as the same models imported from ONNX."""

import json

import numpy as np
import pytest
from networks import NETWORKS
from running import ROOT, outputs, wick

onnxruntime = pytest.importorskip("onnxruntime")


# What the sizes of the programs' signatures are in the models.
SIZES = {
    "mlp": "i=20 o=10 n=4", "lenet": "n=2", "resnet": "c=8 o=10 n=1", "resnet3d": "c=8 o=10 n=1", "mobilenet": "o=10 n=1",
    "vgg": "c=8 d=32 o=10 n=1", "squeezenet": "o=10 n=1", "densenet": "g=8 o=10 n=1", "inception": "c=2 o=10 n=1", "dcgan": "z=16 c=8 n=2",
    "dqn": "o=6 n=1", "lstm": "i=20 u=16 o=10 n=3", "yolo": "c=4 o=18 n=1", "transformer": "v=50 t=12 d=24 h=3 k=8 f=48 n=2",
}  # fmt: skip


def kernels(*words):
    r = wick("explain", *words, "--json")
    assert r.returncode == 0, r.stderr
    return len(json.loads(r.stdout)["kernels"])


@pytest.mark.parametrize("name", NETWORKS)
def test_network(name, tmp_path):
    model, fed = NETWORKS[name]()
    path = ROOT / "examples" / "networks" / f"{name}.wick"
    words = []
    for n, x in fed.items():
        np.save(tmp_path / f"{n}.npy", x)
        words.append(f"{n}={tmp_path / f'{n}.npy'}")
    found = outputs(tmp_path / "run", path, "--inputs", *words)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    for have, want in zip(found, session.run(None, fed), strict=True):
        assert have.shape == want.shape
        assert np.allclose(have, want, rtol=1e-3, atol=1e-4) and want.std() > 1e-3, abs(have - want).max()


@pytest.mark.parametrize("name", NETWORKS)
def test_kernels(name, tmp_path):
    model, _ = NETWORKS[name]()
    (tmp_path / "x.onnx").write_bytes(model.SerializeToString())
    path = ROOT / "examples" / "networks" / f"{name}.wick"
    assert kernels(path, "--dim", *SIZES[name].split()) <= kernels(tmp_path / "x.onnx")
