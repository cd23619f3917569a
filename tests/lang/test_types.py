"""Programs with the types that wick check infers, and programs that it refuses, with its messages.

tests/lang/programs/*.txt: cases divided by lines of `---`: a program, a line `=>`, and what is printed. With
WICK_BLESS=1 the files are rewritten; read the difference.
"""

import os
import pathlib
import random
import subprocess
import time

import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
FILES = sorted((HERE / "programs").glob("*.txt"))


def cases(path):
    for part in path.read_text().split("\n---\n"):
        program, _, shown = part.strip("\n").partition("\n=>")
        yield program, shown.strip("\n")


def check(path, folder):
    r = subprocess.run([WICK, "check", path.name], capture_output=True, text=True, timeout=20, cwd=folder)
    assert r.returncode in (0, 1), r.stderr
    return (r.stdout.split("\n", 1)[1] if r.returncode == 0 else r.stderr).strip("\n"), r.returncode


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_programs(path, tmp_path):
    program, new, wrong = tmp_path / "a.wick", [], []
    for text, shown in cases(path):
        program.write_text(text + "\n")
        got, status = check(program, tmp_path)
        assert (status == 1) == path.stem.startswith("refused"), f"{text}\n{got}"
        new.append(f"{text}\n=>\n{got}\n")
        if got != shown:
            wrong.append(f"{text}\n=> now\n{got}\n=> before\n{shown}")
    if os.environ.get("WICK_BLESS"):
        path.write_text("---\n".join(new))
    else:
        assert not wrong, "\n".join(wrong)


def test_mutated_programs_are_answered(tmp_path):
    rng = random.Random(16)
    texts = [text for path in FILES for text, _ in cases(path)]
    words = sorted({w for t in texts for w in t.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split()})
    for i in range(150):
        program = tmp_path / f"m{i % 10}.wick"
        # several programs in a file, so that a run checks many mutations
        parts = []
        for _ in range(12):
            tokens = rng.choice(texts).split(" ")
            for _ in range(rng.randint(1, 4)):
                k = rng.randrange(len(tokens))
                how = rng.randrange(4)
                if how == 0:
                    tokens[k] = rng.choice(words)
                elif how == 1:
                    del tokens[k]
                    tokens = tokens or [""]
                elif how == 2:
                    tokens.insert(k, rng.choice(words))
                else:
                    j = rng.randrange(len(tokens))
                    tokens[k], tokens[j] = tokens[j], tokens[k]
            parts.append(" ".join(tokens))
        program.write_text("\n".join(parts))
        check(program, tmp_path)


def test_ten_thousand_lines(tmp_path):
    program = tmp_path / "long.wick"
    program.write_text(
        "".join(
            f"fn f{i}(w: f32[n, n], x: f32[n]) -> f32[n] {{\n  let y = tanh(w @ x + x * 2.0)\n"
            f"  let (a, b) = (y, sum(y))\n  {f'f{i - 1}(w, a)' if i else 'a'} * b\n}}\n"
            for i in range(2000)
        )
    )
    best = 9.0
    for _ in range(3):
        begin = time.monotonic()
        _, status = check(program, tmp_path)
        best = min(best, time.monotonic() - begin)
        assert status == 0
    assert best < 2.0  # 0.5 s alone on a machine; others may run beside it


def test_large_functions(tmp_path):
    program = tmp_path / "large.wick"
    many = range(5000)
    program.write_text(
        "fn arms(x: i64) {\n  match x {\n" + "".join(f"    {i} => {i},\n" for i in many) + "    _ => 0,\n  }\n}\n"
        "fn lets(x0) {\n" + "".join(f"  let x{i + 1} = x{i} @ x{i}\n" for i in many) + "  x5000\n}\n"
        "fn f0(x) { x }\n" + "".join(f"fn f{i + 1}(x) {{ f{i}(x) }}\n" for i in many)
        + "".join(f"fn m{i}(x) {{ m{(i + 1) % 3000}(x) + m{i * 7 % 3000}(x) }}\n" for i in range(3000))
        + f"fn wide() {{ ({', '.join('1' for _ in many)}) }}\n"
    )
    assert check(program, tmp_path)[1] == 0


def test_types_cannot_explode(tmp_path):
    program = tmp_path / "explode.wick"
    program.write_text(
        "fn f0(x) { (x, x) }\n" + "".join(f"fn f{i}(x) {{ f{i - 1}(f{i - 1}(x)) }}\n" for i in range(1, 40))
    )
    text, status = check(program, tmp_path)
    assert status == 1 and "too large" in text
    program.write_text(
        "fn f() {\n  let a = fn(x) { (x, x) }\n"
        + "".join(f"  let a{i} = fn(x) {{ {'a' if not i else f'a{i - 1}'}({'a' if not i else f'a{i - 1}'}(x)) }}\n" for i in range(30))
        + "  a29(1)\n}\n"
    )
    text, status = check(program, tmp_path)
    assert status == 1 and "too large" in text
