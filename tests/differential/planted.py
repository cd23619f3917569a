#!/usr/bin/env python3
"""Does the differential test find bugs? Ten planted bugs, one at a time.

    planted.py [--build DIR] [--graphs N] [NAME ...]

bugs/NAME.patch is a bug each. This copies the working tree into DIR/tree, applies a patch there, builds the
differential test (tests/random/differential_test.c; one build folder for all of them) and runs it until a random graph
differs, over N graphs at most. A bug that no graph finds is a failure, and so is a difference without a bug.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUGS = pathlib.Path(__file__).resolve().parent / "bugs"
PROGRAM = "tests.random.differential_test"
BATCH = 20  # graphs a run: the first difference ends the search
BATCH_SECONDS = 300


def run(*command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", **more)


def must(*command, **more):
    r = run(*command, **more)
    if r.returncode:
        sys.exit(f"{' '.join(str(c) for c in command)}:\n{(r.stdout + r.stderr)[-4000:]}")
    return r.stdout


def copy(tree):
    """The working tree's files; those that are the same already keep their time, so that little is built again."""
    names = must("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).split("\0")
    wanted = {n for n in names if n and (ROOT / n).is_file()}
    for n in wanted:
        to, data = tree / n, (ROOT / n).read_bytes()
        if to.is_file() and to.read_bytes() == data:
            continue
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(data)
        to.chmod((ROOT / n).stat().st_mode)
    for f in [f for f in tree.rglob("*") if f.is_file() and str(f.relative_to(tree)) not in wanted]:
        f.unlink()


def apply(tree, patch, *options):
    """Where the tree lies is another repository's business: git takes it as a plain folder."""
    must("git", "apply", *options, patch, cwd=tree, env=dict(os.environ, GIT_CEILING_DIRECTORIES=str(tree.parent)))


class Search:
    def __init__(self, folder, graphs):
        self.tree, self.build, self.graphs = folder / "tree", folder / "build", graphs
        copy(self.tree)
        must("cmake", "-G", "Ninja", "-B", self.build, "-S", self.tree, "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1")

    def make(self):
        must("cmake", "--build", self.build, "-j", os.cpu_count(), "--target", PROGRAM, "wick-codegen")

    def differences(self, first, n):
        """(seed, message) of the graphs first, first + 1, ... that differ; (None, why) if it fails."""
        env = dict(os.environ, WICK_RANDOM_GRAPHS=str(n), WICK_RANDOM_SEED=str(first))
        try:
            r = run(self.build / "tests" / PROGRAM, cwd=self.tree, env=env, timeout=BATCH_SECONDS)
        except subprocess.TimeoutExpired:
            return [(None, f"no end after {BATCH_SECONDS} s")]
        found = [(int(seed), why) for seed, why in re.findall(r"seed (\d+): (.*)", r.stdout + r.stderr)]
        if r.returncode and not found:
            found = [(None, f"exit status {r.returncode}")]
        return found

    def first(self, known):
        """The first difference that is not `known`; for a run that ends badly, the graph that does it."""
        for at in range(1, self.graphs + 1, BATCH):
            found = [f for f in self.differences(at, BATCH) if f[0] not in known]
            if found and found[0][0] is None:
                alone = [(s, why) for s in range(at, at + BATCH) for _, why in self.differences(s, 1)[:1]]
                found = [f for f in alone if f[0] not in known] or found
            if found:
                return found[0]
        return None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "planted")
    p.add_argument("--graphs", type=int, default=400)
    p.add_argument("name", nargs="*")
    a = p.parse_args()
    patches = [BUGS / f"{n}.patch" for n in a.name] or sorted(BUGS.glob("*.patch"))
    search = Search(a.build.resolve(), a.graphs)
    search.make()
    print(f"without a bug, {a.graphs} graphs: ", end="", flush=True)
    known = {}
    for at in range(1, a.graphs + 1, BATCH):
        known.update(search.differences(at, BATCH))
    print(f"{len(known)} differences {sorted(map(str, known)) if known else ''}", flush=True)
    missed = []
    for patch in patches:
        begun = time.monotonic()
        apply(search.tree, patch)
        try:
            search.make()
            found = search.first(known)
        finally:
            apply(search.tree, patch, "--reverse")
        took = f"{time.monotonic() - begun:.0f} s"
        if found:
            print(f"{patch.stem}: found by graph {found[0]}, {took}: {found[1][:160]}", flush=True)
        else:
            missed.append(patch.stem)
            print(f"{patch.stem}: NOT FOUND by {a.graphs} graphs, {took}", flush=True)
    sys.exit(f"not found: {' '.join(missed)}" if missed else 1 if known else 0)


if __name__ == "__main__":
    main()
