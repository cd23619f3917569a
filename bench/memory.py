#!/usr/bin/env python3
"""Memory of the networks, from `wick plan`; the table goes into README.md.

    build/venv/bin/python bench/memory.py [NAME ...]

The exit status is 1 if an arena without its padding has more bytes than are live at once in its own order, or than in
the importer's order.
"""

import re
import subprocess
import sys

import networks
import report


def plan(wick, model):
    line = subprocess.run([wick, "plan", model], check=True, capture_output=True, text=True).stdout
    found = dict((k, int(v)) for k, v in re.findall(r"(arena|importer's bound|bound|padding|scratch|constants) (\d+)", line))
    return found


def main():
    a = networks.arguments(__doc__)
    names, rows, bad = a.names, [], []
    for name in names:
        m = plan(a.wick, a.build / "models" / f"{name}.onnx")
        net = m["arena"] - m["padding"]
        if net > m["bound"] or net > m["importer's bound"]:
            bad.append(name)
        rows.append([name, *(f"{m[k] / 1024:.1f}" for k in ("arena", "padding", "bound", "importer's bound", "scratch"))])
        print(*rows[-1], "OVER ITS BOUND" if name in bad else "", flush=True)
    if names == report.NETWORKS:
        head = ["network, KiB", "arena", "padding", "bound", "importer's bound", "scratch a thread"]
        report.write("memory", report.table(head, rows))
    sys.exit(f"above their bounds: {' '.join(bad)}" if bad else 0)


if __name__ == "__main__":
    main()
