"""TransformedDistribution with shapes of its own, several inverses and arguments; scales and shapes that distributions use."""

import numpy as np
import pytest

import weir as tf
from weir.distributions import distribution_util

ds = tf.contrib.distributions
bs = ds.bijectors
_TRIL = np.array([[[1, 0, 0], [2, 1, 0], [3, 2, 1]], [[2, 0, 0], [3, 2, 0], [4, 3, 2]]], np.float32)
_SHIFT = np.array([-1, 0, 1], np.float32)


def _maybe_hidden(value, hidden):
    return tf.placeholder_with_default(np.array(value, np.int32), None) if hidden else value


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("loc, batch_shape", [(0.0, [2]), ([0.0, 0.0], [])])
def test_numbers_become_vectors_whatever_of_their_shapes_is_known(hidden, loc, batch_shape):
    with tf.Graph().as_default(), tf.Session() as session:
        fake = ds.TransformedDistribution(
            ds.Normal(loc=loc, scale=1.0), bs.Affine(shift=_SHIFT, scale_tril=_TRIL),
            batch_shape=_maybe_hidden(batch_shape, hidden), event_shape=_maybe_hidden([3], hidden), validate_args=True)
        true = ds.MultivariateNormalTriL(_SHIFT + np.zeros((2, 1), np.float32), _TRIL)
        y = fake.sample(4000, seed=1)
        drawn, log_prob = session.run([y, fake.log_prob(y)])
        assert drawn.shape == (4000, 2, 3)
        np.testing.assert_allclose(log_prob, session.run(true.log_prob(drawn)), rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(drawn.mean(0), [_SHIFT, _SHIFT], atol=0.4)
        for i in range(2):
            np.testing.assert_allclose(np.cov(drawn[:, i].T), _TRIL[i] @ _TRIL[i].T, rtol=0.15, atol=0.4)
        batch, event, entropy = session.run([fake.batch_shape_tensor(), fake.event_shape_tensor(), fake.entropy()])
        assert list(batch) == [2] and list(event) == [3]
        np.testing.assert_allclose(entropy, session.run(true.entropy()), rtol=1e-4)
        with pytest.raises(NotImplementedError, match="when overriding event_shape"):
            fake.cdf(drawn[0])


def test_shapes_are_only_given_to_scalars():
    with tf.Graph().as_default():
        for given in ({"batch_shape": [2]}, {"event_shape": [3]}):
            base = ds.Normal([0.0], 1.0) if "batch_shape" in given else ds.MultivariateNormalDiag([0.0])
            with pytest.raises(ValueError, match="base distribution not scalar"):
                ds.TransformedDistribution(base, bs.Identity(), validate_args=True, **given)
        with pytest.raises(ValueError, match="must have positive elements"):
            ds.TransformedDistribution(ds.Normal(0.0, 1.0), bs.Identity(), event_shape=[0])


def test_the_probabilities_of_all_inverses_are_added():
    with tf.Graph().as_default(), tf.Session() as session:
        normal = ds.Normal(1.0, 2.0)
        folded = ds.TransformedDistribution(normal, bs.AbsoluteValue())
        probability, both = session.run([folded.prob(1.13), normal.prob([1.13, -1.13])])
        np.testing.assert_allclose(probability, both.sum(), rtol=1e-5)
        with pytest.raises(NotImplementedError, match="not injective"):
            folded.cdf(1.0)


def test_samples_are_remembered_by_the_bijector():
    class Forward(bs.Bijector):
        def __init__(self):
            super().__init__(forward_min_event_ndims=0)

        def _forward(self, x):
            return tf.exp(x)

        def _forward_log_det_jacobian(self, x):
            return x

    with tf.Graph().as_default(), tf.Session() as session:
        log_normal = ds.TransformedDistribution(ds.Normal(3.0, 0.02), Forward())
        sample = log_normal.sample([2, 3], seed=42)
        value, log_prob = session.run([sample, log_normal.log_prob(sample)])
        x = np.log(value)
        np.testing.assert_allclose(log_prob, -0.5 * ((x - 3) / 0.02) ** 2 - np.log(0.02 * np.sqrt(2 * np.pi)) - x, rtol=1e-3)
        with pytest.raises(NotImplementedError, match="inverse not implemented"):
            log_normal.log_prob(1.0)


def test_arguments_go_to_the_bijector_by_name():
    class Shift(bs.ConditionalBijector):
        def __init__(self):
            super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True)

        def _forward(self, x, by):
            return x + by

        def _inverse(self, y, by):
            return y - by

        def _inverse_log_det_jacobian(self, y, by):
            return tf.zeros([], y.dtype)

    with tf.Graph().as_default(), tf.Session() as session:
        shifted = ds.ConditionalTransformedDistribution(ds.Normal(0.0, 1.0), Shift())
        one, other = session.run([shifted.prob(3.0, bijector_kwargs={"by": 3.0}), shifted.prob(2.0, by=2.0)])
        np.testing.assert_allclose([one, other], 1 / np.sqrt(2 * np.pi), rtol=1e-5)
        assert session.run(shifted.sample(5, by=1e6)).min() > 9e5


def test_scales_are_made_of_what_is_given():
    diagonal, multiplier = np.array([1.0, 2.0], np.float32), np.float32(3.0)
    with tf.Graph().as_default(), tf.Session() as session:
        for given, expected in (
            ({"scale_tril": np.array([[1, 9], [2, 3]], np.float32), "scale_diag": diagonal}, [[2, 0], [2, 5]]),
            ({"scale_diag": diagonal, "scale_identity_multiplier": multiplier}, [[4, 0], [0, 5]]),
            ({"scale_identity_multiplier": multiplier, "shape_hint": 2}, [[3, 0], [0, 3]]),
            ({"loc": np.zeros(2, np.float32)}, [[1, 0], [0, 1]]),
        ):
            scale = distribution_util.make_tril_scale(**given)
            np.testing.assert_allclose(session.run(scale.to_dense()), expected)
            assert distribution_util.is_diagonal_scale(scale) == ("scale_tril" not in given)
        with pytest.raises(ValueError, match="Cannot infer `event_shape`"):
            distribution_util.make_diag_scale()
        singular = distribution_util.make_diag_scale(scale_diag=np.zeros(2, np.float32), validate_args=True)
        with pytest.raises(tf.errors.InvalidArgumentError, match="diagonal part must be non-zero"):
            session.run(singular.to_dense())


def test_shapes_of_location_and_scale():
    with tf.Graph().as_default(), tf.Session() as session:
        scale = tf.linalg.LinearOperatorDiag(tf.ones([5, 1, 3]))
        batch, event = distribution_util.shapes_from_loc_and_scale(tf.zeros([2, 3]), scale)
        assert list(batch) == [5, 2] and list(event) == [3]
        hidden = tf.placeholder_with_default(np.zeros((2, 3), np.float32), None)
        batch, event = distribution_util.shapes_from_loc_and_scale(hidden, scale)
        assert list(session.run(batch)) == [5, 2] and list(event) == [3]
        with pytest.raises(ValueError, match="could not be broadcast"):
            distribution_util.shapes_from_loc_and_scale(tf.zeros([2, 4]), scale)


@pytest.mark.parametrize("hidden", [False, True])
def test_a_dimension_moves(hidden):
    x = np.zeros((2, 3, 4, 5), np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        tensor = tf.placeholder_with_default(x, None) if hidden else tf.constant(x)
        for source, target in ((0, 2), (3, 0), (-1, 1), (1, 1), (0, -1)):
            moved = session.run(distribution_util.move_dimension(tensor, source, target))
            assert moved.shape == np.moveaxis(x, source, target).shape


def test_mixtures():
    weights, means, deviations = (np.array(rows, np.float32) for rows in (
        [[0.5, 0.5], [0.25, 0.75]], [[1, 2], [3, 4]], [[0.1, 0.2], [0.3, 0.4]]))
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(distribution_util.mixture_stddev(*(tf.constant(v) for v in (weights, means, deviations))))
        variance = (weights * (deviations ** 2 + means ** 2)).sum(1) - (weights * means).sum(1) ** 2
        np.testing.assert_allclose(found, np.sqrt(variance), rtol=1e-5)
        padded = distribution_util.pad_mixture_dimensions(
            tf.constant([0.3, 0.7]), ds.Normal(tf.zeros([4, 5]), 1.0), tf.distributions.Categorical([0.3, 0.7]), 1)
        assert session.run(tf.shape(padded)).tolist() == [1, 1, 2, 1]
