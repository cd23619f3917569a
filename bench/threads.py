#!/usr/bin/env python3
"""How the networks scale with threads, from `wick bench --roofline`; the table goes into README.md.

    build/venv/bin/python bench/threads.py [--threads 2] [--seconds 3] [--rounds 3] [NAME ...]

The bound of a kernel is one thread's time divided by the number of threads, or its weights divided by the bandwidth of
memory if the network does not fit into the cache; that of a network is the sum of its kernels' bounds. The best round
counts. The exit status is 1 if one thread takes more than 5 ms and the bound is less than 0.9 of the time.
"""

import re
import subprocess
import sys

import networks
import report

LEAST, ONE_MS = 0.9, 5
LAST = r"threads (\d+): one (\S+) ms, bound (\S+) ms, time (\S+) ms, bound / time (\S+)"


def measure(a, model):
    """The round with the largest share: one thread's, the bound's and all threads' ms, the share, the worst kernels."""
    best = None
    for _ in range(a.rounds):
        command = [a.wick, "bench", model, "--roofline", "--threads", a.threads, "--seconds", a.seconds, "--kernels", 3]
        text = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
        lines = text.split(" threads lose;")[1].splitlines()[2:-2]
        worst = [f"{row[6]} {row[3]}" for row in map(str.split, lines)]
        found = tuple(map(float, re.findall(LAST, text)[0][1:]))
        best = max(best or (0, 0, 0, 0, []), (*found, worst), key=lambda x: x[3])
    return best


def main():
    a = networks.arguments(__doc__, threads=2, seconds=3.0, rounds=3)
    names, rows, bad = a.names, [], []
    for name in names:
        one, bound, took, share, worst = measure(a, a.build / "models" / f"{name}.onnx")
        if share < LEAST and one > ONE_MS:
            bad.append(name)
        rows.append([name, *(f"{x:.3f}" for x in (one, bound, took)), f"{share:.2f}"])
        print(*rows[-1], "loses most, us:", "; ".join(worst), "BELOW" if name in bad else "", flush=True)
    if names == report.NETWORKS:
        head = ["network, ms", "one thread", "bound", f"{a.threads} threads", "bound / time"]
        text = f"{report.machine()}; {report.today()}; the best of {a.rounds} rounds.\n\n" + report.table(head, rows)
        report.write("threads", text)
    sys.exit(f"below {LEAST}: {' '.join(bad)}" if bad else 0)


if __name__ == "__main__":
    main()
