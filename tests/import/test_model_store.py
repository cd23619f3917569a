"""External data that is reached through links: those of a model store, Hugging Face's layout, and --allow-links for others."""
import os
import pickle
import subprocess

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402

WICK = os.environ.get("WICK_COMMAND", "build/wick")
W = np.array([1, 2, -3, .5], np.float32)


def write_model(path, location):
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value=location)
    info = helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [info("x", TensorProto.FLOAT, [4])],
                              [info("y", TensorProto.FLOAT, [4])], [weight])
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString())


@pytest.fixture
def store(tmp_path):
    """models--org--net: blobs, and a snapshot of links to them, also in a folder of its own."""
    root = tmp_path / "hub" / "models--org--net"
    revision = root / "snapshots" / "0123abc"
    (revision / "onnx").mkdir(parents=True)
    (root / "blobs").mkdir()
    write_model(root / "blobs" / "aa", "model.onnx_data")
    (root / "blobs" / "bb").write_bytes(W.tobytes())
    (tmp_path / "elsewhere").write_bytes(W.tobytes())
    for up, folder in ("../../", revision), ("../../../", revision / "onnx"):
        (folder / "model.onnx").symlink_to(up + "blobs/aa")
        (folder / "model.onnx_data").symlink_to(up + "blobs/bb")
    return root


def set_data(store, target):
    """Lets the snapshot's data be another link; returns the model."""
    data = store / "snapshots" / "0123abc" / "model.onnx_data"
    data.unlink()
    data.symlink_to(target)
    return data.with_name("model.onnx")


def command(name, path, *args, cwd=None):
    return subprocess.run([os.path.abspath(WICK), name, path, *args], capture_output=True, text=True, timeout=300, cwd=cwd)


def added(source, **options):
    (y,) = wick.InferenceSession(source, **options).run(None, {"x": np.zeros(4, np.float32)})
    return y.tolist()


@pytest.mark.parametrize("folder", ["", "onnx"])
def test_links_of_a_store(store, folder):
    path = store / "snapshots" / "0123abc" / folder / "model.onnx"
    assert command("check", path).returncode == 0
    assert command("check", "model.onnx", cwd=path.parent).returncode == 0
    assert added(path) == W.tolist()
    main = store / "snapshots" / "main"  # a revision by another name, and a link to it from outside
    main.symlink_to("0123abc")
    (store.parent / "net").symlink_to(main)
    assert command("check", main / folder / "model.onnx").returncode == 0
    assert command("check", store.parent / "net" / folder / "model.onnx").returncode == 0


@pytest.mark.parametrize("target, why", [
    ("../../../../elsewhere", "a link leads out of the model store; pass --allow-links (in C and Python: allow_links)"),
    ("/etc/passwd", "a link leads out of the model store"),
    ("/dev/zero", "a link leads out of the model store"),
    ("../../../../../../../../../../../../../etc/passwd", "a link leads out of the model store"),
    ("model.onnx_data", "Too many levels of symbolic links"),
    ("../../blobs", "Is a directory"),
    ("../../blobs/cc", "No such file or directory"),
])
def test_hostile_links_are_refused(store, target, why):
    path = set_data(store, target)
    run = command("check", path)
    assert run.returncode == 1 and why in run.stderr, run.stderr
    with pytest.raises(wick.WickError, match=why.split(";")[0]):
        wick.load(path)


def test_a_folder_without_blobs_is_no_store(store):
    (store / "blobs").rename(store / "data")
    for folder, up in ("", "../../"), ("onnx", "../../../"):
        at = store / "snapshots" / "0123abc" / folder
        for name, blob in ("model.onnx", "aa"), ("model.onnx_data", "bb"):
            (at / name).unlink()
            (at / name).symlink_to(up + "data/" + blob)
        run = command("check", at / "model.onnx")
        assert run.returncode == 1 and "it is a link, or reached through one, outside of a model store" in run.stderr
        assert command("check", at / "model.onnx", "--allow-links").returncode == 0


def test_allow_links(store, tmp_path):
    path = set_data(store, "../../../../elsewhere")
    out, x = tmp_path / "out", tmp_path / "x.npy"
    np.save(x, np.zeros(4, np.float32))
    for args in (["check"], ["opt"], ["plan"], ["explain"], ["run", "-i", x], ["bench", "-s", "0.01"], ["compile", "-o", out / "m.wick"],
                 ["convert", "-o", out / "m.onnx"], ["tune", "-m", "0.001", "-o", out / "m.tuning"]):  # fmt: skip
        out.mkdir(exist_ok=True)
        refused, taken = command(args[0], path, *args[1:]), command(args[0], path, *args[1:], "--allow-links")
        assert refused.returncode == 1 and "a link leads out of the model store" in refused.stderr, args
        assert taken.returncode == 0, (args, taken.stderr)


def test_allow_links_in_python(store):
    path = set_data(store, "../../../../elsewhere")
    options = wick.SessionOptions()
    options.allow_links = True
    assert added(path, sess_options=options) == added(path, allow_links=True) == W.tolist()
    again = pickle.loads(pickle.dumps(wick.InferenceSession(path, allow_links=True)))
    assert again.run(None, {"x": np.zeros(4, np.float32)})[0].tolist() == W.tolist()
    x = np.zeros(4, np.float32)
    assert wick.compile(path, allow_links=True)(x).tolist() == W.tolist()
    assert pickle.loads(pickle.dumps(wick.load(path, allow_links=True))).compile()(x).tolist() == W.tolist()
    outputs, derivatives = wick.grad(path, allow_links=True)(x)
    assert outputs.tolist() == W.tolist() and derivatives["x"].tolist() == [1, 1, 1, 1]
    # From memory, `name` says in which folder data is looked for.
    assert wick.load(path.read_bytes(), os.fspath(path), allow_links=True).compile()(x).tolist() == W.tolist()
    for make in wick.load, wick.compile, wick.grad, wick.InferenceSession:
        with pytest.raises(wick.SystemRefused, match="a link leads out of the model store"):
            make(path)


def test_names_stay_refused(store):
    """The option concerns links: a name that leads out of the model's folder is refused."""
    path = store / "snapshots" / "0123abc" / "up.onnx"
    write_model(path, "../../blobs/bb")
    for options in [], ["--allow-links"]:
        run = command("check", path, *options)
        assert run.returncode == 1 and "not a relative path that stays inside the folder" in run.stderr
