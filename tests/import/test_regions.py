"""Regions of images, determinants, statistics of batches, random numbers: compiled code and the reference against
ONNX Runtime, or ONNX's own evaluator if it lacks them."""
import os
import subprocess

import pytest

onnx = pytest.importorskip("onnx")
np = pytest.importorskip("numpy")
ort = pytest.importorskip("onnxruntime")
from onnx import helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

WICK = os.environ.get("WICK_COMMAND", "build/wick")
WAYS = [[], ["--reference"], *([["--target", "x86-64-v1"]] if os.uname().machine == "x86_64" else [])]


def model_of(op, ins, nout, opset, attrs, constants=()):
    """One node; `ins` may have None, those in `constants` are initializers."""
    names = ["" if x is None else f"x{k}" for k, x in enumerate(ins)]
    node = helper.make_node(op, names, [f"y{k}" for k in range(nout)], **attrs)
    kind = {k: helper.np_dtype_to_tensor_dtype(x.dtype) for k, x in enumerate(ins) if x is not None}
    given = [helper.make_tensor_value_info(f"x{k}", kind[k], ins[k].shape) for k in kind if k not in constants]
    made = [numpy_helper.from_array(ins[k], f"x{k}") for k in constants]
    outs = [helper.make_tensor_value_info(f"y{k}", onnx.TensorProto.UNDEFINED, None) for k in range(nout)]
    m = helper.make_model(helper.make_graph([node], "g", given, outs, made),
                          opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return onnx.shape_inference.infer_shapes(m), {f"x{k}": ins[k] for k in kind if k not in constants}


def peers(model, feeds):
    try:
        options = ort.SessionOptions()
        options.log_severity_level = 4
        return ort.InferenceSession(model.SerializeToString(), options).run(None, feeds)
    except Exception:  # of many classes
        return ReferenceEvaluator(model).run(None, feeds)


def wick(folder, model, feeds, *flags):
    onnx.save(model, folder / "m.onnx")
    for name, x in feeds.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(x))
    args = [WICK, "run", str(folder / "m.onnx"), "-o", str(folder / "out"), "--no-cache", *flags]
    if feeds:
        args += ["--inputs", *(str(folder / f"{name}.npy") for name in feeds)]
    r = subprocess.run(args, capture_output=True, text=True, timeout=300)
    assert r.returncode == 0, r.stderr
    return [np.load(folder / "out" / f"output_{k}.npy") for k in range(len(model.graph.output))]


def compare(folder, op, ins, attrs=None, opset=21, nout=1, constants=(), tolerance=1e-4):
    model, feeds = model_of(op, ins, nout, opset, attrs or {}, constants)
    want = peers(model, feeds)
    for flags in WAYS:
        for got, expected in zip(wick(folder, model, feeds, *flags), want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def floats(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def regions(seed, n, size):
    r = np.random.default_rng(seed)
    first = r.uniform(-3, size, (n, 2))
    return np.concatenate([first, first + r.uniform(0.3, size, (n, 2))], 1).astype(np.float32)


@pytest.mark.parametrize("ratio", [0, 1, 3])
@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("place", ["half_pixel", "output_half_pixel"])
def test_roi_align(tmp_path, ratio, mode, place):
    images = np.array([1, 0, 1, 1, 0], np.int64)
    compare(tmp_path, "RoiAlign", [floats(1, 2, 3, 7, 9), regions(ratio, 5, 9), images],
            {"output_height": 3, "output_width": 2, "sampling_ratio": ratio, "mode": mode, "spatial_scale": 0.75,
             "coordinate_transformation_mode": place})


@pytest.mark.parametrize("ratio", [1, 3, 12])
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_roi_align_of_what_is_no_number(tmp_path, ratio, mode):
    """It spreads to each bin that has a sample next to it, also one at the edge, where the other neighbour weighs 0."""
    x = floats(1, 1, 2, 7, 9)
    x[0, 0, 3, 4] = x[0, 1, 0, 8] = np.nan
    model, feeds = model_of("RoiAlign", [x, np.array([[0, 0, 9.8, 6]], np.float32), np.zeros(1, np.int64)], 1, 21,
                            {"output_height": 3, "output_width": 4, "sampling_ratio": ratio, "mode": mode}, ())
    got = {" ".join(flags): wick(tmp_path, model, feeds, *flags)[0] for flags in WAYS}
    assert all(np.isnan(y).any() and not np.isnan(y).all() for y in got.values())
    for y in got.values():
        np.testing.assert_allclose(y, got["--reference"], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_max_roi_pool(tmp_path, scale):
    rois = np.concatenate([np.array([[1], [0], [1]], np.float32), regions(5, 3, 9)], 1)
    compare(tmp_path, "MaxRoiPool", [floats(2, 2, 3, 7, 9), rois], {"pooled_shape": [3, 2], "spatial_scale": scale})


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_det(tmp_path, n):
    compare(tmp_path, "Det", [floats(n, 2, 3, n, n)], tolerance=1e-3)


@pytest.mark.parametrize("group,offsets,more", [(1, 1, False), (2, 1, True), (1, 2, True), (2, 2, False)])
def test_deform_conv(tmp_path, group, offsets, more):
    out = [(11 + 1 - 2 * 2 - 1) // 2 + 1, 9 + 2 - 2]
    ins = [floats(3, 2, 4, 11, 9), floats(4, 6, 4 // group, 3, 3), floats(5, 2, offsets * 18, *out)]
    ins += [floats(6, 6), floats(7, 2, offsets * 9, *out)] if more else []
    compare(tmp_path, "DeformConv", ins, {"group": group, "offset_group": offsets, "strides": [2, 1],
                                          "dilations": [2, 1], "pads": [1, 0, 0, 2]}, opset=19)


def test_col2im(tmp_path):
    size, block = np.array([7, 8]), np.array([2, 3])
    windows = ((7 + 1 - 2 - 1) // 1 + 1) * ((8 + 1 - 2 * 2 - 1) // 2 + 1)
    compare(tmp_path, "Col2Im", [floats(8, 2, 3 * 6, windows), size, block],
            {"strides": [1, 2], "dilations": [2, 2], "pads": [1, 0, 0, 1]}, constants=(1, 2))


def test_max_unpool(tmp_path):
    """The maxima of a pool go back to their positions."""
    x = floats(9, 2, 3, 6, 8)
    pool, feeds = model_of("MaxPool", [x], 2, 21, {"kernel_shape": [2, 2], "strides": [2, 2]})
    values, places = peers(pool, feeds)
    compare(tmp_path, "MaxUnpool", [values, places], {"kernel_shape": [2, 2], "strides": [2, 2]})


def test_batch_norm_training(tmp_path):
    x = floats(10, 3, 4, 5)
    compare(tmp_path, "BatchNormalization", [x, floats(1, 4), floats(2, 4), floats(3, 4), floats(4, 4) ** 2],
            {"training_mode": 1, "momentum": 0.75}, opset=15, nout=3)


@pytest.mark.parametrize("op,mean,deviation", [("RandomUniform", 0.5, 1 / 12 ** 0.5), ("RandomNormal", 0, 1)])
def test_random(tmp_path, op, mean, deviation):
    """The same numbers in every way, by seed or by the result's name, and spread as they should be."""
    drawn = []
    for attrs in ({"seed": 1.0}, {"seed": 2.0}, {}):
        model, _ = model_of(op, [], 1, 21, {"shape": [100, 200], **attrs})
        got = [wick(tmp_path, model, {}, *flags)[0] for flags in WAYS]
        for y in got[1:]:
            np.testing.assert_array_equal(got[0], y)
        assert abs(got[0].mean() - mean) < 0.05 and abs(got[0].std() - deviation) < 0.05
        drawn.append(got[0])
    assert all(abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 0.03 for a, b in zip(drawn, drawn[1:]))
