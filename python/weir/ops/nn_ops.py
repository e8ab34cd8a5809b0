"""Neural networks."""

from weir import _weir, errors
from weir.core import dtypes
from weir.core.graph import Tensor, convert_to_tensor, get_seed, name_scope
from weir.core.op_functions import apply
from weir.core.stack import get_default_graph as _graph
from weir.ops import array_ops, math_ops, simple
from weir.ops.sparse_ops import SparseTensor

simple.install(globals(), simple.NN)


def bias_add(value, bias, data_format=None, name=None):
    return apply("BiasAdd", (value, bias), {"data_format": data_format or "NHWC"}, name or "BiasAdd")


def dilation2d(input, filter=None, strides=None, rates=None, padding=None, name=None, filters=None, dilations=None):
    return apply("Dilation2D", (input, simple.either("filters", filters, "filter", filter)),
                 {"strides": strides, "rates": simple.either("dilations", dilations, "rates", rates), "padding": padding}, name)


def erosion2d(value, kernel, strides, rates, padding, name=None):
    """Dilation of what is dark: the smallest difference of a pixel and the kernel."""
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        grown = dilation2d(math_ops.negative(value), array_ops.reverse(kernel, [0, 1]), strides, rates, padding)
        return math_ops.negative(grown, name=scope)


def _fractional(op):
    def pool(value, pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0, seed2=0, name=None):
        return apply(op, (value,), {"pooling_ratio": pooling_ratio, "pseudo_random": pseudo_random, "overlapping": overlapping,
                                    "deterministic": deterministic, "seed": seed, "seed2": seed2}, name)

    return pool


fractional_avg_pool, fractional_max_pool = _fractional("FractionalAvgPool"), _fractional("FractionalMaxPool")


def _fractional_v2(pool):
    """A pooling ratio for rows and columns, or one for both; a seed of zero is another one each time."""
    def pool_v2(value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None):
        if not isinstance(pooling_ratio, (list, tuple)):
            pooling_ratio = [pooling_ratio]
        if len(pooling_ratio) not in (1, 2, 4):
            raise ValueError(f"pooling_ratio should be of length 1, 2 or 4 but was {len(pooling_ratio)}")
        if len(pooling_ratio) < 4:
            pooling_ratio = [1.0, *pooling_ratio * (2 // len(pooling_ratio)), 1.0]
        seeds = {"deterministic": False} if seed == 0 else dict(
            zip(("deterministic", "seed", "seed2"), (True, *get_seed(seed))))
        return pool(value, pooling_ratio, pseudo_random, overlapping, name=name, **seeds)

    return pool_v2


fractional_avg_pool_v2, fractional_max_pool_v2 = _fractional_v2(fractional_avg_pool), _fractional_v2(fractional_max_pool)


def leaky_relu(features, alpha=0.2, name=None):
    features = convert_to_tensor(features, name="features")
    if features.dtype.base_dtype.is_integer:
        features = math_ops.cast(features, dtypes.float32)
    return apply("LeakyRelu", (features,), {"alpha": alpha}, name)


def crelu(features, name=None, axis=-1):
    with name_scope(name, "CRelu", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        return relu(array_ops.concat([features, -features], axis, name=scope))  # noqa: F821


def _swapped_with_last(axis, rank):
    """The order of dimensions that exchanges ``axis`` with the last, as a tensor, of tensors."""
    order = math_ops.range(rank)
    same = order * 0
    return array_ops.where(math_ops.equal(order, axis), same + (rank - 1),
                           array_ops.where(math_ops.equal(order, rank - 1), same + axis, order))


def _along_last(op, logits, axis, name):
    """Softmax and its logarithm work on the last dimension; others are moved there and back."""
    logits = convert_to_tensor(logits)
    rank = logits.shape.ndims
    axis = -1 if axis is None else axis
    known = axis if isinstance(axis, int) else _weir.constant_value(convert_to_tensor(axis))
    if known is None or rank is None and known != -1:
        axis = convert_to_tensor(axis)
        full_rank = array_ops.rank(logits)
        order = _swapped_with_last(array_ops.where(axis < 0, axis + full_rank, axis), full_rank)
    else:
        axis = int(known)
        if rank is not None and not -rank <= axis < rank:
            raise errors.of_building(errors.INVALID_ARGUMENT, errors._VALUE,
                                     f"Dimension must be in the range [{-rank}, {rank}) but is {axis}")
        if axis == -1 or axis == rank - 1:
            return apply(op, (logits,), {}, name)
        order = list(range(rank))
        order[axis], order[-1] = order[-1], order[axis]
    result = array_ops.transpose(apply(op, (array_ops.transpose(logits, order),), {}, None), order, name=name or "transpose")
    result.set_shape(logits.shape)
    return result


def softmax(logits, axis=None, name=None, dim=None):
    return _along_last("Softmax", logits, dim if axis is None else axis, name)


def log_softmax(logits, axis=None, name=None, dim=None):
    return _along_last("LogSoftmax", logits, dim if axis is None else axis, name)


def lrn(input, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None):
    return apply("LRN", (input,), {"depth_radius": depth_radius, "bias": bias, "alpha": alpha, "beta": beta}, name)


def in_top_k(predictions, targets, k, name=None):
    with name_scope(name, "in_top_k"):
        return apply("InTopKV2", (predictions, targets, k), {}, None)


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    """Keeps each element with probability ``keep_prob``, scaled by its inverse; others become zero."""
    if keep_prob is None and rate is None:
        raise ValueError("You must provide a rate to dropout.")
    if not (x if isinstance(x, (Tensor, _weir.Variable)) else convert_to_tensor(x)).dtype.base_dtype.is_floating:
        raise ValueError("x has to be a floating point tensor since it's going to be scaled.")
    if keep_prob is None:
        keep_prob = 1 - rate
    if isinstance(keep_prob, (int, float)):
        if not 0 < keep_prob <= 1:
            raise ValueError("keep_prob must be a scalar tensor or a float in the range (0, 1] (rate one in [0, 1)), "
                             f"got {keep_prob:g}")
        if keep_prob == 1:
            with name_scope(name, "dropout", [x]):
                return convert_to_tensor(x, name="x")
    else:
        keep_prob = convert_to_tensor(keep_prob, x.dtype.base_dtype, name="keep_prob")
        keep_prob.shape.assert_has_rank(0)
        if _weir.constant_value(keep_prob) == 1:
            return x
    if isinstance(noise_shape, (list, tuple)) and any(size is None for size in noise_shape):
        sizes = convert_to_tensor(x).shape
        if sizes.ndims == len(noise_shape):
            noise_shape = [known if size is None else size for size, known in zip(noise_shape, sizes.as_list())]
    return _weir.dropout(_graph(), x, keep_prob, noise_shape, seed, name)


def _labels_and_logits(function, sentinel, labels, logits, targets=None):
    """Of TensorFlow 0.x's positional (logits, labels) and later keywords, (labels, logits)."""
    labels = targets if labels is None else labels
    if sentinel is not None:
        if labels is not None and logits is None:  # 0.x: function(logits, labels)
            return labels, sentinel
        if logits is not None and labels is None:
            return sentinel, logits
        raise ValueError(f"Only call `{function}` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")
    return labels, logits


def _moved_to_last(labels, logits, dim):
    rank = convert_to_tensor(logits).shape.ndims
    if dim in (-1, None) or rank is not None and dim == rank - 1:
        return labels, logits, None
    order = list(range(rank))
    order.append(order.pop(dim))
    return array_ops.transpose(labels, order), array_ops.transpose(logits, order), None


def softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, dim=-1, name=None, axis=None):
    labels, logits = _labels_and_logits("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    labels, logits, _ = _moved_to_last(labels, logits, dim if axis is None else axis)
    return _weir.softmax_cross_entropy_with_logits(_graph(), labels, logits, name)


def softmax_cross_entropy_with_logits_v2(labels=None, logits=None, axis=None, name=None, dim=None, _sentinel=None):
    labels, logits = _labels_and_logits("softmax_cross_entropy_with_logits_v2", _sentinel, labels, logits)
    labels, logits, _ = _moved_to_last(labels, logits, dim if axis is None else axis)
    return _weir.softmax_cross_entropy_with_logits_v2(_graph(), labels, logits, name)


def sparse_softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    labels, logits = _labels_and_logits("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    return _weir.sparse_softmax_cross_entropy_with_logits(_graph(), labels, logits, name)


def sigmoid_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None, targets=None):
    labels, logits = _labels_and_logits("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits, targets)
    return _weir.sigmoid_cross_entropy_with_logits(_graph(), labels, logits, name)


def weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None):
    return _weir.weighted_cross_entropy_with_logits(_graph(), targets if labels is None else labels, logits, pos_weight,
                                                    name)


def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    keep = keep_dims if keepdims is None else keepdims
    return _weir.moments(_graph(), x, axes, bool(keep), name)


def sufficient_statistics(x, axes, shift=None, keep_dims=None, name=None, keepdims=None):
    """(count, sum, sum of squares, shift) over ``axes``; with a shift, of x minus it."""
    keep = keep_dims if keepdims is None else keepdims
    return _weir.sufficient_statistics(_graph(), x, axes, shift, bool(keep), name)


def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """(mean, variance) of sufficient statistics."""
    return _weir.normalize_moments(_graph(), counts, mean_ss, variance_ss, shift, name)


def weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None, keepdims=None):
    keep = keep_dims if keepdims is None else keepdims
    return _weir.weighted_moments(_graph(), x, axes, frequency_weights, bool(keep), name)


def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    return _weir.log_poisson_loss(_graph(), targets, log_input, bool(compute_full_loss), name)


def swish(features):
    features = convert_to_tensor(features, name="features")
    return features * math_ops.sigmoid(features)


def scale_regularization_loss(regularization_loss):
    return math_ops.reduce_sum(regularization_loss)


def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    return _weir.batch_normalization(_graph(), x, mean, variance, offset, scale, variance_epsilon, name)


def batch_norm_with_global_normalization(t=None, m=None, v=None, beta=None, gamma=None, variance_epsilon=None,
                                         scale_after_normalization=None, name=None, input=None, mean=None, variance=None):
    return batch_normalization(t if t is not None else input, m if m is not None else mean,
                               v if v is not None else variance, beta, gamma if scale_after_normalization else None,
                               variance_epsilon, name)


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    return _weir.l2_normalize(_graph(), x, dim if axis is None else axis, epsilon, name)


def xw_plus_b(x, weights, biases, name=None):
    return _weir.xw_plus_b(_graph(), x, weights, biases, name)


def relu_layer(x, weights, biases, name=None):
    return _weir.relu_layer(_graph(), x, weights, biases, name)


def zero_fraction(value, name=None):
    return _weir.zero_fraction(_graph(), value, name)


def top_k(input, k=1, sorted=True, name=None):
    from collections import namedtuple

    values, indices = apply("TopKV2", (input, k), {"sorted": sorted}, name)
    return namedtuple("TopKV2", ["values", "indices"])(values, indices)


def _parts(params, partition_strategy):
    """The parts of a table, and whether they hold consecutive rows."""
    if params is None or isinstance(params, (list, tuple)) and not params:
        raise ValueError("Need at least one param")
    if not isinstance(params, (list, tuple)):
        params = list(params) if hasattr(params, "_partitions") else [params]
    if partition_strategy not in ("mod", "div"):
        raise ValueError(f"Unrecognized partition strategy: {partition_strategy}")
    return list(params), partition_strategy == "div"


def _plain(number):
    """A number of numpy as one of Python, which takes the type of what it is combined with."""
    is_scalar = hasattr(number, "item") and getattr(number, "shape", None) == ()
    return number.item() if is_scalar else number


def embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None):
    """Rows ``ids`` of ``params``, or of its parts when it is a list."""
    params, div = _parts(params, partition_strategy)
    return _weir.embedding_lookup(_graph(), params, ids, div, _plain(max_norm), name)


def embedding_lookup_sparse(params, sp_ids, sp_weights, partition_strategy="mod", name=None, combiner=None,
                            max_norm=None):
    """For each row of the SparseTensor ``sp_ids`` the embeddings of its ids, combined."""
    params, div = _parts(params, partition_strategy)
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is not None and not isinstance(sp_weights, SparseTensor):
        raise TypeError("sp_weights must be either None or SparseTensor")
    if sp_weights is not None:
        sp_ids.values.shape.assert_is_compatible_with(sp_weights.values.shape)
        sp_ids.indices.shape.assert_is_compatible_with(sp_weights.indices.shape)
    return _weir.embedding_lookup_sparse(_graph(), params, (sp_ids.indices, sp_ids.values),
                                         None if sp_weights is None else sp_weights.values, div, combiner or "mean",
                                         _plain(max_norm), name)


def safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner="mean", default_id=None,
                                 name=None, partition_strategy="div", max_norm=None):
    """embedding_lookup_sparse that passes over negative ids and, unless summing, weights that are not positive. Rows
    without an id give the embedding of ``default_id``, or zeros."""
    params, _ = _parts(embedding_weights, partition_strategy)
    if sparse_weights is not None:
        for table in params:
            if dtypes.as_dtype(table.dtype).base_dtype != sparse_weights.dtype:
                raise ValueError(f"The weights have type {sparse_weights.dtype.name}, the embeddings "
                                 f"{dtypes.as_dtype(table.dtype).base_dtype.name}.")
    with name_scope(name, "embedding_lookup", params):
        sizes = math_ops.cast(sparse_ids.dense_shape, dtypes.int64)
        rank = array_ops.shape(sizes)[0]
        rows = math_ops.reduce_prod(array_ops.slice(sizes, [0], [rank - 1]))
        # Dimensions before the last count as one.
        steps = math_ops.cumprod(array_ops.slice(sizes, [0], [rank - 1]), exclusive=True, reverse=True)
        row = math_ops.reduce_sum(array_ops.slice(sparse_ids.indices, [0, 0], [-1, rank - 1]) * steps, 1)
        ids, weights = sparse_ids.values, None if sparse_weights is None else sparse_weights.values
        ids = array_ops.reshape(ids, [-1])  # so that its rank is known
        valid = math_ops.greater_equal(ids, 0)
        if weights is not None and combiner != "sum":
            valid = math_ops.logical_and(valid, math_ops.greater(weights, 0))
        row, ids = array_ops.boolean_mask(row, valid), array_ops.boolean_mask(ids, valid)
        count = math_ops.unsorted_segment_sum(array_ops.ones_like(row), row, rows)
        empty = array_ops.reshape(array_ops.where(math_ops.equal(count, 0)), [-1])
        row = array_ops.concat([row, empty], 0)
        order = top_k(-row, array_ops.size(row)).indices  # equal rows keep their order
        ids = array_ops.concat([ids, math_ops.cast(array_ops.zeros_like(empty) + (default_id or 0), ids.dtype)], 0)
        indices = array_ops.stack([array_ops.gather(row, order), math_ops.cast(order, dtypes.int64)], 1)
        shape = array_ops.stack([rows, math_ops.cast(array_ops.size(row), dtypes.int64)])
        filled = SparseTensor(indices, array_ops.gather(ids, order), shape)
        if weights is not None:
            weights = array_ops.concat([array_ops.boolean_mask(weights, valid),
                                        math_ops.cast(array_ops.ones_like(empty), weights.dtype)], 0)
            weights = SparseTensor(indices, array_ops.gather(weights, order), shape)
        result = embedding_lookup_sparse(embedding_weights, filled, weights, partition_strategy, None, combiner, max_norm)
        if default_id is None:
            there = array_ops.reshape(math_ops.greater(count, 0), array_ops.concat(
                [[-1], array_ops.ones([array_ops.rank(result) - 1], dtypes.int32)], 0))
            result = array_ops.where(math_ops.logical_and(there, array_ops.ones_like(result, dtypes.as_dtype("bool"))), result,
                                     array_ops.zeros_like(result))
        outer = math_ops.cast(array_ops.slice(sizes, [0], [rank - 1]), dtypes.int32)
        final = array_ops.reshape(result, array_ops.concat([outer, array_ops.shape(result)[1:]], 0))
        known = sparse_ids.dense_shape.shape.as_list()
        if known[0] is not None and result.shape.ndims is not None:
            final.set_shape([None] * (known[0] - 1) + result.shape.as_list()[1:])
        return final


def safe_embedding_lookup_sparse_v2(embedding_weights, sparse_ids, sparse_weights=None, combiner="mean", default_id=None,
                                    max_norm=None, name=None):
    return safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights, combiner, default_id, name, "div",
                                        max_norm)


def fused_batch_norm(x, scale, offset, mean=None, variance=None, epsilon=0.001, data_format="NHWC", is_training=True,
                     name=None):
    x = convert_to_tensor(x, name="input")
    scale, offset = convert_to_tensor(scale, name="scale"), convert_to_tensor(offset, name="offset")
    if is_training and (mean is not None or variance is not None):
        raise ValueError("Both 'mean' and 'variance' must be None if is_training is True.")
    if not is_training and (mean is None or variance is None):
        raise ValueError("Both 'mean' and 'variance' must be given if is_training is False.")
    empty = convert_to_tensor([], dtype=dtypes.float32)
    y, batch_mean, batch_variance, *_ = apply(
        "FusedBatchNormV3", (x, scale, offset, empty if mean is None else mean, empty if variance is None else variance),
        {"epsilon": max(epsilon, 1.001e-5), "data_format": data_format, "is_training": is_training}, name)
    return y, batch_mean, batch_variance
