"""tf.contrib.distributions.bijectors: functions with an inverse and the logarithm of their Jacobian's determinant."""

import numpy as np

import weir as tf
from weir import names as _names


class Bijector:
    """A function of events. Subclasses define ``_forward``, ``_inverse`` and one of ``_forward_log_det_jacobian`` and
    ``_inverse_log_det_jacobian``, for events of the fewest dimensions that they take."""

    def __init__(self, graph_parents=None, is_constant_jacobian=False, validate_args=False, dtype=None,
                 forward_min_event_ndims=None, inverse_min_event_ndims=None, name=None, event_ndims=None):
        if forward_min_event_ndims is None:
            forward_min_event_ndims = inverse_min_event_ndims
        if forward_min_event_ndims is None:
            forward_min_event_ndims = event_ndims or 0
        self._forward_min = forward_min_event_ndims
        self._inverse_min = forward_min_event_ndims if inverse_min_event_ndims is None else inverse_min_event_ndims
        self._is_constant_jacobian, self._validate_args, self._dtype = is_constant_jacobian, validate_args, dtype
        self._graph_parents, self._event_ndims = graph_parents or [], event_ndims
        self._name = name or _snake(type(self).__name__)

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    graph_parents = property(lambda self: self._graph_parents)
    validate_args = property(lambda self: self._validate_args)
    is_constant_jacobian = property(lambda self: self._is_constant_jacobian)
    forward_min_event_ndims = property(lambda self: self._forward_min)
    inverse_min_event_ndims = property(lambda self: self._inverse_min)

    def forward(self, x, name="forward", **kwargs):
        with tf.name_scope(self._name), tf.name_scope(name):
            return self._forward(tf.convert_to_tensor(x, name="x", dtype=self._dtype), **kwargs)

    def inverse(self, y, name="inverse", **kwargs):
        with tf.name_scope(self._name), tf.name_scope(name):
            return self._inverse(tf.convert_to_tensor(y, name="y", dtype=self._dtype), **kwargs)

    def _over(self, log_det, tensor, event_ndims, fewest):
        """Adds what the further dimensions of an event have; a number stands for all of them."""
        extra = fewest if event_ndims is None else event_ndims
        extra = int(tf.contrib.util.constant_value(tf.convert_to_tensor(extra))) - fewest
        if extra < 0:
            raise ValueError(f"event_ndims ({event_ndims}) must be larger than {fewest} for {self._name}")
        if extra == 0:
            return log_det
        rank = tensor.get_shape().ndims
        if self._is_constant_jacobian and log_det.get_shape().ndims is not None and rank is not None:
            log_det = log_det + tf.zeros(tf.shape(tensor)[:rank - fewest], log_det.dtype)
        return tf.reduce_sum(log_det, axis=[-1 - i for i in range(extra)])

    def forward_log_det_jacobian(self, x, event_ndims=None, name="forward_log_det_jacobian", **kwargs):
        with tf.name_scope(self._name), tf.name_scope(name):
            x = tf.convert_to_tensor(x, name="x", dtype=self._dtype)
            if hasattr(self, "_forward_log_det_jacobian"):
                value = self._forward_log_det_jacobian(x, **kwargs)
            else:
                value = -self._inverse_log_det_jacobian(self._forward(x, **kwargs), **kwargs)
            return self._over(value, x, self._event_ndims if event_ndims is None else event_ndims, self._forward_min)

    def inverse_log_det_jacobian(self, y, event_ndims=None, name="inverse_log_det_jacobian", **kwargs):
        with tf.name_scope(self._name), tf.name_scope(name):
            y = tf.convert_to_tensor(y, name="y", dtype=self._dtype)
            if hasattr(self, "_inverse_log_det_jacobian"):
                value = self._inverse_log_det_jacobian(y, **kwargs)
            else:
                value = -self._forward_log_det_jacobian(self._inverse(y, **kwargs), **kwargs)
            return self._over(value, y, self._event_ndims if event_ndims is None else event_ndims, self._inverse_min)

    def forward_event_shape(self, input_shape):
        return tf.TensorShape(input_shape)

    def inverse_event_shape(self, output_shape):
        return tf.TensorShape(output_shape)


class ConditionalBijector(Bijector):
    """A bijector whose functions take further arguments, by name."""


def _snake(name):
    return "".join("_" + c.lower() if c.isupper() and i else c.lower() for i, c in enumerate(name))


class Identity(Bijector):
    def __init__(self, validate_args=False, name="identity", event_ndims=None):
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, name=name, event_ndims=event_ndims)

    def _forward(self, x):
        return x

    _inverse = _forward

    def _forward_log_det_jacobian(self, x):
        return tf.zeros([], x.dtype)

    _inverse_log_det_jacobian = _forward_log_det_jacobian


class PowerTransform(Bijector):
    """(1 + p x) ^ (1 / p); exp for p = 0."""

    def __init__(self, power=0.0, validate_args=False, name="power_transform", event_ndims=None):
        if power < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        super().__init__(validate_args=validate_args, name=name, event_ndims=event_ndims)
        self._power = power

    power = property(lambda self: self._power)

    def _forward(self, x):
        return tf.exp(x) if self._power == 0.0 else tf.exp(tf.log1p(x * self._power) / self._power)

    def _inverse(self, y):
        return tf.log(y) if self._power == 0.0 else tf.expm1(tf.log(y) * self._power) / self._power

    def _inverse_log_det_jacobian(self, y):
        return (self._power - 1.0) * tf.log(y)

    def _forward_log_det_jacobian(self, x):
        return x if self._power == 0.0 else (1.0 / self._power - 1.0) * tf.log1p(x * self._power)


class Exp(PowerTransform):
    def __init__(self, validate_args=False, name="exp", event_ndims=None):
        super().__init__(0.0, validate_args, name, event_ndims)


class Sigmoid(Bijector):
    def __init__(self, validate_args=False, name="sigmoid", event_ndims=None):
        super().__init__(validate_args=validate_args, name=name, event_ndims=event_ndims)

    def _forward(self, x):
        return tf.sigmoid(x)

    def _inverse(self, y):
        return tf.log(y) - tf.log1p(-y)

    def _inverse_log_det_jacobian(self, y):
        return -tf.log1p(-y) - tf.log(y)

    def _forward_log_det_jacobian(self, x):
        return -tf.nn.softplus(-x) - tf.nn.softplus(x)


class Tanh(Bijector):
    def __init__(self, validate_args=False, name="tanh", event_ndims=None):
        super().__init__(validate_args=validate_args, name=name, event_ndims=event_ndims)

    def _forward(self, x):
        return tf.tanh(x)

    def _inverse(self, y):
        return tf.atanh(y)

    def _forward_log_det_jacobian(self, x):
        return 2.0 * (np.log(2.0) - x - tf.nn.softplus(-2.0 * x))


class Softplus(Bijector):
    def __init__(self, hinge_softness=None, validate_args=False, name="softplus", event_ndims=None):
        super().__init__(validate_args=validate_args, name=name, event_ndims=event_ndims)
        self._softness = hinge_softness

    def _forward(self, x):
        return tf.nn.softplus(x) if self._softness is None else self._softness * tf.nn.softplus(x / self._softness)

    def _inverse(self, y):
        if self._softness is None:
            return y + tf.log(-tf.expm1(-y))
        scaled = y / self._softness
        return self._softness * (scaled + tf.log(-tf.expm1(-scaled)))

    def _forward_log_det_jacobian(self, x):
        return -tf.nn.softplus(-x if self._softness is None else -x / self._softness)


class Softsign(Bijector):
    def __init__(self, validate_args=False, name="softsign"):
        super().__init__(validate_args=validate_args, name=name)

    def _forward(self, x):
        return x / (1.0 + tf.abs(x))

    def _inverse(self, y):
        return y / (1.0 - tf.abs(y))

    def _forward_log_det_jacobian(self, x):
        return -2.0 * tf.log1p(tf.abs(x))


class Square(Bijector):
    def __init__(self, validate_args=False, name="square"):
        super().__init__(validate_args=validate_args, name=name)

    def _forward(self, x):
        return tf.square(x)

    def _inverse(self, y):
        return tf.sqrt(y)

    def _forward_log_det_jacobian(self, x):
        return np.log(2.0) + tf.log(x)


class Gumbel(Bijector):
    """exp(-exp(-(x - loc) / scale))"""

    def __init__(self, loc=0.0, scale=1.0, validate_args=False, name="gumbel"):
        super().__init__(validate_args=validate_args, name=name)
        self._loc, self._scale = tf.convert_to_tensor(loc), tf.convert_to_tensor(scale)

    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)

    def _forward(self, x):
        return tf.exp(-tf.exp(-(x - self._loc) / self._scale))

    def _inverse(self, y):
        return self._loc - self._scale * tf.log(-tf.log(y))

    def _inverse_log_det_jacobian(self, y):
        return tf.log(self._scale / (-tf.log(y) * y))


class AffineScalar(Bijector):
    """shift + scale x"""

    def __init__(self, shift=None, scale=None, validate_args=False, name="affine_scalar"):
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, name=name)
        self._shift = None if shift is None else tf.convert_to_tensor(shift)
        self._scale = None if scale is None else tf.convert_to_tensor(scale)

    shift = property(lambda self: self._shift)
    scale = property(lambda self: self._scale)

    def _forward(self, x):
        x = x if self._scale is None else x * self._scale
        return x if self._shift is None else x + self._shift

    def _inverse(self, y):
        y = y if self._shift is None else y - self._shift
        return y if self._scale is None else y / self._scale

    def _forward_log_det_jacobian(self, x):
        return tf.zeros([], x.dtype) if self._scale is None else tf.log(tf.abs(self._scale))


class Affine(Bijector):
    """shift + scale x for vectors; the scale is given as a diagonal, a lower triangle, a multiple of one, or a sum."""

    def __init__(self, shift=None, scale_identity_multiplier=None, scale_diag=None, scale_tril=None,
                 scale_perturb_factor=None, scale_perturb_diag=None, validate_args=False, name="affine", event_ndims=1):
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, name=name, forward_min_event_ndims=1)
        if scale_perturb_factor is not None:
            raise NotImplementedError("Affine with scale_perturb_factor is not in Weir; give the matrix as scale_tril.")
        self._shift = None if shift is None else tf.convert_to_tensor(shift)
        self._tril = None if scale_tril is None else tf.convert_to_tensor(scale_tril)
        diag = None if scale_diag is None else tf.convert_to_tensor(scale_diag)
        if scale_identity_multiplier is not None:
            multiplier = tf.convert_to_tensor(scale_identity_multiplier)[..., None]
            diag = multiplier if diag is None else diag + multiplier
        if self._tril is not None:
            self._tril = tf.matrix_band_part(self._tril, -1, 0)
            if diag is not None:
                self._tril, diag = self._tril + tf.matrix_diag(diag + tf.zeros_like(self._tril[..., 0])), None
        self._diag = diag

    shift = property(lambda self: self._shift)

    def _forward(self, x):
        if self._tril is not None:
            x = tf.reduce_sum(self._tril * x[..., None, :], axis=-1)
        elif self._diag is not None:
            x = x * self._diag
        return x if self._shift is None else x + self._shift

    def _inverse(self, y):
        y = y if self._shift is None else y - self._shift
        if self._tril is not None:
            tril = self._tril + tf.zeros(tf.concat([tf.shape(y)[:-1], tf.shape(self._tril)[-2:]], 0), y.dtype)
            return tf.matrix_triangular_solve(tril, y[..., None] + tf.zeros_like(tril[..., :1]), lower=True)[..., 0]
        return y if self._diag is None else y / self._diag

    def _forward_log_det_jacobian(self, x):
        if self._tril is not None:
            return tf.reduce_sum(tf.log(tf.abs(tf.matrix_diag_part(self._tril))), axis=-1)
        if self._diag is None:
            return tf.zeros([], x.dtype)
        return tf.reduce_sum(tf.log(tf.abs(self._diag)) + tf.zeros_like(x), axis=-1)


class Invert(Bijector):
    """The inverse of a bijector as one."""

    def __init__(self, bijector, validate_args=False, name=None):
        super().__init__(is_constant_jacobian=bijector.is_constant_jacobian, validate_args=validate_args,
                         forward_min_event_ndims=bijector.inverse_min_event_ndims,
                         inverse_min_event_ndims=bijector.forward_min_event_ndims, name=name or f"invert_{bijector.name}")
        self._bijector = bijector

    bijector = property(lambda self: self._bijector)

    def _forward(self, x, **kwargs):
        return self._bijector.inverse(x, **kwargs)

    def _inverse(self, y, **kwargs):
        return self._bijector.forward(y, **kwargs)

    def _forward_log_det_jacobian(self, x, **kwargs):
        return self._bijector.inverse_log_det_jacobian(x, self._forward_min, **kwargs)

    def _inverse_log_det_jacobian(self, y, **kwargs):
        return self._bijector.forward_log_det_jacobian(y, self._inverse_min, **kwargs)

    def forward_event_shape(self, input_shape):
        return self._bijector.inverse_event_shape(input_shape)


class Chain(Bijector):
    """Bijectors one after another, the last first: Chain([f, g]) is f(g(x))."""

    def __init__(self, bijectors=None, validate_args=False, name=None):
        self._bijectors = list(bijectors or [])
        fewest = max([b.forward_min_event_ndims for b in self._bijectors], default=0)
        super().__init__(is_constant_jacobian=all(b.is_constant_jacobian for b in self._bijectors),
                         validate_args=validate_args, forward_min_event_ndims=fewest,
                         name=name or ("_of_".join(["chain"] + [b.name for b in self._bijectors])))

    bijectors = property(lambda self: self._bijectors)

    def _forward(self, x, **kwargs):
        for bijector in reversed(self._bijectors):
            x = bijector.forward(x, **kwargs.get(bijector.name, {}))
        return x

    def _inverse(self, y, **kwargs):
        for bijector in self._bijectors:
            y = bijector.inverse(y, **kwargs.get(bijector.name, {}))
        return y

    def _forward_log_det_jacobian(self, x, **kwargs):
        total = tf.zeros([], x.dtype)
        for bijector in reversed(self._bijectors):
            more = kwargs.get(bijector.name, {})
            total = total + bijector.forward_log_det_jacobian(x, self._forward_min, **more)
            x = bijector.forward(x, **more)
        return total

    def _inverse_log_det_jacobian(self, y, **kwargs):
        total = tf.zeros([], y.dtype)
        for bijector in self._bijectors:
            more = kwargs.get(bijector.name, {})
            total = total + bijector.inverse_log_det_jacobian(y, self._forward_min, **more)
            y = bijector.inverse(y, **more)
        return total

    def forward_event_shape(self, input_shape):
        for bijector in reversed(self._bijectors):
            input_shape = bijector.forward_event_shape(input_shape)
        return input_shape


class Inline(Bijector):
    """A bijector of functions."""

    def __init__(self, forward_fn=None, inverse_fn=None, inverse_log_det_jacobian_fn=None,
                 forward_log_det_jacobian_fn=None, forward_event_shape_fn=None, forward_event_shape_tensor_fn=None,
                 inverse_event_shape_fn=None, inverse_event_shape_tensor_fn=None, is_constant_jacobian=False,
                 validate_args=False, forward_min_event_ndims=None, inverse_min_event_ndims=None, name="inline"):
        super().__init__(is_constant_jacobian=is_constant_jacobian, validate_args=validate_args, name=name,
                         forward_min_event_ndims=forward_min_event_ndims or 0,
                         inverse_min_event_ndims=inverse_min_event_ndims)
        if forward_fn is not None:
            self._forward = forward_fn
        if inverse_fn is not None:
            self._inverse = inverse_fn
        if inverse_log_det_jacobian_fn is not None:
            self._inverse_log_det_jacobian = inverse_log_det_jacobian_fn
        if forward_log_det_jacobian_fn is not None:
            self._forward_log_det_jacobian = forward_log_det_jacobian_fn


class Permute(Bijector):
    """The last dimension in another order."""

    def __init__(self, permutation, validate_args=False, name=None):
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, name=name or "permute",
                         forward_min_event_ndims=1)
        self._permutation = tf.convert_to_tensor(permutation)

    permutation = property(lambda self: self._permutation)

    def _forward(self, x):
        return tf.gather(x, self._permutation, axis=-1)

    def _inverse(self, y):
        return tf.gather(y, tf.invert_permutation(self._permutation), axis=-1)

    def _forward_log_det_jacobian(self, x):
        return tf.zeros([], x.dtype)

    _inverse_log_det_jacobian = _forward_log_det_jacobian


class Reshape(Bijector):
    """Events in another shape."""

    def __init__(self, event_shape_out, event_shape_in=(-1,), validate_args=False, name=None):
        self._out, self._in = [int(n) for n in event_shape_out], [int(n) for n in event_shape_in]
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, name=name or "reshape",
                         forward_min_event_ndims=len(self._in), inverse_min_event_ndims=len(self._out))

    def _forward(self, x):
        return tf.reshape(x, tf.concat([tf.shape(x)[:x.get_shape().ndims - len(self._in)], self._out], 0))

    def _inverse(self, y):
        return tf.reshape(y, tf.concat([tf.shape(y)[:y.get_shape().ndims - len(self._out)], self._in], 0))

    def _forward_log_det_jacobian(self, x):
        return tf.zeros([], x.dtype)

    _inverse_log_det_jacobian = _forward_log_det_jacobian

    def forward_event_shape(self, input_shape):
        return tf.TensorShape([None if n < 0 else n for n in self._out])

    def inverse_event_shape(self, output_shape):
        return tf.TensorShape([None if n < 0 else n for n in self._in])


class SoftmaxCentered(Bijector):
    """n numbers as n + 1 probabilities: the softmax of them and a zero."""

    def __init__(self, validate_args=False, name="softmax_centered"):
        super().__init__(validate_args=validate_args, name=name, forward_min_event_ndims=1)

    def _forward(self, x):
        return tf.nn.softmax(tf.concat([x, tf.zeros_like(x[..., :1])], axis=-1))

    def _inverse(self, y):
        return tf.log(y[..., :-1]) - tf.log(y[..., -1:])

    def _inverse_log_det_jacobian(self, y):
        return -tf.reduce_sum(tf.log(y), axis=-1)

    def forward_event_shape(self, input_shape):
        shape = tf.TensorShape(input_shape)
        return shape[:-1].concatenate([None if shape[-1].value is None else shape[-1].value + 1])

    def inverse_event_shape(self, output_shape):
        shape = tf.TensorShape(output_shape)
        return shape[:-1].concatenate([None if shape[-1].value is None else shape[-1].value - 1])


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


__getattr__, __dir__ = _names.namespace(__name__)
