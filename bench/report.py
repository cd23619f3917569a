"""Functions that the benches share: their section of README.md, the machine, the compared versions."""

import datetime
import importlib.metadata
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "bench"
README = ROOT / "bench" / "README.md"
NETWORKS = (
    "lenet dqn squeezenet shufflenet mobilenet_v2 densenet121 inception_v1 resnet18 resnet50 dcgan alexnet vgg19 "
    "bert_base lstm_lm"
).split()


def need_shared():
    """Ends the program if the shared bench tools do not exist."""
    if not (SHARED / "peers.py").exists():
        print(f"skipped: {SHARED} is not there")
        sys.exit(0)


VECTORS = {"avx512f": "AVX-512", "avx2": "AVX2", "avx": "AVX", "asimd": "NEON"}  # the widest first


def machine():
    """The machine's name (which tells little for virtual ones), its vectors, and the number of CPUs."""
    fields = [x.split(":", 1) for x in open("/proc/cpuinfo") if ":" in x]
    names = [v.strip() for k, v in fields if k.strip() == "model name"] or ["unknown CPU"]
    flags = {f for k, v in fields if k.strip() in ("flags", "Features") for f in v.split()}
    vectors = [name for flag, name in VECTORS.items() if flag in flags][:1]
    return f"{names[0]}{''.join(f' ({v})' for v in vectors)}, {os.cpu_count()} CPUs"


def today():
    return datetime.date.today().isoformat()


def versions(packages):
    return ", ".join(f"{p} {importlib.metadata.version(p)}" for p in packages)


def write(section, text, path=README):
    """Puts the text between the page's markers `<!-- SECTION -->` and `<!-- /SECTION -->`."""
    begin, end = f"<!-- {section} -->\n", f"<!-- /{section} -->"
    old = path.read_text()
    if old.count(begin) != 1 or old.count(end) != 1:
        sys.exit(f"{path} has no place for {section}")
    head, rest = old.split(begin)
    path.write_text(head + begin + text.strip() + "\n" + end + rest.split(end)[1])
    print(f"written into {path}")


def table(head, rows):
    """Markdown; all columns but the first to the right."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, r)) + " |" for r in lines) + "\n"
