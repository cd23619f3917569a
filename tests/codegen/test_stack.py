"""The innermost loops of convolutions keep all values in registers: their disassembly has no operand on the stack."""

import os
import pathlib
import shutil
import sys

import pytest

pytest.importorskip("numpy")
pytest.importorskip("onnx")

ROOT = pathlib.Path(__file__).resolve().parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
sys.path.insert(0, str(ROOT / "bench"))
import layers  # noqa: E402

SHAPES = [x for x in layers.layers() if x.kind == "resnet50" and x.flops < 260e6][::3]


def test_operands_on_the_stack_are_seen():
    """Only the inner loop counts; a frame pointer makes %rbp the stack."""
    text = (
        "0000000000000000 <a.conv.0.loop>:\n"
        "   0:\tvmovups (%rsp),%zmm0\n"
        "   8:\tmov    0x8(%rsp),%rax\n"
        "   c:\tvmovups 0x40(%rsp),%zmm1\n"
        "  10:\tvbroadcastss 0x4(%rbp),%zmm2\n"
        "  14:\tjb     8 <a.conv.0.loop+0x8>\n"
        "  18:\tjl     0 <a.conv.0.loop>\n"
        "\n"
    )
    assert layers.stack_operands_of(text) == (1, 2)
    assert layers.stack_operands_of(text.replace("vmovups (%rsp),%zmm0", "mov    %rsp,%rbp")) == (2, 3)
    assert layers.stack_operands_of(text.replace("a.conv", "a.pack")) == (0, 0)


@pytest.mark.skipif(not shutil.which("objdump"), reason="objdump is not there")
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="reads the code of x86")
@pytest.mark.parametrize("layer", SHAPES, ids=lambda x: x.name)
def test_no_operand_on_the_stack(layer, tmp_path):
    layer.save(tmp_path / "layer.onnx")
    assert layers.stack_operands(WICK, tmp_path / "layer.onnx") == (0, 0)
