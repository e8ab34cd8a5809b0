"""Bijectors: their inverses, the determinants of their Jacobians by finite differences, shapes, and what is kept."""

import numpy as np
import pytest

import weir as tf

bijectors = tf.contrib.distributions.bijectors

_LOWER = np.array([[1.5, 0.0, 0.0], [-0.4, 0.7, 0.0], [0.3, 1.1, 2.0]])


def _log_det(function, x, coordinates):
    """log |det| of the derivative of the outputs' coordinates by the inputs', by differences."""
    taken, given = coordinates
    x, step, columns = np.array(x, np.float64), 1e-6, []
    for at in taken:
        moved = [x.copy(), x.copy()]
        moved[0][at] += step
        moved[1][at] -= step
        high, low = (function(value) for value in moved)
        columns.append([(high[out] - low[out]) / (2 * step) for out in given])
    return np.log(np.abs(np.linalg.det(np.array(columns))))


def _all(shape):
    return list(np.ndindex(*shape))


def _lower(n):
    return [(i, j) for i in range(n) for j in range(i + 1)]


def _network(y):
    """Autoregressive: the i-th number reads those before it."""
    before = tf.cumsum(y, axis=-1, exclusive=True)
    return tf.sin(before), 0.3 * tf.cos(before)


@pytest.mark.parametrize("make, x, event_ndims, coordinates", [
    (lambda: bijectors.SinhArcsinh(skewness=np.float64(0.3), tailweight=1.4), [0.7], 1, (_all([1]), _all([1]))),
    (lambda: bijectors.Weibull(scale=np.float64(2.0), concentration=np.float64(0.7)), [0.4], 1, (_all([1]), _all([1]))),
    (lambda: bijectors.Kumaraswamy(np.float64(2.0), np.float64(0.7)), [0.4], 1, (_all([1]), _all([1]))),
    (lambda: bijectors.Affine(np.array([1.0, 2.0, 3.0]), scale_tril=_LOWER, scale_perturb_factor=np.array([[1.0], [0.5], [-2.0]]),
                              scale_perturb_diag=np.array([3.0])), [0.3, -1.0, 2.0], 1, (_all([3]), _all([3]))),
    (lambda: bijectors.Affine(scale_identity_multiplier=np.float64(2.0)), [0.3, -1.0, 2.0], 1, (_all([3]), _all([3]))),
    (lambda: bijectors.Ordered(), [-1.0, 0.5, 2.0], 1, (_all([3]), _all([3]))),
    (lambda: bijectors.CholeskyOuterProduct(), _LOWER, 2, (_lower(3), _lower(3))),
    (lambda: bijectors.TransformDiagonal(bijectors.Exp()), _LOWER, 2, (_all([3, 3]), _all([3, 3]))),
    (lambda: bijectors.ScaleTriL(diag_shift=np.float64(1e-5)), [0.1, -0.5, 1.0, 0.4, -2.0, 0.3], 1, (_all([6]), _lower(3))),
    (lambda: bijectors.AffineLinearOperator(tf.constant([1.0, 2.0, 3.0], tf.float64),
                                            tf.linalg.LinearOperatorLowerTriangular(tf.constant(_LOWER))),
     [0.3, -1.0, 2.0], 1, (_all([3]), _all([3]))),
    (lambda: bijectors.MaskedAutoregressiveFlow(_network), [0.3, -1.0, 2.0], 1, (_all([3]), _all([3]))),
    (lambda: bijectors.MaskedAutoregressiveFlow(_network, unroll_loop=True), [0.3, -1.0, 2.0], 1, (_all([3]), _all([3]))),
    (lambda: bijectors.Chain([bijectors.Exp(), bijectors.Affine(scale_diag=tf.constant([1.0, 2.0, 3.0], tf.float64))]),
     [0.3, -1.0, 0.2], 1, (_all([3]), _all([3]))),
    (lambda: bijectors.Invert(bijectors.Ordered()), [-1.0, 0.5, 0.2], 1, (_all([3]), _all([3]))),
])
def test_inverse_and_determinant(make, x, event_ndims, coordinates):
    with tf.Graph().as_default(), tf.Session() as session:
        bijector, given = make(), tf.placeholder(tf.float64, np.shape(x))
        y = bijector.forward(given)
        value = session.run(y, {given: x})
        np.testing.assert_allclose(session.run(bijector.inverse(tf.constant(value))), x, atol=1e-9)
        expected = _log_det(lambda v: session.run(y, {given: v}), x, coordinates)
        forward = session.run(bijector.forward_log_det_jacobian(given, event_ndims), {given: x})
        np.testing.assert_allclose(forward, expected, atol=1e-6)
        ndims_of_y = event_ndims + bijector.inverse_min_event_ndims - bijector.forward_min_event_ndims
        inverse = session.run(bijector.inverse_log_det_jacobian(tf.constant(value), ndims_of_y))
        np.testing.assert_allclose(inverse, -expected, atol=1e-6)
        assert bijector.forward_event_shape(np.shape(x)) == y.shape
        np.testing.assert_array_equal(session.run(bijector.forward_event_shape_tensor(np.shape(x))), value.shape)
        np.testing.assert_array_equal(session.run(bijector.inverse_event_shape_tensor(value.shape)), np.shape(x))


def test_the_inverse_of_a_triangle_counts_as_that_of_any_matrix():
    with tf.Graph().as_default(), tf.Session() as session:
        bijector = bijectors.MatrixInverseTriL()
        value, log_det = session.run([bijector.forward(_LOWER), bijector.forward_log_det_jacobian(_LOWER, 2)])
    np.testing.assert_allclose(value, np.linalg.inv(_LOWER), atol=1e-12)
    np.testing.assert_allclose(log_det, _log_det(np.linalg.inv, _LOWER, (_all([3, 3]), _all([3, 3]))), atol=1e-6)


class _Half(bijectors.Bijector):
    """Its inverse is not known."""

    def __init__(self):
        super().__init__(forward_min_event_ndims=0)

    def _forward(self, x):
        return 2 * x

    def _forward_log_det_jacobian(self, x):
        return tf.log(2.0) * tf.ones_like(x)


def test_what_is_known_of_a_value_is_not_computed_again():
    with tf.Graph().as_default(), tf.Session() as session:
        bijector, x = _Half(), tf.constant([1.0, 2.0])
        y = bijector.forward(x)
        bijector.forward_log_det_jacobian(x, event_ndims=0)
        assert bijector.inverse(y) is x and bijector.forward(x) is y
        np.testing.assert_allclose(session.run(bijector.inverse_log_det_jacobian(y, event_ndims=0)), [-np.log(2)] * 2,
                                   rtol=1e-6)
        with pytest.raises(NotImplementedError, match="inverse not implemented"):
            bijector.inverse(tf.constant([1.0]))


def test_a_constant_determinant_counts_for_every_number_of_an_event_and_no_batch():
    with tf.Graph().as_default(), tf.Session() as session:
        bijector, x = bijectors.AffineScalar(scale=2.0), tf.zeros([4, 3])
        for event_ndims, times in ((0, 1), (1, 3), (2, 12)):
            value = session.run(bijector.forward_log_det_jacobian(x, event_ndims))
            np.testing.assert_allclose(value, times * np.log(2), rtol=1e-6)
            assert value.shape == ()


def test_the_number_of_event_dimensions_is_checked():
    with tf.Graph().as_default():
        bijector, x = bijectors.Ordered(), tf.zeros([3])
        with pytest.raises(ValueError, match="must be larger than min_event_ndims"):
            bijector.forward_log_det_jacobian(x, event_ndims=0)
        with pytest.raises(ValueError, match="Expected integer"):
            bijector.forward_log_det_jacobian(x, event_ndims=1.5)
        with pytest.raises(ValueError, match="Expected scalar"):
            bijector.forward_log_det_jacobian(x, event_ndims=(1, 2))


def test_a_chain_counts_dimensions_that_its_parts_add_and_remove():
    class Changing(bijectors.Bijector):
        def __init__(self, taken, given):
            super().__init__(forward_min_event_ndims=taken, inverse_min_event_ndims=given)

    chain = bijectors.Chain([Changing(2, 1), Changing(3, 0), Changing(1, 2)])
    assert (chain.forward_min_event_ndims, chain.inverse_min_event_ndims) == (4, 1)


def test_an_absolute_value_has_two_inverses():
    with tf.Graph().as_default(), tf.Session() as session:
        bijector = bijectors.AbsoluteValue(validate_args=True)
        assert session.run(bijector.inverse(2.0)) == (-2.0, 2.0)
        assert session.run(bijector.inverse_log_det_jacobian(2.0, event_ndims=0)) == (0.0, 0.0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Argument y was negative"):
            session.run(bijector.inverse(-2.0)[0])
        with pytest.raises(NotImplementedError):
            bijectors.Chain([bijector])


def test_batch_normalization_of_a_trained_layer_is_undone():
    x = np.random.RandomState(0).normal(3.0, 2.0, (50, 4)).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        bijector = bijectors.BatchNormalization(training=False)
        y = bijector.inverse(tf.constant(x))
        back = bijector.forward(tf.identity(y))
        log_det = bijector.inverse_log_det_jacobian(tf.constant(x), event_ndims=1)
        session.run(tf.global_variables_initializer())
        session.run([bijector.batchnorm.moving_mean.assign([1.0, 2, 3, 4]),
                     bijector.batchnorm.moving_variance.assign([1.0, 4, 9, 16])])
        normalized, again, value = session.run([y, back, log_det])
    np.testing.assert_allclose(normalized, (x - [1, 2, 3, 4]) / np.sqrt(np.array([1, 4, 9, 16]) + 1e-3), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(again, x, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(value, -np.log([1, 2, 3, 4]).sum(), atol=1e-3)


def test_masked_networks_read_only_what_comes_before():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [1, 4])
        shift, log_scale = bijectors.masked_autoregressive_default_template([12, 12])(x)
        gradients = [tf.gradients(value[:, i], x)[0] for value in (shift, log_scale) for i in range(4)]
        session.run(tf.global_variables_initializer())
        for row, gradient in enumerate(session.run(gradients, {x: [[0.3, -0.7, 1.2, 0.1]]})):
            assert not gradient[0, row % 4:].any()
