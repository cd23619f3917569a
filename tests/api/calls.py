"""Writes C from include/wick/wick.h: a function that makes the nth call of the header with random arguments, so
that a new function or a new field of a struct is covered by itself. tests/api/calls_test.c includes it."""

import re
import sys

OBJECTS = ["context", "model", "compiled", "session", "data_heap", "datum", "declarations"]


def parse(path):
    text = re.sub(r"/\*.*?\*/", "", open(path, encoding="utf-8").read(), flags=re.S)
    structs = {m[1]: [f.strip() for f in m[2].split(";") if f.strip()]
               for m in re.finditer(r"typedef struct (\w+) \{(.*?)\} \1;", text, flags=re.S)}
    calls = [(m[1].strip(), m[2], [" ".join(p.split()) for p in re.split(r",(?![^(]*\))", m[3])])
             for m in re.finditer(r"WICK_API ([\w\s]+?[\s*]+)(wick_\w+)\(([^;]*)\);", text)]
    return structs, calls


def declarators(field):
    """(type, name) of each declarator of a field; None if it is a function pointer or an array."""
    if "(" in field or "[" in field:
        return []
    names = field.split(",")
    kind, first = re.fullmatch(r"(.*?[\s*])(\w+)", " ".join(names[0].split())).groups()
    return [(kind.strip(), n.strip()) for n in [first, *names[1:]]]


def value(kind, name, structs):
    """An expression for a random value of that type; None: the field stays 0."""
    pointee = re.fullmatch(r"const (\w+) \*", kind)
    if kind == "const char *":
        return "any_string()"
    if kind == "const char *const *":
        return "any_strings()"
    if kind == "const void *":
        return "any_bytes()"
    if kind == "const wick_datatype *":
        return "any_type()"
    if kind == "const bool *":
        return "any_bools()"
    if kind == "const int64_t *":
        return "any_numbers()"
    if pointee and pointee[1] in structs:
        return f"any_{pointee[1]}()"
    if kind == "uint32_t":
        return "any_index()" if name in ("i", "k") else "any_count()"
    if kind in ("uint64_t", "size_t"):
        return "any_nbytes()"
    return {"int64_t": "any_number()", "bool": "any_bool()", "double": "any_double()"}.get(kind)


def reachable(structs, calls):
    """Structs that calls take by address, with their fields."""
    names = [m[1] for _, _, params in calls for p in params if (m := re.match(r"const (wick_\w+) \*\w", p))]
    seen = []
    while names:
        name = names.pop()
        if name not in structs or name in seen or name == "wick_datatype":
            continue
        seen.append(name)
        for field in structs[name]:
            if m := re.match(r"const (wick_\w+) \*", field):
                names.append(m[1])
    return seen


def write_struct(name, fields, structs, out):
    out.append(f"static const {name} *any_{name}(void)\n{{\n  static {name} pool[8][ANY_COUNT];")
    out.append(f"  {name} *x = pool[any_below(8)];\n  if (any_below(4) == 0) return NULL;")
    out.append(f"  memset(x, 0, ANY_COUNT * sizeof *x);\n  for (unsigned i = 0; i < ANY_COUNT; i++) {{")
    for field in fields:
        for kind, field_name in declarators(field):
            if field_name == "size" and kind == "size_t":
                out.append(f"    x[i].size = any_below(8) ? sizeof({name}) : any_size(sizeof({name}));")
            elif expression := value(kind, field_name, structs):
                out.append(f"    if (any_below(3) == 0) x[i].{field_name} = {expression};")
    out.append("  }\n  return x;\n}")


def argument(param, call):
    if function := re.search(r"\(\*(\w+)\)", param):
        return f"any_below(8) ? any_{function[1]} : NULL"
    kind, name = re.fullmatch(r"(.*?[\s*])(\w+)", param).groups()
    kind = kind.strip()
    for i, thing in enumerate(OBJECTS):
        if kind in (f"wick_{thing} *", f"const wick_{thing} *"):
            return f"any_object({i})"
        if kind == f"wick_{thing} **":
            return f"({kind})any_out({i})"
    if name == "fields":
        return "any_fields()"
    if kind in ("void *", "void **"): # bytes that a datum was written as
        return "NULL"
    if kind in ("size_t *", "uint32_t *", "bool *"):
        return f"any_below(4) ? &({kind[:-2]}){{0}} : NULL"
    if kind in ("const void *const *", "void *const *"):
        return f"({kind})any_buffers()"
    if kind in ("wick_error *", "const wick_error *"):
        return "NULL"
    if re.fullmatch(r"wick_\w+ \*", kind):
        return f"any_below(4) ? &(({kind[:-2]}){{0}}) : NULL"
    expression = value(kind, name, call)
    if not expression:
        sys.exit(f"calls.py does not know how to make `{param}`")
    return expression


def write_call(i, returns, name, params, structs, out):
    if params == ["void"]:
        params = []
    arguments = [argument(p, structs) for p in params]
    out.append(f"  case {i}: /* {name} */")
    if free := re.fullmatch(r"wick_(\w+)_free", name):
        if free[1] in OBJECTS:
            out.append(f"    any_free({OBJECTS.index(free[1])});\n    return;")
            return
    made = next((OBJECTS.index(m[1]) for p in params if (m := re.match(r"wick_(\w+) \*\*", p))), -1)
    text = f"{name}({', '.join(arguments)})"
    if returns == "wick_error *":
        out.append(f"    any_ended(\"{name}\", {made}, {text});")
    else:
        out.append(f"    (void){text};" if returns != "void" else f"    {text};")
    out.append("    return;")


def main():
    structs, calls = parse(sys.argv[1])
    out = ["/* Written by tests/api/calls.py. */"]
    for name in reversed(reachable(structs, calls)):
        out.append(f"static const {name} *any_{name}(void);")
    for name in reachable(structs, calls):
        write_struct(name, structs[name], structs, out)
    out.append(f"enum {{ ANY_NCALL = {len(calls)} }};\nstatic void any_call(unsigned n)\n{{\n  switch (n) {{")
    for i, call in enumerate(calls):
        write_call(i, *call, structs, out)
    out.append("  default: return;\n  }\n}")
    open(sys.argv[2], "w", encoding="utf-8").write("\n".join(out) + "\n")


main()
