#!/usr/bin/env python3
"""Files that went wrong, of every format but ONNX: those of the tests, and of ../shared where it is there, with bytes, words,
numbers and entries changed at random, and cut short; archives are changed inside, too. Each is imported, compiled and run by
the Python package.

    build/venv/bin/python tests/fuzz/mutated_files.py [--models 20000] [--seed 1] [--jobs 2] [--build build] [--keep DIR]

`watched.py` says what a failure is."""

import functools
import io
import json
import pathlib
import random
import re
import shutil
import struct
import sys
import tarfile
import tempfile
import warnings
import zipfile

import watched

ROOT = watched.ROOT
MOST = 300_000  # bytes of a model: what is larger is mostly weights
NUMBERS = ["0", "1", "-1", "2", "7", "255", "65536", "2147483647", "-2147483648", "4294967296", "1e38", "0.5", "9223372036854775807"]
WORDS = [0, 1, 2, 3, 0xFF, 0x7F, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0x10000]
# Where models are, and which file of a folder is one: the others of that folder belong to it.
PLACES = ["tests/tflite/*/*.tflite", "tests/keras/*/*.keras", "tests/keras/*/*.h5", "tests/fuzz/tflite/*.tflite", "tests/fuzz/coreml/*", "tests/fuzz/caffe/*", "tests/fuzz/caffe2/*",
          "tests/fuzz/mxnet/*.json", "tests/import/tensorflow/*/model.pb*", "tests/import/tensorflow/*/saved", "tests/import/tensorflow_states/*",
          "../shared/frontends/[kmtgc]*/*/model.*", "../shared/frontends/mxnet/*/*-symbol.json", "../shared/frontends/caffe2/*/predict_net.pb", "../shared/models/*/model.*"]  # fmt: skip
PACKED = ["tests/coreml/models.tar.xz", "tests/coreml/programs.tar.xz"]
OTHERS = re.compile(r"\.(npz|npy|py|onnx|pt|md)$|(^|/)(ops|model)\.json$")


@functools.cache
def seeds():
    """For each kind of file, models as (the name to load, {a path: its bytes}), in an order that does not change."""
    found = []
    for pattern in PLACES:
        for path in sorted(ROOT.glob(pattern)):
            if path.is_dir():
                files = [f for f in path.rglob("*") if f.is_file()]
                base = path.parent
            else:
                alone = path.suffix in (".tflite", ".keras", ".h5", ".mlmodel") or "fuzz" in path.parts
                files = [path] if alone else [f for f in path.parent.iterdir() if f.is_file()]
                base = path.parent
            files = [f for f in files if not OTHERS.search(f.as_posix())]
            content = {f.relative_to(base).as_posix(): f.read_bytes() for f in files}
            if path.name in content or path.is_dir():
                found.append((path.name, content))
    for pack in PACKED:
        with tarfile.open(ROOT / pack) as t:
            models = {}
            for m in t.getmembers():
                if m.isfile() and not OTHERS.search(m.name):
                    top = re.match(r"(.*?\.mlpackage|[^/]*(?:/[^/]*)*)", m.name).group(1)
                    models.setdefault(top, {})[m.name] = t.extractfile(m).read()
        found += [(top, content) for top, content in sorted(models.items()) if re.search(r"\.ml(package|model)$", top)]
    kinds = {}
    for name, content in found:
        if sum(map(len, content.values())) <= MOST:
            kinds.setdefault(pathlib.Path(name).suffix, []).append((name, content))
    return list(kinds.values())


# ---- what goes wrong in a file


def change_words(r, b):
    """Changes numbers of 32 or 64 bits, as flatbuffers and HDF5 have them."""
    for _ in range(r.randrange(1, 4)):
        if len(b) < 16:
            return
        form = r.choice("IIHQ")
        nbytes = struct.calcsize(form)
        k = r.randrange(len(b) // nbytes) * nbytes
        word = r.choice(WORDS) & (1 << 8 * nbytes) - 1
        if r.random() < 0.5:  # near to what is there
            word = (struct.unpack_from("<" + form, b, k)[0] + r.choice([-8, -4, -1, 1, 2, 4, 8])) % (1 << 8 * nbytes)
        struct.pack_into("<" + form, b, k, word)


def change_text(r, b):
    """Changes a number, a name or a line of a text."""
    s = b.decode(errors="replace")
    what = r.randrange(5)
    found = list(re.finditer(r"-?\d+(\.\d+)?" if what < 3 else r"\"[^\"]*\"" if what == 3 else r"\n[^\n]+", s))
    if not found:
        return watched.change_bytes(r, b)
    m, other = r.choice(found), r.choice(found)
    new = r.choice(NUMBERS) if what < 3 and r.random() < 0.7 else "" if r.random() < 0.2 else other.group()
    b[:] = (s[: m.start()] + new + s[m.end() :]).encode()


def places(v, path=()):
    """The paths of all values of a JSON tree."""
    for k, inner in v.items() if isinstance(v, dict) else enumerate(v) if isinstance(v, list) else ():
        yield (*path, k)
        yield from places(inner, (*path, k))


def change_json(r, b):
    """Changes, removes or repeats an entry of a JSON tree."""
    try:
        tree = json.loads(b)
    except ValueError:
        return change_text(r, b)
    for _ in range(r.choice([1, 1, 1, 2, 3])):
        all_of_them = list(places(tree))
        if not all_of_them:
            break
        path, other = r.choice(all_of_them), r.choice(all_of_them)
        at = functools.reduce(lambda v, k: v[k], path[:-1], tree)
        what = r.randrange(6)
        if what == 0:
            del at[path[-1]]
        elif what == 1:
            at[path[-1]] = functools.reduce(lambda v, k: v[k], other, json.loads(json.dumps(tree)))
        elif what == 2 and isinstance(at, list):
            at.append(at[path[-1]])
        elif what == 3:
            at[path[-1]] = r.choice([None, True, False, "", "relu", "x" * 300, [], {}, [1, 2], [-1]])
        else:
            at[path[-1]] = json.loads(r.choice(NUMBERS))
    b[:] = json.dumps(tree).encode()


def change_archive(r, b):
    """Changes a member of a zip archive, or its name."""
    try:
        with zipfile.ZipFile(io.BytesIO(b)) as z:
            members = [(i.filename, bytearray(z.read(i))) for i in z.infolist()]
    except (zipfile.BadZipFile, NotImplementedError):
        return watched.change_bytes(r, b)
    k = r.randrange(len(members))
    name, content = members[k]
    what = r.randrange(12)
    if what == 0:
        del members[k]
    elif what == 1:
        members.append(members[k])
    elif what == 2:
        members[k] = (r.choice(["../" + name, "/" + name, "", name + "/", name.upper()]), content)
    else:
        change_file(r, content)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", r.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as z, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that come twice
        for name, content in members:
            z.writestr(zipfile.ZipInfo(name), bytes(content))
    b[:] = out.getvalue()


def change_file(r, b):
    if r.random() < 0.05:
        del b[r.randrange(len(b) + 1) :]
    elif b[:2] == b"PK" and r.random() < 0.9:
        change_archive(r, b)
    elif b[:1] == b"{" and r.random() < 0.9:
        change_json(r, b)
    elif b"\n" in b and b.isascii() and b"\0" not in b:
        change_text(r, b)
    else:
        r.choice([watched.change_bytes, change_words])(r, b)


def mutated(seed, folder):
    """Writes the model of a seed into a folder: the path to load."""
    r = random.Random(seed)
    name, content = r.choice(r.choice(seeds()))
    hit = r.choice(sorted(content))
    for path, b in content.items():
        at = folder / path
        at.parent.mkdir(parents=True, exist_ok=True)
        if path == hit:
            b = bytearray(b)
            change_file(r, b)
        at.write_bytes(bytes(b))
    return folder / name


def model(seed, wick):
    with tempfile.TemporaryDirectory() as folder:
        path = mutated(seed, pathlib.Path(folder))
        return watched.run(wick, str(path))


def keep(seed, folder):
    folder = folder / str(seed)
    shutil.rmtree(folder, ignore_errors=True)
    return mutated(seed, folder)


if __name__ == "__main__":
    sys.exit(watched.main(__doc__, __file__, 20000, "files", model, keep))
