"""Arrays between processes with different Pythons and numpys: pickled as (type, shape, bytes or list of bytes)."""
import pickle

import numpy as np


def pack(value):
    if isinstance(value, (bytes, str)):  # numpy's own strings lose zeros at the end
        return ('string', (), [value.encode() if isinstance(value, str) else value])
    value = np.asarray(value)
    if value.dtype.kind in 'OSU':
        return ('string', value.shape, [x.encode() if isinstance(x, str) else bytes(x) for x in value.reshape(-1)])
    if value.dtype.name == 'bfloat16':
        value = value.astype(np.float32)
    return (value.dtype.name, value.shape, value.tobytes())


def unpack(packed):
    dtype, shape, data = packed
    if dtype == 'string':
        value = np.empty(len(data), object)
        value[:] = data
        return value.reshape(shape)
    return np.frombuffer(data, dtype).reshape(shape)


def load(path):
    with open(path, 'rb') as f:
        return pickle.load(f)


def store(path, value):
    with open(path, 'wb') as f:
        pickle.dump(value, f, 2)


def append(path, value):
    with open(path, 'ab') as f:
        pickle.dump(value, f, 2)


def load_all(path):
    """What append() wrote, in order; what a process did not finish writing is left out."""
    values = []
    try:
        with open(path, 'rb') as f:
            while True:
                values.append(pickle.load(f))
    except (IOError, EOFError, pickle.UnpicklingError):
        return values
