"""tf.contrib.distributions.bijectors: functions with an inverse and the logarithm of their Jacobian's determinant."""

import numpy as np

import weir as tf
from weir.distributions.bijector import Bijector


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
    """shift + scale x for vectors; the scale is a multiple of one, a diagonal and a lower triangle, what is given of them,
    plus U D U^T of a matrix U with few columns and a diagonal D, ``scale_perturb_factor`` and ``scale_perturb_diag``."""

    def __init__(self, shift=None, scale_identity_multiplier=None, scale_diag=None, scale_tril=None,
                 scale_perturb_factor=None, scale_perturb_diag=None, validate_args=False, name="affine", event_ndims=1):
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError("When scale_perturb_diag is specified, scale_perturb_factor must be specified.")
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, name=name, forward_min_event_ndims=1)
        with tf.name_scope(name), tf.name_scope("init"):
            self._shift = None if shift is None else tf.convert_to_tensor(shift, name="shift")
            self._tril = None if scale_tril is None else tf.convert_to_tensor(scale_tril, name="scale_tril")
            factor = None if scale_perturb_factor is None else tf.convert_to_tensor(scale_perturb_factor)
            diag = None if scale_diag is None else tf.convert_to_tensor(scale_diag, name="scale_diag")
            if scale_identity_multiplier is not None:
                multiplier = tf.convert_to_tensor(scale_identity_multiplier)[..., None]
                diag = multiplier if diag is None else diag + multiplier
            if self._tril is not None:
                self._tril = tf.matrix_band_part(self._tril, -1, 0)
                if diag is not None:
                    self._tril, diag = self._tril + tf.matrix_diag(diag + tf.zeros_like(self._tril[..., 0])), None
            self._diag, self._matrix = diag, None
            if factor is not None:
                self._matrix = self._base(factor) + self._perturbation(factor, scale_perturb_diag)

    shift = property(lambda self: self._shift)

    def _base(self, factor):
        """The scale without U D U^T, as a matrix."""
        if self._tril is not None:
            return self._tril
        ones = tf.ones_like(factor[..., 0])
        return tf.matrix_diag(ones if self._diag is None else ones * self._diag)

    @staticmethod
    def _perturbation(factor, diag):
        scaled = factor if diag is None else factor * tf.convert_to_tensor(diag)[..., None, :]
        return tf.matmul(scaled, factor, transpose_b=True)

    def _checked(self, diagonal):
        """A diagonal that makes the scale singular if it has a zero."""
        if not self._validate_args:
            return diagonal
        check = tf.assert_none_equal(diagonal, tf.zeros([], diagonal.dtype), message="diagonal part must be non-zero")
        with tf.control_dependencies([check]):
            return tf.identity(diagonal)

    def _triangle(self):
        return tf.matrix_set_diag(self._tril, self._checked(tf.matrix_diag_part(self._tril)))

    def _forward(self, x):
        matrix = self._matrix if self._matrix is not None else None if self._tril is None else self._triangle()
        if matrix is not None:
            x = tf.reduce_sum(matrix * x[..., None, :], axis=-1)
        elif self._diag is not None:
            x = x * self._checked(self._diag)
        return x if self._shift is None else x + self._shift

    def _inverse(self, y):
        y = y if self._shift is None else y - self._shift
        if self._matrix is None and self._tril is None:
            return y if self._diag is None else y / self._checked(self._diag)
        matrix = self._triangle() if self._matrix is None else self._matrix
        matrix = matrix + tf.zeros(tf.concat([tf.shape(y)[:-1], tf.shape(matrix)[-2:]], 0), y.dtype)
        right = y[..., None] + tf.zeros_like(matrix[..., :1])
        if self._matrix is not None:
            return tf.matrix_solve(matrix, right)[..., 0]
        return tf.matrix_triangular_solve(matrix, right, lower=True)[..., 0]

    def _forward_log_det_jacobian(self, x):
        if self._matrix is not None:
            return tf.linalg.slogdet(self._matrix)[1]
        if self._tril is not None:
            return tf.reduce_sum(tf.log(tf.abs(self._checked(tf.matrix_diag_part(self._tril)))), axis=-1)
        if self._diag is None:
            return tf.zeros([], x.dtype)
        # A diagonal of one number stands for that of all.
        times = tf.cast(tf.shape(x)[-1] // tf.shape(self._diag)[-1], x.dtype)
        return times * tf.reduce_sum(tf.log(tf.abs(self._checked(self._diag))), axis=-1)


class Invert(Bijector):
    """The inverse of a bijector as one."""

    def __init__(self, bijector, validate_args=False, name=None):
        if not bijector._is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        super().__init__(graph_parents=bijector.graph_parents, is_constant_jacobian=bijector.is_constant_jacobian,
                         validate_args=validate_args, dtype=bijector.dtype,
                         forward_min_event_ndims=bijector.inverse_min_event_ndims,
                         inverse_min_event_ndims=bijector.forward_min_event_ndims,
                         name=name or f"invert_{bijector.name}")
        self._bijector = bijector

    bijector = property(lambda self: self._bijector)

    def forward(self, x, name="forward", **kwargs):
        return self._bijector.inverse(x, **kwargs)

    def inverse(self, y, name="inverse", **kwargs):
        return self._bijector.forward(y, **kwargs)

    def forward_log_det_jacobian(self, x, event_ndims=None, name="forward_log_det_jacobian", **kwargs):
        return self._bijector.inverse_log_det_jacobian(x, event_ndims, **kwargs)

    def inverse_log_det_jacobian(self, y, event_ndims=None, name="inverse_log_det_jacobian", **kwargs):
        return self._bijector.forward_log_det_jacobian(y, event_ndims, **kwargs)

    def _forward_event_shape(self, input_shape):
        return self._bijector._inverse_event_shape(input_shape)

    def _inverse_event_shape(self, output_shape):
        return self._bijector._forward_event_shape(output_shape)

    def _forward_event_shape_tensor(self, input_shape):
        return self._bijector._inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape_tensor(self, output_shape):
        return self._bijector._forward_event_shape_tensor(output_shape)


def _fewest_event_ndims(steps):
    """How many dimensions of an event a chain takes; each step, (dimensions taken, dimensions given), one after another."""
    fewest = added = 0
    for taken, given in steps:
        fewest = max(fewest, taken - added)
        added += given - taken
    return fewest


class Chain(Bijector):
    """Bijectors one after another, the last first: Chain([f, g]) is f(g(x))."""

    def __init__(self, bijectors=None, validate_args=False, name=None):
        self._bijectors = list(bijectors or [])
        for bijector in self._bijectors:
            if not bijector._is_injective:
                raise NotImplementedError(f"Invert is not implemented for non-injective bijector ({bijector.name})")
        types = {b.dtype for b in self._bijectors if b.dtype is not None}
        if len(types) > 1:
            raise ValueError(f"incompatible dtypes: {sorted(t.name for t in types)}")
        steps = [(b.forward_min_event_ndims, b.inverse_min_event_ndims) for b in self._bijectors]
        super().__init__(graph_parents=[parent for b in self._bijectors for parent in b.graph_parents],
                         is_constant_jacobian=all(b.is_constant_jacobian for b in self._bijectors),
                         validate_args=validate_args, dtype=types.pop() if types else None,
                         forward_min_event_ndims=_fewest_event_ndims(reversed(steps)),
                         inverse_min_event_ndims=_fewest_event_ndims((given, taken) for taken, given in steps),
                         name=name or ("_of_".join(["chain", *(b.name for b in self._bijectors)]) if self._bijectors
                                       else "identity"))

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
        total, shape = tf.zeros([], x.dtype.base_dtype), _event_shape(x, self._forward_min)
        for bijector in reversed(self._bijectors):
            more = kwargs.get(bijector.name, {})
            total = total + bijector.forward_log_det_jacobian(x, _rank(shape), **more)
            shape = (bijector.forward_event_shape if isinstance(shape, tf.TensorShape)
                     else bijector.forward_event_shape_tensor)(shape)
            x = bijector.forward(x, **more)
        return total

    def _inverse_log_det_jacobian(self, y, **kwargs):
        total, shape = tf.zeros([], y.dtype.base_dtype), _event_shape(y, self._inverse_min)
        for bijector in self._bijectors:
            more = kwargs.get(bijector.name, {})
            total = total + bijector.inverse_log_det_jacobian(y, _rank(shape), **more)
            shape = (bijector.inverse_event_shape if isinstance(shape, tf.TensorShape)
                     else bijector.inverse_event_shape_tensor)(shape)
            y = bijector.inverse(y, **more)
        return total

    def _forward_event_shape(self, input_shape):
        for bijector in reversed(self._bijectors):
            input_shape = bijector.forward_event_shape(input_shape)
        return input_shape

    def _inverse_event_shape(self, output_shape):
        for bijector in self._bijectors:
            output_shape = bijector.inverse_event_shape(output_shape)
        return output_shape

    def _forward_event_shape_tensor(self, input_shape):
        for bijector in reversed(self._bijectors):
            input_shape = bijector.forward_event_shape_tensor(input_shape)
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape):
        for bijector in self._bijectors:
            output_shape = bijector.inverse_event_shape_tensor(output_shape)
        return output_shape


def _event_shape(value, ndims):
    """The shape of the last dimensions of a tensor, as a tensor unless it is known."""
    shape = value.get_shape()
    if shape.is_fully_defined():
        return shape[shape.ndims - ndims:]
    return tf.shape(value)[tf.rank(value) - ndims:]


def _rank(shape):
    return shape.ndims if isinstance(shape, tf.TensorShape) else tf.size(shape)


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
        shapes = {"_forward_event_shape": forward_event_shape_fn, "_inverse_event_shape": inverse_event_shape_fn,
                  "_forward_event_shape_tensor": forward_event_shape_tensor_fn,
                  "_inverse_event_shape_tensor": inverse_event_shape_tensor_fn}
        self.__dict__.update({name: function for name, function in shapes.items() if function is not None})


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
    """Events in another shape, of which each may leave one size to be found."""

    def __init__(self, event_shape_out, event_shape_in=(-1,), validate_args=False, name=None):
        with tf.name_scope(name, "reshape", [event_shape_out, event_shape_in]):
            self._out = tf.convert_to_tensor(event_shape_out, name="event_shape_out", preferred_dtype=tf.int32)
            self._in = tf.convert_to_tensor(event_shape_in, name="event_shape_in", preferred_dtype=tf.int32)
            self._checks = [check for shape in (self._out, self._in) for check in _shape_checks(shape, validate_args)]
        super().__init__(is_constant_jacobian=True, validate_args=validate_args, name=name or "reshape")

    def _reshaped(self, x, before, after):
        ndims = before.get_shape().num_elements()
        known, given = tf.contrib.util.constant_value(before), x.get_shape()
        checks = list(self._checks)
        if ndims is not None and given.ndims is not None and given[given.ndims - ndims:].is_fully_defined() \
                and known is not None:
            event = np.array(given[given.ndims - ndims:].as_list(), np.int32)
            if not np.array_equal(event[known >= 0], known[known >= 0]):
                raise ValueError(f"Input `event_shape` does not match `event_shape_in` ({event} vs {known}).")
        elif self._validate_args:
            event = tf.shape(x)[tf.rank(x) - tf.size(before):]
            mask = tf.reshape(before >= 0, [-1])
            checks.append(tf.assert_equal(tf.boolean_mask(event, mask), tf.boolean_mask(before, mask),
                                          message="Input `event_shape` does not match `event_shape_in`."))
        with tf.control_dependencies(checks):
            if ndims is not None and ndims == given.ndims:
                return tf.reshape(x, after)
            return tf.reshape(x, tf.concat([tf.shape(x)[:tf.rank(x) - tf.size(before)], after], 0))

    def _forward(self, x):
        return self._reshaped(x, self._in, self._out)

    def _inverse(self, y):
        return self._reshaped(y, self._out, self._in)

    def _forward_log_det_jacobian(self, x):
        return tf.zeros([], x.dtype)

    _inverse_log_det_jacobian = _forward_log_det_jacobian

    # What becomes of a shape, tf.reshape tells.

    def _forward_event_shape(self, input_shape):
        return self._forward(tf.placeholder(tf.float32, input_shape)).get_shape()

    def _inverse_event_shape(self, output_shape):
        return self._inverse(tf.placeholder(tf.float32, output_shape)).get_shape()

    def _forward_event_shape_tensor(self, input_shape):
        return tf.shape(self._forward(tf.zeros(input_shape)))

    def _inverse_event_shape_tensor(self, output_shape):
        return tf.shape(self._inverse(tf.zeros(output_shape)))


def _shape_checks(shape, validate_args):
    """Raises for what is no shape with one size left open; checks in the run for what is not known."""
    if not shape.dtype.is_integer:
        raise TypeError(f"{shape} dtype ({shape.dtype.name}) should be `int`-like.")
    if shape.get_shape().ndims is not None and shape.get_shape().ndims > 1:
        raise ValueError(f"`{shape}` rank ({shape.get_shape().ndims}) should be <= 1.")
    if not validate_args:
        return []
    known = tf.contrib.util.constant_value(shape)
    if known is not None and np.any(known < -1):
        raise tf.errors.InvalidArgumentError(None, None, f"`{shape}` elements must be either positive integers or `-1`.")
    return [tf.assert_less_equal(tf.rank(shape), 1, message=f"`{shape}` rank should be <= 1."),
            tf.assert_less_equal(tf.reduce_sum(tf.to_int32(tf.equal(shape, -1))), 1,
                                 message=f"`{shape}` elements must have at most one `-1`."),
            tf.assert_greater_equal(shape, -1, message=f"`{shape}` elements must be either positive integers or `-1`.")]


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

    def _forward_event_shape(self, input_shape):
        return _resized(input_shape, 1)

    def _inverse_event_shape(self, output_shape):
        return _resized(output_shape, -1)

    def _forward_event_shape_tensor(self, input_shape):
        return tf.concat([input_shape[:-1], input_shape[-1:] + 1], 0)

    def _inverse_event_shape_tensor(self, output_shape):
        return tf.concat([output_shape[:-1], output_shape[-1:] - 1], 0)


def _resized(shape, more):
    """A shape with a larger or smaller last dimension."""
    if shape.ndims is None or shape[-1].value is None:
        return shape if shape.ndims is None else shape[:-1].concatenate([None])
    return shape[:-1].concatenate([shape[-1].value + more])
