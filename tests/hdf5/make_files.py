"""Writes files/*.h5 with h5py, and what they hold as files/*.txt, which hdf5_test.c reads.

    python make_files.py     (needs h5py and numpy)

A line of the text is one of

    group PATH NAME,NAME,...
    data PATH KIND SIZE DIMS HASH
    attr PATH NAME KIND SIZE DIMS HASH
    none PATH NAME                        no such attribute
    fail PATH TEXT                        reading it fails with a message that contains TEXT

DIMS is "-" for a scalar, else like 2x3; HASH is FNV-1a of the elements' bytes, little-endian; of strings, of their bytes
with a newline after each.
"""
import pathlib

import h5py
import numpy as np

HERE = pathlib.Path(__file__).parent / "files"
SEED = np.random.default_rng(7)


def fnv(data):
    h = 0xCBF29CE484222325
    for b in data:
        h = (h ^ b) * 0x100000001B3 & (1 << 64) - 1
    return "%016x" % h


def described(value, dtype):
    """KIND SIZE DIMS HASH of what h5py read."""
    kind = {"i": "int", "u": "uint", "f": "float", "b": "bool", "V": "opaque", "S": "string", "O": "strings"}[dtype.kind]
    array = np.asarray(value)
    if dtype.kind in "SO":
        items = [v if isinstance(v, bytes) else v.encode() for v in array.reshape(-1).tolist()]
        data = b"".join(v + b"\n" for v in items)
    else:
        data = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"))).tobytes()
    size = 16 if dtype.kind == "O" else dtype.itemsize
    dims = "x".join(map(str, array.shape)) if array.shape else "-"
    return "%s %d %s %s" % (kind, size, dims, fnv(data))


def describe(f, refused):
    lines = []

    def attributes(path, item):
        for name in item.attrs:
            aid = item.attrs.get_id(name)
            lines.append("attr %s %s %s" % (path, name, described(item.attrs[name], aid.dtype)))
        lines.append("none %s no_such_attribute" % path)

    def visit(path, item):
        attributes(path, item)
        if isinstance(item, h5py.Dataset):
            if path in refused:
                lines.append("fail %s %s" % (path, refused[path]))
            else:
                lines.append("data %s %s" % (path, described(item[()], item.dtype)))
            return
        names = sorted(item)
        lines.append("group %s %s" % (path, ",".join(names)))
        for name in names:
            visit(path.rstrip("/") + "/" + name, item[name])

    visit("/", f)
    return lines


def write(name, fill, refused=None, **how):
    path = HERE / (name + ".h5")
    with h5py.File(path, "w", **how) as f:
        fill(f)
    with h5py.File(path, "r") as f:
        path.with_suffix(".txt").write_text("\n".join(describe(f, refused or {})) + "\n")


def numbers(f):
    for t in ["i1", "u1", "<i2", ">i2", "<u4", ">u4", "<i8", ">i8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]:
        f[t.replace("<", "le_").replace(">", "be_")] = (SEED.random((3, 5)) * 100).astype(t)
    f["truth"] = np.array([True, False, True])
    f["scalar"] = np.float32(1.5)
    f["empty"] = np.zeros((0, 4), np.float32)
    f["fixed"] = np.array([b"one", b"two three", b""])
    f["variable"] = np.array(["a", "", "longer text", "\u00e4\u00f6"], dtype=h5py.string_dtype())
    f["opaque"] = np.array([b"ab", b"cd"], dtype="V2")
    f.attrs["text"] = "a text of variable length"
    f.attrs["bytes"] = np.bytes_("fixed")
    f.attrs["names"] = [b"kernel", b"bias"]
    f.attrs["number"] = 42
    f.attrs["list"] = np.arange(6, dtype=np.float64).reshape(2, 3)
    f.create_dataset("never_written", (4, 3), "f4", fillvalue=2.5)


def groups(f):
    for i in range(40):
        f.create_group("layers/dense_%02d" % i)["kernel"] = np.full((2,), i, np.int32)
    f.create_group("a/b/c/d")["e"] = np.arange(3)
    f["hard"] = f["a/b"]
    f["soft"] = h5py.SoftLink("/a/b/c")
    f["relative"] = h5py.SoftLink("a/b")


def attributes(f):
    for i in range(30):
        f.attrs["attribute_%02d" % i] = np.arange(i + 1)
    f.create_group("g").attrs["large"] = np.arange(6000, dtype=np.float32)
    d = f.create_dataset("committed", data=np.arange(4, dtype="<i4"))
    f["type"] = np.dtype("<f4")
    f.create_dataset("shared", data=np.ones(3, "f4"), dtype=f["type"])
    d.attrs.create("shared", np.ones(2, "f4"), dtype=f["type"])
    del f["type"]


def large(f):
    f.create_group("g").attrs["huge"] = np.arange(9000, dtype=np.float64)


def chunks(f):
    a = (np.arange(37 * 29) % 251).astype("<f4").reshape(37, 29)
    f.create_dataset("plain", data=a, chunks=(8, 8))
    f.create_dataset("deflate", data=a, chunks=(8, 8), compression="gzip")
    f.create_dataset("shuffle", data=a, chunks=(10, 29), compression="gzip", shuffle=True)
    f.create_dataset("checksum", data=a, chunks=(8, 8), fletcher32=True)
    f.create_dataset("all", data=a, chunks=(37, 5), compression="gzip", shuffle=True, fletcher32=True)
    f.create_dataset("one", data=a, chunks=(37, 29), compression="gzip")
    f.create_dataset("one_plain", data=a, chunks=(37, 29))
    f.create_dataset("grows", data=a, chunks=(4, 29), maxshape=(None, 29))
    f.create_dataset("grows_second", data=a, chunks=(37, 3), maxshape=(37, None), compression="gzip")
    f.create_dataset("grows_twice", data=a, chunks=(7, 5), maxshape=(None, None), compression="gzip")
    f.create_dataset("grows_plain", data=a, chunks=(7, 5), maxshape=(None, None))
    f.create_dataset("may_grow", data=a, chunks=(8, 8), maxshape=(100, 50))
    if f.libver[0] != "earliest":  # large enough for the second level of each index
        f.create_dataset("many", data=np.arange(3000, dtype="<i2"), chunks=(1,), maxshape=(None,))
        f.create_dataset("paged", data=np.arange(1500, dtype="u1"), chunks=(1,))
    f.create_dataset("cube", data=np.arange(4 * 6 * 10, dtype=">i4").reshape(4, 6, 10), chunks=(3, 4, 7))
    d = f.create_dataset("holes", (64, 64), "f8", chunks=(16, 16), fillvalue=-1.0, maxshape=(None, 64))
    d[20:30, 5:50] = 3.0
    f.create_dataset("strings", data=np.array([b"x%d" % i for i in range(50)]), chunks=(7,), compression="gzip")
    f.create_dataset("lzf", data=a, chunks=(8, 8), compression="lzf")


def main():
    HERE.mkdir(exist_ok=True)
    lzf = {"/lzf": "the filter lzf (32000) is not supported"}
    for libver, name in (("earliest", "old"), ("latest", "new")):
        write("numbers_" + name, numbers, libver=libver)
        write("groups_" + name, groups, libver=libver)
        write("attributes_" + name, attributes, libver=libver)
        write("chunks_" + name, chunks, lzf, libver=libver)
    write("huge_new", large, libver="latest")
    write("ordered", groups, libver="latest", track_order=True)
    write("user_block", numbers, userblock_size=1024)


if __name__ == "__main__":
    main()
