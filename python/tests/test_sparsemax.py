"""tf.contrib.sparsemax beside the definition: the nearest point of the simplex."""

import numpy as np
import pytest

import weir as tf


def _projected(z):
    """By bisection for the tau with sum(max(z - tau, 0)) = 1."""
    low, high = z.max(1, keepdims=True) - 1, z.max(1, keepdims=True)
    for _ in range(100):
        tau = (low + high) / 2
        too_much = np.maximum(z - tau, 0).sum(1, keepdims=True) > 1
        low, high = np.where(too_much, tau, low), np.where(too_much, high, tau)
    return np.maximum(z - low, 0)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_sparsemax_projects_rows_onto_the_simplex(dtype):
    z = np.random.RandomState(3).uniform(-3, 3, (20, 7)).astype(dtype.as_numpy_dtype)
    with tf.Graph().as_default(), tf.Session() as session:
        p = session.run(tf.contrib.sparsemax.sparsemax(z))
    assert p.dtype == z.dtype and (p == 0).any()
    np.testing.assert_allclose(p, _projected(z.astype(np.float64)), atol=1e-5)


def test_the_gradient_of_the_loss_is_the_probability_less_the_label():
    z = np.random.RandomState(4).uniform(-3, 3, (6, 5))
    q = np.eye(5)[[0, 1, 2, 3, 4, 0]]
    with tf.Graph().as_default(), tf.Session() as session:
        logits = tf.constant(z)
        p = tf.contrib.sparsemax.sparsemax(logits)
        loss = tf.contrib.sparsemax.sparsemax_loss(logits, p, tf.constant(q))
        gradient, p_value, losses = session.run([tf.gradients(loss, logits)[0], p, loss])
    np.testing.assert_allclose(gradient, p_value - q, atol=1e-12)
    assert (losses >= 0).all()


def test_infinite_logits_count_as_in_softmax():
    inf = np.inf
    with tf.Graph().as_default(), tf.Session() as session:
        z = tf.constant([[0, -inf, 0], [-inf, -inf, 5], [inf, 1, 2], [-inf, -inf, -inf]])
        p = tf.contrib.sparsemax.sparsemax(z)
        loss = tf.contrib.sparsemax.sparsemax_loss(z, p, tf.constant([[1.0, 0, 0], [0, 0, 1.0], [1.0, 0, 0], [1.0, 0, 0]]))
        values, losses = session.run([p, loss])
    np.testing.assert_array_equal(values[:2], [[0.5, 0, 0.5], [0, 0, 1]])
    assert np.isnan(values[2:]).all()
    np.testing.assert_allclose(losses[:2], [0.25, 0], atol=1e-6)
