"""Operators of MXNet whose results MXNet itself computed: make_mxnet.py keeps them in mxnet/results.npz."""
import numpy as np


def boxes(r, *shape):
    corner, size = r.uniform(0, 0.7, (*shape, 2)), r.uniform(0.05, 0.4, (*shape, 2))
    return np.concatenate([corner, corner + size], -1).astype(np.float32)


def suppression(r):
    shape, count, extra = [(), (2,), (2, 3)][r.randint(3)], r.randint(1, 14), r.randint(0, 3)
    label = r.randint(0, 3, (*shape, count, 1)).astype(np.float32)
    x = np.concatenate([label, r.rand(*shape, count, 1), boxes(r, *shape, count), r.rand(*shape, count, extra)], -1).astype(np.float32)
    attributes = dict(overlap_thresh=r.choice([0.3, 0.5]), valid_thresh=r.choice([0, 0.3]), topk=r.choice([-1, 3, 20]), id_index=r.choice([-1, 0]),
                      background_id=r.choice([-1, 0]), force_suppress=bool(r.randint(2)), in_format=r.choice(["corner", "center"]), out_format=r.choice(["corner", "center"]))
    return "_contrib_box_nms", [x], attributes, 1


def detection(r):
    batch, classes, count = r.randint(1, 3), r.randint(2, 5), r.randint(1, 12)
    p = r.rand(batch, classes, count).astype(np.float32)
    attributes = dict(clip=bool(r.randint(2)), threshold=r.choice([0.01, 0.5]), nms_threshold=r.choice([0.3, 0.5]), force_suppress=bool(r.randint(2)), nms_topk=r.choice([-1, 4]))
    return "_contrib_MultiBoxDetection", [p, r.standard_normal((batch, count * 4)).astype(np.float32), boxes(r, 1, count)], attributes, 1


KINDS = [suppression, detection]


def cases():
    """operator, arrays, attributes, number of results"""
    for k, kind in enumerate(KINDS):
        for seed in range(8):
            yield f"{kind.__name__}_{seed}", kind(np.random.RandomState(100 * k + seed))
