"""States of models that `wick convert` wrote: they are inputs and outputs, which the model's metadata name."""

import base64

import numpy as np

DTYPES = {"tensor(float)": np.float32, "tensor(int32)": np.int32, "tensor(int16)": np.int16, "tensor(int8)": np.int8}


def converted_states(session):
    """({a state's input: its initial value}, {the same input: the output with its next value})."""
    about = session.get_modelmeta().custom_metadata_map
    inputs = {i.name: i for i in session.get_inputs()}
    first, following = {}, {}
    for key, own in about.items():
        if not (key.startswith("wick.state.") and key.endswith(".input")):
            continue
        i, state = inputs[own], key[: -len(".input")]
        initial, dtype = about[f"{state}.initial"], DTYPES[i.type]
        first[own] = np.zeros(i.shape, dtype) if initial == "zeros" else np.frombuffer(base64.b64decode(initial), dtype).reshape(i.shape)
        following[own] = about[f"{state}.output"]
    return first, following
