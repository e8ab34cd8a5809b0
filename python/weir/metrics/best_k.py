"""How good the best k predictions are, over many batches."""

from weir.core import dtypes as _dtypes
from weir.core.graph import convert_to_tensor as _tensor, name_scope as _name_scope
from weir.core.values import SparseTensorValue
from weir.inner.weights_broadcast_ops import broadcast_weights as _broadcast_weights
from weir.metrics.state import collect, metric_variable
from weir.ops import array_ops as _array, math_ops as _math, nn_ops, sparse_ops, state_ops as _state

_DOUBLE, _INT64 = _dtypes.float64, _dtypes.int64
_NOTHING = -2 ** 63  # no label: fills what a sparse row lacks


def _at_k_name(name, k=None, class_id=None):
    name = f"{name}_at_k" if k is None else f"{name}_at_{k}"
    return name if class_id is None else f"{name}_class{class_id}"


def _rows(labels, predictions_idx):
    """Labels [..., n], dense, of labels or ids that may lack the last dimension; and whether they were sparse."""
    if isinstance(labels, SparseTensorValue):
        labels = sparse_ops.SparseTensor.from_value(labels)
    sparse = isinstance(labels, sparse_ops.SparseTensor)
    if sparse:
        labels = sparse_ops.sparse_tensor_to_dense(
            sparse_ops.SparseTensor(labels.indices, _math.cast(labels.values, _INT64), labels.dense_shape), _NOTHING,
            validate_indices=False)
    labels = _math.cast(labels, _INT64)
    ranks = labels.shape.ndims, predictions_idx.shape.ndims
    if None not in ranks:
        return (_array.expand_dims(labels, -1) if ranks[1] - ranks[0] == 1 else labels), sparse
    sizes = _array.concat([_array.shape(labels), [1]], 0)
    labels = _array.reshape(labels, _array.slice(sizes, [0], [_array.rank(predictions_idx)]))
    if ranks[1] is not None:
        labels.set_shape([None] * ranks[1])
    return labels, sparse


def _firsts(ids):
    """Where an id is one, and the first of its kind in its row."""
    n = _array.shape(ids)[-1]
    places = _math.range(n)
    earlier = _math.less(_array.expand_dims(places, 0), _array.expand_dims(places, 1))
    same = _math.equal(_array.expand_dims(ids, -1), _array.expand_dims(ids, -2))
    repeated = _math.reduce_any(_math.logical_and(same, earlier), -1)
    return _math.logical_and(_math.not_equal(ids, _NOTHING), _math.logical_not(repeated))


def _selected(ids, class_id):
    if class_id is None:
        return ids
    return _array.where(_math.equal(ids, class_id), ids, _array.zeros_like(ids) + _NOTHING)


def _common(labels, predictions_idx):
    """(which predictions are among the labels, which labels among the predictions)."""
    same = _math.equal(_array.expand_dims(predictions_idx, -1), _array.expand_dims(labels, -2))
    return _math.reduce_any(same, -1), _math.reduce_any(same, -2)


def _set_count(which, labels, predictions_idx, class_id):
    """How many of a row are true positives, false positives or false negatives."""
    labels, predictions_idx = _selected(labels, class_id), _selected(predictions_idx, class_id)
    found, hit = _common(labels, predictions_idx)
    if which == "false_negative":
        holds = _math.logical_and(_firsts(labels), _math.logical_not(hit))
    else:
        holds = _math.logical_and(_firsts(predictions_idx),
                                  found if which == "true_positive" else _math.logical_not(found))
    return _math.reduce_sum(_math.cast(holds, _DOUBLE), -1)


def _streaming_count(which, labels, predictions_idx, k, class_id, weights):
    with _name_scope(None, _at_k_name(which, k, class_id), [labels, predictions_idx, weights]) as scope:
        counts = _set_count(which, labels, predictions_idx, class_id)
        if weights is not None:
            weights = _math.cast(weights, _DOUBLE)
            counts = _math.multiply(counts, _broadcast_weights(weights, counts))
        variable = metric_variable([], _DOUBLE, scope)
        return variable, _state.assign_add(variable, _math.reduce_sum(counts), name="update")


def _ratio_at_top_k(default, wrong):
    def metric(labels, predictions_idx, k=None, class_id=None, weights=None, metrics_collections=None,
               updates_collections=None, name=None):
        with _name_scope(name, _at_k_name(default, k, class_id), [predictions_idx, labels, weights]):
            predictions_idx = _math.cast(predictions_idx, _INT64)
            labels, _ = _rows(labels, predictions_idx)
            hits, update_hits = _streaming_count("true_positive", labels, predictions_idx, k, class_id, weights)
            misses, update_misses = _streaming_count(wrong, labels, predictions_idx, k, class_id, weights)
            return collect(_math.divide(hits, hits + misses, name=default),
                           _math.divide(update_hits, update_hits + update_misses, name="update"), metrics_collections,
                           updates_collections)

    metric.__name__ = metric.__qualname__ = f"{default}_at_top_k"
    return metric


precision_at_top_k = _ratio_at_top_k("precision", "false_positive")
recall_at_top_k = _ratio_at_top_k("recall", "false_negative")


def _ratio_at_k(default, of_indices):
    def metric(labels, predictions, k, class_id=None, weights=None, metrics_collections=None, updates_collections=None,
               name=None):
        with _name_scope(name, _at_k_name(default, k, class_id), [predictions, labels, weights]) as scope:
            best = nn_ops.top_k(predictions, k).indices
            return of_indices(labels, best, k, class_id, weights, metrics_collections, updates_collections, scope)

    metric.__name__ = metric.__qualname__ = f"{default}_at_k"
    return metric


precision_at_k = sparse_precision_at_k = _ratio_at_k("precision", precision_at_top_k)
recall_at_k = _ratio_at_k("recall", recall_at_top_k)


def average_precision_at_k(labels, predictions, k, weights=None, metrics_collections=None, updates_collections=None,
                           name=None):
    """The mean, over the examples, of precision averaged over the places of the relevant among the best k."""
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    with _name_scope(name, _at_k_name("average_precision", k), [predictions, labels, weights]):
        predictions = _tensor(predictions)
        best = _math.cast(nn_ops.top_k(predictions, k).indices, _INT64)
        labels, sparse = _rows(labels, best)
        classes = _math.cast(_array.shape(predictions)[-1], _INT64)
        known = _math.logical_and(labels >= 0, labels < classes)
        labels = _array.where(known, labels, _array.zeros_like(labels) + _NOTHING)
        return _averaged_precision(labels, best, sparse, weights, metrics_collections, updates_collections, "max_1")


def _average_precision_at_top_k(labels, predictions_idx, weights, metrics_collections, updates_collections, name):
    """The same for predictions that are classes, best first."""
    with _name_scope(name, "average_precision_at_top_k", [predictions_idx, labels, weights]):
        best = _math.cast(predictions_idx, _INT64)
        labels, sparse = _rows(labels, best)
        return _averaged_precision(labels, best, sparse, weights, metrics_collections, updates_collections, "max")


def _averaged_precision(labels, best, sparse, weights, metrics_collections, updates_collections, most_name):
    found = _math.cast(_common(labels, best)[0], _DOUBLE)
    precisions = _math.cumsum(found, -1) / _math.cumsum(_array.ones_like(found), -1)
    total = _math.reduce_sum(precisions * found, -1)
    if sparse:
        relevant = _math.reduce_sum(_math.cast(_firsts(labels), _INT64), -1)
    else:
        relevant = _math.reduce_sum(_math.cast(_math.greater_equal(labels, 0), _INT64), -1)
    k = _math.cast(_array.shape(best)[-1], _INT64)
    average = _math.divide(total, _math.cast(_math.minimum(relevant, k), _DOUBLE), name="average_precision")
    if weights is None:
        number = _math.cast(_array.size(average), _DOUBLE)
    else:
        weights = _broadcast_weights(_math.cast(weights, _DOUBLE), average)
        average, number = _math.multiply(average, weights), _math.reduce_sum(weights)
    with _name_scope(None, most_name) as scope:
        most = metric_variable([], _DOUBLE, scope)
        update_most = _state.assign_add(most, number, name="update")
    with _name_scope(None, "total") as scope:
        summed = metric_variable([], _DOUBLE, scope)
        update_summed = _state.assign_add(summed, _math.reduce_sum(average), name="update")
    return collect(_math.div_no_nan(summed, most, name="mean"),
                   _math.div_no_nan(update_summed, update_most, name="update"), metrics_collections,
                   updates_collections)


sparse_average_precision_at_k = average_precision_at_k
