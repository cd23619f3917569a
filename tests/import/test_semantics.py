"""Attributes at the ends of their ranges, forms that are seldom written: compiled code against ONNX Runtime, or
against ONNX's reference if the two differ."""
import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from onnx import helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402

RNG = np.random.default_rng(3)
INF = float("inf")


def f32(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def model_of(op, values, opset, constant=(), nout=1, **attributes):
    """-> the model's bytes and the inputs of a run: `values` has None where an input is left out."""
    names = [f"x{i}" if v is not None else "" for i, v in enumerate(values)]
    given = {n: np.asarray(v) for n, v in zip(names, values) if n}
    fixed = {names[i] for i in constant}
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
             for n, v in given.items() if n not in fixed]
    outputs = [f"y{i}" for i in range(nout)]
    node = helper.make_node(op, names, outputs, "n", **attributes)
    graph = helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name=o) for o in outputs],
                              [numpy_helper.from_array(given[n], n) for n in sorted(fixed)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    return model.SerializeToString(), {n: v for n, v in given.items() if n not in fixed}


def runtime(model, feeds):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model, options).run(None, feeds)


def reference(model, feeds):
    with np.errstate(all="ignore"):
        return ReferenceEvaluator(onnx.load_from_string(model)).run(None, feeds)


def check(op, values, opset, peer=runtime, **more):
    model, feeds = model_of(op, values, opset, **more)
    for got, want in zip(wick.InferenceSession(model).run(None, feeds), peer(model, feeds), strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("alpha", [0.0, INF, -INF, float("nan"), 1e-30, -0.5, 2.0])
def test_celu(alpha):
    check("Celu", [np.array([-INF, -3, -1, -0.0, 0, 0.5, 6, INF, np.nan], np.float32)], 12, alpha=alpha)


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("pads", [[0, -1, 0, 1], [1, -1, 1, -1], [0, -1, 0, 2], [-1, 0, 1, 0], [-1, -1, 1, 2], [0, 2, 0, -2], [0, -3, 0, 1]])
def test_pads_that_crop(mode, pads):
    check("Pad", [np.arange(20, dtype=np.float32).reshape(4, 5), np.array(pads, np.int64)], 19, constant=[1], mode=mode)


def test_pads_that_crop_and_wrap_further():
    for pads in ([-2, -2, 2, 2], [0, 3, 0, -2], [-1, -1, 3, 3], [1, 2, -1, -3], [0, -4, 0, 9]):
        check("Pad", [np.arange(20, dtype=np.float32).reshape(4, 5), np.array(pads, np.int64)], 19, constant=[1], mode="wrap")


# ONNX Runtime cuts off the fraction, and has no cubic mode of whole numbers.
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int32, np.int64])
@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("antialias", [0, 1])
def test_resize_of_whole_numbers(dtype, mode, antialias):
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = RNG.integers(max(least, -10**4), min(most, 10**4), (1, 2, 7, 6), endpoint=True).astype(dtype)
    for scales in ([1, 1, 1.7, 0.6], [1, 1, 2, 2], [1, 1, 0.5, 0.5]):
        model, feeds = model_of("Resize", [x, None, np.array(scales, np.float32)], 19, constant=[2], mode=mode, antialias=antialias)
        got, want = wick.InferenceSession(model).run(None, feeds)[0], reference(model, feeds)[0]
        assert got.dtype == want.dtype and got.shape == want.shape
        exact, wide = model_of("Resize", [x.astype(np.float64), None, np.array(scales, np.float32)], 19, constant=[2], mode=mode,
                               antialias=antialias)
        tie = abs(reference(exact, wide)[0] % 1 - 0.5) < 0.05
        np.testing.assert_array_equal(got[~tie], want[~tie])
        np.testing.assert_allclose(got.astype(float), want.astype(float), atol=1)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("nearest", ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
def test_tf_half_pixel_for_nn(mode, nearest):
    for scales in ([1, 1, 2, 3], [1, 1, 0.5, 0.5], [1, 1, 1.7, 0.7]):
        check("Resize", [f32(1, 2, 4, 6), np.zeros(0, np.float32), np.array(scales, np.float32)], 11, constant=[1, 2], mode=mode,
              nearest_mode=nearest, coordinate_transformation_mode="tf_half_pixel_for_nn")


@pytest.mark.parametrize("axis", [-1, 1, 0])
@pytest.mark.parametrize("scale", [(4,), (1,), (), (3, 4), (1, 4), (1, 1, 4), (2, 3, 4), (3, 1), (2, 1, 4), (2, 1, 1)])
def test_layer_normalization_broadcasts(axis, scale):
    for bias in (None, scale, (4,)):
        values = [f32(2, 3, 4), f32(*scale)] + ([f32(*bias)] if bias is not None else [])
        check("LayerNormalization", values, 17, axis=axis, nout=3 if scale == (4,) else 1)
    check("RMSNormalization", [f32(2, 3, 4), f32(*scale)], 23, axis=axis)


def test_layer_normalization_that_does_not_fit():
    for scale, said in (((2, 2, 3, 4), "scale has rank 4, the input 3"), ((5,), "does not broadcast"), ((5, 1, 4), "broadcast")):
        model, feeds = model_of("LayerNormalization", [f32(2, 3, 4), f32(*scale)], 17)
        with pytest.raises(Exception, match=said):
            wick.InferenceSession(model).run(None, feeds)
    model, feeds = model_of("LayerNormalization", [f32(1, 3, 4), f32(2, 3, 4)], 17)
    with pytest.raises(Exception, match="scale does not broadcast to the input"):
        wick.InferenceSession(model).run(None, feeds)


def test_empty_auto_pad():
    check("Conv", [f32(1, 1, 4, 6), f32(1, 1, 3, 3)], 13, auto_pad="", pads=[1, 1, 0, 0])
    check("MaxPool", [f32(1, 1, 4, 6)], 13, auto_pad="", kernel_shape=[2, 2])
    check("AveragePool", [f32(1, 1, 4, 6)], 13, auto_pad="", kernel_shape=[2, 2])


    models = [model_of("ConvTranspose", [f32(1, 1, 4, 6), np.ones((1, 1, 3, 3), np.float32)], 13, pads=[1, 1, 0, 0], constant=[1], **more)
              for more in ({"auto_pad": ""}, {})]  # ONNX Runtime's has no such word
    got, want = (wick.InferenceSession(m).run(None, models[0][1])[0] for m, _ in models)
    np.testing.assert_array_equal(got, want)


def test_one_hot_of_fractions():
    indices = np.array([0, 1.5, -1, 2, -0.5, 7], np.float32)
    check("OneHot", [indices, np.float32(3), np.array([0, 1], np.float32)], 11, constant=[1, 2])
