"""Makes models/labels.tflite: a softmax of three numbers, whose metadata name labels.txt.

python make_labels.py: with ai-edge-litert and flatbuffers.
"""

import pathlib

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from tflite_build import Case, Tensor, Writer, options


def metadata():
    """ModelMetadata > SubGraphMetadata > TensorMetadata > AssociatedFile of the kind "labels of an axis"."""
    b = flatbuffers.Builder(256)
    name = b.CreateString("labels.txt")
    b.StartObject(5)
    b.PrependUOffsetTRelativeSlot(0, name, 0)
    b.PrependInt8Slot(2, 2, 0)
    inner = b.EndObject()
    for slot, count in ((6, 7), (3, 6), (3, 8)):  # the list of files, of outputs, of subgraphs
        b.StartVector(4, 1, 4)
        b.PrependUOffsetTRelative(inner)
        inner = b.EndVector()
        b.StartObject(count)
        b.PrependUOffsetTRelativeSlot(slot, inner, 0)
        inner = b.EndObject()
    b.Finish(inner, b"M001")
    return bytes(b.Output())


def main():
    w = Writer()
    x = Tensor([1, 3], "f4", None, np.zeros([1, 3], "f4"))
    w.add(Case("SOFTMAX", 1, [x], [Tensor([1, 3], "f4")], options("SoftmaxOptions", beta=1.0)))
    buffer, entry = schema.BufferT(), schema.MetadataT()
    buffer.data = np.frombuffer(metadata(), np.uint8)
    entry.name, entry.buffer = "TFLITE_METADATA", len(w.m.buffers)
    w.m.buffers.append(buffer)
    w.m.metadata = [entry]
    (pathlib.Path(__file__).parent / "models" / "labels.tflite").write_bytes(w.bytes())


if __name__ == "__main__":
    main()
