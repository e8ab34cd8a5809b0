"""tf.contrib.memory_stats: how much memory is used.

Weir's devices live in the process's memory (GPUs of their own excepted, whose memory is not counted here), so these are
the process's figures, wherever the operations are placed.
"""

import os
import resource

import numpy as np

from weir.core import dtypes
from weir.ops.script_ops import py_func


def _bytes(measure, name):
    value = py_func(lambda: np.int64(measure()), [], dtypes.int64, name=name)
    value.set_shape([])
    return value


def _in_use():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def BytesInUse():
    """What is resident at the time of the run."""
    return _bytes(_in_use, "BytesInUse")


def MaxBytesInUse():
    """The most that has been resident so far."""
    return _bytes(lambda: max(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, _in_use()), "MaxBytesInUse")


def BytesLimit():
    """What the machine has."""
    return _bytes(lambda: os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), "BytesLimit")
