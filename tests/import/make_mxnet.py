"""Writes mxnet/results.npz: what MXNet gives for mxnet_cases.py. Needs mxnet 1.9.1 (Python 3.8, numpy below 1.24)."""
import json
import pathlib

import mxnet as mx
import numpy as np

import mxnet_cases

results = {}
for name, (kind, arrays, attributes, count) in mxnet_cases.cases():

    graph = {"nodes": [{"op": "null", "name": f"x{k}", "inputs": []} for k in range(len(arrays))] +
            [{"op": kind, "name": "y", "attrs": {k: str(v) for k, v in attributes.items()}, "inputs": [[k, 0, 0] for k in range(len(arrays))]}],
            "arg_nodes": list(range(len(arrays))), "node_row_ptr": list(range(len(arrays) + 2)), "heads": [[len(arrays), k, 0] for k in range(count)],
            "attrs": {"mxnet_version": ["int", 10901]}}

    net = mx.sym.load_json(json.dumps(graph))
    out = net.bind(mx.cpu(), {f"x{k}": mx.nd.array(a, dtype=a.dtype) for k, a in enumerate(arrays)}).forward()
    for k, y in enumerate(out):
        results[f"{name}/{k}"] = y.asnumpy()
folder = pathlib.Path(__file__).parent / "mxnet"
folder.mkdir(exist_ok=True)
np.savez_compressed(folder / "results.npz", **results)
print(len(results))
