"""ai.onnx.ml: compiled code and the reference against ONNX Runtime."""
import os
import subprocess

import pytest

onnx = pytest.importorskip("onnx")
np = pytest.importorskip("numpy")
ort = pytest.importorskip("onnxruntime")
from onnx import TensorProto as T  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

WICK = os.environ.get("WICK_COMMAND", "build/wick")
POST = ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"]
RNG = np.random.default_rng(7)


def model_of(op, feeds, outputs, version, attrs):
    node = helper.make_node(op, list(feeds), list(outputs), domain="ai.onnx.ml", **attrs)
    inputs = [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in feeds.items()]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info(k, t, None) for k, t in outputs.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", version)])
    model.ir_version = 8
    return model


def wick(folder, model, feeds, *flags):
    """The outputs of a run."""
    onnx.save(model, folder / "m.onnx")
    for k, x in enumerate(feeds.values()):
        np.save(folder / f"in{k}.npy", np.ascontiguousarray(x))
    given = [str(folder / f"in{k}.npy") for k in range(len(feeds))]
    args = [WICK, "run", str(folder / "m.onnx"), "--inputs", *given, "-o", str(folder / "out"), "--no-cache", *flags]
    r = subprocess.run(args, capture_output=True, text=True, timeout=300)
    assert r.returncode == 0, r.stderr
    return [np.load(folder / "out" / f"output_{k}.npy") for k in range(len(model.graph.output))]


def same(got, want):
    if want.dtype == object:  # strings
        want = want.astype(str)
    assert got.dtype == want.dtype and got.shape == want.shape
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)
    else:
        np.testing.assert_array_equal(got, want)


def check(folder, op, feeds, outputs, version=1, want=None, **attrs):
    model = model_of(op, feeds, outputs, version, attrs)
    if want is None:
        options = ort.SessionOptions()
        options.log_severity_level = 4
        want = ort.InferenceSession(model.SerializeToString(), options).run(None, feeds)
    for flags in ([], ["--reference"]):
        for g, w in zip(wick(folder, model, feeds, *flags), want, strict=True):
            same(g, w)


def rows(n, f, dtype=np.float32):
    return RNG.normal(size=(n, f)).astype(dtype) if np.dtype(dtype).kind == "f" else RNG.integers(-5, 5, (n, f)).astype(dtype)


# ---- linear models ----

@pytest.mark.parametrize("post", POST)
@pytest.mark.parametrize("targets", [1, 3])
def test_linear_regressor(tmp_path, post, targets):
    check(tmp_path, "LinearRegressor", {"X": rows(6, 4)}, {"Y": T.FLOAT}, coefficients=rows(targets, 4).ravel().tolist(),
          intercepts=rows(1, targets).ravel().tolist(), targets=targets, post_transform=post)


@pytest.mark.parametrize("post", POST)
@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
def test_linear_classifier(tmp_path, post, labels, dtype):
    n = 1 if labels == 2 else labels
    check(tmp_path, "LinearClassifier", {"X": rows(9, 4, dtype)}, {"L": T.INT64, "S": T.FLOAT},
          coefficients=rows(n, 4).ravel().tolist(), intercepts=rows(1, n).ravel().tolist(),
          classlabels_ints=[7, -3, 12][:labels], post_transform=post)


@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
@pytest.mark.parametrize("one", [0, 1])
def test_svm_regressor(tmp_path, kernel, one):
    check(tmp_path, "SVMRegressor", {"X": rows(6, 4)}, {"Y": T.FLOAT}, coefficients=rows(1, 5).ravel().tolist(), n_supports=5,
          support_vectors=rows(5, 4).ravel().tolist(), rho=[0.3], kernel_type=kernel, kernel_params=[0.4, 0.2, 3.0], one_class=one)


@pytest.mark.parametrize("kernel", ["LINEAR", "RBF"])
@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("probable", [False, True])
@pytest.mark.parametrize("post", POST)
def test_svm_classifier(tmp_path, kernel, classes, probable, post):
    per = [3, 1, 2, 4, 2][:classes]
    pairs = classes * (classes - 1) // 2
    more = {"prob_a": (-1 - RNG.random(pairs)).tolist(), "prob_b": rows(1, pairs)[0].tolist()} if probable else {}
    check(tmp_path, "SVMClassifier", {"X": rows(20, 4)}, {"L": T.INT64, "S": T.FLOAT}, kernel_type=kernel,
          kernel_params=[0.4, 0.2, 3.0], coefficients=rows(classes - 1, sum(per)).ravel().tolist(), rho=rows(1, pairs)[0].tolist(),
          support_vectors=rows(sum(per), 4).ravel().tolist(), vectors_per_class=per, classlabels_ints=[9, 4, -1, 7, 5][:classes],
          post_transform=post, **more)


@pytest.mark.parametrize("post", POST)
def test_svm_classifier_without_vectors(tmp_path, post):
    check(tmp_path, "SVMClassifier", {"X": rows(20, 4)}, {"L": T.INT64, "S": T.FLOAT}, kernel_type="LINEAR",
          kernel_params=[0.0, 0.0, 0.0], coefficients=rows(3, 4).ravel().tolist(), rho=[0.3, 0.1, 0.2], classlabels_ints=[9, 4, -1],
          post_transform=post)


# Without support vectors the kernel is linear whatever kernel_type says, and the label of two classes is not always that of
# the highest score.
@pytest.mark.parametrize("sign", ["mixed", "positive", "negative", "zero"])
@pytest.mark.parametrize("kernel", ["LINEAR", "POLY"])
@pytest.mark.parametrize("n,text,probable", [(1, False, False), (2, False, False), (2, True, False), (2, False, True), (3, True, False)])
def test_svm_classifier_linear(tmp_path, sign, kernel, n, text, probable):
    w = rows(1, n * 4).ravel()
    w = {"mixed": w, "positive": abs(w), "negative": -abs(w), "zero": 0 * w}[sign]
    labels = {"classlabels_strings": ["u", "v", "w"][:n]} if text else {"classlabels_ints": [5, 3, 8][:n]}
    more = {"prob_a": [0.7], "prob_b": [0.1]} if probable else {}
    for rho in ([0.3], [0.1, -0.2, 0.4][:n]):
        check(tmp_path, "SVMClassifier", {"X": rows(20, 4)}, {"L": T.STRING if text else T.INT64, "S": T.FLOAT}, kernel_type=kernel,
              kernel_params=[0.3, 0.2, 2.0], coefficients=w.tolist(), rho=rho, **labels, **more)


def test_svm_regressor_without_vectors(tmp_path):
    check(tmp_path, "SVMRegressor", {"X": rows(6, 4)}, {"Y": T.FLOAT}, coefficients=rows(1, 4).ravel().tolist(), rho=[0.3],
          kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0])


# ---- features ----

@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
def test_normalizer(tmp_path, norm, dtype):
    x = rows(5, 3, dtype)
    x[2] = 0
    check(tmp_path, "Normalizer", {"X": x}, {"Y": T.FLOAT}, norm=norm)


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
def test_scaler(tmp_path, n, dtype):
    check(tmp_path, "Scaler", {"X": rows(5, 3, dtype)}, {"Y": T.FLOAT}, offset=[0.5, -1.0, 2.0][:n], scale=[2.0, 0.25, -1.0][:n])


def test_binarizer(tmp_path):
    check(tmp_path, "Binarizer", {"X": rows(5, 3)}, {"Y": T.FLOAT}, threshold=0.25)
    x = np.array([[-1, 0, 1, 2]], np.int64)  # not in ONNX Runtime
    check(tmp_path, "Binarizer", {"X": x}, {"Y": T.INT64}, threshold=0.5, want=[(x > 0.5).astype(np.int64)])


@pytest.mark.parametrize("replaced", [float("nan"), 0.5])
@pytest.mark.parametrize("n", [1, 3])
def test_imputer(tmp_path, replaced, n):
    x = np.array([[1, 0.5, np.nan], [np.nan, 2, 0.5]], np.float32)
    check(tmp_path, "Imputer", {"X": x}, {"Y": T.FLOAT}, imputed_value_floats=[9.0, 8.0, 7.0][:n], replaced_value_float=replaced)


def test_imputer_of_integers(tmp_path):
    check(tmp_path, "Imputer", {"X": np.array([[1, 5, 2], [5, 5, 0]], np.int64)}, {"Y": T.INT64}, imputed_value_int64s=[9, 8, 7],
          replaced_value_int64=5)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_array_feature_extractor(tmp_path, dtype):
    at = np.array([[2, 0, 2]], np.int64)
    t = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    check(tmp_path, "ArrayFeatureExtractor", {"X": rows(5, 3, dtype), "Y": at}, {"Z": t})
    check(tmp_path, "ArrayFeatureExtractor", {"X": rows(1, 3, dtype)[0], "Y": at}, {"Z": t})


def test_feature_vectorizer(tmp_path):
    check(tmp_path, "FeatureVectorizer", {"A": rows(4, 2), "B": rows(4, 3)}, {"Y": T.FLOAT}, inputdimensions=[2, 3])
    a, b = rows(4, 3), rows(4, 1)  # cut, and filled with zeros
    check(tmp_path, "FeatureVectorizer", {"A": a, "B": b}, {"Y": T.FLOAT}, inputdimensions=[2, 3],
          want=[np.concatenate([a[:, :2], b, np.zeros((4, 2), np.float32)], 1)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_one_hot_encoder(tmp_path, dtype):
    check(tmp_path, "OneHotEncoder", {"X": np.array([[1, 3], [4, 7]], dtype)}, {"Y": T.FLOAT}, cats_int64s=[4, 1, 7, 9])


def test_one_hot_encoder_without_zeros(tmp_path):
    feeds = {"X": np.array([[1, 4], [4, 7]], np.int64)}
    check(tmp_path, "OneHotEncoder", feeds, {"Y": T.FLOAT}, cats_int64s=[4, 1, 7, 9], zeros=0)
    model = model_of("OneHotEncoder", feeds, {"Y": T.FLOAT}, 1, {"cats_int64s": [4, 1], "zeros": 0})
    with pytest.raises(AssertionError, match="out of bounds"):
        wick(tmp_path, model, feeds)


# ---- trees ----

def forest(trees, features, depth, modes, leaf_ids, tracks=False, step=1.0):
    """Random trees as attributes of the old operators; thresholds are multiples of `step`, to which values may be
    equal."""
    a = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids",
                         "missing_value_tracks_true")}
    w = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}

    def put(tree, node, mode, feature=0, value=0.0, yes=0, no=0, missing=0):
        for k, v in zip(a, (tree, node, feature, value, mode, yes, no, missing)):
            a[k].append(v)

    for t in range(trees):
        todo, count = [(0, 0)], 1
        while todo:
            node, d = todo.pop(0)
            if d == depth or (d > 1 and RNG.random() < 0.25):
                put(t, node, "LEAF")
                for k in leaf_ids:
                    for key, v in zip(w, (t, node, k, float(np.float32(RNG.normal())))):
                        w[key].append(v)
                continue
            value = float(np.round(RNG.normal() / step) * step)
            put(t, node, modes[RNG.integers(len(modes))], int(RNG.integers(features)), value, count, count + 1,
                int(tracks and RNG.random() < 0.5))
            todo += [(count, d + 1), (count + 1, d + 1)]
            count += 2
    return {f"nodes_{k}": v for k, v in a.items()}, w


def tree_rows(n, f, dtype=np.float32, step=1.0, missing=False):
    x = (np.round(RNG.normal(size=(n, f)) / step) * step).astype(dtype)
    if missing:
        x[RNG.random(x.shape) < 0.2] = np.nan
    return x


MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


@pytest.mark.parametrize("tracks", [False, True])
@pytest.mark.parametrize("mode", [*MODES, "all"])
def test_tree_modes(tmp_path, mode, tracks):
    nodes, w = forest(7, 5, 4, MODES if mode == "all" else [mode], [0], tracks, 0.5)
    x = tree_rows(40, 5, step=0.5, missing=True)
    check(tmp_path, "TreeEnsembleRegressor", {"X": x}, {"Y": T.FLOAT}, n_targets=1,
          **nodes, **{f"target_{k}": v for k, v in w.items()})


@pytest.mark.parametrize("post", POST)
@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("targets", [1, 2])
def test_tree_regressor(tmp_path, post, aggregate, targets):
    nodes, w = forest(5, 4, 3, ["BRANCH_LEQ"], range(targets))
    for n in (3, 20):
        check(tmp_path, "TreeEnsembleRegressor", {"X": rows(n, 4)}, {"Y": T.FLOAT}, n_targets=targets, aggregate_function=aggregate,
              post_transform=post, base_values=[0.5, -0.25][:targets], **nodes, **{f"target_{k}": v for k, v in w.items()})


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.int32])
@pytest.mark.parametrize("version", [1, 3])
def test_tree_types(tmp_path, dtype, version):
    nodes, w = forest(5, 4, 3, MODES, [0])
    x, want = tree_rows(30, 4, dtype), None
    if np.dtype(dtype).kind == "i":  # not in ONNX Runtime as the regressor: as floats
        attrs = nodes | {f"target_{k}": v for k, v in w.items()} | {"n_targets": 1}
        model = model_of("TreeEnsembleRegressor", {"X": x.astype(np.float32)}, {"Y": T.FLOAT}, version, attrs)
        want = ort.InferenceSession(model.SerializeToString()).run(None, {"X": x.astype(np.float32)})
    if version == 3 and dtype == np.float64:
        nodes["nodes_values_as_tensor"] = numpy_helper.from_array(np.array(nodes.pop("nodes_values")) + 1e-12)
        w["weights_as_tensor"] = numpy_helper.from_array(np.array(w.pop("weights")))
    check(tmp_path, "TreeEnsembleRegressor", {"X": x}, {"Y": T.FLOAT}, version, want, n_targets=1,
          **nodes, **{f"target_{k}": v for k, v in w.items()})


@pytest.mark.parametrize("post", POST)
@pytest.mark.parametrize("classes", [1, 2, 3, 5])
@pytest.mark.parametrize("positive", [False, True])
def test_tree_classifier(tmp_path, post, classes, positive):
    """`classes` 1: two labels, weights of the first alone; 2: of the second alone."""
    ids = {1: [0], 2: [1]}.get(classes, range(classes))
    nodes, w = forest(6, 4, 4, ["BRANCH_LEQ", "BRANCH_LT"], ids)
    if positive:
        w["weights"] = [abs(v) / 6 for v in w["weights"]]
    labels = [11, 5, -2, 8, 3][:max(2, classes)]
    check(tmp_path, "TreeEnsembleClassifier", {"X": rows(25, 4)}, {"L": T.INT64, "S": T.FLOAT}, post_transform=post,
          classlabels_int64s=labels, **nodes, **{f"class_{k}": v for k, v in w.items()})


def test_deep_trees(tmp_path):
    """A list of 70 nodes: longer than the steps of one row."""
    n = 70
    check(tmp_path, "TreeEnsembleRegressor", {"X": (RNG.random((12, 1)) * (n + 2) - 1).astype(np.float32)}, {"Y": T.FLOAT}, n_targets=1,
          nodes_treeids=[0] * (2 * n + 1), nodes_nodeids=list(range(2 * n + 1)), nodes_featureids=[0] * (2 * n + 1),
          nodes_values=[float(i // 2) for i in range(2 * n)] + [0.0],
          nodes_modes=["BRANCH_LEQ" if i % 2 == 0 and i < 2 * n else "LEAF" for i in range(2 * n + 1)],
          nodes_truenodeids=[i + 1 if i % 2 == 0 and i < 2 * n else 0 for i in range(2 * n + 1)],
          nodes_falsenodeids=[i + 2 if i % 2 == 0 and i < 2 * n else 0 for i in range(2 * n + 1)],
          target_treeids=[0] * (n + 1), target_nodeids=[2 * i + 1 for i in range(n)] + [2 * n], target_ids=[0] * (n + 1),
          target_weights=[float(i * i) for i in range(n + 1)])


def ensemble(trees, features, members, dtype):
    """Random trees for TreeEnsemble, and their results, by traversal."""
    a = {k: [] for k in ("featureids", "splits", "modes", "truenodeids", "trueleafs", "falsenodeids", "falseleafs",
                         "missing_value_tracks_true")}
    roots, weights, targets, sets = [], [], [], []

    def leaf():
        weights.append(float(dtype(RNG.normal())))
        targets.append(int(RNG.integers(2)))
        return len(weights) - 1

    def node(depth):
        i = len(a["modes"])
        mode = int(RNG.integers(7 if members else 6))
        for k, v in zip(a, (int(RNG.integers(features)), float(RNG.integers(-2, 3)), mode, 0, 0, 0, 0, int(RNG.integers(2)))):
            a[k].append(v)
        sets.append(sorted({float(v) for v in RNG.integers(-3, 4, RNG.integers(1, 6))}) if mode == 6 else None)
        for side in ("true", "false"):
            last = depth == 3 or RNG.random() < 0.3
            a[f"{side}leafs"][i] = int(last)
            a[f"{side}nodeids"][i] = leaf() if last else node(depth + 1)
        return i

    for _ in range(trees):
        roots.append(node(0))

    def walk(x):
        out = np.zeros(2)
        for i in roots:
            while True:
                v, s, m = x[a["featureids"][i]], a["splits"][i], a["modes"][i]
                yes = [v <= s, v < s, v >= s, v > s, v == s, v != s, sets[i] and v in sets[i]][m]
                yes = yes or (np.isnan(v) and a["missing_value_tracks_true"][i])
                side = "true" if yes else "false"
                last, i = a[f"{side}leafs"][i], a[f"{side}nodeids"][i]
                if last:
                    out[targets[i]] += weights[i]
                    break
        return out

    values = [v for s in sets if s is not None for v in [*s, np.nan]]
    attrs = {f"nodes_{k}": v for k, v in a.items()}
    attrs["nodes_splits"] = numpy_helper.from_array(np.array(attrs["nodes_splits"], dtype))
    attrs["nodes_modes"] = numpy_helper.from_array(np.array(attrs["nodes_modes"], np.uint8))
    attrs |= {"tree_roots": roots, "leaf_weights": numpy_helper.from_array(np.array(weights, dtype)), "leaf_targetids": targets,
              "n_targets": 2, "aggregate_function": 1, "post_transform": 0}
    if members:
        attrs["membership_values"] = numpy_helper.from_array(np.array(values, dtype))
    return attrs, walk


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("members", [False, True])
@pytest.mark.parametrize("n", [3, 40])
def test_tree_ensemble(tmp_path, dtype, members, n):
    attrs, walk = ensemble(8, 3, members, dtype)
    x = tree_rows(n, 3, dtype, missing=True)
    want = np.array([walk(row) for row in x]).astype(dtype)
    check(tmp_path, "TreeEnsemble", {"X": x}, {"Y": helper.np_dtype_to_tensor_dtype(np.dtype(dtype))}, 5, want=[want], **attrs)


def test_broken_trees(tmp_path):
    nodes, w = forest(2, 3, 3, ["BRANCH_LEQ"], [0])
    w = {f"target_{k}": v for k, v in w.items()}
    x = {"X": rows(4, 3)}

    def message(**change):
        with pytest.raises(AssertionError) as e:
            wick(tmp_path, model_of("TreeEnsembleRegressor", x, {"Y": T.FLOAT}, 1, nodes | w | change), x)
        return str(e.value)

    assert "a node is below itself" in message(nodes_truenodeids=[0] * len(nodes["nodes_modes"]))
    assert "tree 0 has no node 999" in message(nodes_falsenodeids=[999] * len(nodes["nodes_modes"]))
    assert "feature 3 of 3" in message(nodes_featureids=[3] * len(nodes["nodes_modes"]))
    assert "nodes_modes has 1 elements" in message(nodes_modes=["LEAF"])
    assert "target_ids has 5, of 1" in message(target_ids=[5] * len(w["target_ids"]))
