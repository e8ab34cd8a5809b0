"""Limits on values and on norms."""

from weir import _weir
from weir.core import dtypes
from weir.core.dispatch import dispatches
from weir.core.graph import IndexedSlices, convert_to_tensor, name_scope
from weir.core.stack import get_default_graph as _graph
from weir.ops import array_ops, math_ops


@dispatches
def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    if isinstance(t, IndexedSlices):
        return IndexedSlices(clip_by_value(t.values, clip_value_min, clip_value_max, name), t.indices, t.dense_shape)
    return _weir.clip_by_value(_graph(), t, clip_value_min, clip_value_max, name)


def clip_by_norm(t, clip_norm, axes=None, name=None):
    if isinstance(t, IndexedSlices):
        return IndexedSlices(clip_by_norm(t.values, clip_norm, axes, name), t.indices, t.dense_shape)
    if hasattr(clip_norm, "item") and not hasattr(clip_norm, "graph") and getattr(clip_norm, "shape", None) == ():
        clip_norm = clip_norm.item()  # a number of numpy takes the tensor's type
    return _weir.clip_by_norm(_graph(), t, clip_norm, axes, name)


def _values(t_list):
    if not isinstance(t_list, (list, tuple)):
        raise TypeError("t_list should be a sequence")
    return [t.values if isinstance(t, IndexedSlices) else t for t in t_list]


def global_norm(t_list, name=None):
    return _weir.global_norm(_graph(), [t for t in _values(t_list) if t is not None], name)


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """The tensors, scaled so that their global norm is at most ``clip_norm``, and the norm. None stays None."""
    values = _values(t_list)
    present = [t for t in values if t is not None]
    clipped, norm = _weir.clip_by_global_norm(_graph(), present, clip_norm, use_norm, name)
    results = iter(clipped)
    output = []
    for given, value in zip(t_list, values):
        if value is None:
            output.append(None)
        elif isinstance(given, IndexedSlices):
            output.append(IndexedSlices(next(results), given.indices, given.dense_shape))
        else:
            output.append(next(results))
    return output, norm


def clip_by_average_norm(t, clip_norm, name=None):
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert_to_tensor(t, name="t")
        count = math_ops.cast(array_ops.size(t), dtypes.float32)
        inverse = math_ops.rsqrt(math_ops.reduce_sum(t * t, math_ops.range(array_ops.rank(t))))
        scale = math_ops.minimum(inverse * count, array_ops.constant(1.0) / clip_norm)
        return array_ops.identity(t * clip_norm * scale, name=scope)
