"""The effects of Glow's and Relay's passes: the kernels that Wick makes of a model, their results beside ONNX Runtime's, and the page."""

import os
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import built  # noqa: E402
import wick  # noqa: E402

pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
sys.path.insert(0, str(built.ROOT / "scripts"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import effects  # noqa: E402
import models  # noqa: E402

ROWS = [e for e in effects.GLOW + effects.RELAY if not e.why]


@pytest.mark.parametrize("effect", ROWS, ids=lambda e: e.passes)
def test_effect(effect):
    _, after, left = effects.measure(effect)
    if effect.missing:
        assert after != effect.after or left, "the effect is there: it is no longer missing"
    else:
        assert (after, left) == (effect.after, [])


@pytest.mark.parametrize("effect", ROWS, ids=lambda e: e.passes)
def test_results(effect):
    models.compare(wick, ort, effect.model())


def test_every_pass_is_named():
    assert len(effects.GLOW) == 59


def test_page():
    page = (built.ROOT / "docs" / "passes.md").read_text()
    assert page.endswith(effects.page()), "docs/passes.md is stale: make docs"
