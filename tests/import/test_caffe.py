"""Networks of Caffe: each layer beside OpenCV's results (caffe/opencv.npz, by make_caffe.py) or NumPy, the forms of files, and what is refused."""
import subprocess

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

import built  # noqa: E402
import caffe_cases as cases  # noqa: E402
from caffe2_nets import field  # noqa: E402
from caffe_nets import Word, blob, inputs, layer, prototxt, text, weights, write  # noqa: E402
from oracle import like, resized  # noqa: E402

WICK = built.BUILD / "wick"
EXPECTED = np.load(built.ROOT / "tests/import/caffe/opencv.npz")
NAMED = {"conv3d": lambda n, a: like("Conv", strides=[2] * 3, pads=[1, 0, 1] * 2)(a["x"], n[0][1][0]), "deconv": lambda n, a: like("ConvTranspose", strides=[2, 2], dilations=[2, 2])(a["x"], n[0][1][0]),
         "depthwise": lambda n, a: like("Conv", group=4)(a["x"], n[0][1][0]), "inner": lambda n, a: a["x"] @ n[0][1][0], "corners": lambda n, a: resized([2, 4, 13, 17], "linear", "align_corners")(a["x"]),
         None: lambda n, a: a["x"] * n[0][1][0][:, :, None]}


def run(tmp_path, path, arrays, *more):
    for name, a in arrays.items():
        np.save(tmp_path / f"{name}.npy", a)
    words = [WICK, "run", path, *more, *(["--inputs", *(tmp_path / f"{n}.npy" for n in arrays)] if arrays else []), "--outputs", tmp_path / "out"]
    return subprocess.run([str(w) for w in words], capture_output=True, text=True)


def result(tmp_path, path, arrays, *more):
    done = run(tmp_path, path, arrays, *more)
    assert done.returncode == 0, done.stderr
    return np.load(tmp_path / "out/output_0.npy")


def close(got, want, name=""):
    want = np.asarray(want)
    assert got.shape == want.shape, (name, got.shape, want.shape)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * max(1, float(np.abs(want).max(initial=0))), err_msg=name)


@pytest.mark.parametrize("name", cases.OPENCV)
def test_opencv(tmp_path, name):
    arrays, layers = cases.OPENCV[name]
    got = result(tmp_path, write(tmp_path, inputs(arrays) + layers), arrays)
    want = EXPECTED[name]
    if "detection" in name:  # OpenCV sorts all classes by score
        got, want = (sorted(map(tuple, np.round(v[0, 0], 3))) for v in (got, want))
        got, want = np.array(got), np.array(want)
    close(got, want, name)


@pytest.mark.parametrize("name", cases.NUMPY)
def test_numpy(tmp_path, name):
    (arrays, layers), oracle = cases.NUMPY[name]
    want = oracle(*arrays.values()) if callable(oracle) else NAMED[oracle](layers, arrays)
    close(result(tmp_path, write(tmp_path, inputs(arrays) + layers), arrays), want, name)


CONV, CONV_W = {"num_output": 6, "kernel_size": 3, "pad": 1}, [cases.normal(6, 4, 3, 3), cases.normal(6)]
NET = [layer("Convolution", ["x"], ["c"], CONV_W, name="conv", convolution_param=CONV), layer("ReLU", ["c"], ["c"], name="relu")]


def expected():
    return np.maximum(like("Conv", pads=[1] * 4)(cases.X, *CONV_W), 0)


@pytest.mark.parametrize("form", [{"old": True}, {"double": True}])
def test_blobs(tmp_path, form):
    close(result(tmp_path, write(tmp_path, inputs({"x": cases.X}) + NET, **form), {"x": cases.X}), expected())


@pytest.mark.parametrize("head", ['input: "x" input_dim: 2 input_dim: 4 input_dim: 7 input_dim: 9\n', 'input: "x"\ninput_shape { dim: 2 dim: 4 dim: 7 dim: 9 }\n',
                                  'layer { name: "x" type: "MemoryData" top: "x" top: "l" memory_data_param { batch_size: 2 channels: 4 height: 7 width: 9 } }\n',
                                  '# of a test\nlayer {\n name: "x" type: "DummyData" top: "x" dummy_data_param { data_filler { type: "gaussian" } num: 2 channels: 4 height: 7 width: 9 } }\n',
                                  'layer { name: "t" type: "Data" top: "x" include { phase: TRAIN } data_param { batch_size: 9 } }\nlayer { name: "x" type: "Input" top: "x" input_param { shape { dim: [2, 4, 7, 9] } } }\n'])
def test_inputs(tmp_path, head):
    (tmp_path / "deploy.prototxt").write_text(head + text({"layer": [l for l, _ in NET]}))
    (tmp_path / "trained_iter_9.caffemodel").write_bytes(weights(NET))
    close(result(tmp_path, tmp_path / "deploy.prototxt", {"x": cases.X}), expected())


def test_weights_are_given(tmp_path):
    """The file with the weights alone names the network beside it, or has it itself."""
    write(tmp_path / "a", inputs({"x": cases.X}) + NET)
    close(result(tmp_path, tmp_path / "a/net.caffemodel", {"x": cases.X}), expected())
    whole = field(1, "net") + field(3, "x") + b"".join(field(4, d) for d in cases.X.shape)
    param = field(1, 6) + field(3, 1) + field(4, 3)
    conv = field(1, "conv") + field(2, "Convolution") + field(3, "x") + field(4, "c") + field(106, param) + b"".join(field(7, blob(w)) for w in CONV_W)
    relu = field(1, "relu") + field(2, "ReLU") + field(3, "c") + field(4, "c")
    train = field(1, "loss") + field(2, "Accuracy") + field(3, "c") + field(3, "l") + field(8, field(1, 0))
    (tmp_path / "alone.bin").write_bytes(whole + b"".join(field(100, l) for l in (conv, relu, train)))
    close(result(tmp_path, tmp_path / "alone.bin", {"x": cases.X}), expected())


@pytest.mark.parametrize("version", [0, 1])
def test_old_versions(tmp_path, version):
    head = 'name: "old" input: "x" input_dim: 2 input_dim: 4 input_dim: 7 input_dim: 9\n'
    blobs, pool = b"".join(field(6 if version else 50, blob(w, old=True)) for w in CONV_W), {"pool": Word("MAX"), "stride": 2}
    if version:
        layers = [{"name": "conv", "type": Word("CONVOLUTION"), "bottom": "x", "top": "c", "convolution_param": CONV}, {"name": "relu", "type": Word("RELU"), "bottom": "c", "top": "c"},
                  {"name": "pool", "type": Word("POOLING"), "bottom": "c", "top": "y", "pooling_param": {**pool, "kernel_size": 3}}]
        conv = field(2, "x") + field(3, "c") + field(4, "conv") + field(5, 4) + blobs
    else:
        layers = [{"layer": {"name": "pad", "type": "padding", "pad": 1}, "bottom": "x", "top": "p"}, {"layer": {"name": "conv", "type": "conv", "num_output": 6, "kernelsize": 3}, "bottom": "p", "top": "c"},
                  {"layer": {"name": "relu", "type": "relu"}, "bottom": "c", "top": "c"}, {"layer": {"name": "pool", "type": "pool", **pool, "kernelsize": 3}, "bottom": "c", "top": "y"}]
        conv = field(1, field(1, "conv") + field(2, "conv") + blobs) + field(2, "p") + field(3, "c")
    (tmp_path / "old.prototxt").write_text(head + text({"layers": layers}))
    (tmp_path / "old.caffemodel").write_bytes(field(1, "old") + field(2, conv))
    close(result(tmp_path, tmp_path / "old.caffemodel", {"x": cases.X}), like("MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)(expected()))
    close(result(tmp_path, tmp_path / "old.prototxt", {"x": cases.X}), like("MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)(expected()))


def test_states(tmp_path):
    """Layers of other phases, levels and stages are left out."""
    rule = [("include", {"phase": Word("TRAIN")}), ("exclude", {"phase": Word("TEST")}), ("include", {"min_level": 1}), ("include", {"stage": "other"}), ("include", {"not_stage": "mine"}), ("exclude", {"stage": "mine"})]
    layers = [layer("Power", ["y"], ["y"], name=f"p{k}", power_param={"shift": 100.0}, **{w: r}) for k, (w, r) in enumerate(rule)]
    layers.append(layer("Power", ["y"], ["y"], name="in", power_param={"shift": 1.0}, include=[{"stage": "other"}, {"stage": "mine", "max_level": 0}]))
    (tmp_path / "n.prototxt").write_text('state { phase: TEST stage: "mine" }\n' + prototxt(inputs({"x": cases.M}) + [layer("Split", ["x"], ["y"])] + layers))
    close(result(tmp_path, tmp_path / "n.prototxt", {"x": cases.M}), cases.M + 1)


def test_exposed_state(tmp_path):
    h = c = np.zeros((1, 2, 4), np.float32)
    arrays = {"x": cases.T, "c": cases.CONT, "h0": h, "c0": c}
    result(tmp_path, write(tmp_path, inputs(arrays) + [layer("LSTM", ["x", "c", "h0", "c0"], ["y", "h", "s"], [cases.LW, cases.LB, cases.LR], recurrent_param={"num_output": 4, "expose_hidden": True})]), arrays)
    want = cases.lstm(cases.T, cases.CONT, cases.LW, cases.LB, cases.LR)
    close(np.load(tmp_path / "out/output_0.npy"), want)
    close(np.load(tmp_path / "out/output_1.npy"), want[-1:])


def test_remarks_and_conversion(tmp_path):
    data = layer("Input", [], ["x"], input_param={"shape": {"dim": list(cases.X.shape)}}, transform_param={"mean_value": [104.0, 117.0], "scale": 0.5, "crop_size": 7})
    path = write(tmp_path, [data] + NET)
    done = subprocess.run([WICK, "check", path], capture_output=True, text=True)
    assert "its preprocessing is not part of the model: give images minus 104, 117 times 0.5 cropped to 7" in done.stdout + done.stderr
    subprocess.run([WICK, "convert", path, "-o", tmp_path / "n.onnx"], check=True)
    close(result(tmp_path, tmp_path / "n.onnx", {"x": cases.X}), expected())


@pytest.mark.parametrize("layers, words", [
    ([layer("Banana", ["x"])], ['layer' and 'node "Banana_y" (Banana): the operator Banana is not supported']),
    ([layer("Filter", ["x", "x"])], ["the size of its results depends on the data"]), ([layer("Python", ["x"])], ["its code is not in the model"]),
    ([layer("ReLU", ["z"])], ['node "ReLU_y" (ReLU): the blob "z" is not defined']), ([layer("Convolution", ["x"], convolution_param=CONV)], ["its weights are missing: there is no file NAME.caffemodel"]),
    ([layer("Pooling", ["x"], pooling_param={"kernel_size": 3, "pad": 3})], ["pad 3 is not below the kernel's size 3"]), ([layer("Pooling", ["x"])], ["kernel_size is 0, expected 1 or more"]),
    ([layer("Pooling", ["x"], pooling_param={"kernel_size": 2, "stride": 3})], ["its last window begins after the image's end"]),
    ([layer("LRN", ["x"], lrn_param={"local_size": 4})], ["local_size is 4, expected an odd number"]), ([layer("Concat", ["x", "x"], concat_param={"axis": 4})], ["axis 4 is outside [-4, 3]"]),
    ([layer("Softmax", ["x"], softmax_param={"axes": 1})], ["SoftmaxParameter has no field axes"]), ([layer("Slice", ["x"], ["a", "b"], slice_param={"slice_point": [1, 2]})], ["2 points do not cut a size of 4 into 2 outputs"]),
    ([layer("Eltwise", ["x", "m"])], ['the blob "m" is not defined']), ([layer("Reshape", ["x"], reshape_param={"shape": {"dim": [-1, -1]}})], ["size 1 of the new shape is -1"]),
    ([layer("Sigmoid", ["x"], [""])], ['the layer "Sigmoid_" has a blob without a name']),
    ([layer("Sigmoid", ["x"], ["a", "b"])], ["it has 2 outputs, expected at most 1"]),
])
def test_refused(tmp_path, layers, words):
    (tmp_path / "n.prototxt").write_text(prototxt(inputs({"x": cases.X}) + layers))
    done = run(tmp_path, tmp_path / "n.prototxt", {"x": cases.X})
    assert done.returncode and all(w in done.stderr for w in words), done.stderr


def test_weights_that_do_not_fit(tmp_path):
    wrong = [layer("Convolution", ["x"], ["c"], [CONV_W[0][:5], CONV_W[1]], name="conv", convolution_param=CONV)]
    done = run(tmp_path, write(tmp_path, inputs({"x": cases.X}) + wrong), {"x": cases.X})
    assert "do not fit" in done.stderr
    (tmp_path / "a.caffemodel").write_bytes(weights(NET))
    (tmp_path / "b.caffemodel").write_bytes(weights(NET))
    (tmp_path / "other.prototxt").write_text(prototxt(inputs({"x": cases.X}) + NET))
    (tmp_path / "net.caffemodel").unlink()
    done = run(tmp_path, tmp_path / "other.prototxt", {"x": cases.X})
    assert '"a.caffemodel" and "b.caffemodel" are beside it' in done.stderr


def test_damaged(tmp_path):
    """Every truncation, and bytes that changed: an error, or a network."""
    small = [layer("Convolution", ["x"], ["c"], [np.float32([[[[1, 2], [3, 4]]]])], name="c", convolution_param={"num_output": 1, "kernel_size": 2, "bias_term": False})]
    written = field(3, "x") + b"".join(field(4, d) for d in (1, 1, 4, 4)) + field(100, field(1, "c") + field(2, "Convolution") + field(3, "x") + field(4, "c") + field(106, field(1, 1) + field(2, 0) + field(4, 2)) +
                                                                                  field(7, blob(small[0][1][0])))
    files = []
    for end, whole in ("prototxt", prototxt(inputs({"x": np.zeros((1, 1, 4, 4))}) + small).encode()), ("bin", written):
        for k in range(len(whole)):
            changed = bytearray(whole)
            changed[k] ^= 1 << k % 8
            for n, b in ("cut", whole[:k]), ("bit", bytes(changed)):
                files.append(tmp_path / f"{n}{k}.{end}")
                files[-1].write_bytes(b)
    done = subprocess.run([WICK, "check", *files], capture_output=True, text=True)
    assert done.returncode in (0, 1, 2), done.stderr
    assert "internal" not in done.stderr


def adaptive(boxes, scores, threshold, eta):
    """The indices that NMSFast of bbox_util.cpp keeps."""
    kept = []
    for i in np.argsort(-scores, kind="stable"):
        low, high = np.maximum(boxes[kept][:, :2], boxes[i, :2]), np.minimum(boxes[kept][:, 2:], boxes[i, 2:])
        common, area = np.clip(high - low, 0, None).prod(1), (boxes[:, 2:] - boxes[:, :2]).prod(1)
        if (common / (area[kept] + area[i] - common) <= threshold).all():
            kept.append(i)
            threshold *= eta if eta < 1 and threshold > 0.5 else 1
    return kept


@pytest.mark.parametrize(("eta", "least"), [(0.7, 0.0), (1.0, 0.0), (0.9, 2.0)])
def test_detections_by_an_adaptive_threshold(tmp_path, eta, least):
    """The offsets are 0, so the boxes are the priors. `least` of 2 finds nothing: one row of -1 for each image."""
    r, count = np.random.default_rng(7), 12
    corner = r.uniform(0, 0.3, (count, 2))
    priors = np.concatenate([corner, corner + r.uniform(0.3, 0.6, (count, 2))], 1).astype(np.float32)
    p = np.stack([priors.ravel(), np.full(count * 4, 0.1, np.float32)])[None]
    conf = r.uniform(0.1, 1, (2, count, 3)).astype(np.float32)
    arrays = {"loc": np.zeros((2, count * 4), np.float32), "conf": conf.reshape(2, -1), "p": p}
    nms = {"nms_threshold": 0.8, "top_k": 40, "eta": eta}
    net = inputs(arrays) + [layer("DetectionOutput", ["loc", "conf", "p"], ["y"], detection_output_param={**cases.DETECT, "confidence_threshold": least, "nms_param": nms, "keep_top_k": 50})]
    got = result(tmp_path, write(tmp_path, net), arrays)[0, 0]
    rows = [[i, c, conf[i, k, c], *priors[k]] for i in range(2) for c in (1, 2) for k in adaptive(priors, conf[i, :, c], 0.8, eta)]
    want = rows if least < 1 else [[i, *[-1] * 6] for i in range(2)]
    order = lambda v: np.array(sorted(map(tuple, np.round(np.asarray(v, np.float32), 4))))  # noqa: E731
    close(order(got), order(want))
