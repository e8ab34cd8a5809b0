"""Strategies for tf.train.replica_device_setter: which parameter server gets a variable."""

import numpy as np

from weir.core.tensor_shape import as_shape


class GreedyLoadBalancingStrategy:
    """The server with the least load so far; ``load_fn(op)`` says what an operation adds to it."""

    def __init__(self, num_tasks, load_fn):
        self._load_fn, self._ps_loads = load_fn, np.zeros(num_tasks)

    def __call__(self, op):
        task = int(np.argmin(self._ps_loads))
        self._ps_loads[task] += self._load_fn(op)
        return task


class RandomStrategy:
    """A server by chance, the same ones for the same seed."""

    def __init__(self, num_ps_tasks, seed=0):
        self._num_tasks, self._random = num_ps_tasks, np.random.RandomState(seed)

    def __call__(self, op):
        return int(self._random.randint(self._num_tasks))


def byte_size_load_fn(op):
    """The bytes of a variable, whose shape must be known."""
    shape = as_shape(op.get_attr("shape"))
    shape.assert_is_fully_defined()
    return shape.num_elements() * op.get_attr("dtype").size
