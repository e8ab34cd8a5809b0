"""Distributions of the probabilities of classes, and of counts of such classes."""

import weir as tf
from weir.distributions.discrete import Multinomial, _Counts, _given
from weir.distributions.distribution import (FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, RegisterKL, _checked,
                                             _new_seed, _tensors, _valid_counts)
from weir.distributions.native import _bodies, _divergence, _make


@_bodies("sample_n", "log_prob", "entropy", "mean", "variance", "covariance", "mode")
class Dirichlet(Distribution):
    """Probabilities of classes."""

    _old_names = {"alpha": "concentration", "alpha_sum": "total_concentration"}

    def __init__(self, concentration, validate_args=False, allow_nan_stats=True, name="Dirichlet"):
        parameters = _given(locals())
        with tf.name_scope(name, values=[concentration]) as scope:
            self._concentration, = _tensors(concentration, names=("concentration",))
            self._concentration, = _checked(validate_args, [self._concentration], lambda: [
                tf.assert_positive(self._concentration, message="Concentration parameter must be positive.")])
            self._native = _make("Dirichlet", [self._concentration], scope, allow_nan_stats=allow_nan_stats)
        self._total = self._native.parameter("total_concentration")
        super().__init__(self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         None, scope)

    concentration = property(lambda self: self._concentration)
    total_concentration = property(lambda self: self._total)

    def _batch_shape(self):
        return self._total.get_shape()

    def _batch_shape_tensor(self):
        return tf.shape(self._total)

    def _event_shape(self):
        return self._concentration.get_shape()[-1:]

    def _event_shape_tensor(self):
        return tf.shape(self._concentration)[-1:]

    def _valid_sample(self, x):
        return _checked(self.validate_args, [x], lambda: [
            tf.assert_positive(x, message="samples must be positive"),
            tf.assert_less(tf.abs(tf.reduce_sum(x, -1) - 1.0), tf.cast(1e-3, x.dtype) + tf.zeros_like(x[..., 0]),
                           message="sample last-dimension must sum to `1`")])[0]


class DirichletMultinomial(_Counts):
    """Counts of classes whose probabilities are Dirichlet's."""

    _old_names = {"n": "total_count", "alpha": "concentration", "alpha_sum": "total_concentration"}

    def __init__(self, total_count, concentration, validate_args=False, allow_nan_stats=True,
                 name="DirichletMultinomial"):
        parameters = _given(locals())
        with tf.name_scope(name) as scope:
            self._concentration, = _tensors(concentration, names=("concentration",))
            self._total_count = tf.cast(total_count, self._concentration.dtype)
            self._total = tf.reduce_sum(self._concentration, -1)
        self._batch_of = (self._total_count, self._total)
        super().__init__(self._concentration.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, None,
                         scope)

    total_count = property(lambda self: self._total_count)
    concentration = property(lambda self: self._concentration)
    total_concentration = property(lambda self: self._total)

    def _event_shape(self):
        return self._concentration.get_shape()[-1:]

    def _event_shape_tensor(self):
        return tf.shape(self._concentration)[-1:]

    def _sample_n(self, n, seed=None):
        probs = Dirichlet(self._concentration * self._ones()[..., None])._sample_n(n, seed)
        trials = self._total_count * tf.ones(tf.concat([[n], self.batch_shape_tensor()], 0), self.dtype)
        return Multinomial(trials, probs=probs).sample(seed=_new_seed(seed, "dirichlet_multinomial"))

    def _log_prob(self, counts):
        counts = _valid_counts(self, tf.cast(counts, self.dtype), self._total_count, of_classes=True)
        coefficient = tf.lgamma(self._total_count + 1.0) - tf.reduce_sum(tf.lgamma(counts + 1.0), axis=-1)
        return tf.lbeta(self._concentration + counts) - tf.lbeta(self._concentration) + coefficient

    def _mean(self):
        return self._total_count[..., None] * (self._concentration / self._total[..., None])

    def _variance(self):
        scale = (self._total_count + self._total) / (1.0 + self._total)
        mean = self._mean()
        return scale[..., None] * (mean - tf.square(mean) / self._total_count[..., None])

    def _covariance(self):
        scale = (self._total_count + self._total) / (1.0 + self._total)
        x = tf.sqrt(scale / self._total_count)[..., None] * self._mean()
        return tf.matrix_set_diag(-tf.matmul(x[..., None], x[..., None, :]), self._variance())


RegisterKL(Dirichlet, Dirichlet)(_divergence)
