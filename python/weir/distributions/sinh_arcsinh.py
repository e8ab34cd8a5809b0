"""Distributions that are others stretched and moved: a skewed normal one with heavier tails, and vectors of such numbers."""

import weir as tf
from weir.distributions import distribution_util
from weir.distributions.bijectors import Affine, AffineScalar, Chain
from weir.distributions.continuous import Exponential, Normal
from weir.distributions.discrete import _given
from weir.distributions.distribution_util import get_broadcast_shape
from weir.distributions.matrix_bijectors import AffineLinearOperator
from weir.distributions.scalar_bijectors import SinhArcsinh as _SinhArcsinhBijector
from weir.distributions.transformed import TransformedDistribution


class _Stretched(TransformedDistribution):
    """loc + c F(Z), F(z) = sinh((arcsinh(z) + skewness) tailweight); c makes two deviations of the normal one two of it."""

    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)
    skewness = property(lambda self: self._skewness)
    tailweight = property(lambda self: self._tailweight)

    def _shape_of_tails(self, skewness, tailweight, dtype):
        """(F, what a scale is multiplied by)"""
        plain = skewness is None
        self._skewness = tf.convert_to_tensor(0.0 if plain else skewness, dtype=dtype, name="skewness")
        self._tailweight = tf.convert_to_tensor(1.0 if tailweight is None else tailweight, dtype=dtype, name="tailweight")
        curve = _SinhArcsinhBijector(skewness=self._skewness, tailweight=self._tailweight)
        even = curve if plain else _SinhArcsinhBijector(skewness=tf.zeros([], dtype), tailweight=self._tailweight)
        return curve, 2 / even.forward(tf.constant(2, dtype=dtype))

    @staticmethod
    def _drawn(distribution, dtype, allow_nan_stats):
        if distribution is not None:
            return distribution
        return Normal(tf.zeros([], dtype), tf.ones([], dtype), allow_nan_stats=allow_nan_stats)


class SinhArcsinh(_Stretched):
    """Numbers: ``skewness`` above 0 leans to the right, ``tailweight`` above 1 makes tails heavier."""

    def __init__(self, loc, scale, skewness=None, tailweight=None, distribution=None, validate_args=False,
                 allow_nan_stats=True, name="SinhArcsinh"):
        parameters = _given(locals())
        with tf.name_scope(name, values=[loc, scale, skewness, tailweight]) as scope:
            self._loc = tf.convert_to_tensor(loc, name="loc")
            dtype = self._loc.dtype.base_dtype
            self._scale = tf.convert_to_tensor(scale, name="scale", dtype=dtype)
            curve, factor = self._shape_of_tails(skewness, tailweight, dtype)
            shape = get_broadcast_shape(self._loc, self._scale, self._tailweight, self._skewness)
            line = AffineScalar(shift=self._loc, scale=self._scale * factor, validate_args=validate_args)
            super().__init__(self._drawn(distribution, dtype, allow_nan_stats), Chain([line, curve]), batch_shape=shape,
                             validate_args=validate_args, name=scope)
        self._parameters = parameters


class VectorSinhArcsinhDiag(_Stretched):
    """Vectors of such numbers, each with a scale of its own."""

    def __init__(self, loc=None, scale_diag=None, scale_identity_multiplier=None, skewness=None, tailweight=None,
                 distribution=None, validate_args=False, allow_nan_stats=True, name="VectorSinhArcsinhDiag"):
        parameters = _given(locals())
        with tf.name_scope(name, values=[loc, scale_diag, scale_identity_multiplier, skewness, tailweight]) as scope:
            self._loc = loc = None if loc is None else tf.convert_to_tensor(loc, name="loc")
            self._scale = distribution_util.make_diag_scale(
                loc=loc, scale_diag=scale_diag, scale_identity_multiplier=scale_identity_multiplier,
                validate_args=False, assert_positive=False)
            batch, event = distribution_util.shapes_from_loc_and_scale(loc, self._scale)
            diagonal = self._scale.diag_part()
            dtype = diagonal.dtype.base_dtype
            curve, factor = self._shape_of_tails(skewness, tailweight, dtype)
            line = Affine(shift=loc, scale_diag=diagonal * factor, validate_args=validate_args)
            super().__init__(self._drawn(distribution, dtype, allow_nan_stats), Chain([line, curve]), batch_shape=batch,
                             event_shape=event, validate_args=validate_args, name=scope)
        self._parameters = parameters


class _VectorExponentialLinearOperator(TransformedDistribution):
    """loc + scale z, the numbers of z independent and exponential with rate 1."""

    def __init__(self, loc=None, scale=None, validate_args=False, allow_nan_stats=True,
                 name="VectorExponentialLinearOperator"):
        parameters = _given(locals())
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        with tf.name_scope(name, values=[loc]) as scope:
            loc = None if loc is None else tf.convert_to_tensor(loc, name="loc", dtype=scale.dtype)
            batch, event = distribution_util.shapes_from_loc_and_scale(loc, scale)
            super().__init__(Exponential(rate=tf.ones([], dtype=scale.dtype), allow_nan_stats=allow_nan_stats),
                             AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args), batch_shape=batch,
                             event_shape=event, validate_args=validate_args, name=scope)
        self._loc, self._scale, self._parameters = loc, scale, parameters

    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)

    def _around(self, value):
        """A statistic of an event for the whole batch, moved by ``loc``."""
        return value if self._loc is None else value + self._loc

    def _each(self, value):
        return value + tf.zeros(tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), value.dtype)

    def _mean(self):
        ones = tf.ones(tf.concat([self._scale.batch_shape_tensor(), self.event_shape_tensor()], 0), self.dtype)
        return self._each(self._around(self._scale.matvec(ones)))

    def _mode(self):  # the densest place of every number is 0
        return self._each(tf.zeros([], self.dtype) if self._loc is None else self._loc)

    def _covariance(self):
        dense = self._scale.to_dense()
        return tf.matmul(dense, dense, adjoint_b=True)

    def _variance(self):
        return tf.matrix_diag_part(self._covariance())

    def _stddev(self):
        return tf.sqrt(self._variance())


class VectorExponentialDiag(_VectorExponentialLinearOperator):
    """The same with a scale that is a diagonal."""

    def __init__(self, loc=None, scale_diag=None, scale_identity_multiplier=None, validate_args=False, allow_nan_stats=True,
                 name="VectorExponentialDiag"):
        parameters = _given(locals())
        with tf.name_scope(name) as scope:
            for value in (loc, scale_diag):
                if value is not None and tf.convert_to_tensor(value).shape.ndims == 0:
                    raise ValueError("loc and scale_diag must have at least 1 dimension")
            scale = distribution_util.make_diag_scale(
                loc=loc, scale_diag=scale_diag, scale_identity_multiplier=scale_identity_multiplier,
                validate_args=validate_args, assert_positive=False)
        super().__init__(loc, scale, validate_args, allow_nan_stats, scope)
        self._parameters = parameters
