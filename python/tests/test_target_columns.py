"""tf.contrib.layers.regression_target and its like."""

import numpy as np
import pytest

import weir as tf


def _value(function):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(function())


def test_losses_are_means_by_their_weights():
    target = tf.contrib.layers.regression_target(weight_column_name="w")
    features = lambda: {"w": tf.constant([[2.0], [5.0], [0.0]])}  # noqa: E731
    values = [[1.0], [1.0], [3.0]], [[0.0], [1.0], [1.0]]
    assert _value(lambda: target.loss(tf.constant(values[0]), tf.constant(values[1]), features())) == np.float32(2 / 7)
    assert _value(lambda: target.training_loss(tf.constant(values[0]), tf.constant(values[1]), features())) == np.float32(2 / 3)


def test_classes_have_cross_entropies_and_metrics():
    two, three = (tf.contrib.layers.multi_class_target(n) for n in (2, 3))
    loss = _value(lambda: three.loss(tf.constant([[1.0, 0.0, 0.0]]), tf.constant([2]), {}))
    np.testing.assert_allclose(loss, np.log(np.e + 2.0), rtol=1e-6)
    with tf.Graph().as_default(), tf.Session() as session:
        metrics = two.get_eval_ops({}, tf.constant([[1.0], [1.0], [-1.0]]), tf.constant([[1.0], [0.0], [1.0]]))
        session.run(tf.local_variables_initializer())
        session.run([update for _, update in metrics.values()])
        assert session.run(metrics["accuracy/threshold_0.500000_mean"][0]) == np.float32(1 / 3)
        assert session.run(metrics["accuracy"][0]) == np.float32(1 / 3)
        assert session.run(two.logits_to_predictions(tf.constant([[1.0], [-1.0]]))).tolist() == [1, 0]
    with pytest.raises(ValueError, match="n_classes must be > 1"):
        tf.contrib.layers.multi_class_target(1)


def test_margins_have_hinge_losses():
    svm = tf.contrib.layers.binary_svm_target()
    assert _value(lambda: svm.loss(tf.constant([[-0.5], [1.2]]), tf.constant([0, 1]), {})) == 0.25
    with tf.Graph().as_default(), pytest.raises(ValueError, match="probabilities"):
        svm.logits_to_predictions(tf.constant([[1.0]]), proba=True)
