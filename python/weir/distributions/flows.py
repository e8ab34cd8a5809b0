"""Bijectors that are learned: flows of vectors."""

import numpy as np

import weir as tf
from weir.distributions.bijector import Bijector


class RealNVP(Bijector):
    """The last numbers, shifted and scaled by functions of the first ``num_masked``."""

    def __init__(self, num_masked, shift_and_log_scale_fn, is_constant_jacobian=False, validate_args=False, name=None):
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        super().__init__(is_constant_jacobian=is_constant_jacobian, validate_args=validate_args, name=name or "real_nvp",
                         forward_min_event_ndims=1)
        self._masked, self._function = num_masked, shift_and_log_scale_fn

    def _parts(self, x, **kwargs):
        first, rest = x[..., :self._masked], x[..., self._masked:]
        size = rest.get_shape()[-1].value
        return (first, rest, *self._function(first, size, **kwargs))

    def _forward(self, x, **kwargs):
        first, rest, shift, log_scale = self._parts(x, **kwargs)
        rest = rest if log_scale is None else rest * tf.exp(log_scale)
        return tf.concat([first, rest if shift is None else rest + shift], axis=-1)

    def _inverse(self, y, **kwargs):
        first, rest, shift, log_scale = self._parts(y, **kwargs)
        rest = rest if shift is None else rest - shift
        return tf.concat([first, rest if log_scale is None else rest * tf.exp(-log_scale)], axis=-1)

    def _forward_log_det_jacobian(self, x, **kwargs):
        log_scale = self._parts(x, **kwargs)[3]
        return tf.zeros([], x.dtype) if log_scale is None else tf.reduce_sum(log_scale, axis=-1)

    def _inverse_log_det_jacobian(self, y, **kwargs):
        return -self._forward_log_det_jacobian(y, **kwargs)


def real_nvp_default_template(hidden_layers, shift_only=False, activation=tf.nn.relu, name=None, *args, **kwargs):
    """A small network for RealNVP."""
    def shift_and_log_scale(x, output_units):
        for units in hidden_layers:
            x = tf.layers.dense(x, units=units, activation=activation, *args, **kwargs)
        x = tf.layers.dense(x, units=(1 if shift_only else 2) * output_units, activation=None, *args, **kwargs)
        if shift_only:
            return x, None
        return tuple(tf.split(x, 2, axis=-1))

    return tf.make_template(name or "real_nvp_default_template", shift_and_log_scale)


class MaskedAutoregressiveFlow(Bijector):
    """Each number of a vector, scaled and shifted by functions of those before it.

    ``shift_and_log_scale_fn(y)`` gives (shift, log_scale), either of which may be None, of which the i-th may depend on
    the first i numbers of y only. The inverse is one call of it, the forward direction one for each number."""

    def __init__(self, shift_and_log_scale_fn, is_constant_jacobian=False, validate_args=False, unroll_loop=False,
                 name=None):
        super().__init__(is_constant_jacobian=is_constant_jacobian, validate_args=validate_args,
                         forward_min_event_ndims=1, name=name or "masked_autoregressive_flow")
        self._function, self._unroll = shift_and_log_scale_fn, unroll_loop

    def _step(self, x, y):
        shift, log_scale = self._function(y)
        x = x if log_scale is None else x * tf.exp(log_scale)
        return x if shift is None else x + shift

    def _forward(self, x):
        size, y = x.get_shape().with_rank_at_least(1)[-1].value, tf.zeros_like(x, name="y0")
        if self._unroll:
            if size is None:
                raise ValueError("The final dimension of `x` must be known at graph construction time if "
                                 f"`unroll_loop=True`. `x.shape: {x.get_shape()!r}`")
            for _ in range(size):
                y = self._step(x, y)
            return y
        self._function(y)  # makes its variables outside of the loop
        count = tf.shape(x)[-1]
        return tf.while_loop(lambda i, y: i < count, lambda i, y: (i + 1, self._step(x, y)), (0, y),
                             maximum_iterations=size)[1]

    def _inverse(self, y):
        shift, log_scale = self._function(y)
        x = y if shift is None else y - shift
        return x if log_scale is None else x * tf.exp(-log_scale)

    def _inverse_log_det_jacobian(self, y):
        log_scale = self._function(y)[1]
        return tf.zeros([], y.dtype) if log_scale is None else -tf.reduce_sum(log_scale, axis=-1)


def _known_depth(x):
    depth = x.get_shape().with_rank_at_least(1)[-1].value
    if depth is None:
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
    return depth


def _gen_mask(num_blocks, n_in, n_out, mask_type="exclusive", dtype=tf.float32):
    """[n_out, n_in] of 0 and 1: outputs of a block read inputs of the blocks before it, and of its own if inclusive."""
    inputs, outputs = n_in // num_blocks, n_out // num_blocks
    mask = np.zeros([n_out, n_in], dtype=dtype.as_numpy_dtype)
    for block in range(num_blocks):
        first = (block + (mask_type == "exclusive")) * outputs
        mask[first:, block * inputs:(block + 1) * inputs] = 1
    return mask


def masked_dense(inputs, units, num_blocks=None, exclusive=False, kernel_initializer=None, reuse=None, name=None, *args,
                 **kwargs):
    """A dense layer of blocks, each of which reads blocks before it (and itself, unless ``exclusive``)."""
    mask = _gen_mask(num_blocks, _known_depth(inputs), units, "exclusive" if exclusive else "inclusive").T
    initializer = tf.glorot_normal_initializer() if kernel_initializer is None else kernel_initializer

    def masked_initializer(shape, dtype=None, partition_info=None):
        return mask * initializer(shape, dtype, partition_info)

    with tf.name_scope(name, "masked_dense", [inputs]):
        layer = tf.layers.Dense(units, *args, kernel_initializer=masked_initializer,
                                kernel_constraint=lambda kernel: mask * kernel, name=name, dtype=inputs.dtype.base_dtype,
                                _scope=name, _reuse=reuse, **kwargs)
        return layer.apply(inputs)


def masked_autoregressive_default_template(hidden_layers, shift_only=False, activation=tf.nn.relu, log_scale_min_clip=-5.0,
                                           log_scale_max_clip=3.0, log_scale_clip_gradient=False, name=None, *args,
                                           **kwargs):
    """A network of masked layers for MaskedAutoregressiveFlow."""
    name = name or "masked_autoregressive_default_template"

    def shift_and_log_scale(x):
        depth = _known_depth(x)
        shape = x.get_shape().as_list() if x.get_shape().is_fully_defined() else tf.shape(x)
        for i, units in enumerate(hidden_layers):
            x = masked_dense(x, units, depth, i == 0, *args, activation=activation, **kwargs)
        x = masked_dense(x, (1 if shift_only else 2) * depth, depth, not hidden_layers, *args, activation=None, **kwargs)
        if shift_only:
            return tf.reshape(x, shape), None
        shift, log_scale = tf.unstack(tf.reshape(x, tf.concat([shape, [2]], 0)), num=2, axis=-1)
        clipped = tf.clip_by_value(log_scale, log_scale_min_clip, log_scale_max_clip)
        if not log_scale_clip_gradient:  # beyond the limits, too, the gradient pulls back
            clipped = log_scale + tf.stop_gradient(clipped - log_scale)
        return shift, clipped

    return tf.make_template(name, shift_and_log_scale)


class BatchNormalization(Bijector):
    """The inverse of a layer of batch normalisation: its inverse normalises."""

    def __init__(self, batchnorm_layer=None, training=True, validate_args=False, name="batch_normalization"):
        layer = batchnorm_layer or tf.layers.BatchNormalization(gamma_constraint=lambda x: tf.nn.relu(x) + 1e-6)
        if not isinstance(layer, tf.layers.BatchNormalization):
            raise ValueError("batchnorm_layer must be an instance of BatchNormalization layer.")
        if layer.renorm:
            raise ValueError("BatchNorm Bijector does not support renormalization.")
        if layer.virtual_batch_size:
            raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
        self.batchnorm, self._training = layer, training
        super().__init__(forward_min_event_ndims=1 if isinstance(layer.axis, int) else len(layer.axis),
                         validate_args=validate_args, name=name)

    def _axes(self, x):
        """(the axes that are normalised together, the shape in which the layer's vectors meet x)"""
        if not x.get_shape().is_fully_defined():
            raise ValueError("Input must have shape known at graph construction.")
        if not self.batchnorm.built:
            self.batchnorm.build(x.get_shape())
        rank = x.get_shape().ndims
        axis = self.batchnorm.axis if isinstance(self.batchnorm.axis, (list, tuple)) else [self.batchnorm.axis]
        kept = [a % rank for a in axis]
        return [a for a in range(rank) if a not in kept], [n if a in kept else 1 for a, n in enumerate(x.shape.as_list())]

    def _inverse(self, y):
        return self.batchnorm.apply(y, training=self._training)

    def _forward(self, x):
        _, shape = self._axes(x)
        layer = self.batchnorm
        scale = tf.sqrt(tf.reshape(layer.moving_variance, shape) + layer.epsilon)
        if layer.scale:
            scale = scale / tf.reshape(layer.gamma, shape)
        if layer.center:
            x = x - tf.reshape(layer.beta, shape)
        return x * scale + tf.reshape(layer.moving_mean, shape)

    def _log_det(self, y, saved):
        axes, _ = self._axes(y)
        layer = self.batchnorm
        variance = layer.moving_variance if saved else tf.nn.moments(y, axes=axes, keep_dims=True)[1]
        log_scale = tf.reduce_sum(tf.log(layer.gamma)) if layer.scale else 0.0
        return log_scale - 0.5 * tf.reduce_sum(tf.log(variance + layer.epsilon))

    def _forward_log_det_jacobian(self, x):
        return -self._log_det(x, saved=True)

    def _inverse_log_det_jacobian(self, y):
        return self._log_det(y, saved=not self._training)
