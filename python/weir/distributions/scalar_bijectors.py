"""Bijectors of numbers and of ordered vectors."""

import numpy as np

import weir as tf
from weir.distributions.bijector import Bijector


def _checked(value, *checks):
    with tf.control_dependencies(checks):
        return tf.identity(value)


class AbsoluteValue(Bijector):
    """|x|, whose inverse is the pair (-y, y)."""

    _is_injective = False

    def __init__(self, validate_args=False, name="absolute_value"):
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    def _forward(self, x):
        return tf.abs(x)

    def _valid(self, y, result):
        if not self._validate_args:
            return result
        return _checked(result, tf.assert_non_negative(y, message="Argument y was negative"))

    def _inverse(self, y):
        y = self._valid(y, y)
        return -y, y

    def _inverse_log_det_jacobian(self, y):
        zero = self._valid(y, tf.zeros([], y.dtype))
        return zero, zero


class SinhArcsinh(Bijector):
    """sinh((arcsinh(x) + skewness) tailweight)"""

    def __init__(self, skewness=None, tailweight=None, validate_args=False, name="SinhArcsinh"):
        with tf.name_scope(name), tf.name_scope("init", values=[skewness, tailweight]):
            self._skewness = tf.convert_to_tensor(0.0 if skewness is None else skewness, name="skewness")
            self._tailweight = tf.convert_to_tensor(1.0 if tailweight is None else tailweight, name="tailweight",
                                                    dtype=self._skewness.dtype.base_dtype)
            if validate_args:
                self._tailweight = _checked(self._tailweight, tf.assert_positive(
                    self._tailweight, message="Argument tailweight was not positive"))
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    skewness = property(lambda self: self._skewness)
    tailweight = property(lambda self: self._tailweight)

    def _forward(self, x):
        return tf.sinh((tf.asinh(x) + self._skewness) * self._tailweight)

    def _inverse(self, y):
        return tf.sinh(tf.asinh(y) / self._tailweight - self._skewness)

    def _forward_log_det_jacobian(self, x):
        inner = (tf.asinh(x) + self._skewness) * self._tailweight
        return tf.log(tf.cosh(inner) / _hypotenuse(x)) + tf.log(self._tailweight)

    def _inverse_log_det_jacobian(self, y):
        inner = tf.asinh(y) / self._tailweight - self._skewness
        return tf.log(tf.cosh(inner) / _hypotenuse(y)) - tf.log(self._tailweight)


def _hypotenuse(x):
    """sqrt(x^2 + 1), also where the square is infinite."""
    large = tf.abs(x) * np.sqrt(np.finfo(x.dtype.as_numpy_dtype).eps) > 1.0
    return tf.where(large, tf.abs(x), tf.sqrt(tf.square(tf.where(large, tf.zeros_like(x), x)) + 1.0))


class Weibull(Bijector):
    """1 - exp(-(x / scale) ^ concentration), the distribution's cumulative function."""

    def __init__(self, scale=1.0, concentration=1.0, validate_args=False, name="weibull"):
        with tf.name_scope(name), tf.name_scope("init", values=[scale, concentration]):
            self._scale = tf.convert_to_tensor(scale, name="scale")
            self._concentration = tf.convert_to_tensor(concentration, name="concentration")
            tf.assert_same_float_dtype([self._scale, self._concentration])
            if validate_args:
                self._scale = _checked(self._scale, tf.assert_positive(
                    self._scale, message="Argument scale was not positive"))
                self._concentration = _checked(self._concentration, tf.assert_positive(
                    self._concentration, message="Argument concentration was not positive"))
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    scale = property(lambda self: self._scale)
    concentration = property(lambda self: self._concentration)

    def _valid_x(self, x):
        if not self._validate_args:
            return x
        return _checked(x, tf.assert_non_negative(x, message="Forward transformation input must be at least 0."))

    def _valid_y(self, y):
        if not self._validate_args:
            return y
        return _checked(y, tf.assert_non_negative(y, message="Inverse transformation input must be greater than 0."),
                        tf.assert_less_equal(y, tf.ones([], y.dtype),
                                             message="Inverse transformation input must be less than or equal to 1."))

    def _forward(self, x):
        return -tf.expm1(-(self._valid_x(x) / self._scale) ** self._concentration)

    def _inverse(self, y):
        return self._scale * (-tf.log1p(-self._valid_y(y))) ** (1 / self._concentration)

    def _forward_log_det_jacobian(self, x):
        x = self._valid_x(x)
        return (-(x / self._scale) ** self._concentration + (self._concentration - 1) * tf.log(x)
                + tf.log(self._concentration) - self._concentration * tf.log(self._scale))

    def _inverse_log_det_jacobian(self, y):
        hazard = -tf.log1p(-self._valid_y(y))
        return hazard + (1 / self._concentration - 1) * tf.log(hazard) + tf.log(self._scale / self._concentration)


class Ordered(Bijector):
    """An increasing vector as its first number and the logarithms of the steps."""

    def __init__(self, validate_args=False, name="ordered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _steps(self, x):
        steps = x[..., 1:] - x[..., :-1]
        if not self._validate_args:
            return steps
        return _checked(steps, tf.assert_positive(
            steps, message="Forward transformation input must be strictly increasing."))

    def _forward(self, x):
        return tf.concat([x[..., :1], tf.log(self._steps(x))], axis=-1)

    def _inverse(self, y):
        return tf.cumsum(tf.concat([y[..., :1], tf.exp(y[..., 1:])], axis=-1), axis=-1)

    def _forward_log_det_jacobian(self, x):
        return -tf.reduce_sum(tf.log(self._steps(x)), axis=-1)

    def _inverse_log_det_jacobian(self, y):
        return tf.reduce_sum(y[..., 1:], axis=-1)

    def _forward_event_shape(self, input_shape):
        return input_shape if input_shape.ndims is None else input_shape[-1:]

    def _inverse_event_shape(self, output_shape):
        if output_shape.ndims is not None and output_shape[-1].value is not None and output_shape[-1].value <= 1:
            raise ValueError(f"output_shape[-1] = {output_shape[-1].value} <= 1")
        return self._forward_event_shape(output_shape)

    def _forward_event_shape_tensor(self, input_shape):
        return input_shape[-1:]

    def _inverse_event_shape_tensor(self, output_shape):
        if not self._validate_args:
            return output_shape[-1:]
        return _checked(output_shape[-1:], tf.assert_greater(output_shape[-1], 1,
                                                             message="Need last dimension greater than 1."))


class Kumaraswamy(Bijector):
    """(1 - (1 - x) ^ (1 / concentration0)) ^ (1 / concentration1): the distribution's numbers from uniform ones."""

    def __init__(self, concentration1=None, concentration0=None, validate_args=False, name="kumaraswamy"):
        with tf.name_scope(name), tf.name_scope("init", values=[concentration1, concentration0]):
            self._concentration1 = self._valid_concentration(concentration1, "concentration1", validate_args)
            self._concentration0 = self._valid_concentration(concentration0, "concentration0", validate_args)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    concentration1 = property(lambda self: self._concentration1)
    concentration0 = property(lambda self: self._concentration0)

    @staticmethod
    def _valid_concentration(value, name, validate_args):
        value = tf.convert_to_tensor(value, name=name)
        if not validate_args:
            return value
        return _checked(value, tf.assert_positive(value, message="Concentration parameter must be positive."))

    def _valid(self, value):
        if not self._validate_args:
            return value
        return _checked(value, tf.assert_non_negative(value, message="sample must be non-negative"),
                        tf.assert_less_equal(value, tf.ones([], value.dtype), message="sample must be no larger than `1`."))

    def _forward(self, x):
        inner = tf.exp(tf.log1p(-self._valid(x)) / self._concentration0)
        return tf.exp(tf.log1p(-inner) / self._concentration1)

    def _inverse(self, y):
        return -tf.expm1(self._concentration0 * tf.log1p(-self._valid(y) ** self._concentration1))

    def _inverse_log_det_jacobian(self, y):
        y = self._valid(y)
        return (tf.log(self._concentration1) + tf.log(self._concentration0) + (self._concentration1 - 1) * tf.log(y)
                + (self._concentration0 - 1) * tf.log1p(-y ** self._concentration1))
