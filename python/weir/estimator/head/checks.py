"""What heads check and work out of labels, weights and logits."""

import weir as tf
from weir.estimator.functions import fn_args
from weir.feature_column.base import FeatureTransformationCache
from weir.feature_column.numeric import NumericColumn, numeric_column


def checked_labels(labels, logits, dimension):
    """Labels [D0, ..., DN, dimension] that fit the logits."""
    if labels is None:
        raise ValueError("You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check that your "
                         "data contain your label feature. Check that your input_fn properly parses and returns labels.")
    with tf.name_scope(None, "labels", (labels, logits)) as scope:
        labels = tf.convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, tf.SparseTensor):
            raise ValueError(
                f"SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1, ..., DN, {dimension}], "
                f"e.g. [batch_size, {dimension}]. Suggested Fix (1): Check the label feature in your data. Each example "
                f"must contain {dimension} value(s). If not, your choice of label was probably incorrect. Suggested Fix "
                "(2): In your input_fn, use tf.sparse_tensor_to_dense() to turn labels into a Tensor.")
        rank, logits_rank = labels.shape.ndims, logits.shape.ndims
        if rank is not None and logits_rank is not None and rank == logits_rank - 1:
            labels = tf.expand_dims(labels, -1)
        labels_shape, logits_shape = tf.shape(labels), tf.shape(logits)
        message = (f"labels shape must be [D0, D1, ... DN, {dimension}]. Suggested Fix: check your n_classes argument to "
                   "the estimator and/or the shape of your label.")
        with tf.control_dependencies([tf.assert_rank_at_least(labels, 2, message=message)]):
            last = labels.shape[-1].value if labels.shape.ndims is not None else None
            if last is not None and last != dimension:
                raise ValueError(f"Mismatched label shape. Expected labels dimension={dimension}.  Received {last}. "
                                 "Suggested Fix:If your classifier expects one-hot encoding label,check your n_classes "
                                 "argument to the estimator and/or the shape of your label. Otherwise, check the shape of "
                                 "your label.")
            expected = tf.concat([logits_shape[:-1], [dimension]], axis=0)
            check = tf.assert_equal(expected, labels_shape, message=message,
                                    data=[message, "expected_labels_shape: ", expected, "labels_shape: ", labels_shape])
            with tf.control_dependencies([check]):
                return tf.identity(labels, name=scope)


def weights_of(features, weight_column, logits, allow_per_logit_weights=False):
    """The weights of examples, 1.0 without a column of them."""
    message = ("weights shape must be [D0, D1, ... DN], [D0, D1, ... DN, 1] or [D0, D1, ... DN, logits_dimension]"
               if allow_per_logit_weights else "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1]")
    values = tuple(features.values()) if isinstance(features, dict) else (features,)
    with tf.name_scope(None, "weights", values=values + (logits,)) as scope:
        if weight_column is None:
            return 1.0
        if isinstance(weight_column, str):
            weight_column = numeric_column(key=weight_column, shape=(1,))
        if not isinstance(weight_column, NumericColumn):
            raise TypeError("Weight column must be either a string or _NumericColumn. Given type: "
                            f"{type(weight_column)}.")
        weights = weight_column._get_dense_tensor(FeatureTransformationCache(features))
        weights = tf.to_float(weights, name="weights")
        weights_shape, logits_shape = tf.shape(weights, name="weights_shape"), tf.shape(logits, name="logits_shape")
        data = [message, "logits_shape: ", logits_shape, "weights_shape: ", weights_shape]
        rank, logits_rank = weights.shape.ndims, logits.shape.ndims
        if rank is not None and logits_rank is not None and rank == logits_rank - 1:
            with tf.control_dependencies([tf.assert_equal(logits_shape[:-1], weights_shape, message=message, data=data)]):
                return tf.expand_dims(weights, -1, name=scope)
        one_each = tf.concat([logits_shape[:-1], [1]], axis=0)
        if allow_per_logit_weights:
            fits = tf.reduce_any([tf.reduce_all(tf.equal(logits_shape, weights_shape)),
                                  tf.reduce_all(tf.equal(one_each, weights_shape))])
            check = tf.Assert(fits, data=data)
        else:
            check = tf.assert_equal(one_each, weights_shape, message=message, data=data)
        with tf.control_dependencies([check]):
            return tf.identity(weights, name=scope)


def checked_logits(logits, dimension):
    """Logits as floats whose last dimension is as expected."""
    message = "logits shape must be [D0, D1, ... DN, logits_dimension]"
    with tf.name_scope(None, "logits", (logits,)) as scope:
        logits = tf.to_float(logits)
        shape = tf.shape(logits)
        with tf.control_dependencies([tf.assert_rank_at_least(logits, 2, data=[message, shape], message=message)]):
            last = logits.shape[-1].value if logits.shape.ndims is not None else None
            if last is not None:
                if isinstance(dimension, int) and last != dimension:
                    raise ValueError(f"{message}, got {logits.shape}.")
                return logits
            check = tf.assert_equal(dimension, shape[-1], data=[message, shape], message=message)
            with tf.control_dependencies([check]):
                return tf.identity(logits, name=scope)


def checked_loss_fn(loss_fn):
    if not loss_fn:
        return loss_fn
    arguments = fn_args(loss_fn)
    for needed in ("labels", "logits"):
        if needed not in arguments:
            raise ValueError(f"loss_fn must contain argument: {needed}. Given arguments: {arguments}")
    unknown = list(set(arguments) - {"labels", "logits", "features", "loss_reduction"})
    if unknown:
        raise ValueError(f"loss_fn has unexpected args: {unknown}")
    return loss_fn


def called_loss_fn(loss_fn, labels, logits, features, dimension=1):
    """The program's loss of each example, whose shape is checked."""
    more = {"features": features} if "features" in fn_args(loss_fn) else {}
    with tf.name_scope(None, "call_loss_fn", values=[labels, logits]):
        loss = loss_fn(labels=labels, logits=logits, **more)
        logits_shape = tf.shape(logits, name="logits_shape")
        expected = tf.concat([logits_shape[:-1], [dimension]], axis=0, name="expected_loss_shape")
        loss_shape = tf.shape(loss, name="loss_shape")
        check = tf.Assert(tf.reduce_all(tf.equal(loss_shape, expected)),
                          data=[f"loss_fn must return Tensor of shape [D0, D1, ... DN, {dimension}]. ", "logits_shape: ",
                                logits_shape, "loss_shape: ", loss_shape], name="check_loss_shape")
        with tf.control_dependencies([check]):
            return tf.identity(loss)


def checked_range(labels, n_classes, message=None):
    """Class numbers that are from 0 to n_classes - 1."""
    with tf.name_scope(None, "assert_range", (labels,)):
        below = tf.assert_less_equal(labels, tf.convert_to_tensor(n_classes - 1, dtype=labels.dtype),
                                     message=message or "Labels must <= n_classes - 1")
        above = tf.assert_non_negative(labels, message=message or "Labels must >= 0")
        with tf.control_dependencies((below, above)):
            return tf.identity(labels)


_REDUCTIONS = {"sum": "weighted_sum", "sum_over_batch_size": "weighted_sum_over_batch_size",
               "auto": "weighted_sum_over_batch_size", "mean": "weighted_mean"}


def checked_reduction(loss_reduction):
    """tf.losses' name of a reduction, of either of TensorFlow's families of names."""
    reduction = _REDUCTIONS.get(loss_reduction, loss_reduction)
    if reduction not in tf.losses.Reduction.all() or reduction == tf.losses.Reduction.NONE:
        raise ValueError(f"Invalid loss_reduction: {loss_reduction}")
    return reduction
