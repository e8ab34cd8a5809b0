"""Neural networks."""

from weir import _weir
from weir.framework import dtypes
from weir.framework.graph import Tensor, convert_to_tensor, name_scope
from weir.framework.op_functions import apply
from weir.framework.stack import get_default_graph as _graph
from weir.framework.variables import Variable
from weir.ops import public_names, simple

simple.install(globals(), simple.NN)


def bias_add(value, bias, data_format=None, name=None):
    return apply("BiasAdd", (value, bias), {"data_format": data_format or "NHWC"}, name or "BiasAdd")


def leaky_relu(features, alpha=0.2, name=None):
    return apply("LeakyRelu", (features,), {"alpha": alpha}, name)


def crelu(features, name=None, axis=-1):
    from weir.ops import array_ops

    with name_scope(name, "CRelu", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        return relu(array_ops.concat([features, -features], axis, name=scope))  # noqa: F821


def _along_last(op, logits, axis, name):
    """Softmax and its logarithm work on the last dimension; others are moved there and back."""
    from weir.ops import array_ops

    logits = convert_to_tensor(logits)
    rank = logits.shape.ndims
    if axis in (-1, None) or rank is not None and axis == rank - 1:
        return apply(op, (logits,), {}, name)
    if rank is None:
        raise NotImplementedError(f"{op} along an inner dimension of a tensor whose rank is not known is not in Weir yet.")
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is outside of a tensor of rank {rank}")
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    return array_ops.transpose(apply(op, (array_ops.transpose(logits, order),), {}, None), order, name=name or "transpose")


def softmax(logits, axis=None, name=None, dim=None):
    return _along_last("Softmax", logits, dim if axis is None else axis, name)


def log_softmax(logits, axis=None, name=None, dim=None):
    return _along_last("LogSoftmax", logits, dim if axis is None else axis, name)


def conv2d(input, filter=None, strides=None, padding=None, use_cudnn_on_gpu=True, data_format="NHWC",
           dilations=[1, 1, 1, 1], name=None, filters=None):
    """Convolution of images [batch, height, width, in] with a filter [height, width, in, out]."""
    if strides is None or padding is None:
        raise TypeError("conv2d() needs strides and padding")
    attrs = {"data_format": data_format or "NHWC", "dilations": _spatial(dilations, data_format),
             "strides": _spatial(strides, data_format)}
    _set_padding(attrs, padding)
    return apply("Conv2D", (input, filters if filter is None else filter), attrs, name)


def _spatial(sizes, data_format):
    """A size for each dimension, of one for both, or one each, of height and width."""
    if sizes is None:
        sizes = 1
    if isinstance(sizes, int):
        sizes = [sizes]
    sizes = list(sizes)
    if len(sizes) == 1:
        sizes = sizes * 2
    if len(sizes) == 2:
        return [1, 1] + sizes if data_format and data_format.startswith("NC") else [1] + sizes + [1]
    return sizes


def _set_padding(attrs, padding):
    if isinstance(padding, str) or padding is None:
        attrs["padding"] = padding
    else:
        attrs["padding"] = "EXPLICIT"
        attrs["explicit_paddings"] = [int(size) for pair in padding for size in pair]


def conv2d_transpose(value=None, filter=None, output_shape=None, strides=None, padding="SAME", data_format="NHWC",
                     name=None, input=None, filters=None, dilations=None):
    """The gradient of conv2d with respect to its input: enlarges images by the stride."""
    value = input if value is None else value
    filter = filters if filter is None else filter
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as scope:
        return apply("Conv2DBackpropInput", (output_shape, filter, value),
                     {"strides": _spatial(strides, data_format), "padding": padding, "data_format": data_format,
                      "dilations": _spatial(dilations, data_format)}, scope)


deconv2d = conv2d_transpose


def conv1d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NWC", dilations=None, name=None):
    """The gradient of conv1d with respect to its input, through images of height one."""
    from weir.ops import array_ops

    stride = strides if isinstance(strides, int) else list(strides)[-1 if len(list(strides)) < 3 else 1]
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]):
        sizes = convert_to_tensor(output_shape)
        sizes = array_ops.concat([sizes[:1], [1], sizes[1:]], 0)
        image = array_ops.expand_dims(convert_to_tensor(input), 1)
        kernel = array_ops.expand_dims(convert_to_tensor(filters), 0)
        return array_ops.squeeze(conv2d_transpose(image, kernel, sizes, [1, 1, stride, 1], padding), [1])


def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    return conv2d_transpose(value, filters, output_shape, [1, 1, 1, 1], padding, name=name or "atrous_conv2d_transpose",
                            dilations=[1, rate, rate, 1])


def atrous_conv2d(value, filters, rate, padding, name=None):
    return conv2d(value, filters, [1, 1, 1, 1], padding, dilations=[1, rate, rate, 1], name=name or "convolution")


def convolution(input, filter, padding, strides=None, dilation_rate=None, name=None, data_format=None, filters=None,
                dilations=None):
    rank = convert_to_tensor(input).shape.ndims
    if rank == 3 and not (dilation_rate or dilations) and data_format in (None, "NWC"):
        return conv1d(input, filter if filter is not None else filters, list(strides or [1]), padding,
                      name=name or "convolution")
    if rank != 4:
        raise NotImplementedError(f"tf.nn.convolution of tensors of rank {rank} is not in Weir yet.")
    return conv2d(input, filter if filter is not None else filters, strides or 1, padding, True, data_format or "NHWC",
                  _spatial(dilation_rate or dilations or 1, data_format), name or "convolution")


def conv1d(value=None, filters=None, stride=None, padding=None, use_cudnn_on_gpu=None, data_format=None, name=None,
           input=None, dilations=None):
    """Convolution of [batch, width, in] with [width, in, out]."""
    from weir.ops import array_ops

    value = input if value is None else value
    stride = stride[0] if isinstance(stride, (list, tuple)) and len(stride) == 1 else stride
    with name_scope(name, "conv1d", [value, filters]) as scope:
        image = array_ops.expand_dims(convert_to_tensor(value), 1)
        kernel = array_ops.expand_dims(convert_to_tensor(filters), 0)
        return array_ops.squeeze(conv2d(image, kernel, [1, 1, stride, 1], padding, name=scope), [1])


def _pool(op, value, ksize, strides, padding, data_format, name):
    return apply(op, (value,), {"ksize": _spatial(ksize, data_format), "strides": _spatial(strides, data_format),
                                "padding": padding, "data_format": data_format or "NHWC"}, name or op)


def max_pool(value=None, ksize=None, strides=None, padding=None, data_format="NHWC", name=None, input=None):
    return _pool("MaxPool", input if value is None else value, ksize, strides, padding, data_format, name)


def avg_pool(value=None, ksize=None, strides=None, padding=None, data_format="NHWC", name=None, input=None):
    return _pool("AvgPool", input if value is None else value, ksize, strides, padding, data_format, name)


max_pool2d = max_pool


def avg_pool2d(input=None, ksize=None, strides=None, padding=None, data_format="NHWC", name=None, value=None):
    return _pool("AvgPool", value if input is None else input, ksize, strides, padding, data_format, name)


def _pool1d(op, input, ksize, strides, padding, data_format, name):
    """Through images of height one."""
    from weir.ops import array_ops

    def single(size):
        return size if isinstance(size, int) else list(size)[0]

    with name_scope(name, op + "1d", [input]):
        axis = 2 if data_format == "NCW" else 1
        image = array_ops.expand_dims(convert_to_tensor(input), axis)
        result = _pool(op, image, [1, single(ksize)], [1, single(strides)], padding,
                       "NCHW" if data_format == "NCW" else "NHWC", None)
        return array_ops.squeeze(result, [axis])


def max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    return _pool1d("MaxPool", input, ksize, strides, padding, data_format, name)


def avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    return _pool1d("AvgPool", input, ksize, strides, padding, data_format, name)


def pool(input, window_shape, pooling_type, padding, dilation_rate=None, strides=None, name=None, data_format=None,
         dilations=None):
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"pooling_type must be MAX or AVG, got {pooling_type}")
    if any(rate != 1 for rate in dilation_rate or dilations or ()):
        raise NotImplementedError("tf.nn.pool with dilation is not in Weir yet.")
    strides = [1] * len(window_shape) if strides is None else strides
    op = "MaxPool" if pooling_type == "MAX" else "AvgPool"
    if len(window_shape) == 1:
        return _pool1d(op, input, window_shape, strides, padding, data_format, name)
    if len(window_shape) != 2:
        raise NotImplementedError("tf.nn.pool over three dimensions is not in Weir yet.")
    return _pool(op, input, list(window_shape), list(strides), padding, data_format or "NHWC", name)


def lrn(input, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None):
    return apply("LRN", (input,), {"depth_radius": depth_radius, "bias": bias, "alpha": alpha, "beta": beta}, name)


def in_top_k(predictions, targets, k, name=None):
    with name_scope(name, "in_top_k"):
        return apply("InTopKV2", (predictions, targets, k), {}, None)


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    """Keeps each element with probability ``keep_prob``, scaled by its inverse; others become zero."""
    if keep_prob is None:
        if rate is None:
            raise ValueError("You must provide a rate to dropout.")
        keep_prob = 1 - rate
    if isinstance(keep_prob, (int, float)):
        if not 0 < keep_prob <= 1:
            raise ValueError(f"keep_prob must be a scalar tensor or a float in the range (0, 1], got {keep_prob:g}")
        if keep_prob == 1:
            with name_scope(name, "dropout", [x]):
                return convert_to_tensor(x, name="x")
    if not (x if isinstance(x, (Tensor, Variable)) else convert_to_tensor(x)).dtype.base_dtype.is_floating:
        raise ValueError("x has to be a floating point tensor since it's going to be scaled.")
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
    from weir.ops import array_ops

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
    from weir.ops import math_ops

    features = convert_to_tensor(features, name="features")
    return features * math_ops.sigmoid(features)


def scale_regularization_loss(regularization_loss):
    from weir.ops import math_ops

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


def embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None):
    """Rows ``ids`` of ``params``, or of its parts when it is a list."""
    params, div = _parts(params, partition_strategy)
    return _weir.embedding_lookup(_graph(), params, ids, div, max_norm, name)


def embedding_lookup_sparse(params, sp_ids, sp_weights, partition_strategy="mod", name=None, combiner=None,
                            max_norm=None):
    """For each row of the SparseTensor ``sp_ids`` the embeddings of its ids, combined."""
    from weir.ops.sparse_ops import SparseTensor

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
                                         max_norm, name)


@simple.needs("FusedBatchNorm")
def fused_batch_norm(x, scale, offset, mean=None, variance=None, epsilon=0.001, data_format="NHWC", is_training=True,
                     name=None):
    empty = convert_to_tensor([], dtype=dtypes.float32)
    y, batch_mean, batch_variance, *_ = apply(
        "FusedBatchNorm", (x, scale, offset, empty if mean is None else mean, empty if variance is None else variance),
        {"epsilon": max(epsilon, 1.001e-5), "data_format": data_format, "is_training": is_training}, name)
    return y, batch_mean, batch_variance


def _rate(rate, dilations):
    """The dilation of height and width, of one number, two or one for each dimension."""
    rate = rate or dilations or 1
    rate = [rate] * 2 if isinstance(rate, int) else list(rate)
    return rate[1:3] if len(rate) == 4 else rate


def depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None):
    return _weir.depthwise_conv2d(_graph(), input, filter, strides, padding, _rate(rate, dilations),
                                  data_format or "NHWC", name)


def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, rate=None, name=None,
                     data_format=None, dilations=None):
    return _weir.separable_conv2d(_graph(), input, depthwise_filter, pointwise_filter, strides, padding,
                                  _rate(rate, dilations), data_format or "NHWC", name)


__all__ = public_names(globals())
