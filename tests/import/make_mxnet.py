"""Writes mxnet/results.npz: what MXNet gives for mxnet_cases.py. Needs mxnet 1.9.1 (Python 3.8, numpy below 1.24)."""
import json
import pathlib

import mxnet as mx
import numpy as np

import mxnet_cases

FOLDER = pathlib.Path(__file__).parent / "mxnet"


def results():
    for name, (kind, arrays, attributes, count) in mxnet_cases.cases():
        n = len(arrays)
        nodes = [{"op": "null", "name": f"x{k}", "inputs": []} for k in range(n)]
        nodes.append({"op": kind, "name": "y", "attrs": {k: str(v) for k, v in attributes.items()}, "inputs": [[k, 0, 0] for k in range(n)]})
        graph = {"nodes": nodes, "arg_nodes": list(range(n)), "node_row_ptr": list(range(n + 2)), "heads": [[n, k, 0] for k in range(count)],
                 "attrs": {"mxnet_version": ["int", 10901]}}
        feeds = {f"x{k}": mx.nd.array(a, dtype=a.dtype) for k, a in enumerate(arrays)}
        for k, y in enumerate(mx.sym.load_json(json.dumps(graph)).bind(mx.cpu(), feeds).forward()):
            yield f"{name}/{k}", y.asnumpy()


FOLDER.mkdir(exist_ok=True)
np.savez_compressed(FOLDER / "results.npz", **dict(results()))
