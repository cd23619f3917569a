"""Runs a model as a bundle: compiled for inputs of these shapes, linked to a C program by the plain compiler, and called twice.

    run_bundle.py MODEL --inputs FILE... --outputs FOLDER

The command line is that of `wick run`, so that whatever compares that command's outputs compares those of bundles, too. Elements of BF16
become 16-bit integers.
"""

import argparse
import pathlib
import tempfile

import numpy as np
from bundles import HOST, Bundle


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    ap.add_argument("model")
    ap.add_argument("--inputs", nargs="*", default=[])
    ap.add_argument("--outputs", type=pathlib.Path, required=True)
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bundle = Bundle(args.model, folder, HOST, more=["--inputs", *args.inputs] if args.inputs else [])
        outputs = bundle.run(*(np.load(f) for f in args.inputs))
        assert not bundle.needs(), bundle.needs()
    args.outputs.mkdir(parents=True, exist_ok=True)
    for k, y in enumerate(outputs):
        np.save(args.outputs / f"output_{k}.npy", y)


if __name__ == "__main__":
    main()
