"""Strings: operators on them, and those that move them, against ONNX Runtime or the results written here."""
import re

import pytest

onnx = pytest.importorskip("onnx")
np = pytest.importorskip("numpy")
ort = pytest.importorskip("onnxruntime")
import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
from onnx import TensorProto as T  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402
from onnx.backend.test.case.node import collect_testcases  # noqa: E402
from wick import backend  # noqa: E402


def model_of(op, feeds, outputs, domain="", opset=22, constants=None, **attrs):
    constants = constants or {}
    node = helper.make_node(op, [*feeds, *constants], list(outputs), domain=domain, **attrs)
    inputs = [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in feeds.items()]
    outs = [helper.make_tensor_value_info(k, *(t if isinstance(t, tuple) else (t, None))) for k, t in outputs.items()]
    graph = helper.make_graph([node], "g", inputs, outs,
                              [numpy_helper.from_array(v, k) for k, v in constants.items()])
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 4)]
    model = helper.make_model(graph, opset_imports=opsets)
    model.ir_version = 10
    return model


def words(*s):
    return np.array(s, object)


def run(model, feeds):
    return wick.InferenceSession(model.SerializeToString()).run(None, feeds)


def check(op, feeds, outputs, want=None, **more):
    model = model_of(op, feeds, outputs, **more)
    if want is None:
        want = ort.InferenceSession(model.SerializeToString()).run(None, feeds)
    for g, w in zip(run(model, feeds), want, strict=True):
        assert g.dtype == w.dtype and g.shape == w.shape
        np.testing.assert_array_equal(g, w)


X = words("b", "a", "", "häß", "b", "zz").reshape(2, 3)
I = np.array([1, 0, 1], np.int64)
MOVES = [
    ("Identity", {}, {}), ("Transpose", {}, {"perm": [1, 0]}), ("Tile", {"r": np.array([2, 1], np.int64)}, {}),
    ("Reshape", {"s": np.array([3, 2], np.int64)}, {}), ("Expand", {"s": np.array([2, 2, 3], np.int64)}, {}),
    ("Squeeze", {}, {}), ("Unsqueeze", {"a": np.array([0], np.int64)}, {}), ("Flatten", {}, {"axis": 0}),
    ("Slice", {"b": np.array([1], np.int64), "e": np.array([-9], np.int64), "a": np.array([1], np.int64), "s": np.array([-1], np.int64)}, {}),
    ("Gather", {"i": I}, {"axis": 0}), ("GatherElements", {"i": np.array([[0, 2, 1]], np.int64)}, {"axis": 1}),
    ("GatherND", {"i": np.array([[1, 2], [0, 0]], np.int64)}, {}),
    ("ScatterElements", {"i": np.array([[1, 0, 1]], np.int64), "u": words("p", "q", "r").reshape(1, 3)}, {"axis": 0}),
    ("ScatterND", {"i": np.array([[1, 2]], np.int64), "u": words("p")}, {}),
    ("ReverseSequence", {"n": np.array([3, 2], np.int64)}, {"batch_axis": 0, "time_axis": 1}),
    ("Pad", {"p": np.array([0, 1, 1, 0], np.int64), "v": np.array("pad", object)}, {}),
]


@pytest.mark.parametrize("op,constants,attrs", MOVES, ids=lambda v: v if isinstance(v, str) else "")
def test_moves(op, constants, attrs):
    if op in ("Pad", "ReverseSequence", "Gather"):  # not of strings in ONNX Runtime, or wrong
        want = {"Gather": X[I],
                "Pad": words("pad", "b", "a", "", "pad", "häß", "b", "zz", *["pad"] * 4).reshape(3, 4),
                "ReverseSequence": words("", "a", "b", "b", "häß", "zz").reshape(2, 3)}[op]
        check(op, {"X": X}, {"Y": T.STRING}, [want], constants=constants, **attrs)
        return
    check(op, {"X": X}, {"Y": T.STRING}, constants=constants, **attrs)


def test_joins_and_choices():
    check("Concat", {"A": X, "B": X[:, :1]}, {"Y": T.STRING}, axis=1)
    check("Where", {"C": np.array([True, False, True]), "A": X, "B": X[:1]}, {"Y": T.STRING})
    check("Split", {"A": X}, {"Y": T.STRING, "Z": T.STRING}, axis=1, num_outputs=2)
    check("Shape", {"A": X}, {"Y": T.INT64})
    check("Size", {"A": X}, {"Y": T.INT64})
    check("OneHot", {"A": I}, {"Y": T.STRING}, constants={"d": np.array(3, np.int64), "v": words("off", "on")})


def test_equal():
    check("Equal", {"A": X, "B": X[:1]}, {"Y": T.BOOL})
    check("Equal", {"A": X}, {"Y": T.BOOL}, constants={"B": np.array("b", object)})


def test_constants():
    x = np.array([2, 2], np.int64)
    value = helper.make_tensor("v", T.STRING, [1], [b"q"])
    model = model_of("ConstantOfShape", {}, {"Y": T.STRING}, constants={"s": x}, value=value)
    assert run(model, {})[0].tolist() == [["q", "q"], ["q", "q"]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_floats_to_text(dtype):
    x = np.array([0, -0.0, 1, 0.1, 1 / 3, 1e-4, 9e-5, 123456789, 1e16, 9.999999e15, 65504, 5e-8, np.nan, np.inf, -np.inf, -2.5,
                  100], np.float64)
    x = x[np.abs(x) < 1e5] if dtype == np.float16 else x
    x = x.astype(dtype)

    def text(v):
        short = np.format_float_scientific(v, unique=True, trim="-", exp_digits=2)
        if v == 0 or not np.isfinite(v) or -4 <= int(short.split("e")[1]) < 16:
            return np.format_float_positional(v, unique=True, trim="0")
        return short

    check("Cast", {"X": x}, {"Y": T.STRING}, [np.array([text(v) for v in x], object)], to=T.STRING)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_integers_to_text_and_back(dtype):
    info = np.iinfo(dtype)
    x = np.array([info.min, 0, 1, info.max], dtype)
    text = np.array([str(v) for v in x], object)
    check("Cast", {"X": x}, {"Y": T.STRING}, [text], to=T.STRING)
    check("Cast", {"X": text}, {"Y": helper.np_dtype_to_tensor_dtype(np.dtype(dtype))}, [x],
          to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def test_text_to_floats():
    text = words("1", "-0.5", "1e-5", "1E8", "314.15926", "NaN", "INF", "-inf", "+INF", "0.1", " 7 ")
    want = np.array([1, -0.5, 1e-5, 1e8, 314.15926, np.nan, np.inf, -np.inf, np.inf, 0.1, 7])
    for dtype in (np.float32, np.float64, np.float16):
        t = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        with np.errstate(over="ignore"):
            check("Cast", {"X": text}, {"Y": t}, [want.astype(dtype)], to=t)
    with pytest.raises(Exception, match='element 1, "x1", is not a number'):
        run(model_of("Cast", {"X": words("1", "x1")}, {"Y": T.FLOAT}, to=T.FLOAT), {"X": words("1", "x1")})


def test_concat_and_kinds_of_arrays():
    model = model_of("StringConcat", {"A": X, "B": words("!")}, {"Y": T.STRING})
    want = (X + words("!")).tolist()
    assert run(model, {"A": X, "B": words("!")})[0].tolist() == want
    assert run(model, {"A": X.astype("U"), "B": np.array([b"!"])})[0].tolist() == want
    if hasattr(np.dtypes, "StringDType"):
        assert run(model, {"A": X.astype(np.dtypes.StringDType()), "B": words("!")})[0].tolist() == want
    long = words("\0", "x" * 100000)  # more bytes than before, and a zero
    model = model_of("StringConcat", {"A": long, "B": long}, {"Y": T.STRING})
    session = wick.InferenceSession(model.SerializeToString())
    for _ in range(3):
        assert session.run(None, {"A": long, "B": long})[0].tolist() == ["\0\0", "x" * 200000]


def test_split():
    for delimiter, most in (("-", None), ("", None), ("--", 1), ("", 1), ("-", 0)):
        text = words("a-b--c", "  one two\tthree ", "", "--", "\u3000wide\u2003space")
        parts = [(s.split(delimiter or None, -1 if most is None else most) if s else []) for s in text]
        width = max(map(len, parts))
        want = np.array([p + [""] * (width - len(p)) for p in parts], object).reshape(len(text), width)
        more = {} if most is None else {"maxsplit": most}
        outputs = {"Y": (T.STRING, [len(text), None]), "Z": (T.INT64, [len(text)])}
        check("StringSplit", {"X": text}, outputs, [want, np.array([len(p) for p in parts], np.int64)],
              delimiter=delimiter, **more)


def test_case():
    text = words("Häßlich", "ΣΊΣΥΦΟΣ", "İstanbul", "straße", "\U00010400")
    model = model_of("StringNormalizer", {"X": text}, {"Y": T.STRING}, case_change_action="LOWER", locale="en_US")
    assert run(model, {"X": text})[0].tolist()[:2] == ["häßlich", "σίσυφοσ"]
    assert run(model, {"X": text})[0].tolist()[4] == "\U00010428"
    model = model_of("StringNormalizer", {"X": text}, {"Y": T.STRING}, case_change_action="UPPER", is_case_sensitive=1)
    assert run(model, {"X": text})[0].tolist()[3] == "STRAßE"


@pytest.mark.parametrize("stop,sensitive", [(["Monday"], 1), (["monday"], 0), (["Monday", "tuesday", "x"], 0)])
def test_stop_words(stop, sensitive):
    text = words("Monday", "tuesday", "monday")
    kept = [s for s in text if (s if sensitive else s.lower()) not in [w if sensitive else w.lower() for w in stop]]
    want = np.array([s.upper() for s in kept] or [""], object)
    check("StringNormalizer", {"X": text}, {"Y": (T.STRING, [None])}, [want], case_change_action="UPPER", stopwords=stop,
          is_case_sensitive=sensitive)


def test_regular_expressions():
    text = words("account@gmail.com", "x@hotmail.com", "www.gmail.com", "", "aab", "ä")
    for pattern in (r"(\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$)", r"a*b?", r"(?i)AAB", r"\p{L}", r"(?P<x>a)+b", ""):

        want = [bool(re.fullmatch(pattern.replace(r"\p{L}", r"[^\W\d_]"), s)) for s in text]
        check("RegexFullMatch", {"X": text}, {"Y": T.BOOL}, [np.array(want)], pattern=pattern)
    for pattern, wrong in (("(", "missing"), (r"(a)\1", "has a back reference")):
        with pytest.raises(Exception, match=wrong):
            run(model_of("RegexFullMatch", {"X": text}, {"Y": T.BOOL}, pattern=pattern), {"X": text})
    slow = words("a" * 40 + "!")
    with pytest.raises(Exception, match="too long to match"):
        run(model_of("RegexFullMatch", {"X": slow}, {"Y": T.BOOL}, pattern="(a|aa)+"), {"X": slow})


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("skip", [0, 1, 3])
@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("least,most", [(1, 1), (1, 2), (2, 2), (1, 3)])
def test_tf_idf(mode, skip, text, least, most):
    rng = np.random.default_rng(3)
    x = rng.integers(0, 5, (3, 12)).astype(np.int64)
    pool, counts, n = [], [], 0
    for size in (1, 2, 3):
        counts.append(len(pool))
        grams = {tuple(rng.integers(0, 5, size).tolist()) for _ in range(6)}
        for g in sorted(grams):
            pool += g
            n += 1
    indexes = rng.permutation(n).tolist()
    more = {"pool_int64s": pool}
    if text:
        more = {"pool_strings": [f"w{v}" for v in pool]}
        x = np.array([f"w{v}" for v in x.ravel()], object).reshape(x.shape)
    check("TfIdfVectorizer", {"X": x}, {"Y": T.FLOAT}, mode=mode, max_skip_count=skip, min_gram_length=least, max_gram_length=most,
          ngram_counts=counts, ngram_indexes=indexes, weights=np.arange(1, n + 1, dtype=np.float32).tolist(), **more)


# ---- labels ----

KINDS = {"strings": (words("a", "b", "c"), T.STRING), "int64s": (np.array([3, -1, 7], np.int64), T.INT64),
         "floats": (np.array([0.5, np.nan, 2], np.float32), T.FLOAT)}


@pytest.mark.parametrize("keys", KINDS)
@pytest.mark.parametrize("values", KINDS)
def test_label_encoder(keys, values):
    k, v = KINDS[keys][0], KINDS[values][0]
    x = np.concatenate([k[::-1], np.array(["?", "a"], object) if keys == "strings" else np.array([11, k[0]], k.dtype)])
    check("LabelEncoder", {"X": x}, {"Y": KINDS[values][1]}, domain="ai.onnx.ml", **{f"keys_{keys}": k.tolist(), f"values_{values}": v.tolist()})


@pytest.mark.parametrize("kt", [np.int64, np.int32, np.float32, np.float64, object])
@pytest.mark.parametrize("vt", [np.int64, np.int16, np.float32, np.float64, object])
def test_label_encoder_tensors(kt, vt):
    k = words("x", "y", "z") if kt is object else np.array([5, 1, 3], kt)
    v = words("p", "q", "r") if vt is object else np.array([10, 20, 30], vt)
    d = words("none") if vt is object else np.array([-7], vt)
    x = np.concatenate([k, words("w") if kt is object else np.array([2], kt)])
    tensors = {f"{n}_tensor": numpy_helper.from_array(a, n) for n, a in (("keys", k), ("values", v), ("default", d))}
    check("LabelEncoder", {"X": x}, {"Y": helper.np_dtype_to_tensor_dtype(v.dtype)}, [np.concatenate([v, d])], domain="ai.onnx.ml", **tensors)


def test_many_labels():
    k = np.random.default_rng(5).permutation(5000).astype(np.int64)
    names = [f"n{i}" for i in k]
    for flip in (False, True):
        x = words(*names[:50], "none") if flip else np.append(k[:50], -5)
        attrs = {"keys_strings": names, "values_int64s": k.tolist()} if flip else {"keys_int64s": k.tolist(), "values_strings": names}
        check("LabelEncoder", {"X": x}, {"Y": T.INT64 if flip else T.STRING}, domain="ai.onnx.ml", **attrs)


def test_categories():
    attrs = {"cats_strings": ["x", "y"], "cats_int64s": [4, 9], "default_int64": -3, "default_string": "no"}
    check("CategoryMapper", {"X": words("y", "x", "z")}, {"Y": T.INT64}, domain="ai.onnx.ml", **attrs)
    check("CategoryMapper", {"X": np.array([9, 4, 5], np.int64)}, {"Y": T.STRING}, domain="ai.onnx.ml", **attrs)
    check("OneHotEncoder", {"X": words("y", "x", "z")}, {"Y": T.FLOAT}, domain="ai.onnx.ml", cats_strings=["x", "y"])


def test_labels_of_classifiers():
    x = np.array([[-1.0], [2.0]], np.float32)
    check("LinearClassifier", {"X": x}, {"L": T.STRING, "S": T.FLOAT}, domain="ai.onnx.ml", coefficients=[1.0, -1.0, 0.0],
          intercepts=[0.0, 0.0, 0.5], classlabels_strings=["a", "b", "c"])


# ---- ONNX's own cases ----

FAMILIES = re.compile("test_(ai_onnx_ml|equal_string|regex|string_|strnorm|tfidf)")
CASES = [t for t in collect_testcases(None) if FAMILIES.match(t.name)]


@pytest.mark.parametrize("case", CASES, ids=lambda t: t.name)
def test_cases(case):
    rep = backend.prepare(case.model, cache="")
    for inputs, outputs in case.data_sets:
        for g, w in zip(rep.run(inputs), outputs, strict=True):
            assert (g.dtype, g.shape) == (w.dtype, w.shape)
            if w.dtype.kind == "f":
                np.testing.assert_allclose(g, w, rtol=case.rtol, atol=case.atol)
            else:
                np.testing.assert_array_equal(g, w)
