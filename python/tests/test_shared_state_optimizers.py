"""Optimizers of contrib that share state, and those of optimizer_v2."""

import numpy as np
import pytest

import weir as tf


def minimized(make, steps=3, use_resource=False, sparse=False):
    """The weights after some steps towards (3, 3)."""
    with tf.Graph().as_default():
        step = tf.train.create_global_step()
        weights = tf.Variable([[1.0], [2.0]], use_resource=use_resource)
        chosen = tf.gather(weights, [0, 1]) if sparse else weights
        train = make(step).minimize(tf.reduce_sum(tf.square(chosen - 3.0)), global_step=step)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(steps):
                session.run(train)
            return session.run(weights)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("kind", [tf.contrib.opt.AdamGSOptimizer, tf.contrib.opt.LazyAdamGSOptimizer])
def test_adam_counts_with_the_global_step(kind, use_resource, sparse):
    expected = minimized(lambda step: tf.train.AdamOptimizer(0.1))
    found = minimized(lambda step: kind(global_step=step, learning_rate=0.1), use_resource=use_resource, sparse=sparse)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_adagrad_leaves_its_sums_alone_when_told_to():
    weights = tf.Variable([1.0])
    optimizer = tf.contrib.opt.RegAdagradOptimizer(0.5)
    with optimizer.avoid_updating_slots():
        train = optimizer.minimize(tf.reduce_sum(tf.square(weights)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        sums, value = session.run([optimizer.get_slot(weights, "accumulator"), weights])
    np.testing.assert_allclose(sums, [0.1])
    np.testing.assert_allclose(value, [1.0 - 0.5 * 2.0 / np.sqrt(0.1)], rtol=1e-5)


def test_rms_prop_of_the_second_optimizers_begins_with_epsilon():
    found = minimized(lambda step: tf.contrib.optimizer_v2.RMSPropOptimizer(0.1, decay=0.5, epsilon=1.0), steps=1)
    gradient = 2 * (np.array([[1.0], [2.0]]) - 3)
    np.testing.assert_allclose(found, [[1.0], [2.0]] - 0.1 * gradient / np.sqrt(0.5 + 0.5 * gradient**2), rtol=1e-5)
    assert tf.contrib.optimizer_v2.AdamOptimizer is tf.train.AdamOptimizer
