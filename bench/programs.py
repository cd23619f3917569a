#!/usr/bin/env python3
"""Programs of the language beside the same programs in C, compiled by `gcc -O2`: one thread, in turns, in one run.

    build/venv/bin/python bench/programs.py [--rounds 15] [--write] [PROGRAM ...]

A row is an entry of bench/programs/*.wick and a function of the C file of the same name. Both get the same number and must return the same
result (floats: to 1e-9 of it). `wick bench --pipe` runs the entry, a driver of a few lines the function; each round times a batch of runs of
each, and the ratio is that of the medians. `compile` is the time of `wick compile` without the cache, in milliseconds.
"""

import argparse
import math
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np

import report

WICK = os.environ.get("WICK_COMMAND", str(report.ROOT / "build" / "wick"))
FOLDER = pathlib.Path(__file__).parent / "programs"
SECONDS = 0.02  # of a batch

# group (unrolled: recursion that becomes other code when it is unrolled), file, entry, function in C, number
ROWS = [
    ("numbers", "recursion", "tak_if", "tak_if", 27),
    ("numbers", "recursion", "ackermann_if", "ackermann_if", 3),
    ("numbers", "recursion", "ackermann_match", "ackermann_if", 3),
    ("numbers", "recursion", "queens_bits", "queens_bits", 11),
    ("numbers", "recursion", "queens_array", "queens_array", 9),
    ("numbers", "arrays", "mandelbrot_while", "mandelbrot", 100),
    ("numbers", "arrays", "mandelbrot_recursion", "mandelbrot", 100),
    ("numbers", "arrays", "nbody_struct", "nbody", 10_000),
    ("numbers", "arrays", "nbody_matrix", "nbody", 10_000),
    ("numbers", "arrays", "nbody_two", "nbody_two", 100_000),
    ("numbers", "arrays", "chain_while", "chain", 150),
    ("numbers", "arrays", "chain_for", "chain", 150),
    ("numbers", "arrays", "sieve_while", "sieve", 1_000_000),
    ("numbers", "arrays", "sieve_for", "sieve", 1_000_000),
    ("numbers", "arrays", "sieve_recursion", "sieve", 1_000_000),
    ("unrolled", "recursion", "fib_if", "fib_if", 32),
    ("unrolled", "recursion", "deep", "deep", 100_000),
    ("more", "arrays", "sort_insertion", "sort_insertion", 1000),
    ("more", "arrays", "sort_heap", "sort_heap", 4096),
    ("more", "arrays", "counts", "counts", 100_000),
    ("data", "lists", "list_fold", "list_fold", 10_000),
    ("data", "lists", "list_map", "list_map", 10_000),
    ("data", "lists", "list_reverse", "list_reverse", 10_000),
    ("data", "lists", "list_append", "list_append", 10_000),
    ("data", "lists", "list_filter", "list_filter", 10_000),
    ("data", "lists", "list_sort", "list_sort", 10_000),
    ("data", "lists", "tree_check", "tree_check", 12),
    ("data", "lists", "tree_insert", "tree_insert", 10_000),
]

DRIVER = """
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
%(type)s %(name)s(int64_t n);
int main(void)
{
  volatile int64_t n = %(n)d;
  %(type)s r = %(name)s(n);
  for (int k; scanf(" run %%d", &k) == 1; fflush(stdout)) {
    while (k-- > 0) r = %(name)s(n);
    printf("%%.17g %%" PRId64 "\\n", (double)r, (int64_t)r);
  }
}
"""


class Runner:
    def __init__(self, command):
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, text):
        self.child.stdin.write(text + "\n")
        self.child.stdin.flush()
        return self.child.stdout.readline().split()

    def seconds(self, runs):
        begin = time.perf_counter()
        self.ask(f"run {runs}")
        return (time.perf_counter() - begin) / runs

    def end(self):
        self.child.stdin.close()
        self.child.wait()


def is_float(file, name):
    return f"\ndouble {name}(" in (FOLDER / f"{file}.c").read_text()


def measure(row, rounds, folder):
    """(seconds of Wick, seconds of C, seconds of compilation)"""
    _, file, entry, name, n = row
    floats = is_float(file, name)
    (folder / "driver.c").write_text(DRIVER % {"type": "double" if floats else "int64_t", "name": name, "n": n})
    program = folder / name
    subprocess.run(["gcc", "-O2", "-o", program, FOLDER / f"{file}.c", folder / "driver.c", "-lm"], check=True)
    np.save(folder / "n.npy", np.array(n))
    source = FOLDER / f"{file}.wick"
    begin = time.perf_counter()
    subprocess.run([WICK, "compile", source, "--entry", entry, "--no-cache", "-o", folder / "p.wart"], check=True, stdout=subprocess.DEVNULL)
    compiled = time.perf_counter() - begin
    wick = Runner([WICK, "bench", source, "--entry", entry, "--pipe", "--threads", "1", "--inputs", folder / "n.npy"])
    c = Runner([program])
    if not wick.child.stdout.readline().startswith("ready"):
        raise SystemExit(f"{entry}: it does not run")
    runs = [max(1, round(SECONDS / r.seconds(1))) for r in (wick, c)]
    expected = c.ask("run 1")
    wick.ask("run 1")
    wick.ask(f"output {folder}")
    found = np.load(folder / "output_0.npy").item()
    if not (math.isclose(found, float(expected[0]), rel_tol=1e-9) if floats else found == int(expected[1])):
        raise SystemExit(f"{entry}: {found} is not {expected}")
    times = [(wick.seconds(runs[0]), c.seconds(runs[1])) for _ in range(rounds)]
    wick.end()
    c.end()
    return *(statistics.median(t) for t in zip(*times)), compiled


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true", help="writes the section of README.md")
    parser.add_argument("program", nargs="*")
    a = parser.parse_args()
    rows, ratios = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for row in ROWS:
            if a.program and row[2] not in a.program:
                continue
            wick, c, compiled = measure(row, a.rounds, pathlib.Path(folder))
            ratios.setdefault(row[0], []).append(wick / c)
            rows.append((row[2], row[4], f"{wick * 1e3:.3f}", f"{c * 1e3:.3f}", f"{wick / c:.2f}", f"{compiled * 1e3:.0f}"))
            print(*rows[-1], flush=True)
    for group, all_ in ratios.items():
        rows.append((f"**geometric mean, {group}**", "", "", "", f"**{statistics.geometric_mean(all_):.2f}**", ""))
        print(*rows[-1])
    if a.write:
        text = f"{report.machine()}; {report.today()}; gcc {subprocess.run(['gcc', '-dumpfullversion'], capture_output=True, text=True).stdout.strip()}.\n\n"
        report.write("programs", text + report.table(("program", "n", "wick ms", "C ms", "ratio", "compile ms"), rows))


if __name__ == "__main__":
    main()
