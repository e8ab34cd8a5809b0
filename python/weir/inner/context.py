"""tensorflow.python.eager.context: Weir always builds graphs."""

import contextlib
import unittest

from weir.core import devices

GRAPH_MODE, EAGER_MODE = 0, 1


def executing_eagerly():
    return False


in_eager_mode = executing_eagerly


def in_graph_mode():
    return True


@contextlib.contextmanager
def graph_mode():
    yield


def eager_mode():
    raise unittest.SkipTest("eager execution is not in Weir: it is TensorFlow 2's")


def num_gpus():
    return sum(device.device_type == "GPU" for device in devices.list_local_devices())


class _Context:
    executing_eagerly = staticmethod(executing_eagerly)
    num_gpus = staticmethod(num_gpus)


def context():
    return _Context()


def ensure_initialized():
    pass
