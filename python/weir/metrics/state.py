"""What the metrics share: local variables, collections, shapes that agree."""

from weir.core import dtypes as _dtypes
from weir.core.graph import (GraphKeys as _GraphKeys, add_to_collections as _add_to_collections,
                             convert_to_tensor as _tensor)
from weir.core.variables import Variable as _Variable
from weir.ops import array_ops as _array, math_ops as _math
from weir.ops.confusion_matrix import remove_squeezable_dimensions as _same_rank

_BOOL = _dtypes.as_dtype("bool")


def metric_variable(shape, dtype, name):
    """A variable that begins as zero in each session and is no part of the model."""
    return _Variable(lambda: _array.zeros(shape, dtype), trainable=False, name=name,
                     collections=[_GraphKeys.LOCAL_VARIABLES, _GraphKeys.METRIC_VARIABLES])


def collect(value, update, metrics_collections, updates_collections):
    if metrics_collections:
        _add_to_collections(metrics_collections, value)
    if updates_collections:
        _add_to_collections(updates_collections, update)
    return value, update


def shaped_alike(predictions, labels, weights):
    """The three with equal ranks: last dimensions of one dropped, and added to weights that lack one."""
    predictions = _tensor(predictions)
    if labels is not None:
        labels, predictions = _same_rank(labels, predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is None:
        return predictions, labels, None
    weights = _tensor(weights)
    rank, weights_rank = predictions.shape.ndims, weights.shape.ndims
    if weights_rank == 0:
        return predictions, labels, weights
    if rank is not None and weights_rank is not None:
        if weights_rank - rank == 1:
            weights = _array.squeeze(weights, [-1])
        elif weights_rank - rank == -1:
            weights = _array.expand_dims(weights, -1)
        return predictions, labels, weights
    difference = _array.rank(weights) - _array.rank(predictions)
    sizes = _array.concat([_array.shape(weights), [1]], 0)
    kept = _array.rank(weights) - _math.cast(_math.equal(difference, 1), _dtypes.int32) \
        + _math.cast(_math.logical_and(_math.equal(difference, -1), _math.not_equal(_array.rank(weights), 0)),
                     _dtypes.int32)
    return predictions, labels, _array.reshape(weights, _array.slice(sizes, [0], [kept]))


def truth_values(labels, predictions, weights):
    """Truth values of one shape, and weights stretched to it."""
    predictions, labels, weights = shaped_alike(_math.cast(predictions, _BOOL), _math.cast(labels, _BOOL), weights)
    return labels, predictions, weights


def ratio_of(numerator, denominator, name):
    return _math.div_no_nan(numerator, denominator, name=name)
