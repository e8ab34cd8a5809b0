"""tf.contrib.layers: summaries of tensors and collections."""

import functools
import re

from weir import summary
from weir.core import dtypes
from weir.core.graph import GraphKeys, get_collection
from weir.ops import math_ops


def _share(condition, tag):
    tensor = math_ops.reduce_mean(math_ops.to_float(condition))
    tensor.get_shape().assert_has_rank(0)
    summary.scalar(tag, tensor)


def summarize_activation(op):
    """A histogram of an activation, and the share of it that is cut off."""
    kind = op.op.type
    if kind in ("Relu", "Softplus", "Relu6"):
        before = op.op.inputs[0]
        _share(math_ops.less(before, math_ops.cast(0.0, before.dtype)), f"{op.op.name}/zeros")
    if kind == "Relu6":
        before = op.op.inputs[0]
        _share(math_ops.greater(before, math_ops.cast(6.0, before.dtype)), f"{op.op.name}/sixes")
    return summary.histogram(f"{op.op.name}/activation", op)


def summarize_tensor(tensor, tag=None):
    """A scalar or a histogram; nothing of strings and bools."""
    if tensor.dtype.base_dtype in (dtypes.as_dtype("string"), dtypes.as_dtype("bool")):
        return None
    tag = tag or f"{tensor.op.name}_summary"
    return summary.scalar(tag, tensor) if tensor.get_shape().ndims == 0 else summary.histogram(tag, tensor)


def summarize_tensors(tensors, summarizer=summarize_tensor):
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(collection, name_filter=None, summarizer=summarize_tensor):
    return summarize_tensors([item for item in get_collection(collection)
                              if name_filter is None or re.match(name_filter, item.op.name)], summarizer)


summarize_variables = functools.partial(summarize_collection, GraphKeys.GLOBAL_VARIABLES)
summarize_weights = functools.partial(summarize_collection, GraphKeys.WEIGHTS)
summarize_biases = functools.partial(summarize_collection, GraphKeys.BIASES)


def summarize_activations(name_filter=None, summarizer=summarize_activation):
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
