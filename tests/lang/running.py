"""How tests run programs of the language: natively, by the evaluator, as artifacts and as bundles."""

import ast
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
sys.path.insert(0, str(HERE.parent / "bundle"))
from bundles import HOST, Bundle  # noqa: E402


def wick(*words, **more):
    return subprocess.run([WICK, *map(str, words)], capture_output=True, text=True, timeout=300, **more)


def flat(x):
    """The tensors of a result, in order."""
    if isinstance(x, tuple):
        return [t for item in x for t in flat(item)]
    return [np.array(x)]


def source(name):
    file, _, entry = name.partition(".")
    return HERE / "programs" / f"{file}.wick", entry


def evaluated_program(path, entry):
    return evaluated_call(path, f"{entry}()")


def evaluated_call(path, text):
    r = wick("eval", "--file", path, text)
    assert r.returncode == 0, r.stderr
    text = re.sub(r"\b[A-Z]\w*\(", "(", r.stdout.rpartition(" : ")[0])  # a struct is a tuple
    return flat(ast.literal_eval(re.sub(r"\btrue\b", "True", re.sub(r"\bfalse\b", "False", text))))


def evaluated(name):
    return evaluated_program(*source(name))


def outputs(folder, *words):
    r = wick("run", *words, "--outputs", folder, "--no-cache")
    assert r.returncode == 0, r.stderr
    return [np.load(folder / f"output_{i}.npy") for i in range(len(list(folder.iterdir())))]


def agree(a, b, name=""):
    assert len(a) == len(b), name
    for x, y in zip(a, b):
        assert x.shape == y.shape, name
        if x.dtype == np.float16:  # the evaluator writes as few digits as distinguish it from others
            y = y.astype(np.float16)
        if x.dtype.kind == "f" or y.dtype.kind == "f":
            assert np.allclose(x, y, rtol=2e-5, atol=2e-6), (name, x, y)
        else:
            assert np.array_equal(x, y), (name, x, y)


def program_of(file, names, folder):
    """A program whose `every` gives the results of these functions of programs/FILE.wick, one after the other."""
    path = folder / f"{file}.wick"
    path.write_text(f"{(HERE / 'programs' / path.name).read_text()}\nfn every() {{ ({', '.join(n + '()' for n in names)},) }}\n")
    return path


def shipped(path, folder, plain, entry="every"):
    """As an artifact and as a bundle a program gives the bits that it gives in the process."""
    r = wick("compile", path, "--entry", entry, "-o", folder / "x.wick", "--no-cache")
    assert r.returncode == 0, r.stderr
    bundle = Bundle(path, folder / "bundle", HOST, entry=entry, more=["--heap-bytes", str(1 << 20)])
    for other in (outputs(folder / "artifact", folder / "x.wick"), bundle.run()):
        assert all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(plain, other, strict=True))


def everywhere(path, entry, folder, inputs, sizes, *memory):
    """The outputs of an entry with inputs, whose sizes are named; an artifact and a bundle give the same bits."""
    for name, a in inputs.items():
        np.save(folder / f"{name}.npy", a)
    words = ["--inputs", *(f"{n}={folder / n}.npy" for n in inputs)]
    dims = [w for n, size in sizes.items() for w in ("--dim", f"{n}={size}")]
    found = outputs(folder / "run", path, "--entry", entry, *words, *dims)
    r = wick("compile", path, "--entry", entry, "-o", folder / "x.wick", "--no-cache", *dims)
    assert r.returncode == 0, r.stderr
    bundle = Bundle(path, folder / "bundle", HOST, entry=entry, more=[*dims, *memory])
    for other in (outputs(folder / "artifact", folder / "x.wick", *words), bundle.run(*inputs.values())):
        assert all(np.array_equal(a, b) for a, b in zip(found, other, strict=True))
    return found
