"""tf.contrib.nccl: tensors of several devices added up, or reduced otherwise, and given to each of them.

Where the devices are those of one process nothing but ordinary operations is needed: copies between devices are steps of
the plan, and gradients follow from the operations.
"""

import functools

from weir.core.graph import device
from weir.ops import array_ops, math_ops


def _checked(tensors):
    tensors = list(tensors)
    if not tensors:
        raise ValueError("Must pass >0 tensors to all reduce operations")
    for tensor in tensors:
        if not tensor.device:
            raise ValueError(f"Device assignment required for nccl collective ops: {tensor.name} has none")
        if tensor.dtype.base_dtype != tensors[0].dtype.base_dtype:
            raise ValueError("Expected all tensors to be of the same type")
    if len({tensor.device for tensor in tensors}) != len(tensors):
        raise ValueError("Must provide a unique device for each tensor")
    return tensors


def _on_each(function):
    def reduce(tensors):
        results = []
        tensors = _checked(tensors)
        for tensor in tensors:
            with device(tensor.device):
                results.append(function(tensors))
        return results

    return reduce


def _pairwise(function):
    return lambda tensors: functools.reduce(function, tensors)


all_sum = _on_each(math_ops.add_n)
all_sum.__doc__ = "The sum, on the device of each tensor."
all_prod = _on_each(_pairwise(math_ops.multiply))
all_min = _on_each(_pairwise(math_ops.minimum))
all_max = _on_each(_pairwise(math_ops.maximum))


def reduce_sum(tensors):
    """The sum, on the current device."""
    return math_ops.add_n(_checked(tensors))


def broadcast(tensor):
    """A tensor that the users on other devices get copies of."""
    if not tensor.device:
        raise ValueError(f"Device assignment required for nccl collective ops: {tensor.name} has none")
    with device(tensor.device):
        return array_ops.identity(tensor)
