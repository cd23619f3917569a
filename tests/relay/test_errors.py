"""Mistakes in Relay's text: all of a file are listed at once, each with its line."""

import base64
import re

import built  # noqa: F401: finds the package
import numpy as np
import pytest
import wick
from relay_text import base64_of, metadata, module

# text -> what is reported: (line, message)
ERRORS = {
    "operators": ("def @main(%x: int32) {\n  %0 = nn.foo(%x);\n  %1 = bar(%0, axis=1);\n  exp(%1, %x)\n}",
                  [(3, "there is no operator `nn.foo`"), (4, "there is no operator `bar`"), (5, "`exp` takes 1 operand, found 2")]),
    "refused": ("def @main(%x: Tensor[(3), bool]) {\n  argwhere(%x);\n  random.uniform(%x)\n}",
                [(3, "the operator `argwhere` is not supported: its result's sizes, or which of its elements count, are known at run time only"),
                 (4, "the operator `random.uniform` is not supported: Wick's random numbers are others")]),
    "sizes of a run": ("def @main(%x: Tensor[(4), float32], %n: Tensor[(1), int64]) {\n  let %s = shape_of(%x);\n  let %s = %n;\n  dyn.reshape(%x, %s, newshape=[])\n}",
                       [(5, "the operator `dyn.reshape` is not supported: its result's sizes are contents of operands; where constants and sizes of parameters give them")]),
    "attributes": ("def @main(%x: int32) {\n  expand_dims(%x, axes=1);\n  vision.roi_pool(%x, %x, layout=\"NHWC\")\n}",
                   [(3, "the attribute `axes` of `expand_dims` is not supported"), (4, "the attribute `layout` of `vision.roi_pool` may only be NCHW")]),
    "names": ("def @main(%x: int32) -> foo {\n  %y + @f(%z)\n}\ndef @g() { %0 }\ndef @h(%l: List[int32]) { match (%l) { Kons(_) => 1 } }",
              [(2, "there is no type `foo`"), (5, "`%0` is not defined yet"), (6, "there is no constructor `Kons`; a variable is `%Kons`")]),
    "variables": ("def @main(%x: int32) {\n  let %a = %b;\n  @f(%c)\n}", [(3, "there is no variable `%b`"), (4, "there is no function `@f`"), (4, "there is no variable `%c`")]),
    "scope": ("def @main(%c: bool) {\n  if (%c) { let %x = 1; %x }\n  else { %x }\n}", [(4, "there is no variable `%x`")]),
    "shapes": ("def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(4), float32]) {\n  %x + %y\n}", [(3, "shapes do not broadcast: [2, 3] and [4]: size 3 is not 4")]),
    "operands": ("def @main(%x: Tensor[(2, 3), float32]) {\n  nn.conv2d(%x, %x)\n}", [(3, "`nn.conv2d`: the operands must have 4 axes")]),
    "boxes": ("def @main(%x: Tensor[(2, 9, 6), float32], %c: Tensor[(2), int32], %i: Tensor[(2, 9), int32]) {\n  vision.get_valid_counts(%x, %c);\n"
              "  vision.get_valid_counts(%x, 0f, score_index=6);\n  vision.non_max_suppression(%x, %c, %i, 9, 0.5f, coord_start=3)\n}",
              [(3, "`vision.get_valid_counts`: the second operand must be a number"),
               (4, "`vision.get_valid_counts`: `id_index` or `score_index` is outside of a box's elements"),
               (5, "`vision.non_max_suppression`: `id_index`, `score_index` or `coord_start` is outside of a box's elements")]),
    "sparse": ("def @main(%x: Tensor[(2, 3), float32], %d: Tensor[(4, 2), float32], %i: Tensor[(4), int32], %p: Tensor[(5), int32]) {\n"
               "  nn.sparse_dense(%x, %d, %i, %p);\n  nn.sparse_add(%x, %i, %i, %p);\n  nn.sparse_conv2d(%d, %x, %i, %p, kernel_size=[3, 3])\n}",
               [(3, "`nn.sparse_dense`: the sparse matrix must be vectors of elements or blocks, columns and rows"), (4, "`nn.sparse_add`: the matrices have other rows"),
                (5, "`nn.sparse_conv2d`: only kernels of one element are supported")]),
    "sizes": ("def @main(%x: Tensor[(2, 3), float32]) {\n  concatenate((%x, reshape(%x, newshape=[3, 2])), axis=1)\n}",
              [(3, "`concat` of f32[2, 3] and f32[3, 2]: operand 1, f32[3,2], does not fit f32[2,3] along axis 1")]),
    "codes": ("def @main(%x: Tensor[(2, 3), float32]) {\n  reshape(%x, newshape=[-5])\n}", [(3, "`reshape`: the shape has no meaning for this operand: number 1 is -5")]),
    "axis": ("def @main(%x: Tensor[(2, 3), float32]) {\n  concatenate((%x, %x), axis=2)\n}", [(3, "`concatenate`: axis 2 is outside of [-2, 1]")]),
    "types": ("def @main(%x: int32) -> float32 {\n  %x\n}", [(3, "the result of `main`: expected f32, found i32")]),
    "condition": ("def @main(%x: int32) {\n  if (%x) { 1 } else { 2 }\n}", [(3, "the condition: expected bool, found i32")]),
    "elements": ("def @main(%x: int32, %y: float32) {\n  %x + %y\n}", [(3, "operand 2 of `add`: expected i32[...s], found f32")]),
    "match": ("type L { A, B(L) }\ndef @main() {\n  match (A) { A => 1 }\n}", [(4, "the `match` does not match B(_)")]),
    "fields": ("type L { A, B(L) }\ndef @main() {\n  match (A) { A => 1, B(%x, %y) => 2 }\n}", [(4, "`B` has 1 field, found 2")]),
    "literals": ("def @main() {\n  (2147483648i32, 32768i16, 1e39f, 256u8, -1u16, 3i7, 1.5i)\n}",
                 [(3, "the number does not fit its type")] * 5 + [(3, "integers have 8, 16, 32 or 64 bits"), (3, "a number with a fraction is no integer")]),
    "syntax": ("def @main(%x: int32) {\n  let %y = ;\n  %y\n}\ndef @f(x) { 1 }\ndef @g() { (1, 2 }",
               [(3, "expected an expression, found `;`"), (6, "expected a parameter, found `x`"), (7, "expected `,` or `)`, found `}`")]),
    "characters": ("def @main() { 1 $ 2 }", [(2, "this character has no meaning here"), (2, "expected `}`, found `2`")]),
    "comment": ("def @main() { 1 }\n/* no end", [(3, "the comment has no end")]),
    "meta": ("def @main() { meta[relay.Constant][0] }", [(2, "the file has no section #[metadata]")]),
    "twice": ("def @f() { 1 }\ndef @f() { 2 }", [(3, "`f` is defined twice")]),
    "external": ("extern type A { B }\ndef @main() { 1 }", [(2, "an external type has no constructors")]),
    "recursion without end": ("def @main(%x: int32) -> int32 {\n" + "(" * 400 + "%x" + ")" * 400 + "\n}", [(3, "the program is nested too deeply; name parts of it")]),
}


def problems(text, tmp_path, entry="main"):
    path = tmp_path / "p.relay"
    path.write_text(text)
    with pytest.raises(wick.WickError) as e:
        getattr(wick.load(path), entry)()
    return [(int(line), text) for line, text in re.findall(r"^.*p\.relay:(\d+):\d+: error: (.*)$", str(e.value), re.M)]


@pytest.mark.parametrize("name", ERRORS)
def test_error(name, tmp_path):
    text, expected = ERRORS[name]
    found = problems(module(text), tmp_path)
    assert len(found) == len(expected), found
    for (line, message), (want_line, want) in zip(found, expected):
        assert line == want_line and want in message, found


def test_version(tmp_path):
    assert problems('#[version = "0.0.4"]\ndef @main() { 1 }\n', tmp_path) == [(1, 'expected version "0.0.5" of the text form')]


GOOD = base64_of(np.array([1.0, 2.0], np.float32))


@pytest.mark.parametrize("change, message", [
    (lambda t: t.replace(GOOD, "!" + GOOD), "the constant is no base64"),
    (lambda t: t.replace(GOOD, GOOD[:20]), "this is no serialized tensor"),
    (lambda t: t.replace(GOOD, GOOD[:-8]), "the tensor's data does not have the size of its type"),
    (lambda t: t.replace(GOOD, base64.b64encode(base64.b64decode(GOOD)[:36] + b"\xff" * 8 + base64.b64decode(GOOD)[44:]).decode()), "a size is too large"),
    (lambda t: t.replace('"data": "0"', '"data": "7"'), "the constant has no data in the section #[metadata]"),
    (lambda t: t.replace("relay.Constant", "relay.Other", 1), "the section #[metadata] has no such constant"),
    (lambda t: t.replace('"root": 1', '"root": 99'), "the metadata section has no root node"),
    (lambda t: t[:-20], "the metadata section is no JSON: this is not expected here"),
    (lambda t: t.replace('"type_key": ""', '"type_key": ' + "[" * 500), "the metadata section is no JSON"),
])
def test_constants(change, message, tmp_path):
    text = module("def @main() { meta[relay.Constant][0] }", [np.array([1.0, 2.0], np.float32)])
    head, mark, data = text.partition("#[metadata]")
    found = problems(head + mark + change(data), tmp_path)
    assert any(message in text for _, text in found), found


def test_failing_match(tmp_path):
    path = tmp_path / "p.relay"
    path.write_text(module("type L { A, B(L) }\ndef @f(%n: int32) -> L { if (%n == 0) { A } else { B(A) } }\n"
                           "def @main(%n: int32) -> int32 {\n  match? (@f(%n)) { B(_) => 7 }\n}"))
    m = wick.load(path)
    assert m.main(np.int32(1)) == 7
    with pytest.raises(wick.WickError, match="no arm of `match\\?` matches"):
        m.main(np.int32(0))


def test_metadata_is_json():
    assert metadata([np.float32(1)]).startswith("{")
