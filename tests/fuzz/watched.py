"""Tries damaged models, each of which is its seed: one process imports, compiles and runs them by the Python package,
another one watches it.

It is a failure if the process crashes or hangs (over 10 s of a processor's time for a model, or two minutes), or
takes more than 2 GiB. Failures are kept with their output; the exit status is 1 if there are any."""

import argparse
import contextlib
import os
import pathlib
import resource
import select
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS, NBYTES = 10, 2 << 30
WAIT = 120  # seconds in which a machine with other work to do has given a process that has not stopped its 10


def change_bytes(r, b):
    """Changes some bytes of a bytearray."""
    for _ in range(r.randrange(1, 6)):
        if not b:
            return
        k, what = r.randrange(len(b)), r.randrange(5)
        if what == 0:
            b[k] = r.randrange(256)
        elif what == 1:
            b[k] ^= 1 << r.randrange(8)
        elif what == 2:
            del b[k : k + r.randrange(1, 9)]
        elif what == 3:
            b[k:k] = bytes(r.randrange(256) for _ in range(r.randrange(1, 9)))
        else:
            b[k:k] = b[k : k + r.randrange(1, 60)]
    if r.random() < 0.2:
        del b[r.randrange(len(b) + 1) :]


def run(wick, model):
    """Imports, compiles and runs a model, bytes or a path, with inputs of ones: what came of it, in a line."""
    import numpy as np

    try:
        s = wick.InferenceSession(model, cache="")
        feeds = {}
        for i in s.get_inputs():
            shape = [d if isinstance(d, int) else 2 for d in i.shape]
            if np.prod([float(d) for d in shape]) > 1e6:
                return "refused large"
            kind = i.type[len("tensor(") : -1]
            kind = {"float": "float32", "double": "float64"}.get(kind, kind)
            feeds[i.name] = np.ones(shape, np.dtype(kind) if hasattr(np, kind.rstrip("_")) else np.float32)
        s.run(None, feeds)
        return "ran"
    except (wick.WickError, ValueError, TypeError, MemoryError) as e:
        return f"refused {type(e).__name__}"


def worker(build, model):
    """Reads one seed per line, and answers with its outcome."""
    resource.setrlimit(resource.RLIMIT_AS, (NBYTES, NBYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path.insert(0, str(build / "python"))
    import wick

    for line in sys.stdin:
        print(model(int(line), wick), flush=True)


class Watched:
    def __init__(self, script, build):
        command = [sys.executable, script, "--worker", "--build", build]
        self.p = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, start_new_session=True)  # fmt: skip

    def give(self, seed):
        self.p.stdin.write(f"{seed}\n".encode())
        self.p.stdin.flush()
        self.seed, self.begun, self.used = seed, time.monotonic(), self.processor(str(self.p.pid))

    def processor(self, processes="[0-9]*"):
        """Seconds that the processes of its session have had, those that it has waited for too."""
        ticks = 0
        for stat in pathlib.Path("/proc").glob(f"{processes}/stat"):
            with contextlib.suppress(OSError):
                field = stat.read_text().rpartition(")")[2].split()  # from the state, field 3 of proc(5), on
                if field[3] == str(self.p.pid):
                    ticks += sum(map(int, field[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def late(self, more):
        took = time.monotonic() - self.begun
        return took > WAIT or (took > SECONDS and self.processor() - self.used > SECONDS + more)

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.p.pid, 9)
        return self.p.communicate()[1].decode(errors="replace")[-400:]


def main(doc, script, models, what, model, keep):
    """model(seed, wick) tries one of them, and gives its outcome in a line; keep(seed, folder) writes it into the folder of findings."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--models", type=int, default=models)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    p.add_argument("--keep", type=pathlib.Path)
    p.add_argument("--worker", action="store_true")
    a = p.parse_args()
    if a.worker:
        return worker(a.build.resolve(), model)
    folder = a.keep or a.build / "mutated"
    folder.mkdir(parents=True, exist_ok=True)
    first, last = a.seed * 1_000_000, a.seed * 1_000_000 + a.models
    left, count, found = iter(range(first, last)), {}, 0
    busy = {}

    def next_one(w):
        seed = next(left, None)
        if seed is None:
            w.p.stdin.close()
            w.p.wait()
            del busy[w.p.stdout]
        else:
            w.give(seed)

    def finding(w, why):
        nonlocal found
        found += 1
        print(f"{keep(w.seed, folder)}: {why}: {w.end()}", flush=True)
        del busy[w.p.stdout]
        start()

    def start():
        w = Watched(script, a.build)
        busy[w.p.stdout] = w
        next_one(w)

    for _ in range(a.jobs):
        start()
    slowest = (0.0, 0.0, first)  # seconds, those of a processor, and the seed
    while busy:
        ready, _, _ = select.select(list(busy), [], [], 0.5)
        for w in list(busy.values()):
            if w.p.stdout in ready:
                line = w.p.stdout.readline().decode().split()
                if not line:
                    finding(w, f"the process ended, status {w.p.wait()}")
                    continue
                slowest = max(slowest, (time.monotonic() - w.begun, w.processor() - w.used, w.seed))
                count[" ".join(line)] = count.get(" ".join(line), 0) + 1
                next_one(w)
            elif w.late(5 * (sum(count.values()) < a.jobs)):  # the first one imports
                finding(w, f"longer than {SECONDS} s of a processor, or {WAIT} s")
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    took, used, seed = slowest
    print(f"{a.models} {what}: {', '.join(f'{n} {k}' for k, n in sorted(count.items()))}; the slowest took {took:.1f} s, {used:.1f} s of a "
          f"processor ({keep(seed, folder)}), the largest process {child:.0f} MiB; {found} findings")  # fmt: skip
    return 1 if found else 0
