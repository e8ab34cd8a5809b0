"""Metrics of tf.contrib.metrics beside the counts: covariance, agreement, exact areas, and what holds them together."""

import collections
import math

from weir.core import dtypes
from weir.core.graph import GraphKeys, control_dependencies, convert_to_tensor, name_scope
from weir.core.variable_scope import variable_scope
from weir.core.variables import Variable
from weir.inner.weights_broadcast_ops import broadcast_weights
from weir.metrics.state import collect, metric_variable, shaped_alike
from weir.ops import array_ops, check_ops, math_ops, nn_ops, state_ops
from weir.ops.math_ops import confusion_matrix
from weir.ops.control_flow_ops import cond, group, no_op

_FLOAT, _DOUBLE, _EPSILON = dtypes.float32, dtypes.float64, 1e-7


def accuracy(predictions, labels, weights=None, name=None):
    """The share of predictions that are right, of this batch alone."""
    if not (labels.dtype.is_integer or labels.dtype in (dtypes.bool, dtypes.string)):
        raise ValueError(f"Labels should have bool, integer, or string dtype, not {labels.dtype!r}")
    if not labels.dtype.is_compatible_with(predictions.dtype):
        raise ValueError(f"Dtypes of predictions and labels should match. Given: predictions ({predictions.dtype!r}) and "
                         f"labels ({labels.dtype!r})")
    with name_scope(name, "accuracy", values=[predictions, labels]):
        right = math_ops.cast(math_ops.equal(predictions, labels), _FLOAT)
        if weights is None:
            return math_ops.reduce_mean(right)
        right = math_ops.multiply(right, weights)
        return math_ops.divide(math_ops.reduce_sum(right),
                               math_ops.reduce_sum(math_ops.multiply(weights, array_ops.ones_like(right))))


def aggregate_metrics(*value_update_tuples):
    """A list of values and one of updates."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples):
    """Values and updates by name."""
    return ({name: each[0] for name, each in names_to_tuples.items()},
            {name: each[1] for name, each in names_to_tuples.items()})


def count(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """How many values there were, by weight."""
    with variable_scope(name, "count", [values, weights]):
        total = metric_variable([], _FLOAT, "count")
        values = convert_to_tensor(values)
        if weights is None:
            number = math_ops.cast(array_ops.size(values), _FLOAT)
        else:
            values, _, weights = shaped_alike(math_ops.cast(values, _FLOAT), None, weights)
            number = math_ops.reduce_sum(broadcast_weights(math_ops.cast(weights, _FLOAT), values))
        with control_dependencies([values]):
            update = state_ops.assign_add(total, number)
        return collect(array_ops.identity(total), update, metrics_collections, updates_collections)


def cohen_kappa(labels, predictions_idx, num_classes, weights=None, metrics_collections=None, updates_collections=None,
                name=None):
    """How much more often labels and predictions agree than by chance."""
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2.Found: {num_classes}")
    with variable_scope(name, "cohen_kappa", [labels, predictions_idx, weights]):
        labels = convert_to_tensor(labels)
        labels.shape.with_rank_at_most(2)
        if labels.shape.ndims == 2:
            labels = array_ops.squeeze(labels, axis=[-1])
        predictions_idx, labels, weights = shaped_alike(predictions_idx, labels, weights)
        dtype = dtypes.int64 if weights is None or weights.dtype.is_integer else _FLOAT
        table = confusion_matrix(labels, predictions_idx, num_classes=num_classes, weights=weights, dtype=dtype,
                                 name="counts_in_table")
        batch = {"po": array_ops.diag_part(table), "pe_row": math_ops.reduce_sum(table, axis=0),
                 "pe_col": math_ops.reduce_sum(table, axis=1)}
        values = {key: metric_variable([num_classes], dtype, key) for key in batch}
        updates = {key: state_ops.assign_add(values[key], batch[key]) for key in batch}

        def kappa(counts, node):
            total = math_ops.cast(math_ops.reduce_sum(counts["pe_row"]), _DOUBLE)
            agree = math_ops.cast(math_ops.reduce_sum(counts["po"]), _DOUBLE)
            chance = math_ops.reduce_sum(math_ops.div_no_nan(
                math_ops.cast(counts["pe_row"] * counts["pe_col"], _DOUBLE), total))
            return math_ops.div_no_nan(agree - chance, total - chance, name=node)

        return collect(kappa(values, "value"), kappa(updates, "update_op"), metrics_collections, updates_collections)


def streaming_covariance(predictions, labels, weights=None, metrics_collections=None, updates_collections=None,
                         name=None):
    """The unbiased covariance, batch by batch (Chan et al.)."""
    with variable_scope(name, "covariance", [predictions, labels, weights]):
        predictions, labels, weights = shaped_alike(predictions, labels, weights)
        number, mean_prediction, mean_label, comoment = (
            metric_variable([], _FLOAT, each) for each in ("count", "mean_prediction", "mean_label", "comoment"))
        if weights is None:
            batch, weights = math_ops.cast(array_ops.size(labels), _FLOAT), 1.0
        else:
            weights = broadcast_weights(weights, labels)
            batch = math_ops.reduce_sum(weights)
        update_number = state_ops.assign_add(number, batch)
        before = update_number - batch

        def mean_of(values, variable):
            """The mean of the batch, and the mean before it."""
            own = math_ops.div_no_nan(math_ops.reduce_sum(values * weights), batch)
            step = math_ops.div_no_nan((own - variable) * batch, update_number)
            return own, state_ops.assign_add(variable, step) - step

        own_prediction, last_prediction = mean_of(predictions, mean_prediction)
        own_label, last_label = mean_of(labels, mean_label)
        within = math_ops.reduce_sum((predictions - own_prediction) * (labels - own_label) * weights)
        between = (last_prediction - own_prediction) * (last_label - own_label) * (before * batch / update_number)
        update_comoment = state_ops.assign_add(comoment, within + between)

        def covariance(comoment, number, node):
            known = math_ops.truediv(comoment, number - 1)
            return array_ops.where(math_ops.less_equal(number, 1.), convert_to_tensor(math.nan, dtype=_FLOAT), known,
                                   name=node)

        value = covariance(comoment, number, "covariance")
        with control_dependencies([update_comoment]):
            update = covariance(comoment.read_value(), number.read_value(), "update_op")
        return collect(value, update, metrics_collections, updates_collections)


def streaming_pearson_correlation(predictions, labels, weights=None, metrics_collections=None,
                                  updates_collections=None, name=None):
    """The correlation: covariance by both deviations."""
    with variable_scope(name, "pearson_r", [predictions, labels, weights]):
        predictions, labels, weights = shaped_alike(predictions, labels, weights)
        if weights is not None:
            weights = broadcast_weights(weights, labels)
        both, own, other = (streaming_covariance(x, y, weights=weights, name=scope) for x, y, scope in (
            (predictions, labels, "covariance"), (predictions, predictions, "variance_predictions"),
            (labels, labels, "variance_labels")))
        results = [math_ops.truediv(both[i], math_ops.multiply(math_ops.sqrt(own[i]), math_ops.sqrt(other[i])), name=node)
                   for i, node in enumerate(("pearson_r", "update_op"))]
        return collect(*results, metrics_collections, updates_collections)


def streaming_concat(values, axis=0, max_size=None, metrics_collections=None, updates_collections=None, name=None):
    """All values, one batch after the other, up to ``max_size``."""
    with variable_scope(name, "streaming_concat", [values]):
        values = convert_to_tensor(values)
        rank = values.shape.ndims
        if rank is None:
            raise ValueError("`values` must have known statically known rank")
        if not -rank <= axis < rank:
            raise ValueError(f"axis = {axis!r} not in [0, {rank!r})")
        axis %= rank
        fixed = [size for i, size in enumerate(values.shape.as_list()) if i != axis]
        if None in fixed:
            raise ValueError("all dimensions of `values` other than the dimension to concatenate along must have "
                             "statically known size")
        array = Variable(lambda: array_ops.zeros([0] + fixed, values.dtype), trainable=False, name="array",
                         validate_shape=False,
                         collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES])
        kept = array.read_value()
        kept.set_shape([None] + fixed)
        batch = array_ops.transpose(values, [axis] + [i for i in range(rank) if i != axis])
        if max_size is not None:
            batch = batch[:math_ops.maximum(max_size - array_ops.shape(kept)[0], 0)]
        order = [0 if i == axis else i + 1 if i < axis else i for i in range(rank)]
        update = state_ops.assign(array, array_ops.concat([kept, batch], 0), validate_shape=False)
        return collect(array_ops.transpose(kept, order, name="concat"), array_ops.shape(update)[0], metrics_collections,
                       updates_collections)


def _truth(labels):
    """Flat int64 labels that are checked to be 0 or 1."""
    labels = array_ops.reshape(math_ops.cast(labels, dtypes.int64), [-1])
    checks = [check_ops.assert_greater_equal(labels, array_ops.zeros_like(labels),
                                             message="labels must be 0 or 1, at least one is <0"),
              check_ops.assert_less_equal(labels, array_ops.ones_like(labels),
                                          message="labels must be 0 or 1, at least one is >1")]
    with control_dependencies(checks):
        return array_ops.identity(labels)


def _exact_area(labels, predictions, weights, curve):
    positive = math_ops.cast(labels, _DOUBLE) * weights
    total, total_positive = math_ops.reduce_sum(weights), math_ops.reduce_sum(positive)

    def area():
        ordered, order = nn_ops.top_k(predictions, k=array_ops.size(predictions))
        # Equal predictions are one step of the curve.
        counts = array_ops.unique_with_counts(ordered).count
        splits = array_ops.pad(math_ops.cumsum(counts), [[1, 0]])

        def at_splits(hits):
            return array_ops.gather(array_ops.pad(math_ops.cumsum(array_ops.gather(hits, order)), [[1, 0]]), splits)

        hit = at_splits(positive)
        if curve == "ROC":
            x, y = at_splits(weights - positive) / (total - total_positive), hit / total_positive
        else:
            x = hit / total_positive
            y = array_ops.where(splits > 0, math_ops.div_no_nan(hit, at_splits(weights)), array_ops.ones_like(hit))
        return math_ops.reduce_sum((y[1:] + y[:-1]) / 2.0 * math_ops.abs(x[1:] - x[:-1]))

    one_kind = math_ops.logical_or(math_ops.equal(total_positive, 0), math_ops.equal(total_positive, total))
    return cond(one_kind, lambda: array_ops.constant(0, _DOUBLE), area)


def streaming_dynamic_auc(labels, predictions, curve="ROC", metrics_collections=(), updates_collections=(), name=None,
                          weights=None):
    """The exact area under a curve: all predictions are kept."""
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope(name, default_name="dynamic_auc"):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        labels.shape.assert_is_compatible_with(predictions.shape)
        flat = array_ops.reshape(math_ops.cast(predictions, _DOUBLE), [-1])
        weights = array_ops.ones_like(flat) if weights is None else array_ops.reshape(math_ops.cast(weights, _DOUBLE), [-1])
        kept = [streaming_concat(each, name=scope) for each, scope in (
            (flat, "concat_preds"), (_truth(labels), "concat_labels"), (weights, "concat_weights"))]
        area = _exact_area(kept[1][0], kept[0][0], kept[2][0], curve)
        return collect(area, group(*(update.op for _, update in kept)), metrics_collections, updates_collections)


_AucData = collections.namedtuple("AucData", ("auc", "lower", "upper"))


def _normal_quantile(p):
    """Where the standard normal distribution reaches ``p``, by bisection of erf."""
    low, high = -10.0, 10.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if 0.5 * (1 + math.erf(middle / math.sqrt(2))) < p else (low, middle)
    return low


def _placement_area(labels, predictions, weights, alpha, logit_transformation):
    truth = math_ops.cast(labels, weights.dtype)
    order = array_ops.reverse(nn_ops.top_k(predictions, k=array_ops.size(predictions)).indices, [0])
    truth, weights = array_ops.gather(truth, order), array_ops.gather(weights, order)
    _, segments = array_ops.unique(array_ops.gather(predictions, order))

    def placements(others):
        """How many of the others lie below each prediction; half of those that are equal."""
        sums = math_ops.segment_sum(others, segments)
        below = math_ops.cumsum(sums, exclusive=True) + sums / 2.0
        return array_ops.gather(below / (math_ops.reduce_sum(sums) + _EPSILON), segments)

    of_true, of_false = weights * truth, weights * (1.0 - truth)
    total_0, total_1 = math_ops.reduce_sum(of_false), math_ops.reduce_sum(of_true)
    place = placements(of_false) * truth + placements(of_true) * (1.0 - truth)
    auc_0 = math_ops.reduce_sum(of_false * (1. - place)) / (total_0 + _EPSILON)
    auc_1 = math_ops.reduce_sum(of_true * place) / (total_1 + _EPSILON)
    auc = array_ops.where(math_ops.less(total_0, total_1), auc_1, auc_0)
    var_0 = math_ops.reduce_sum(of_false * math_ops.square(1. - place - auc_0)) / (total_0 - 1. + _EPSILON)
    var_1 = math_ops.reduce_sum(of_true * math_ops.square(place - auc_1)) / (total_1 - 1. + _EPSILON)
    error = math_ops.sqrt(var_0 / (total_0 + _EPSILON) + var_1 / (total_1 + _EPSILON))
    z = _normal_quantile((1.0 - alpha) / 2.0)
    if logit_transformation:
        estimate = math_ops.log(auc / (1. - auc + _EPSILON))
        spread = error / (auc * (1. - auc + _EPSILON))
        bounds = [1. / (1. + math_ops.exp(-(estimate + sign * z * spread)) + _EPSILON) for sign in (1, -1)]
    else:
        bounds = [auc + z * error, auc - z * error]
    exact = math_ops.logical_or(math_ops.equal(auc, 1.), math_ops.equal(auc, 0.))
    return [auc] + [array_ops.where(exact, auc, bound) for bound in bounds]


def auc_with_confidence_intervals(labels, predictions, weights=None, alpha=0.95, logit_transformation=True,
                                  metrics_collections=(), updates_collections=(), name=None):
    """The exact area under the receiver operating characteristic, and between which it lies with probability alpha."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    with variable_scope(name, default_name="auc_with_confidence_intervals", values=[labels, predictions, weights]):
        predictions = convert_to_tensor(predictions)
        weights = array_ops.ones_like(predictions) if weights is None else weights
        predictions, labels, weights = shaped_alike(predictions, labels, weights)
        total, weights = math_ops.reduce_sum(weights), array_ops.reshape(weights, [-1])
        flat, truth = array_ops.reshape(math_ops.cast(predictions, _DOUBLE), [-1]), _truth(labels)
        kept = [streaming_concat(each, name=scope) for each, scope in (
            (flat, "concat_preds"), (truth, "concat_labels"), (weights, "concat_weights"))]
        enough = math_ops.greater_equal(total, 1.0)
        both = math_ops.logical_and(math_ops.equal(math_ops.reduce_min(truth), 0),
                                    math_ops.equal(math_ops.reduce_max(truth), 1))
        update = cond(enough, lambda: group(*(each[1].op for each in kept)), no_op)
        area = cond(math_ops.logical_and(both, enough),
                    lambda: _placement_area(kept[1][0], kept[0][0], kept[2][0], alpha, logit_transformation),
                    lambda: [array_ops.constant(0.0)] * 3)
        return collect(_AucData(*area), update, metrics_collections, updates_collections)
