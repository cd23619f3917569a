"""Random command lines, made from the tables that `wick help` prints: values right and wrong, files missing, broken and of other
formats, standard input closed, outputs that cannot be written. None may crash, hang, end with a status that is not documented, or
fail without a message.

    command_lines.py [--build build] [--count 20000] [--seed 1] [--jobs 2]
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits"
SECONDS = 60  # far more than any of these commands takes
STATUSES = (0, 1, 2)
SPARE = {"tune": ["--minutes", "0.0005"], "bench": ["--seconds", "0"]}  # options that take long on purpose
NUMBERS = ["0", "1", "2", "3", "-1", "4097", "1000000000", "99999999999999999999", "nan", "inf", "-inf", "1e999", "1.5", "4x", " ", "", "-", "\x1b[31m"]
WORDS = ["x", "X", "y", "N", "all", "dce", "default", "host", "x86-64-v2", "cortex-m4", "no such", "a,b", ",", "\\,", "", "=", "ü", "\x1b[2J", "x" * 5000, "%s%n", "--", "-"]
SIZES = ["N=1", "N=3", "batch=2", "N=1..4", "N=2..8:2", "N=", "=3", "N=0", "N=-1", "N=4..1", "N=1..", "N=1..4:0", "N=99999999999999999999", "N", "a.b=2", "N=3,5", "x=true", ""]


def tables(wick):
    """{command: [(option, letter or None, argument or None)]}"""
    text = subprocess.run([wick, "help", "--format", "markdown"], capture_output=True, text=True, check=True).stdout
    found = {}
    for part in text.split("\n## wick ")[1:]:
        rows = re.findall(r"^\|(?: `-(\w)`)? `--([\w-]+)` \| (?:`(.*?)` )?\| ", part, re.M)
        found[part.split("\n", 1)[0]] = [(f"--{name}", letter or None, argument.replace("\\|", "|") or None) for letter, name, argument in rows]
    return found


def files(folder):
    """What commands read: right, broken, and of other formats."""
    good = [DIGITS / "digits.onnx", DIGITS / "seven.png", *sorted((ROOT / "tests" / "fuzz" / "text").glob("*"))[:3], *sorted((ROOT / "src" / "graph").glob("*.test"))[:2]]
    text = folder / "rows.txt"
    text.write_text('graph @f(%x: f32[N[1..64],4]) -> f32[N,4] { %1 = neg %x; return %1 }\n')
    made = [shutil.copy(f, folder / f.name) for f in good if f.is_file()] + [text]
    model = (DIGITS / "digits.onnx").read_bytes()
    contents = {"empty": b"", "cut.onnx": model[: len(model) // 2], "noise.onnx": model[:100] + bytes(range(256)) * 4 + model[200:], "text.onnx": b"hello\n", "zip.npz": b"PK\3\4junk",
                "head.npy": b"\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "a.wick": b"WICK" + bytes(200), "b.json": b'{"a": 1}',
                "c.json": b"{", "d.pb": b"\x08\x02\x10\x01", "trace.txt": b"MODEL a\nALLOC 0 16\nFREE 0\n", "x.tflite": b"\x1c\0\0\0TFL3", "t.records": b"wick records 1\n", "\x1b[31m.npy": b"x"}  # fmt: skip
    for name, data in contents.items():
        (folder / name).write_bytes(data)
        made.append(folder / name)
    return [str(f) for f in made] + [str(folder / "missing.onnx"), str(folder), "/dev/null", "/dev/full", "-", "", "/proc/self/mem"]


class Lines:
    def __init__(self, seed, commands, folder, inputs):
        self.random, self.commands, self.folder, self.inputs = random.Random(seed), commands, folder, inputs

    def value(self, argument):
        r = self.random
        if r.random() < 0.15:
            return r.choice(NUMBERS + WORDS + SIZES)
        if "|" in argument and not argument.startswith("N|"):
            return r.choice([*argument.split("|"), argument, "other"])
        if "=" in argument:
            return r.choice(SIZES)
        if "FILE" in argument or "PATH" in argument or ".onnx" in argument:
            return r.choice(self.inputs)
        if "DIR" in argument:
            return str(self.folder / r.choice(["out", "out/deep", "empty"]))
        return r.choice(NUMBERS if argument[0] in "NMSXK" else WORDS)

    def output(self):
        r = self.random
        return r.choice([str(self.folder / r.choice(["o.wick", "o.onnx", "o.npy", "new/o", "bundle", "rows.txt/x"])), "/dev/full", "/dev/null", str(self.folder)])

    def option(self, row):
        r, (name, letter, argument) = self.random, row
        if r.random() < 0.02:
            return [r.choice([name + "x", name[:-1], "-Z", "--", "---", "--=", name + "=", "--help=no"])]
        if argument is None:
            return [name if r.random() < 0.97 else name + "=1"]
        value = self.output() if name in ("--output", "--outputs", "--record-stats") else self.value(argument)
        if letter and r.random() < 0.5:
            return ["-" + letter, value]
        return [f"{name}={value}"] if r.random() < 0.3 else [name, value] if r.random() < 0.97 else [name]

    def line(self):
        r = self.random
        command = r.choice(list(self.commands)) if r.random() < 0.99 else r.choice(WORDS)
        rows = self.commands.get(command, [])
        parts = [self.option(row) for row in r.sample(rows, min(len(rows), r.choice([0, 1, 1, 2, 2, 3, 5])))]
        parts += [[r.choice(self.inputs if r.random() < 0.6 else self.inputs[:1])] for _ in range(r.choice([0, 1, 1, 1, 1, 1, 2]))]
        if command in ("run", "compile") and r.random() < 0.5:
            parts.append(["--inputs", self.inputs[1]])
        if command in ("test", "cache"):  # a file that is not a copy is not to be blessed; the user's cache is not to be cleared
            parts = [p for p in parts if p and not p[0].startswith("--bless")]
        r.shuffle(parts)
        words = [w.replace("\0", "") for part in parts for w in part]
        return [command, *words, *SPARE.get(command, [])]  # the last value of an option counts


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))


def run(wick, line, how, folder):
    """What is wrong with it; None: nothing."""
    words = [w.encode("utf-8", "surrogateescape") for w in line]
    stdout = open("/dev/full", "w") if how == "full" else subprocess.DEVNULL if how == "null" else subprocess.PIPE
    shell = {"no-stdin": "<&-", "no-stdout": ">&-", "no-stderr": ""}.get(how, "")
    command = [b"sh", b"-c", b'exec "$@" ' + shell.encode(), b"sh", os.fsencode(wick), *words]
    environment = {**os.environ, "WICK_CACHE_DIR": str(folder / "cache"), "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1"}
    try:
        r = subprocess.run(command, stdin=None if how == "no-stdin" else subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, timeout=SECONDS, preexec_fn=limit, env=environment, cwd=folder)
    except subprocess.TimeoutExpired:
        return f"it runs for more than {SECONDS} s"
    finally:
        if how == "full":
            stdout.close()
    said = r.stderr.decode(errors="replace")
    if r.returncode not in STATUSES or "Sanitizer" in said or "runtime error:" in said:
        return f"status {r.returncode}: {said[-2000:]}"
    if r.returncode and not said.strip():
        return f"status {r.returncode} without a message"
    binary = any("obj" in w for w in line)  # --emit obj writes the object itself
    if "\x1b" in said or (r.stdout and not binary and b"\x1b" in r.stdout):
        return f"a terminal's command is printed: {said[-500:]!r}"
    return None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    p.add_argument("--count", type=int, default=20000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=2)
    a = p.parse_args()
    wick = str((a.build / "wick").resolve())
    commands, wrong = tables(wick), 0
    with tempfile.TemporaryDirectory() as top, concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:

        def block(k):
            folder = pathlib.Path(top) / str(k)
            folder.mkdir()
            lines = Lines(a.seed * 1000003 + k, commands, folder, files(folder))
            found = []
            for _ in range(min(50, a.count - 50 * k)):
                line, how = lines.line(), lines.random.choice(["pipe", "pipe", "pipe", "null", "full", "no-stdin", "no-stdout"])
                bad = run(wick, line, how, folder)
                if bad:
                    found.append(f"{how}: wick {shlex.join(line)}\n  {bad}")
            shutil.rmtree(folder, ignore_errors=True)
            return found

        for found in pool.map(block, range((a.count + 49) // 50)):
            for text in found:
                wrong += 1
                print(text, flush=True)
    print(f"{a.count} command lines, {wrong} went wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
