"""Writes caffe/opencv.npz: what OpenCV computes for the networks of caffe_cases.py. python3 make_caffe.py, with opencv-python-headless below 5."""
import pathlib
import tempfile

import cv2
import numpy as np
from caffe_cases import OPENCV
from caffe_nets import inputs, write


def computed(arrays, layers):
    with tempfile.TemporaryDirectory() as folder:
        path = write(pathlib.Path(folder), inputs(arrays) + layers)
        net = cv2.dnn.readNetFromCaffe(str(path), str(path.with_suffix(".caffemodel")))
        for name, a in arrays.items():
            net.setInput(a, name)
        return net.forward()


if __name__ == "__main__":
    at = pathlib.Path(__file__).parent / "caffe"
    at.mkdir(exist_ok=True)
    results = {}
    for name, (arrays, layers) in OPENCV.items():
        try:
            results[name] = computed(arrays, layers)
        except cv2.error as e:
            print(name, str(e).splitlines()[0])
    np.savez_compressed(at / "opencv.npz", **results)
