"""tf.contrib.learn.datasets."""

from weir import names as _names
from weir.examples.tutorials.mnist import input_data as _mnist


def load_dataset(name, size="small", test_with_fake_data=False):
    if name != "mnist":
        raise NotImplementedError(f"tf.contrib.learn.datasets.load_dataset({name!r}) is not in Weir yet.")
    return _mnist.load_mnist()


__getattr__, __dir__ = _names.namespace(__name__)
