"""tf.contrib.learn: its data sets; the rest is not there yet."""

from types import ModuleType as _ModuleType

from weir import _lazy
from weir.examples.tutorials.mnist import input_data as _mnist


def _load_dataset(name, size="small", test_with_fake_data=False):
    if name != "mnist":
        raise NotImplementedError(f"tf.contrib.learn.datasets.load_dataset({name!r}) is not in Weir yet.")
    return _mnist.load_mnist()


datasets = _ModuleType("weir.contrib.learn.datasets")
datasets.mnist = datasets.base = _mnist
datasets.load_dataset = _load_dataset

__getattr__ = _lazy.resolver(__name__, {})
