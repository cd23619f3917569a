"""Networks of Caffe: each layer in some configurations. Those that OpenCV computes as Caffe does have their results in caffe/opencv.npz (make_caffe.py)."""
import numpy as np
from caffe_nets import Word, layer

R = np.random.default_rng(7)


def normal(*shape):
    return R.standard_normal(shape).astype(np.float32)


X, M, V = normal(2, 4, 7, 9), normal(3, 6), normal(1, 3, 5, 6, 4)
P = np.abs(X) + np.float32(0.1)
C4 = np.abs(normal(6, 4)) + np.float32(0.2)
BLOBS = {"bn": [C4[0], C4[1], np.float32([2])], "ip": [normal(5, 252), normal(5)]}


def one(kind, param=None, blobs=(), x=X, **fields):
    name = param or kind.lower() + "_param"
    return {"x": x}, [layer(kind, ["x"], ["y"], blobs, **({name: fields} if fields else {}))]


def pool(**fields):
    return one("Pooling", **{k: Word(v) if isinstance(v, str) else v for k, v in fields.items()}, param="pooling_param")


def conv(w, b, x=X, kind="Convolution", **fields):
    return one(kind, "convolution_param", [w, b] if b is not None else [w], x, **fields, **({} if b is not None else {"bias_term": False}))


def pair(kind, param=None, x=X, y=X, **fields):
    return {"x": x, "z": y}, [layer(kind, ["x", "z"], ["y"], **({param: fields} if fields else {}))]


SSD_LOC, SSD_CONF = normal(1, 4 * 24 * 4), normal(1, 24 * 4 * 3)
PRIOR = dict(min_size=[20.0], max_size=[40.0], aspect_ratio=[2.0], flip=True, clip=False, variance=[0.1, 0.1, 0.2, 0.2])
DETECT = dict(num_classes=3, share_location=True, background_label_id=0, nms_param={"nms_threshold": 0.45, "top_k": 40}, code_type=Word("CENTER_SIZE"), keep_top_k=20,
              confidence_threshold=0.3)


def ssd(**more):
    f, image = normal(1, 2, 4, 6), normal(1, 3, 64, 96)
    loc, conf = normal(1, 4 * 6 * 4 * 4) * np.float32(0.5), np.abs(normal(1, 4 * 6 * 4 * 3)) / 3
    return {"f": f, "image": image, "loc": loc, "conf": conf}, [layer("PriorBox", ["f", "image"], ["p"], prior_box_param=PRIOR),
                                                                layer("DetectionOutput", ["loc", "conf", "p"], ["y"], detection_output_param={**DETECT, **more})]


# name: (inputs, layers)
OPENCV = {
    "relu": one("ReLU"), "leaky": one("ReLU", negative_slope=0.1), "sigmoid": one("Sigmoid"), "tanh": one("TanH"), "abs": one("AbsVal"), "bnll": one("BNLL"),
    "elu": one("ELU", alpha=0.7), "power": one("Power", x=P, power=1.5, scale=0.5, shift=0.25), "square": one("Power", power=2.0), "exp": one("Exp"),
    "relu6": one("ReLU6"), "prelu": one("PReLU", blobs=[C4[0]]), "dropout": one("Dropout", dropout_ratio=0.3),
    "conv": conv(normal(6, 4, 3, 3), normal(6), num_output=6, kernel_size=3, pad=1, stride=2),
    "conv_hw": conv(normal(6, 4, 3, 2), None, num_output=6, kernel_h=3, kernel_w=2, pad_h=0, pad_w=1, stride_h=1, stride_w=2),
    "conv_group": conv(normal(8, 2, 3, 3), normal(8), num_output=8, kernel_size=3, group=2, dilation=2, pad=2),
    "deconv": conv(normal(4, 3, 4, 4), normal(3), kind="Deconvolution", num_output=3, kernel_size=4, stride=2, pad=1),
    "deconv_group": conv(normal(4, 1, 4, 4), None, kind="Deconvolution", num_output=4, kernel_size=4, stride=2, pad=1, group=4),
    "pool_max": pool(pool="MAX", kernel_size=3, stride=2), "pool_ceil": pool(pool="MAX", kernel_size=2, stride=2), "pool_pad": pool(pool="MAX", kernel_size=3, stride=2, pad=1),
    "pool_ave": pool(pool="AVE", kernel_size=2, stride=2), "pool_ave_pad": pool(pool="AVE", kernel_size=3, stride=1, pad=1), "pool_hw": pool(pool="MAX", kernel_h=3, kernel_w=2, stride_h=2, stride_w=1),
    "pool_global": pool(pool="AVE", global_pooling=True), "pool_max_global": pool(pool="MAX", global_pooling=True),
    "lrn": one("LRN", local_size=3, alpha=0.3, beta=0.6),
    "batch_norm": one("BatchNorm", "batch_norm_param", BLOBS["bn"], eps=1e-3), "scale": one("Scale", blobs=[C4[0], C4[1]], bias_term=True), "bias": one("Bias", blobs=[C4[0]], axis=1),
    "mvn": one("MVN", normalize_variance=True, across_channels=False), "mvn_across": one("MVN", normalize_variance=False, across_channels=True),
    "softmax": one("Softmax"), "softmax_axis": one("Softmax", axis=-1),
    "inner_product": one("InnerProduct", "inner_product_param", BLOBS["ip"], num_output=5),
    "inner_product_axis": one("InnerProduct", "inner_product_param", [normal(5, 9)], num_output=5, axis=3, bias_term=False),
    "eltwise_sum": pair("Eltwise"), "eltwise_coeff": pair("Eltwise", "eltwise_param", operation=Word("SUM"), coeff=[0.5, -2.0]), "eltwise_prod": pair("Eltwise", "eltwise_param", operation=Word("PROD")),
    "eltwise_max": pair("Eltwise", "eltwise_param", y=P, operation=Word("MAX")), "concat": pair("Concat"), "concat_axis": pair("Concat", "concat_param", axis=2),
    "flatten": one("Flatten"), "flatten_axes": one("Flatten", axis=1, end_axis=2), "reshape": one("Reshape", shape={"dim": [0, -1, 3]}),
    "reshape_axes": one("Reshape", shape={"dim": [9, -1]}, axis=2), "permute": one("Permute", order=[0, 2, 3, 1]), "crop": pair("Crop", "crop_param", y=X[:, :, :4, :5], axis=2, offset=[1, 2]),
    "slice": ({"x": X}, [layer("Slice", ["x"], ["a", "b", "c"], slice_param={"axis": 3, "slice_point": [2, 3]}), layer("Concat", ["c", "a", "b"], ["y"], concat_param={"axis": 3})]),
    "split": ({"x": X}, [layer("Split", ["x"], ["a", "b"]), layer("Eltwise", ["a", "b"], ["y"])]),
    "in_place": ({"x": X}, [layer("Power", ["x"], ["y"], power_param={"scale": 2.0}), layer("ReLU", ["y"], ["y"], name="r"), layer("Dropout", ["y"], ["y"], name="d")]),
    "normalize": one("Normalize", "norm_param", [C4[0]], across_spatial=False, channel_shared=False), "normalize_all": one("Normalize", "norm_param", [np.float32([3])], across_spatial=True),
    "prior_box": ({"f": normal(1, 2, 4, 6), "image": normal(1, 3, 64, 96)}, [layer("PriorBox", ["f", "image"], ["y"], prior_box_param={**PRIOR, "clip": True})]),
    "detection": ssd(), "detection_corner": ssd(code_type=Word("CORNER")),
    "shuffle": one("ShuffleChannel", "shuffle_channel_param", group=2),
    "axpy": ({"a": normal(2, 4, 1, 1), "x": X, "z": P}, [layer("Axpy", ["a", "x", "z"], ["y"])]),
    "roi": ({"x": np.abs(X), "r": np.float32([[0, 0, 0, 5, 4], [1, 2, 1, 8, 6], [0, 3, 3, 3, 3]])}, [layer("ROIPooling", ["x", "r"], ["y"], roi_pooling_param={"pooled_h": 2, "pooled_w": 3, "spatial_scale": 1.0})]),
    "net": ({"x": normal(1, 3, 16, 16)}, [
        layer("Convolution", ["x"], ["c1"], [normal(8, 3, 3, 3), normal(8)], convolution_param={"num_output": 8, "kernel_size": 3, "pad": 1}),
        layer("BatchNorm", ["c1"], ["c1"], [normal(8), np.abs(normal(8)) + 1, np.float32([1])], name="bn"), layer("Scale", ["c1"], ["c1"], [normal(8), normal(8)], name="sc", scale_param={"bias_term": True}),
        layer("ReLU", ["c1"], ["c1"], name="r1"), layer("Pooling", ["c1"], ["p1"], pooling_param={"pool": Word("MAX"), "kernel_size": 3, "stride": 2}),
        layer("Convolution", ["p1"], ["c2"], [normal(8, 1, 3, 3)], convolution_param={"num_output": 8, "kernel_size": 3, "pad": 1, "group": 8, "bias_term": False}),
        layer("Eltwise", ["p1", "c2"], ["s"]), layer("InnerProduct", ["s"], ["ip"], [normal(10, 512) / 20, normal(10)], inner_product_param={"num_output": 10}), layer("Softmax", ["ip"], ["y"])]),
}
for name in "bias", "axpy":  # OpenCV lacks the first, and takes other shapes for the second
    del OPENCV[name]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def windows(x, kernel, stride, pad):
    """[N, C, rows, columns] lists of the elements of Caffe's windows, with the size that an average divides by."""
    h, w = x.shape[2:]
    rows, columns = (-(-(s + 2 * pad - kernel) // stride) + 1 for s in (h, w))
    if pad:
        rows -= (rows - 1) * stride >= h + pad
        columns -= (columns - 1) * stride >= w + pad
    for r in range(rows):
        for c in range(columns):
            y0, x0 = r * stride - pad, c * stride - pad
            y1, x1 = min(y0 + kernel, h + pad), min(x0 + kernel, w + pad)
            size = (y1 - y0) * (x1 - x0)
            yield r, c, rows, columns, x[:, :, max(y0, 0):min(y1, h), max(x0, 0):min(x1, w)], size


def pooled(x, kernel, stride, pad, f):
    out = None
    for r, c, rows, columns, part, size in windows(x, kernel, stride, pad):
        out = np.zeros(x.shape[:2] + (rows, columns), np.float32) if out is None else out
        out[:, :, r, c] = f(part, size)
    return out


def average(part, size):
    return part.sum((2, 3)) / size


def lstm(x, cont, w, b, r, static=None, ws=None, rnn=None):
    n, units = x.shape[1], r.shape[1]
    h = c = np.zeros((n, units), np.float32)
    out = []
    for t in range(len(x)):
        on = cont[t][:, None]
        g = x[t].reshape(n, -1) @ w.T + b + (h * on) @ r.T + (static @ ws.T if static is not None else 0)
        if rnn is not None:
            h = np.tanh(g)
            out.append(np.tanh(h @ rnn[0].T + rnn[1]))
            continue
        i, f, o = (sigmoid(g[:, k * units:(k + 1) * units]) for k in range(3))
        c = f * c * on + i * np.tanh(g[:, 3 * units:])
        h = o * np.tanh(c)
        out.append(h)
    return np.stack(out)


def placed(x, mask):
    out = np.zeros(x.shape[:2] + (14 * 18,), np.float32)
    for n in range(x.shape[0]):
        for c in range(x.shape[1]):
            out[n, c, mask[n, c].astype(int).ravel()] = x[n, c].ravel()
    return out.reshape(x.shape[:2] + (14, 18))


def mvn(x):
    d = x - x.mean((2, 3), keepdims=True)
    return d / (np.sqrt((d * d).mean((2, 3), keepdims=True)) + 1e-9)


def softmax(x, axis=1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


W3, T, CONT = normal(4, 3, 2, 3, 2), normal(5, 2, 3), np.float32([[0, 0], [1, 1], [1, 0], [1, 1], [0, 1]])
LW, LB, LR, LS, S = normal(16, 3), normal(16), normal(16, 4), normal(16, 2), normal(2, 2)
TIES = np.float32([[1, 3, 3, 0], [2, 2, 2, 2]])
LABEL, SCORES = np.float32([2, 0, 1]), normal(3, 4)
IDS = np.float32([[3, 0], [1, 1]])
# name: (network, oracle of its inputs); layers that OpenCV lacks or computes in another way
NUMPY = {
    "bias": (one("Bias", blobs=[C4[0]], axis=1), lambda x: x + C4[0][:, None, None]), "bias_scalar": (one("Bias", blobs=[np.float32(2)], num_axes=0), lambda x: x + 2),
    "bias_input": (pair("Bias", "bias_param", y=X[0], axis=1), lambda x, z: x + z), "scale_axis": (one("Scale", blobs=[C4[0][:, None] * normal(4, 7)[:, :7]], axis=1, num_axes=2), None),
    "scale_input": (pair("Scale", "scale_param", y=X[:, :, 0, 0], axis=0), lambda x, z: x * z[:, :, None, None]), "axpy": (({"a": normal(2, 4, 1, 1), "x": X, "z": P}, [layer("Axpy", ["a", "x", "z"], ["y"])]), lambda a, x, z: a * x + z),
    "log": (one("Log", x=P, base=2.0, scale=3.0, shift=1.0), lambda x: np.log2(3 * x + 1)), "exp_base": (one("Exp", base=2.0, scale=0.5, shift=1.0), lambda x: 2 ** (0.5 * x + 1)),
    "threshold": (one("Threshold", threshold=0.3), lambda x: x > 0.3), "clip": (one("Clip", min=-0.5, max=0.75), lambda x: x.clip(-0.5, 0.75)), "swish": (one("Swish", beta=2.0), lambda x: x * sigmoid(2 * x)),
    "prelu_shared": (one("PReLU", blobs=[np.float32([0.3])], channel_shared=True), lambda x: np.where(x > 0, x, 0.3 * x)), "dropout_scaled": (one("Dropout", dropout_ratio=0.25, scale_train=False), lambda x: x * 0.75),
    "conv3d": (conv(W3, None, V, num_output=4, kernel_size=[2, 3, 2], stride=2, pad=[1, 0, 1]), "conv3d"), "deconv_dilated": (conv(normal(4, 3, 3, 3), None, kind="Deconvolution", num_output=3, kernel_size=3, stride=2, dilation=2), "deconv"),
    "depthwise": (conv(normal(4, 1, 3, 3), None, kind="ConvolutionDepthwise", num_output=4, kernel_size=3), "depthwise"),
    "ave_ceil_pad": (pool(pool="AVE", kernel_size=3, stride=2, pad=1), lambda x: pooled(x, 3, 2, 1, average)), "ave_uneven": (pool(pool="AVE", kernel_size=2, stride=2, pad=1), lambda x: pooled(x, 2, 2, 1, average)),
    "max_uneven": (pool(pool="MAX", kernel_size=4, stride=3, pad=2), lambda x: pooled(x, 4, 3, 2, lambda p, s: p.max((2, 3)))), "floor": (pool(pool="MAX", kernel_size=2, stride=2, ceil_mode=False), lambda x: x[:, :, :6, :8].reshape(2, 4, 3, 2, 4, 2).max((3, 5))),
    "round_mode": (one("Pooling", pool=Word("MAX"), kernel_size=2, stride=2, round_mode=Word("FLOOR")), lambda x: x[:, :, :6, :8].reshape(2, 4, 3, 2, 4, 2).max((3, 5))),
    "stochastic": (one("Pooling", x=P, pool=Word("STOCHASTIC"), kernel_size=3, stride=2), lambda x: pooled(x, 3, 2, 0, lambda p, s: (p * p).sum((2, 3)) / p.sum((2, 3)))),
    "lrn_k": (one("LRN", local_size=3, alpha=0.3, k=2.0), lambda x: x * (2 + 0.1 * sum(np.pad(x * x, ((0, 0), (1, 1), (0, 0), (0, 0)))[:, k:k + 4] for k in range(3))) ** -0.75),
    "lrn_within": (one("LRN", local_size=3, alpha=0.5, beta=0.75, norm_region=Word("WITHIN_CHANNEL")), lambda x: x * (1 + 0.5 * pooled(x * x, 3, 1, 1, average)) ** -0.75),
    "spp": (one("SPP", pyramid_height=2, pool=Word("MAX")), lambda x: np.concatenate([x.max((2, 3)), pooled(np.pad(x, ((0, 0), (0, 0), (1, 0), (1, 0)), constant_values=-9)[:, :, :8], 1, 1, 0, lambda p, s: p[:, :, 0, 0]).reshape(2, 4, 2, 4, 2, 5).max((3, 5)).reshape(2, -1)], 1)),
    "batch_stats": (one("BatchNorm", "batch_norm_param", use_global_stats=False), lambda x: (x - x.mean((0, 2, 3), keepdims=True)) / np.sqrt(x.var((0, 2, 3), keepdims=True) + 1e-5)),
    "batch_norm_zero": (one("BatchNorm", "batch_norm_param", [C4[0], C4[1], np.float32([0])], eps=1.0), lambda x: x), "batch_norm_rows": (one("BatchNorm", "batch_norm_param", [C4[0], C4[1], np.float32([2])], x=X[:, :, 0, 0]),
                                                                                                                               lambda x: (x - C4[0] / 2) / np.sqrt(C4[1] / 2 + 1e-5)),
    "bn": (one("BN", "bn_param", [C4[0][None, :, None, None], C4[1], C4[2], C4[3]]), lambda x: (x - C4[2][:, None, None]) / np.sqrt(C4[3] + 1e-5)[:, None, None] * C4[0][:, None, None] + C4[1][:, None, None]),
    "bn_merged": (one("BN", "bn_param", [C4[0], C4[1]], bn_mode=Word("INFERENCE")), lambda x: x * C4[0][:, None, None] + C4[1][:, None, None]), "mvn_exact": (one("MVN"), mvn),
    "inner_transposed": (one("InnerProduct", "inner_product_param", [normal(6, 5)], x=M, num_output=5, transpose=True, bias_term=False), "inner"),
    "embed": (one("Embed", blobs=[C4.T[:, :5].copy(), C4[0][:4].repeat(2)[:5]], x=IDS, num_output=5, input_dim=4), lambda x: C4.T[:, :5][x.astype(int)] + C4[0][:4].repeat(2)[:5]),
    "reduce_sum": (one("Reduction"), np.sum), "reduce_abs": (one("Reduction", operation=Word("ASUM"), axis=1), lambda x: np.abs(x).sum((1, 2, 3))),
    "reduce_square": (one("Reduction", operation=Word("SUMSQ"), axis=-1, coeff=0.5), lambda x: (x * x).sum(3) / 2), "reduce_mean": (one("Reduction", operation=Word("MEAN"), axis=2), lambda x: x.mean((2, 3))),
    "argmax": (one("ArgMax", x=TIES), lambda x: np.float32([[[2]], [[3]]])), "argmax_top": (one("ArgMax", x=TIES, top_k=2, out_max_val=True), lambda x: np.float32([[[2, 1], [3, 3]], [[3, 2], [2, 2]]])),
    "argmax_axis": (one("ArgMax", axis=1), lambda x: x.argmax(1)[:, None]), "argmax_values": (one("ArgMax", axis=3, top_k=2, out_max_val=True), lambda x: -np.sort(-x, 3)[..., :2]),
    "tile": (one("Tile", axis=2, tiles=3), lambda x: np.tile(x, (1, 1, 3, 1))), "reindex": (({"x": X, "i": np.float32([1, 0, 1])}, [layer("BatchReindex", ["x", "i"], ["y"])]), lambda x, i: x[i.astype(int)]),
    "slice_equal": (({"x": X}, [layer("Slice", ["x"], ["a", "b"]), layer("Eltwise", ["b", "a"], ["y"], eltwise_param={"coeff": [1.0, -1.0]})]), lambda x: x[:, 2:] - x[:, :2]),
    "parameter": (({"x": X}, [layer("Parameter", [], ["w"], [X[0] + 1], parameter_param={"shape": {"dim": list(X.shape[1:])}}), layer("Bias", ["x", "w"], ["y"])]), lambda x: x + X[0] + 1),
    "reshape_insert": (one("Reshape", shape={"dim": [1, 1]}, axis=1, num_axes=0), lambda x: x[:, None, None]), "reshape_end": (one("Reshape", shape={"dim": [1]}, axis=-1, num_axes=0), lambda x: x[..., None]),
    "interp": (one("Interp", height=13, width=17), "corners"), "interp_zoom": (one("Interp", zoom_factor=2), "corners"), "interp_like": (pair("Interp", y=normal(1, 1, 13, 17)), "corners"),
    "upsample": (one("Upsample", scale=2), lambda x: x.repeat(2, 2).repeat(2, 3)), "unpool": (({"x": normal(2, 4, 14, 18)}, [layer("Pooling", ["x"], ["p", "m"], pooling_param={"pool": Word("MAX"), "kernel_size": 2, "stride": 2}),
                                                                                     layer("Upsample", ["p", "m"], ["y"], upsample_param={"scale": 2, "upsample_h": 14, "upsample_w": 18})]),
                                                                                    lambda x: np.where(x == x.reshape(2, 4, 7, 2, 9, 2).max((3, 5)).repeat(2, 2).repeat(2, 3), x, 0)),
    "lstm": (({"x": T, "c": CONT}, [layer("LSTM", ["x", "c"], ["y"], [LW, LB, LR], recurrent_param={"num_output": 4})]), lambda x, c: lstm(x, c, LW, LB, LR)),
    "lstm_static": (({"x": T, "c": CONT, "s": S}, [layer("LSTM", ["x", "c", "s"], ["y"], [LW, LB, LS, LR], recurrent_param={"num_output": 4})]), lambda x, c, s: lstm(x, c, LW, LB, LR, s, LS)),
    "rnn": (({"x": T, "c": CONT}, [layer("RNN", ["x", "c"], ["y"], [LW[:4], LB[:4], LR[:4], LR[4:8], LB[4:8]], recurrent_param={"num_output": 4})]), lambda x, c: lstm(x, c, LW[:4], LB[:4], LR[:4], rnn=(LR[4:8], LB[4:8]))),
    "euclidean": (pair("EuclideanLoss", y=P), lambda x, z: ((x - z) ** 2).sum() / 4), "sigmoid_loss": (pair("SigmoidCrossEntropyLoss", y=P), lambda x, z: (np.log1p(np.exp(x)) - x * z).sum() / 2),
    "softmax_loss": (({"x": SCORES, "l": LABEL}, [layer("SoftmaxWithLoss", ["x", "l"], ["y"])]), lambda x, n: -np.log(softmax(x)[range(3), n.astype(int)]).mean()),
    "softmax_ignored": (({"x": SCORES, "l": LABEL}, [layer("SoftmaxWithLoss", ["x", "l"], ["y"], loss_param={"ignore_label": 0})]), lambda x, n: -np.log(softmax(x)[[0, 2], [2, 1]]).mean()),
    "multinomial": (({"x": softmax(SCORES), "l": LABEL}, [layer("MultinomialLogisticLoss", ["x", "l"], ["y"])]), lambda x, n: -np.log(x[range(3), n.astype(int)]).mean()),
    "hinge": (({"x": SCORES, "l": LABEL}, [layer("HingeLoss", ["x", "l"], ["y"], hinge_loss_param={"norm": Word("L2")})]), lambda x, n: (np.maximum(0, 1 + np.where(np.eye(4)[n.astype(int)] > 0, -x, x)) ** 2).sum() / 3),
    "contrastive": (({"x": SCORES, "z": SCORES[::-1].copy() * 0.9, "l": np.float32([1, 0, 0])}, [layer("ContrastiveLoss", ["x", "z", "l"], ["y"])]),
                    lambda x, z, n: (np.where(n > 0, ((x - z) ** 2).sum(1), np.maximum(0, 1 - np.sqrt(((x - z) ** 2).sum(1))) ** 2)).sum() / 6),
    "accuracy": (({"x": SCORES, "l": LABEL}, [layer("Accuracy", ["x", "l"], ["y"], accuracy_param={"top_k": 2})]), lambda x, n: np.mean([v in np.argsort(-r)[:2] for r, v in zip(x, n)])),
    "sparse_ends": (({"x": X}, [layer("Split", ["x"], ["a", "b"]), layer("Silence", ["b"], []), layer("ReLU", ["a"], ["y"])]), lambda x: np.maximum(x, 0)),
}
