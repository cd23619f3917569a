"""wick compile --target for artifacts of other processors: the runtime, built for these, runs them in an emulator; here they are refused."""

import os
import pathlib
import shutil
import subprocess

import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
HERE = wick.load(DIGITS)

# Reads the inputs from standard input and writes the outputs to standard output.
RUNNER = """
#include <stdio.h>
#include <stdlib.h>
#include "wick/wick.h"
static void check(wick_error *e)
{
  if (!e) return;
  fprintf(stderr, "%s\\n", wick_error_message(e));
  exit(1);
}
int main(int argc, char **argv)
{
  wick_context *c;
  wick_compiled *k;
  wick_session *s;
  const void *in[16];
  void *out[16];
  if (argc != 2) return 2;
  check(wick_context_create(NULL, &c));
  check(wick_compiled_load(c, argv[1], &k));
  check(wick_session_create(k, NULL, &s));
  for (uint32_t i = 0; i < wick_compiled_ninput(k); i++) {
    size_t n = wick_compiled_input(k, i)->nbytes;
    void *at = aligned_alloc(64, (n + 63) / 64 * 64);
    if (fread(at, 1, n, stdin) != n) return 3;
    in[i] = at;
  }
  for (uint32_t i = 0; i < wick_compiled_noutput(k); i++)
    out[i] = aligned_alloc(64, (wick_compiled_output(k, i)->nbytes + 63) / 64 * 64);
  check(wick_run(s, in, out));
  for (uint32_t i = 0; i < wick_compiled_noutput(k); i++) fwrite(out[i], 1, wick_compiled_output(k, i)->nbytes, stdout);
  return 0;
}
"""
MACHINES = {"armv8-a": ("aarch64-linux-gnu-gcc", ["qemu-aarch64", "-cpu", "cortex-a53"]),
            "armv8.2-a-sve256": ("aarch64-linux-gnu-gcc", ["qemu-aarch64", "-cpu", "max,sve-max-vq=2"]),
            "rv64gc": ("riscv64-linux-gnu-gcc", ["qemu-riscv64"])}  # fmt: skip
built_runners = {}


def command(*args):
    return subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=300)


def runner(compiler, folder):
    """The runtime and RUNNER for that machine, built once."""
    if compiler not in built_runners:
        sources = [p for part in ("base", "runtime") for p in (ROOT / "src" / part).glob("*.c") if not p.stem.endswith("_test")]
        program, main = folder.mktemp(compiler) / "runner", folder.getbasetemp() / "runner.c"
        main.write_text(RUNNER)
        subprocess.run([compiler, "-static", "-O1", "-std=gnu17", "-D_GNU_SOURCE", f"-I{ROOT}/include", f"-I{ROOT}/src",
                        *sources, main, "-o", program, "-lpthread", "-lm", "-latomic"], check=True, timeout=300)  # fmt: skip
        built_runners[compiler] = program
    return built_runners[compiler]


@pytest.mark.parametrize("target", MACHINES)
def test_the_artifact_runs_on_its_processor(target, tmp_path, tmp_path_factory):
    compiler, emulator = MACHINES[target]
    if not shutil.which(compiler) or not shutil.which(emulator[0]):
        pytest.skip(f"{compiler} or {emulator[0]} is not installed")
    r = command("compile", DIGITS, "--target", target, "-o", tmp_path / "digits.wick")
    assert r.returncode == 0 and r.stdout.startswith(f"{target}: "), r.stderr
    image = np.random.default_rng(1).integers(0, 256, (1, 1, 64, 64), np.uint8)
    done = subprocess.run([*emulator, runner(compiler, tmp_path_factory), tmp_path / "digits.wick"], input=image.tobytes(),
                          capture_output=True, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.frombuffer(done.stdout, np.float32), HERE.compile()(image).ravel(), rtol=1e-4, atol=1e-6)


OTHERS = ["armv8-a", "x86-64-v4", "rv64gcv"]


@pytest.mark.parametrize("target", OTHERS)
def test_it_is_refused_here(target, tmp_path):
    """On loading and in sessions, by both names; it is compiled and kept in the cache like any other."""
    artifact = tmp_path / "digits.wick"
    try:
        HERE.compile(target=target)(np.zeros((1, 1, 64, 64), np.uint8))
        pytest.skip(f"{target} runs here")
    except wick.Unsupported as e:
        refused = str(e)
    assert refused.startswith(f"the code was compiled for {target}; this processor is a"), refused
    for _ in range(2):  # compiled, then from the cache
        HERE.compile(target=target, cache=str(tmp_path / "cache")).save(artifact)
    assert command("compile", DIGITS, "--target", target, "-o", tmp_path / "other.wick").returncode == 0
    assert (tmp_path / "other.wick").stat().st_size > 100_000
    with pytest.raises(wick.Unsupported, match=f"compiled for {target}; this processor is a"):
        wick.Program.load(artifact)
    np.save(tmp_path / "x.npy", np.zeros((1, 1, 64, 64), np.uint8))
    for args in (["run", artifact], ["check", artifact], ["run", DIGITS, "--target", target, "-i", tmp_path / "x.npy"], ["bench", DIGITS, "--target", target]):  # fmt: skip
        r = command(*args)
        assert r.returncode == 1 and refused in r.stderr, (args, r.stderr)
