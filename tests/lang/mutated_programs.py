#!/usr/bin/env python3
"""Programs of the language with small mistakes, many of which still have types: none crashes or hangs the compiler.

  mutated_programs.py --seed 1 --count 1000 --jobs 2    prints what goes wrong
  mutated_programs.py --seed 77 --show                  the program

A mistake renames a variable, swaps or drops an argument, changes a literal, an operator or a type, drops, repeats or
swaps the arms of a match, or repeats a statement. What wick check refuses must name a place. What it accepts is run,
differentiated and batched as random_programs.py does it, natively and by the evaluator, which must agree. Where the
evaluator fails, native code fails, too, or has left out an operator whose result nobody uses; these are only counted.
Where the evaluator does not end, as in a loop that a mistake made endless, the variant is compiled and not run.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from random_programs import PRELUDE, Case, compare, generated, message, native, run, wanted  # noqa: E402

TYPES = ["f64", "i64", "bool", "f32", "f64[3]", "f64[2, 3]", "L[f64]", "T[f64]", "O[f64]", "Sh", "E", "Ref[f64]", "()"]
OPERATORS = [["+", "-", "*", "/"], ["<", "<=", "==", "!=", ">", ">="], ["&&", "||"]]
LITERALS = ["0", "1", "2", "3", "-1", "7", "0.0f64", "1.0f64", "-0.5f64", "2.5f64", "true", "false"]
CLOSES = {"(": ")", "[": "]", "{": "}"}
COUNTED = {"accepted", "left out", "endless"}
LIMIT = 4  # seconds of a processor for the evaluator, which takes a hundredth of one for most programs
KEYWORDS = set("fn let if else match for in with while true false type struct use op ref read write".split())


def tokens_of(text):
    return re.findall(r"\d+\.\d+\w*|\w+|=>|->|<=|>=|==|!=|&&|\|\||\s+|[^\w\s]", text)


def group(tokens, begin):
    """The index after the bracket that closes the one at `begin`, and the indices of the commas between them."""
    depth, commas = 0, []
    for i in range(begin, len(tokens)):
        if tokens[i] in CLOSES:
            depth += 1
        elif tokens[i] in CLOSES.values():
            depth -= 1
            if depth == 0:
                return i + 1, commas
        elif tokens[i] == "," and depth == 1:
            commas.append(i)
    return len(tokens), commas


def parts(rng, tokens, opening):
    """The parts between the commas of a random group: (begin, end) of the inside, and lists of tokens."""
    at = [i for i, t in enumerate(tokens) if t == opening]
    if not at:
        return None
    begin = rng.choice(at)
    end, commas = group(tokens, begin)
    cuts = [begin, *commas, end - 1]
    return begin + 1, end - 1, [tokens[a + 1 : b] for a, b in zip(cuts, cuts[1:])]


def names(tokens):
    return [i for i, t in enumerate(tokens) if re.fullmatch(r"[A-Za-z]\w*", t) and t not in KEYWORDS]


def rename(rng, tokens):
    at = rng.choice(names(tokens))
    alike = [tokens[i] for i in names(tokens) if tokens[i][0].isupper() == tokens[at][0].isupper()]
    tokens[at] = rng.choice(alike)


def literal(rng, tokens):
    at = [i for i, t in enumerate(tokens) if re.fullmatch(r"\d+\.\d+\w*|\d+|true|false", t)]
    if at:
        i = rng.choice(at)
        alike = [x for x in LITERALS if ("." in x) == ("." in tokens[i]) and x.isalpha() == tokens[i].isalpha()]
        tokens[i] = rng.choice(alike if rng.random() < 0.8 and alike else LITERALS)


def operator(rng, tokens):
    at = [(i, row) for i, t in enumerate(tokens) for row in OPERATORS if t in row]
    if at:
        i, row = rng.choice(at)
        tokens[i] = rng.choice(row)


def change_type(rng, tokens):
    at = [i for i, t in enumerate(tokens) if t in TYPES]
    if at:
        tokens[rng.choice(at)] = rng.choice(TYPES)


def arrange(opening):
    """Drops, repeats or swaps parts of a group: arguments, elements, fields, arms."""

    def change(rng, tokens):
        found = parts(rng, tokens, opening)
        if found is None or not found[2]:
            return
        begin, end, inside = found
        i, how = rng.randrange(len(inside)), rng.randrange(4)
        if how == 0:
            del inside[i]
        elif how == 1:
            inside.insert(i, inside[i])
        else:
            j = rng.randrange(len(inside))
            inside[i], inside[j] = inside[j], inside[i]
        tokens[begin:end] = [t for k, part in enumerate(inside) for t in ([","] if k else []) + part]

    return change


def statement(rng, tokens):
    at = [i for i, t in enumerate(tokens) if t in (";", "{")]
    ends = [i for i, t in enumerate(tokens) if t == ";"]
    if ends:
        end = rng.choice(ends)
        begin = max((i for i in at if i < end), default=-1)
        tokens[begin + 1 : begin + 1] = tokens[begin + 1 : end + 1]


CHANGES = [rename, rename, literal, literal, operator, change_type, arrange("("), arrange("("), arrange("{"), arrange("["), statement]


def mutated(text, seed):
    rng, tokens = random.Random(seed), tokens_of(text)
    for _ in range(rng.randint(1, 2)):
        rng.choice(CHANGES)(rng, tokens)
    return "".join(tokens)


class Mutant(Case):
    """A random program with mistakes, and variants of it."""

    def __init__(self, seed, program=None, names=None):
        super().__init__(seed, program or generated(seed), names)
        whole = str(self.program)
        self.text = self.text.replace(whole, mutated(whole, seed), 1)

    def with_names(self, names):
        return Mutant(self.seed, self.program, names)


def accepted(folder, case):
    """Whether the program has types, and what is wrong with the answer, as (kind, text), or None."""
    (folder / "one.wick").write_text("\n".join([PRELUDE, case.text, *case.entries()]) + "\n")
    r = run("check", "one.wick", cwd=folder)
    if r.returncode == 124:
        return False, ("hang", r.stderr)
    if r.returncode not in (0, 1):
        return False, ("crash", f"status {r.returncode}: {message(r.stderr)}")
    if r.returncode == 1 and not re.search(r"one\.wick:\d+:\d+: error: ", r.stderr):
        return False, ("message", message(r.stderr))
    return r.returncode == 0, None


def failing(folder, case, name):
    """What native code does wrong in a variant for which the evaluator fails; None if it fails, too."""
    found, error, _ = native(folder, [case.with_names([name])])
    if found is not None:
        return "left out", "has a result where the evaluator fails"
    if not error.startswith("status 1:"):
        return "hang" if error.startswith("status 124") else "crash", error
    return None


def compiled(folder, case, name):
    """What the compiler does wrong with a variant that does not end."""
    text = [PRELUDE, case.text, *case.with_names([name]).entries()]
    (folder / "endless.wick").write_text("\n".join(text) + "\n")
    r = run("compile", "endless.wick", "--entry", f"{case.program.name}_{name}", "-o", "out.wick", "--no-cache", cwd=folder)
    kinds = {0: "endless", 1: "refused", 124: "hang"}
    return kinds.get(r.returncode, "crash"), f"status {r.returncode}: {message(r.stderr)}"


def examine(folder, seed):
    """Yields (case, variant, kind, text) of what goes wrong, and of the kinds in COUNTED."""
    case = Mutant(seed)
    has_types, wrong = accepted(folder, case)
    if wrong:
        yield case, "check", *wrong
    if not has_types:
        return
    results = wanted(folder, case, LIMIT)
    for n, (values, r) in results.items():
        if r.returncode == 124:
            yield case, n, *compiled(folder, case, n)
        if values is not None or r.returncode == 124 or "too deep" in r.stderr:
            continue
        wrong = ("crash", f"evaluator: status {r.returncode}") if r.returncode != 1 else failing(folder, case, n)
        if wrong:
            yield case, n, wrong[0], f"{wrong[1]}: {message(r.stderr)}"
    sound = case.with_names([n for n, (values, _) in results.items() if values is not None])
    if sound.variants:
        want = {(seed, n): r.said for n, (values, r) in results.items() if values is not None}
        want[seed] = {n: v for n, (v, _) in results.items() if v is not None}
        yield from compare(folder, [sound], want)
    yield case, "check", "accepted", ""


def one(seed):
    with tempfile.TemporaryDirectory(prefix="wick-mutated-") as folder:
        return [(c.seed, n, kind, what) for c, n, kind, what in examine(pathlib.Path(folder), seed)]


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--count", type=int, default=1)
    a.add_argument("--jobs", type=int, default=1)
    a.add_argument("--show", action="store_true", help="prints the program and its variants")
    args = a.parse_args()
    if args.show:
        c = Mutant(args.seed)
        print("\n".join([PRELUDE, c.text, *c.entries()]))
        return 0
    kinds, counted = collections.Counter(), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for found in pool.map(one, range(args.seed, args.seed + args.count)):
            for seed, variant, kind, what in found:
                counted[kind] += kind in COUNTED
                if kind not in COUNTED:
                    print(f"{kind}: program {seed}, {variant}: {what}", flush=True)
                    kinds[kind, what] += 1
    for (kind, what), n in kinds.most_common():
        print(f"{n:5} {kind} {what}")
    print(f"{args.count} programs, {counted['accepted']} accepted, {sum(kinds.values())} findings; "
          f"{counted['left out']} failures left out, {counted['endless']} variants compiled that do not end")  # fmt: skip
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
