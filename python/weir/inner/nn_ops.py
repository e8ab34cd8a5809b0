"""Names of tensorflow.python.ops.nn_ops and nn_impl that are not public: the later forms that TensorFlow 1.15 keeps beside
the earlier, which its own tests call."""

from weir import _weir
from weir.core.tensor_shape import TensorShape
from weir.ops import array_ops, candidate_sampling_ops, conv_ops, math_ops, nn_ops


def conv2d_v2(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):
    return conv_ops.conv2d(input, filters, strides, padding, data_format=data_format, dilations=dilations, name=name)


def conv2d_transpose_v2(input, filters, output_shape, strides, padding="SAME", data_format="NHWC", dilations=None,
                        name=None):
    return conv_ops.conv2d_transpose(input, filters, output_shape, strides, padding, data_format, name,
                                     dilations=dilations)


def conv3d_transpose_v2(input, filters, output_shape, strides, padding="SAME", data_format="NDHWC", dilations=None,
                        name=None):
    return conv_ops.conv3d_transpose(input, filters, output_shape, strides, padding, data_format, name,
                                     dilations=dilations)


conv3d_v1 = conv3d_v2 = conv_ops.conv3d


def convolution_v2(input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None):
    return conv_ops.convolution(input, filters, padding, strides, dilations, name, data_format)


def convolution_internal(input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None):
    return conv_ops.convolution(input, filters, padding, strides, dilations, name, data_format)


def depthwise_conv2d_v2(input, filter, strides, padding, data_format=None, dilations=None, name=None):
    return conv_ops.depthwise_conv2d(input, filter, strides, padding, dilations, name, data_format)


def separable_conv2d_v2(input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None,
                        name=None):
    return conv_ops.separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, dilations, name,
                                     data_format)


def softmax_v2(logits, axis=None, name=None):
    return nn_ops.softmax(logits, axis, name)


def log_softmax_v2(logits, axis=None, name=None):
    return nn_ops.log_softmax(logits, axis, name)


def sparse_softmax_cross_entropy_with_logits_v2(labels, logits, name=None):
    return nn_ops.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def sigmoid_cross_entropy_with_logits_v2(labels=None, logits=None, name=None):
    return nn_ops.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def weighted_cross_entropy_with_logits_v2(labels, logits, pos_weight, name=None):
    return nn_ops.weighted_cross_entropy_with_logits(labels, logits, pos_weight, name)


def crelu_v2(features, axis=-1, name=None):
    return nn_ops.crelu(features, name, axis)


def dropout_v2(x, rate, noise_shape=None, seed=None, name=None):
    return nn_ops.dropout(x, rate=rate if isinstance(rate, (int, float)) else array_ops.convert_to_tensor(rate),
                          noise_shape=noise_shape, seed=seed, name=name)


def in_top_k_v2(targets, predictions, k, name=None):
    return nn_ops.in_top_k(predictions, targets, k, name)


def moments_v2(x, axes, shift=None, keepdims=False, name=None):
    return nn_ops.moments(x, axes, shift, name, keepdims)


def weighted_moments_v2(x, axes, frequency_weights, keepdims=False, name=None):
    return nn_ops.weighted_moments(x, axes, frequency_weights, name, keepdims)


def sufficient_statistics_v2(x, axes, shift=None, keepdims=False, name=None):
    return nn_ops.sufficient_statistics(x, axes, shift, keepdims, name)


def l2_normalize_v2(x, axis=None, epsilon=1e-12, name=None):
    return nn_ops.l2_normalize(x, axis, epsilon, name)


def _compute_sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                            subtract_log_q=True, remove_accidental_hits=False, partition_strategy="mod", name=None,
                            seed=None):
    options = dict(num_sampled=num_sampled, num_classes=num_classes, num_true=num_true, sampled_values=sampled_values,
                   remove_accidental_hits=bool(remove_accidental_hits), partition_strategy=partition_strategy, seed=seed,
                   subtract_log_q=bool(subtract_log_q))
    return candidate_sampling_ops._sampled_loss(_weir.compute_sampled_logits, weights, biases, labels, inputs, options,
                                                name)


def normalize(tensor, ord="euclidean", axis=None, name=None):
    """(tensor divided by its norm, the norm)."""
    with array_ops.name_scope(name, "normalize", [tensor]):
        tensor = array_ops.convert_to_tensor(tensor)
        norm = math_ops.norm(tensor, ord, axis, keepdims=True)
        norm = math_ops.cast(norm, tensor.dtype.base_dtype)
        return tensor / norm, norm


def _embedding_lookup_and_transform(params, ids, partition_strategy="mod", name=None, max_norm=None, transform_fn=None):
    result = nn_ops.embedding_lookup(params, ids, partition_strategy, name, max_norm=max_norm)
    return result if transform_fn is None else transform_fn(result)


def nce_loss_v2(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                remove_accidental_hits=False, name="nce_loss"):
    return candidate_sampling_ops.nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true,
                                           sampled_values, remove_accidental_hits, "div", name)


def sampled_softmax_loss_v2(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                            remove_accidental_hits=True, seed=None, name="sampled_softmax_loss"):
    return candidate_sampling_ops.sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes,
                                                       num_true, sampled_values, remove_accidental_hits, "div", name,
                                                       seed)


class Convolution:
    """A convolution of inputs and filters of these shapes, called with the two: what layers keep."""

    def __init__(self, input_shape, filter_shape, padding, strides=None, dilation_rate=None, name=None, data_format=None):
        inputs, filters = TensorShape(input_shape).ndims, TensorShape(filter_shape).ndims
        if inputs is not None and filters is not None and inputs != filters:
            raise ValueError(f"input tensor must have rank {filters}, as the filter has, but has {inputs}")
        self._options = {"padding": padding, "strides": strides, "dilation_rate": dilation_rate, "name": name,
                         "data_format": data_format}

    def __call__(self, inp, filter):
        return conv_ops.convolution(inp, filter, **self._options)
