#!/usr/bin/env python3
"""Networks of timm, torchvision and transformers, as PyTorch exports them, on Wick, ONNX Runtime and OpenVINO, in turns.

    build/venv/bin/python bench/exported_networks.py --torch PYTHON [--folder FOLDER] [--threads 1] [--rounds 3] [--open] [NAME ...]

PYTHON is the interpreter of a virtual environment with torch, torchvision, timm, transformers, pillow and onnxscript. It writes the networks with
random weights into the folder, where they are kept; those that are there are not written again. A NAME is one of `--list`'s, or the
beginning of some. With --open, the number of images or texts is dynamic, and that of tokens; three are run, of 77 tokens each. The ratio is Wick's time over that of the
faster peer, each the least of all rounds. What PyTorch cannot export is left out. The package `wick` is the one that PYTHONPATH names.
"""

import argparse
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx

from side_by_side import Refused, Runtimes, difference

TOLERANCE = 1e-3
TIMM = """beit_base_patch16_224 botnet26t_256 cait_xxs24_224 coatnet_nano_rw_224 convmixer_768_32 convnext_atto crossvit_tiny_240 davit_tiny dla46_c
edgenext_xx_small efficientformer_l1 efficientformerv2_s0 eva02_tiny_patch14_224 fastvit_t8 focalnet_tiny_srf gcvit_xxtiny ghostnet_100 gmlp_ti16_224
halonet26t hgnet_tiny hrnet_w18_small inception_v3 lambda_resnet26t levit_128s mambaout_femto maxvit_rmlp_pico_rw_256 mixer_s32_224
mobilenetv3_small_100 mobilenetv4_conv_small mobileone_s0 mobilevit_xxs poolformer_s12 pvt_v2_b0 regnety_002 repvit_m0_9 res2net50_14w_8s resmlp_12_224
resnest14d rexnet_100 selecsls42 sequencer2d_s seresnet18 skresnet18 starnet_s1 swin_tiny_patch4_window7_224 tf_efficientnet_b0 tiny_vit_5m_224
vit_tiny_patch16_224 volo_d1_224 xcit_nano_12_p16_224"""
TORCHVISION = "deeplabv3_mobilenet_v3_large googlenet lraspp_mobilenet_v3_large maxvit_t r2plus1d_18 r3d_18 shufflenet_v2_x1_0 squeezenet1_1"
TRANSFORMERS = "albert bert distilbert electra gemma gpt2 gpt_neox llama mistral phi3 qwen2 roberta segformer t5 vit wav2vec2 whisper"
NAMES = [f"{package}/{name}" for package, names in (("timm", TIMM), ("torchvision", TORCHVISION), ("transformers", TRANSFORMERS))
         for name in names.split()]  # fmt: skip

# Writes a network. Arguments: package/name, the file, "open" if the first dimensions are dynamic.
EXPORTER = """
import logging, sys, warnings
import torch

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
torch.manual_seed(0)
(package, name), path, is_open = sys.argv[1].split("/"), sys.argv[2], sys.argv[3:] == ["open"]
COUNT, TOKENS, WORDS = 3 if is_open else 1, 77, 5000


class Part(torch.nn.Module):
    # the network with one result
    def __init__(self, whole, result):
        super().__init__()
        self.whole, self.result = whole, result

    def forward(self, x):
        return self.result(self.whole, x)


def of_timm():
    import timm

    network = timm.create_model(name, pretrained=False)
    return network, torch.randn(COUNT, *network.default_cfg["input_size"])


def of_torchvision():
    from torchvision import models

    if hasattr(models.segmentation, name):
        whole = getattr(models.segmentation, name)(weights=None, weights_backbone=None)
        return Part(whole, lambda f, x: f(x)["out"]), torch.randn(COUNT, 3, 256, 256)
    if hasattr(models.video, name):
        return getattr(models.video, name)(weights=None), torch.randn(COUNT, 3, 8, 112, 112)
    return getattr(models, name)(weights=None), torch.randn(COUNT, 3, 224, 224)


def of_transformers():
    from transformers import AutoConfig, AutoModel

    sizes = dict(hidden_size=384, num_hidden_layers=4, num_attention_heads=6, intermediate_size=1536, vocab_size=WORDS)
    own = {"gpt2": dict(n_embd=384, n_layer=4, n_head=6, vocab_size=WORDS), "distilbert": dict(dim=384, n_layers=4, n_heads=6, hidden_dim=1536, vocab_size=WORDS),
           "t5": dict(d_model=384, d_kv=64, num_layers=4, num_heads=6, d_ff=1024, vocab_size=WORDS), "segformer": {},
           "whisper": dict(d_model=384, encoder_layers=4, decoder_layers=2, encoder_attention_heads=6, decoder_attention_heads=6,
                           encoder_ffn_dim=1536, decoder_ffn_dim=1536)}
    sizes = own.get(name, sizes)
    if name == "albert":
        sizes["embedding_size"] = 128
    if name in ("vit", "wav2vec2"):
        del sizes["vocab_size"]
    if name in ("gemma", "llama", "mistral", "phi3", "qwen2"):
        sizes.update(num_key_value_heads=2, head_dim=64, pad_token_id=0, bos_token_id=1, eos_token_id=2)
    config = AutoConfig.for_model(name, **sizes)
    config.use_cache = False
    whole = AutoModel.from_config(config)
    if name in ("t5", "whisper"):
        whole = whole.encoder
    x = {"wav2vec2": lambda: torch.randn(COUNT, 16000), "whisper": lambda: torch.randn(COUNT, 80, 3000), "vit": lambda: torch.randn(COUNT, 3, 224, 224),
         "segformer": lambda: torch.randn(COUNT, 3, 224, 224)}.get(name, lambda: torch.randint(0, WORDS, (COUNT, TOKENS)))()
    return Part(whole, lambda f, x: f(x, return_dict=False)[0]), x


network, x = globals()["of_" + package]()
network.eval()
sizes = None
if is_open:
    sizes = {0: torch.export.Dim("count", min=1, max=64)}
    if x.dtype == torch.int64:
        sizes[1] = torch.export.Dim("tokens", min=2, max=256)
with torch.no_grad():
    torch.onnx.export(network, (x,), path, dynamo=True, opset_version=18, external_data=False, verbose=False, dynamic_shapes=(sizes,) if sizes else None)
"""


def export(python, name, folder, is_open):
    """The file of a network, or None."""
    path = folder / (name.replace("/", "_") + ("_open" if is_open else "") + ".onnx")
    if not path.exists():
        part = path.with_suffix(".part")
        command = [python, "-c", EXPORTER, name, str(part), *["open"] * is_open]
        try:
            made = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        except OSError as e:
            sys.exit(f"{python}: {e.strerror}")
        if made.returncode or not part.exists():
            why = (made.stderr.strip().splitlines() or [f"exit status {made.returncode}"])[-1]
            print(f"    left out: {name}: {why}", flush=True)
            return None
        part.rename(path)
    return path


def inputs(path):
    """Random inputs of a model, {name: array}."""
    r, feed = np.random.default_rng(0), {}
    for i in onnx.load(path, load_external_data=False).graph.input:
        t = i.type.tensor_type
        shape = [d.dim_value or (3, 77)[k] for k, d in enumerate(t.shape.dim)]
        feed[i.name] = r.integers(0, 5000, shape) if t.elem_type == onnx.TensorProto.INT64 else r.standard_normal(shape).astype(np.float32)
    return feed


def measure(runtimes, path, rounds):
    """({runtime: seconds}, the difference of Wick's result from ONNX Runtime's)."""
    model, feed, times = path.read_bytes(), inputs(path), {}
    for name, runtime in runtimes.all.items():
        try:
            runtime.ask("load", model, feed)
            times[name] = []
        except Refused as e:
            print(f"    {e}", flush=True)
    error = difference(runtimes.all["wick"].ask("outputs"), runtimes.all["onnxruntime"].ask("outputs"))
    for _ in range(rounds):
        for name, t in times.items():
            t.append(runtimes.all[name].ask("time"))
    return {name: min(t) for name, t in times.items()}, error


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--torch", default=sys.executable, metavar="PYTHON")
    p.add_argument("--folder", type=pathlib.Path)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--open", action="store_true")
    p.add_argument("--list", action="store_true")
    p.add_argument("names", nargs="*", metavar="NAME")
    a = p.parse_args()
    names = [n for n in NAMES if not a.names or any(n.startswith(x) or n.split("/")[1].startswith(x) for x in a.names)]
    if a.list or not names:
        print("\n".join(NAMES))
        return
    folder = a.folder or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    runtimes, ratios = Runtimes(a.threads), []
    for name in names:
        path = export(a.torch, name, folder, a.open)
        if not path:
            continue
        s, error = measure(runtimes, path, a.rounds)
        peer = min((k for k in s if k != "wick"), key=s.get)
        ratios.append(s["wick"] / s[peer])
        wrong = f"  DIFFERS {error:.0e}" if error > TOLERANCE else ""
        print(f"{ratios[-1]:7.2f} {s['wick'] * 1e3:9.3f} ms {s[peer] * 1e3:9.3f} ms {peer:11s} {name}{wrong}", flush=True)
    if ratios:
        ratios.sort()
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{len(ratios)} networks, {a.threads} threads: geometric mean {mean:.2f}, 95th percentile {ratios[int(0.95 * len(ratios))]:.2f}, most {ratios[-1]:.2f}")


if __name__ == "__main__":
    main()
