"""`wick check`: all that is wrong with a model, once each, with the operators' domains and opsets and the nodes' names."""
import json
import os
import subprocess

import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402

WICK = os.environ.get("WICK_COMMAND", "build/wick")


def ten_problems():
    def node(op, name, inputs, outputs, domain="", **attrs):
        return helper.make_node(op, inputs.split(), outputs.split(), name, domain=domain, **attrs)

    nodes = [
        *[node("FusedGemm", f"fused{k}", "x", f"f{k}", "com.example", alpha=float(k)) for k in range(5)],  # 1: a domain
        node("Reluu", "typo", "x", "a"),  # 2: no such operator
        node("Upsample", "old", "x s", "b"),  # 3: no operator of that opset any more
        *[node("Cast", f"cast{k}", "x", f"c{k}", to=TensorProto.FLOAT6E2M3) for k in range(2)],  # 4
        node("Softmax", "axis", "x", "d", axis=9),  # 5: an attribute's range
        node("Relu", "extra", "x", "h", alpha=1.0),  # 6: an attribute that it does not have
        node("Add", "shapes", "x w", "i"),  # 7: shapes
        node("Conv", "missing", "image", "j"),  # 8: an input
        node("Neg", "nothing", "nowhere", "k"),  # 9: a value
        node("Relu", "after", "a", "fine"),  # not blamed for errors before it
        node("Abs", "good", "x", "y"),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
              helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 4, 4]),
              helper.make_tensor_value_info("text", TensorProto.FLOAT6E2M3, [2])]  # 10: an element type
    constants = [helper.make_tensor("w", TensorProto.FLOAT, [2], [1, 2]), helper.make_tensor("s", TensorProto.FLOAT, [4], [1, 1, 2, 2]),
                 helper.make_tensor("e", TensorProto.FLOAT, [0], [])]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])], constants)
    opsets = [helper.make_opsetid("", 12), helper.make_opsetid("com.example", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def check(folder, model, *flags):
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    return subprocess.run([WICK, "check", str(folder / "m.onnx"), *flags], capture_output=True, text=True)


def test_ten_problems(tmp_path):
    r = check(tmp_path, ten_problems())
    assert r.returncode == 1 and r.stdout == ""
    assert r.stderr.splitlines() == [
        'm.onnx: input "text": elements of type FLOAT6E2M3 are not supported',
        'm.onnx: node "fused0" (FusedGemm): the operator com.example.FusedGemm is not supported '
        '(com.example, opset 1; 5 nodes: "fused0", "fused1", "fused2", ...)',
        'm.onnx: node "typo" (Reluu): the operator Reluu is not supported (ai.onnx, opset 12)',
        'm.onnx: node "old" (Upsample): Upsample is not an operator of opset 12 (ai.onnx, opset 12)',
        'm.onnx: node "cast0" (Cast): elements of type FLOAT6E2M3 are not supported (ai.onnx, opset 12; 2 nodes: "cast0", "cast1")',
        'm.onnx: node "axis" (Softmax): axis 9 is outside [-2, 1] (ai.onnx, opset 12)',
        'm.onnx: node "extra" (Relu): there is no attribute "alpha" in opset 12 (ai.onnx, opset 12)',
        'm.onnx: node "shapes" (Add): shapes do not broadcast: f32[2,3] and f32[2] (ai.onnx, opset 12)',
        'm.onnx: node "missing" (Conv): it has 1 inputs, expected 2 to 3 (ai.onnx, opset 12)',
        'm.onnx: node "nothing" (Neg): the input "nowhere" is not defined before it is used']


def test_for_programs(tmp_path):
    bad, = json.loads(check(tmp_path, ten_problems(), "--json").stdout)
    assert bad["good"] is False and len(bad["problems"]) == 10
    fused = bad["problems"][1]
    assert fused == {"location": 'm.onnx: node "fused0" (FusedGemm)', "message": "the operator com.example.FusedGemm is not supported",
                     "unsupported": True, "count": 5, "nodes": ["fused0", "fused1", "fused2"], "operator": "FusedGemm",
                     "domain": "com.example", "opset": 1}
    graph = helper.make_graph([helper.make_node("Abs", ["x"], ["y"])], "g", [helper.make_tensor_value_info("x", 1, ["N", 3])],
                              [helper.make_tensor_value_info("y", 1, None)])
    good, = json.loads(check(tmp_path, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), "--json").stdout)
    assert good["good"] and good["problems"] == [] and good["nodes"] == 2
    assert good["inputs"] == [{"name": "x", "type": "f32[N,3]"}]
    (tmp_path / "broken").write_bytes(b"\x08")
    r = subprocess.run([WICK, "check", "--json", str(tmp_path / "broken"), str(tmp_path / "not there")], capture_output=True, text=True)
    assert r.returncode == 1
    assert [len(m["problems"]) for m in json.loads(r.stdout)] == [1, 1]
