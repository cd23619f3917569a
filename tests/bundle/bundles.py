"""Bundles for tests: made by the command, linked by a plain C compiler, run natively or under an emulator."""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
CC = os.environ.get("CC", "cc")

TYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": np.uint16, "I64": np.int64, "I32": np.int32,
         "I16": np.int16, "I8": np.int8, "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8,
         "BOOL": np.bool_}  # fmt: skip

# Beside these, what bundle.h documents: helpers of Arm's run-time ABI.
FROM_OUTSIDE = {"memcpy", "memmove", "memset"}
HELPERS = {"thumb": re.compile(r"__aeabi_[a-z0-9]+$"), "wasm": re.compile(r"__stack_pointer$")}

# What Linux calls the instructions that a level has.
LEVELS = {"x86-64-v1": {"sse2"},
          "x86-64-v2": {"sse2", "ssse3", "sse4_1", "sse4_2", "popcnt"},
          "x86-64-v3": {"sse4_2", "avx2", "fma", "f16c", "bmi1", "bmi2", "movbe"},
          "x86-64-v4": {"avx2", "fma", "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}}  # fmt: skip
# And its extras.
EXTRAS = {"avxvnni": {"avx_vnni"}, "avx512vnni": {"avx512_vnni"}, "avx512vbmi": {"avx512vbmi"}}


class Target:
    def __init__(self, name, kind, compiler=(), emulator=(), memory=None):
        self.name, self.kind, self.compiler, self.emulator = name, kind, list(compiler), list(emulator)
        self.memory = memory  # of a board: code and data, for the linker

    def __repr__(self):
        return self.name

    def want(self):
        """Skips the test where a tool, or this processor, is missing."""
        level, *extras = self.name.split("+")
        if level in LEVELS:
            flags = re.search(r"^flags\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
            if not flags or not LEVELS[level].union(*(EXTRAS[x] for x in extras)) <= set(flags[1].split()):
                pytest.skip(f"this processor does not run {self.name}")
        for tool in {*self.compiler[:1], *self.emulator[:1]}:
            if not shutil.which(tool):
                pytest.skip(f"{tool} is not installed; scripts/setup.sh test installs it")
        if self.kind == "thumb" and not pathlib.Path("/usr/lib/arm-none-eabi/newlib").exists():
            pytest.skip("newlib for arm-none-eabi is not installed; scripts/setup.sh test installs it")
        if self.kind == "wasm":
            self.linker = next((t for t in ("wasm-ld-19", "wasm-ld") if shutil.which(t)), None)
            if not self.linker:
                pytest.skip("wasm-ld is not installed; scripts/setup.sh test installs it")


MPS2 = ("ORIGIN = 0x00000000, LENGTH = 4M", "ORIGIN = 0x20000000, LENGTH = 4M")  # AN385, AN386 and AN500
MPS3 = ("ORIGIN = 0x00000000, LENGTH = 512K", "ORIGIN = 0x60000000, LENGTH = 16M")  # AN547
NRF51 = ("ORIGIN = 0x00000000, LENGTH = 256K", "ORIGIN = 0x20000000, LENGTH = 16K")


def _cortex(name, cpu, fpu, machine, memory=MPS2):
    # On the float registers the object and its user agree: the ABI is "hard" where there are any.
    flags = [f"-mfpu={fpu}", "-mfloat-abi=hard"] if fpu else ["-mfloat-abi=soft"]
    return Target(name, "thumb", ["arm-none-eabi-gcc", "-mthumb", f"-mcpu={cpu}", *flags],
                  ["qemu-system-arm", "-machine", machine, "-nographic", "-monitor", "none", "-serial", "none",
                   "-semihosting-config", "enable=on,target=native", "-kernel"], memory)  # fmt: skip


_AARCH64, _RISCV64 = ["aarch64-linux-gnu-gcc", "-static"], ["riscv64-linux-gnu-gcc", "-static"]
TARGETS = [
    *(Target(level, "native", [CC]) for level in LEVELS),
    Target("armv8-a", "user", _AARCH64, ["qemu-aarch64", "-cpu", "cortex-a53"]),
    Target("armv8.2-a", "user", _AARCH64, ["qemu-aarch64", "-cpu", "max"]),
    *(Target(f"armv8.2-a-sve{n}", "user", _AARCH64, ["qemu-aarch64", "-cpu", f"max,sve-max-vq={n // 128}"])
      for n in (256, 512)),
    Target("rv64gc", "user", _RISCV64, ["qemu-riscv64", "-cpu", "rv64"]),
    Target("rv64gcv", "user", _RISCV64, ["qemu-riscv64", "-cpu", "rv64,v=true,vext_spec=v1.0,vlen=128"]),
    *(Target(f"rv64gcv-zvl{n}b", "user", _RISCV64, ["qemu-riscv64", "-cpu", f"rv64,v=true,vext_spec=v1.0,vlen={n}"])
      for n in (256, 512)),
    _cortex("cortex-m0", "cortex-m3", None, "mps2-an385"),  # code for the M0 runs on an M3, which has more memory here
    _cortex("cortex-m3", "cortex-m3", None, "mps2-an385"),
    _cortex("cortex-m4", "cortex-m4", "fpv4-sp-d16", "mps2-an386"),
    _cortex("cortex-m7", "cortex-m7", "fpv5-d16", "mps2-an500"),
    _cortex("cortex-m55", "cortex-m55", "auto", "mps3-an547", MPS3),
    Target("wasm32", "wasm", ["clang", "--target=wasm32"], ["node"]),
    Target("wasm32-simd", "wasm", ["clang", "--target=wasm32"], ["node"]),
]
# Machines that differ from those above in their dot products of bytes.
BYTES = [*(Target(name, "native", [CC]) for name in ("x86-64-v3+avxvnni", "x86-64-v4+avx512vnni",
                                                    "x86-64-v4+avx512vnni+avx512vbmi")),
         Target("armv8.2-a+i8mm", "user", _AARCH64, ["qemu-aarch64", "-cpu", "max"]),
         Target("armv8.2-a-sve256+i8mm", "user", _AARCH64, ["qemu-aarch64", "-cpu", "max,sve-max-vq=4"])]  # fmt: skip
MICROBIT = _cortex("cortex-m0", "cortex-m0", None, "microbit", NRF51)
HOST = Target("host", "native", [CC])
NAMES = {t.name: t for t in TARGETS}
each_target = pytest.mark.parametrize("target", TARGETS, ids=repr)
each_byte_target = pytest.mark.parametrize("target", TARGETS + BYTES, ids=repr)
each_level = pytest.mark.parametrize("target", [t for t in TARGETS if t.kind == "native"], ids=repr)


def call(command, cwd=None, timeout=600, **more):
    r = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, timeout=timeout, **more)
    assert r.returncode == 0, f"{' '.join(map(str, command))}: {r.returncode}\n{r.stdout[-4000:]!r}\n{r.stderr[-4000:]!r}"
    return r.stdout


@contextlib.contextmanager
def emulator_bugs():
    """Skips the test if correct code makes the emulator fail by an assertion of its own."""
    try:
        yield
    except AssertionError as e:
        if "decode_save_opc: Assertion" in str(e):  # gen_set_rm of vfcvt.rtz, twice in a block
            pytest.skip("qemu-riscv64 before 8.0 ends at two vector conversions that truncate")
        raise


class Io:
    """An input or output, as the header describes it."""

    def __init__(self, macro, prefix):
        def get(what):
            return macro[f"{prefix}_{what}"]

        self.name = get("NAME").strip('"')
        self.type = get("TYPE").removeprefix("WICK_BUNDLE_")
        self.offset, self.nbytes = int(get("OFFSET")), int(get("BYTES"))
        dims = [int(d) for d in get("SHAPE").strip("{}").split(",")]
        self.shape = dims if int(get("RANK")) else []

    def array(self, data):
        return np.frombuffer(data, TYPES[self.type], int(np.prod(self.shape)), self.offset).reshape(self.shape)


class Bundle:
    def __init__(self, model, folder, target, name="net", embed=False, entry=None, more=()):
        self.target, self.folder, self.name, self.embed = target, pathlib.Path(folder), name, embed
        flags = [*(["--embed"] if embed else []), *(["--entry", entry] if entry else []), *more]
        call([WICK, "compile", model, "-o", folder, "--name", name, "--target", target.name, "--jobs", "1", *flags])
        self.header = (self.folder / f"{name}.h").read_text()
        m = self.macro = dict(re.findall(r"^#define (\w+) (.*?)(?: /\*.*)?$", self.header, re.M))
        self.prefix = p = name.upper()
        self.inputs = [Io(m, f"{p}_INPUT_{i}") for i in range(int(m[f"{p}_INPUTS"]))]
        self.outputs = [Io(m, f"{p}_OUTPUT_{i}") for i in range(int(m[f"{p}_OUTPUTS"]))]
        self.program = None

    def size(self, what):
        return int(self.macro[f"{self.prefix}_{what}_BYTES"])

    def needs(self):
        """The undefined symbols of the object, but those that its kind of machine may have."""
        nm = next((t for t in ("llvm-nm-19", "nm") if shutil.which(t)), None)
        if not nm:
            pytest.skip("nm is not installed; scripts/setup.sh test installs it")
        lines = call([nm, "-u", self.folder / f"{self.name}.o"]).decode().split("\n")
        names = {line.split()[-1] for line in lines if line.strip()}
        helper = HELPERS.get(self.target.kind)
        return {n for n in names if n not in FROM_OUTSIDE and not (helper and helper.match(n))}

    def _defines(self):
        p = self.prefix
        d = {"HEADER": f'"{self.name}.h"', "FUNCTION": self.name, "CONSTANTS": f"{p}_CONSTANTS_BYTES",
             "MUTABLE": f"{p}_MUTABLE_BYTES", "ARENA": f"{p}_ARENA_BYTES", "WEIGHTS": f'"{self.name}.weights.bin"'}  # fmt: skip
        if self.embed:
            d["EMBEDDED"] = f"{self.name}_constants"
        return [f"-D{k}={v}" for k, v in d.items()]

    def link(self, runner="runner.c", *more):
        t, f, o = self.target, self.folder, self.folder / f"{self.name}.o"
        flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{f}", *self._defines(), *more]
        self.program = f / "program"
        if t.kind == "thumb":
            script = (HERE / "cortex.ld").read_text().replace("@CODE@", t.memory[0]).replace("@DATA@", t.memory[1])
            (f / "board.ld").write_text(script)
            call([*t.compiler, *flags, "-specs=rdimon.specs", "-nostartfiles", f"-T{f / 'board.ld'}",
                  HERE / runner, HERE / "cortex.c", o, "-lm", "-o", self.program])  # fmt: skip
        elif t.kind == "wasm":
            call([*t.compiler, *flags, "-fno-builtin", "-c", HERE / "runner_wasm.c", "-o", f / "runner.o"])
            exports = [f"--export={x}" for x in ("run", "weights_at", "data_at", "arena_at")]
            call([t.linker, "--no-entry", *exports, f / "runner.o", o, "-o", self.program])
        else:
            call([*t.compiler, *flags, HERE / runner, o, "-lm", "-o", self.program])

    def _call(self, arrays, sizes):
        """The exit status, which is the bundle's code."""
        if not self.program:
            self.link()
        data = bytearray(self.size("MUTABLE"))
        for io, a in zip(self.inputs, arrays, strict=True):
            assert a.nbytes == io.nbytes or (sizes and a.nbytes < io.nbytes), (io.name, a.nbytes, io.nbytes)
            data[io.offset : io.offset + a.nbytes] = a.tobytes()
        for name, n in (sizes or {}).items():
            at = int(self.macro[f"{self.prefix}_SIZES_OFFSET"]) + 8 * int(self.macro[f"{self.prefix}_SIZE_{name}"])
            data[at : at + 8] = int(n).to_bytes(8, "little", signed=True)
        (self.folder / "in").write_bytes(data)
        (self.folder / "out").unlink(missing_ok=True)
        t, command = self.target, [self.program]
        if t.kind == "wasm":
            weights = [] if self.embed else [f"{self.name}.weights.bin"]
            command = [HERE / "runner_wasm.js", self.program, self.size("ARENA"), *weights]
        command = [str(c) for c in (*t.emulator, *command)]
        r = subprocess.run(command, cwd=self.folder, capture_output=True,
                           timeout=600, stdin=subprocess.DEVNULL)  # fmt: skip
        self.said = f"{' '.join(command)}: {r.returncode}\n{r.stdout[-4000:]!r}\n{r.stderr[-4000:]!r}"
        return r.returncode

    def code(self, *arrays, sizes=None):
        """The code that the bundle returns if it refuses to run."""
        code = self._call(arrays, sizes)
        assert not (self.folder / "out").exists()
        return code

    def run(self, *arrays, sizes=None):
        """The outputs, of two runs that must be the same; with `sizes`, as large as they can be."""
        with emulator_bugs():
            code = self._call(arrays, sizes)
            assert code == 0, self.said
        out = (self.folder / "out").read_bytes()
        updated = {io.offset for io in self.outputs}  # by outputs in the memory of donated inputs
        for io, a in zip(self.inputs, arrays):
            assert io.offset in updated or out[io.offset : io.offset + a.nbytes] == a.tobytes(), f"{io.name} was changed"
        return [io.array(out) for io in self.outputs]


def text_bundle(text, folder, target):
    """The bundle of a model in Wick's own text; skips the test if a tool for the target is missing."""
    target.want()
    model = folder / "net.wick"
    model.write_text(text)
    return Bundle(model, folder / "bundle", target)


def jit(model, folder, target, *arrays):
    """The outputs of `wick run` for the same level."""
    folder = pathlib.Path(folder)
    files = []
    for i, a in enumerate(arrays):
        files.append(folder / f"input_{i}.npy")
        np.save(files[-1], a)
    call([WICK, "run", model, "--inputs", *files, "--outputs", folder / "jit", "--target", target.name, "--no-cache",
          "--threads", "2"])  # fmt: skip
    return [np.load(folder / "jit" / f"output_{k}.npy") for k in range(len(list((folder / "jit").iterdir())))]


def same_bits(a, b):
    return a.dtype.itemsize == b.dtype.itemsize and a.tobytes() == b.tobytes()
