"""tf.contrib.nn, and the inner modules of contrib's parts."""

import numpy as np
import pytest

import weir as tf
from weir import names
from weir.names import tensorflow_alias


def test_functions_of_contrib_nn():
    x, alpha = tf.constant([[1., -2., 3.]]), tf.constant(0.5)
    smooth = tf.contrib.nn.scaled_softplus(x, alpha, clip=1.5)
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(smooth), [[1.063464, 0.009075, 1.5]], rtol=1e-4)
        np.testing.assert_allclose(sess.run(tf.gradients(smooth, alpha)[0]), 0.456, atol=2e-3)
        assert sess.run([tf.contrib.nn.nth_element(x, 1), tf.contrib.nn.nth_element(x, 0, reverse=True)]) == [[1], [3]]
        values = sess.run(tf.contrib.nn.alpha_dropout(tf.random_normal([100000], seed=1), 0.7, seed=2))
        assert abs(values.mean()) < 0.02 and abs(values.std() - 1) < 0.02
        logits, labels = tf.constant([[2., 1.]]), tf.constant([[0.3, 0.7]])
        assert sess.run(tf.contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels)) == sess.run(
            tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    with pytest.raises(ValueError, match="keep_prob"):
        tf.contrib.nn.alpha_dropout(x, 0.0)


def test_inner_modules_of_contrib_have_the_names_of_the_public_ones():
    assert names.find("tf.contrib.image").rotate is tf.contrib.image.rotate
    assert tensorflow_alias.find("tf.contrib.nn.python.ops.cross_entropy").alpha_dropout is tf.contrib.nn.alpha_dropout
