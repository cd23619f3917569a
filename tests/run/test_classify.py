"""wick run on pictures: preprocessing against Pillow and NumPy, labels, values as NumPy prints them, NAME=FILE, JSON."""

import json
import os
import pathlib
import subprocess

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
Image = pytest.importorskip("PIL.Image")
from onnx import TensorProto, helper  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits"
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
FILTERS = {
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
    "nearest": Image.Resampling.NEAREST,
}


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WICK_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))


def wick(*args, status=0):
    r = subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=300)
    assert r.returncode == status, (args, r.stdout, r.stderr)
    return r.stdout if status == 0 else r.stderr


def identity(path, *ports, **props):
    """Outputs y0, y1, ... are the inputs x0, x1, ...: pairs of an element type and a shape."""
    nodes = [helper.make_node("Identity", [f"x{k}"], [f"y{k}"]) for k in range(len(ports))]
    inputs = [helper.make_tensor_value_info(f"x{k}", *p) for k, p in enumerate(ports)]
    results = [helper.make_tensor_value_info(f"y{k}", *p) for k, p in enumerate(ports)]
    model = helper.make_model(
        helper.make_graph(nodes, "g", inputs, results), opset_imports=[helper.make_opsetid("", 17)], ir_version=9
    )
    helper.set_model_props(model, props)
    onnx.save(model, path)
    return path


def noise(height, width, seed=0):
    """A picture with edges, slopes and noise."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    a = np.stack([(x * 7) % 256, (y * 5 + x) % 256, rng.integers(0, 256, (height, width))], 2)
    a[height // 3 : height // 2, width // 4 : width // 2] = 255
    return a.astype(np.uint8)


def resize(image, size, how):
    """Width first: Pillow itself begins with the height where it takes that for faster, and then rounds in another place."""
    both = image.resize((size[0], image.height), how).resize(size, how)
    direct = np.asarray(image.resize(size, how), np.float64)
    assert np.abs(direct - np.asarray(both)).mean() < 0.5
    return both


def shorter(image, n, how):
    """torchvision.transforms.Resize(n)"""
    w, h = image.size
    size = (n, int(n * h / w)) if w <= h else (int(n * w / h), n)
    return resize(image, size, how)


def middle(image, h, w):
    """torchvision.transforms.CenterCrop((h, w))"""
    left, top = int(round((image.width - w) / 2.0)), int(round((image.height - h) / 2.0))
    return image.crop((left, top, left + w, top + h))


@pytest.fixture(scope="module")
def open_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("open")
    os.environ["WICK_CACHE_DIR"] = str(folder / "cache")
    identity(folder / "m.onnx", (TensorProto.UINT8, ["N", 3, "H", "W"]))
    wick("compile", folder / "m.onnx", "--dim", "N=1..4", "H=1..2048", "W=1..2048", "-o", folder / "m.wick")
    return folder / "m.wick"


@pytest.mark.parametrize("how", FILTERS)
@pytest.mark.parametrize("size", [(97, 131), (64, 40), (31, 300)], ids=str)
def test_resize_is_pillows(open_model, tmp_path, how, size):
    picture = Image.fromarray(noise(*size))
    picture.save(tmp_path / "p.png")
    for args, want in [
        (["--resize", "48x77"], resize(picture, (77, 48), FILTERS[how])),
        (["--resize", "150"], shorter(picture, 150, FILTERS[how])),
        (["--resize", "30", "--crop", "22x25"], middle(shorter(picture, 30, FILTERS[how]), 22, 25)),
        (["--crop", "20", "--bgr"], middle(picture, 20, 20)),
    ]:
        wick("run", open_model, "-i", tmp_path / "p.png", "--filter", how, *args, "-o", tmp_path / "out")
        got = np.load(tmp_path / "out/output_0.npy")[0].transpose(1, 2, 0)
        np.testing.assert_array_equal(got[..., ::-1] if "--bgr" in args else got, np.asarray(want), str(args))


def test_preprocessing_of_imagenet(tmp_path):
    """Resize, crop, mean and std as torchvision's reference; as options, and as metadata."""
    mean, std = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    picture = Image.fromarray(noise(300, 400))
    picture.save(tmp_path / "p.png")
    crop = np.asarray(middle(shorter(picture, 64, FILTERS["bilinear"]), 56, 56))
    want = ((crop / 255 - mean) / std).astype(np.float32).transpose(2, 0, 1)[None]
    port = (TensorProto.FLOAT, [1, 3, 56, 56])
    numbers = {"mean": "0.485,0.456,0.406", "std": "0.229,0.224,0.225", "resize": "64"}
    plain = identity(tmp_path / "plain.onnx", port)
    own = identity(tmp_path / "own.onnx", port, **{f"image_{k}": v for k, v in numbers.items()})
    for model, args in [(plain, [f"--{k}={v}" for k, v in numbers.items()]), (own, []), (own, ["--crop=56"])]:
        wick("run", model, "-i", tmp_path / "p.png", *args, "-o", tmp_path / "out")
        np.testing.assert_array_equal(np.load(tmp_path / "out/output_0.npy"), want)
    caffe = identity(tmp_path / "caffe.onnx", port, **{"Image.BitmapPixelFormat": "Bgr8"})
    wick("run", caffe, "-i", tmp_path / "p.png", "--resize=64", "--mean=104,117,123", "-o", tmp_path / "out")
    want = (crop[..., ::-1] - np.array([104.0, 117, 123])).transpose(2, 0, 1)[None]
    np.testing.assert_array_equal(np.load(tmp_path / "out/output_0.npy"), want)


def test_a_picture_of_another_size(tmp_path):
    """It is made to cover the input; the command says so."""
    picture = Image.fromarray(noise(90, 160))
    picture.save(tmp_path / "p.png")
    model = identity(tmp_path / "m.onnx", (TensorProto.UINT8, [1, 30, 40, 3]))
    r = subprocess.run([WICK, "run", model, "-i", tmp_path / "p.png", "-o", tmp_path / "out"], capture_output=True, text=True)
    assert r.returncode == 0 and "resized from 90 x 160 to 30 x 53 pixels" in r.stderr
    want = np.asarray(middle(resize(picture, (53, 30), FILTERS["bilinear"]), 30, 40))
    np.testing.assert_array_equal(np.load(tmp_path / "out/output_0.npy")[0], want)
    message = wick("run", model, "-i", tmp_path / "p.png", "--resize", "20", status=1)
    assert "the picture has 20 x 35 pixels" in message and "30 x 40" in message


SCORES = np.array([[0.1, 7, -3, 2.5, 6, float("nan"), 6, 0], [8, 7, 6, 5, 4, 3, 2, 1]], np.float32)
NAMES = ["tench", "gold fish", "shark, white", "ray", "cock", "hen", "ostrich", "jay"]
LABELS = {
    "lines.txt": "\n".join(NAMES) + "\n\n",
    "crlf.txt": "\ufeff" + "\r\n".join(NAMES),
    "list.json": json.dumps(NAMES),
    "dict.json": json.dumps({str(k): n for k, n in reversed(list(enumerate(NAMES)))}),
    "index.json": json.dumps({str(k): [f"n{k}", n] for k, n in enumerate(NAMES)}),
    "back.json": json.dumps({n: k for k, n in enumerate(NAMES)}),
    "config.json": json.dumps({"model_type": "x", "id2label": {str(k): n for k, n in enumerate(NAMES)}}),
}


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scores")
    np.save(folder / "x.npy", SCORES.reshape(2, 8, 1, 1))
    return identity(folder / "m.onnx", (TensorProto.FLOAT, [2, 8, 1, 1])), folder / "x.npy"


@pytest.mark.parametrize("file", LABELS)
def test_labels(scores, tmp_path, file):
    model, x = scores
    (tmp_path / file).write_text(LABELS[file])
    lines = wick("run", model, "-i", x, "--labels", tmp_path / file).splitlines()
    assert lines[0] == "0:" and lines[6] == "1:" and len(lines) == 12
    assert [line.split(None, 1) for line in lines[1:6]] == [
        ["7", "gold fish"], ["6", "cock"], ["6", "ostrich"], ["2.5", "ray"], ["0.1", "tench"]
    ]  # fmt: skip
    assert len(wick("run", model, "-i", x, "--labels", tmp_path / file, "--top", 8).splitlines()) == 18
    report = json.loads(wick("run", model, "-i", x, "--labels", tmp_path / file, "--top", 2, "--json"))
    best = report["outputs"][0]["classes"]
    assert best[0] == [{"index": 1, "label": "gold fish", "score": 7}, {"index": 4, "label": "cock", "score": 6}]
    assert [c["label"] for c in best[1]] == NAMES[:2]


def test_classes_without_labels(scores):
    model, x = scores
    assert "7  class 1" in wick("run", model, "-i", x, "--top", 3)
    assert wick("run", model, "-i", x, "--top", 10**9) == wick("run", model, "-i", x, "--top", 8)


def test_what_is_wrong_with_labels(scores, tmp_path):
    model, x = scores
    for text, said in {
        "": "there are no labels in it",
        "a\nb\n": "it has 2 labels, no output has as many classes: y0 f32[2,8,1,1]",
        '["a", 3]': "element 1 is no string",
        '{"0": "a", "2": "b"}': 'the member "2" is neither',
        '{"0": "a", "00": "b"}': "class 0 has two labels",
        '["a",': "line 1",
        "a\0b": "neither JSON nor a text",
    }.items():
        (tmp_path / "labels").write_text(text)
        assert said in wick("run", model, "-i", x, "--labels", tmp_path / "labels", status=1), text
    assert "No such file" in wick("run", model, "-i", x, "--labels", tmp_path / "none", status=1)


ARRAYS = [
    np.array([[0.5, -0.25, 1], [100, 3.14159274, -1e-3]], np.float32),
    np.array([1e-7, 1.5, 12345678], np.float32),
    np.array([1e-7], np.float32),
    np.array([1, 2, -300], np.float64),
    np.array([0.1, np.nan, np.inf, -np.inf, -0.0], np.float64),
    np.linspace(-1, 1, 48, dtype=np.float64).reshape(2, 2, 3, 4) / 3,
    np.arange(-50, 50, dtype=np.int64).reshape(5, 20) * 1000,
    np.array([True, False, True]),
    np.array([[0, 255]], np.uint8),
    np.array([2**64 - 1, 0], np.uint64),
    np.array([0.1, 0.2, 65504], np.float16),
    np.random.default_rng(3).standard_normal((7, 13)).astype(np.float32),
    np.random.default_rng(4).standard_normal((3, 1, 9)) * 1e9,
    np.zeros((2, 0, 3), np.float32),
    np.array([1e300, -1e-300]),
    np.zeros((2, 2), np.float32),
    np.array([999999.9, 1234.5678, 0.5e8]),
]


def test_small_outputs_are_printed_whole_as_numpy_does(tmp_path):
    ports = [(helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for a in ARRAYS]
    model = identity(tmp_path / "m.onnx", *ports)
    for k, a in enumerate(ARRAYS):
        np.save(tmp_path / f"x{k}.npy", a)
    given = [f"x{k}={tmp_path / f'x{k}.npy'}" for k in reversed(range(len(ARRAYS)))]
    said = wick("run", model, "-i", *given)
    parts = said.split("output_")[1:]
    assert len(parts) == len(ARRAYS)
    for k, (part, a) in enumerate(zip(parts, ARRAYS, strict=True)):
        first, rest = part.split("\n", 1)
        assert first.startswith(f"{k} y{k}: ") and "[" + ",".join(map(str, a.shape)) + "]" in first
        assert rest == f"{a}\n", k
    report = json.loads(wick("run", model, "-i", *given, "--json", "-o", tmp_path / "out"))
    assert [o["name"] for o in report["outputs"]] == [f"y{k}" for k in range(len(ARRAYS))]
    for o, a in zip(report["outputs"], ARRAYS, strict=True):
        assert o["shape"] == list(a.shape) and np.load(o["file"]).shape == a.shape
        if a.size:
            values = np.array(o["values"], object)
            assert values.shape == a.shape
            for got, want in zip(values.ravel(), a.ravel(), strict=True):
                assert got == want if np.isfinite(want) else got is None
    assert report["outputs"][4]["nan_count"] == 1


def test_names_of_inputs(tmp_path):
    model = identity(tmp_path / "m.onnx", (TensorProto.FLOAT, [2]), (TensorProto.FLOAT, [2]))
    a, b = tmp_path / "a.npy", tmp_path / "b=c.npy"
    np.save(a, np.float32([1, 2]))
    np.save(b, np.float32([3, 4]))
    np.savez(tmp_path / "two.npz", x0=np.load(a), x1=np.load(b))
    for given in ([f"x1={b}", f"x0={a}"], [f"x1={b}", a], [a, b], [a, f"x1={b}"]):
        wick("run", model, "-i", *given, "-o", tmp_path / "out")
        assert np.load(tmp_path / "out/output_0.npy").tolist() == [1, 2], given
    assert 'no input "z", its inputs are: x0, x1' in wick("run", model, "-i", f"z={a}", b, status=1)
    assert '"x0" is given twice' in wick("run", model, "-i", f"x0={a}", f"x0={b}", status=1)
    assert 'it has 2 tensors, the input "x0" takes one' in wick("run", model, "-i", f"x0={tmp_path / 'two.npz'}", status=1)
