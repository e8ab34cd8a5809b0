"""tf.metrics; the values are TensorFlow 1.15's."""

import numpy as np
import pytest
import weir as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


LABELS = np.array([[1, 0], [0, 1], [1, 1]])
PREDICTIONS = np.array([[0.9, 0.4], [0.3, 0.8], [0.2, 0.6]], np.float32)
RANKED = np.array([[0.1, 0.5, 0.2, 0.4], [0.6, 0.1, 0.3, 0.2]], np.float32)


def value(metric):
    """After one batch: what the update gives, then the value."""
    result, update = metric
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        return session.run(update), session.run(result)


@pytest.mark.parametrize("metric, expected", [
    (lambda: tf.metrics.mean(PREDICTIONS, [[1.0], [0.0], [1.0]]), 2.1 / 4),
    (lambda: tf.metrics.accuracy(LABELS, PREDICTIONS > 0.5), 5 / 6),
    (lambda: tf.metrics.precision(LABELS, PREDICTIONS > 0.5), 1.0),
    (lambda: tf.metrics.recall(LABELS, PREDICTIONS > 0.5), 0.75),
    (lambda: tf.metrics.auc(LABELS, PREDICTIONS), 0.75),
    (lambda: tf.metrics.auc(LABELS, PREDICTIONS, curve="PR", summation_method="careful_interpolation"), 0.9088),
    (lambda: tf.metrics.precision_at_thresholds(LABELS, PREDICTIONS, [0.25, 0.5]), [0.6, 1.0]),
    (lambda: tf.metrics.recall_at_thresholds(LABELS, PREDICTIONS, [0.25, 0.5]), [0.75, 0.75]),
    (lambda: tf.metrics.false_negatives_at_thresholds(LABELS, PREDICTIONS, [0.25, 0.85]), [1, 3]),
    (lambda: tf.metrics.sensitivity_at_specificity(LABELS, PREDICTIONS, 0.9), 0.75),
    (lambda: tf.metrics.specificity_at_sensitivity(LABELS, PREDICTIONS, 0.7), 1.0),
    (lambda: tf.metrics.mean_relative_error([2.0, 4.0], [1.0, 3.0], [2.0, 0.0]), 0.25),
    (lambda: tf.metrics.percentage_below([1.0, 2.0, 3.0, 4.0], 2.5), 0.5),
    (lambda: tf.metrics.precision_at_k([[1, 3], [2, 0]], RANKED, 2), 1.0),
    (lambda: tf.metrics.recall_at_k([[1, 0], [3, 1]], RANKED, 2), 0.25),
    (lambda: tf.metrics.recall_at_k([[1, 0], [3, 1]], RANKED, 2, class_id=1), 0.5),
    (lambda: tf.metrics.average_precision_at_k([[3], [0]], RANKED, 2), 0.75),
    (lambda: tf.metrics.average_precision_at_k(
        tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant([3, 0, 9], tf.int64), [2, 2]), RANKED, 2), 0.75),
])
def test_one_batch(metric, expected):
    update, result = value(metric())
    np.testing.assert_allclose(update, expected, atol=2e-3)
    np.testing.assert_allclose(result, expected, atol=2e-3)


def test_classes_are_averaged():
    confusion, iou = value(tf.metrics.mean_iou([0, 1, 2, 1], [0, 1, 1, 1], 4))
    assert confusion.sum() == 4 and confusion[2, 1] == 1
    np.testing.assert_allclose(iou, (1 + 2 / 3 + 0) / 3, rtol=1e-6)
    each, accuracy = value(tf.metrics.mean_per_class_accuracy([0, 1, 2, 1], [0, 1, 1, 1], 3))
    np.testing.assert_allclose(each, [1, 1, 0])
    np.testing.assert_allclose(accuracy, 2 / 3, rtol=1e-6)


def test_variables_are_local_and_named_as_tensorflow_does():
    tf.metrics.precision_at_k([[1]], RANKED[:1], 2, class_id=1)
    names = {variable.name for variable in tf.local_variables()}
    assert names == {"precision_at_2_class1/true_positive_at_2_class1:0", "precision_at_2_class1/false_positive_at_2_class1:0"}
    assert names == {variable.name for variable in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)}
    assert not tf.global_variables()


def test_weights_must_fit():
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        tf.metrics.mean(np.ones([3, 2, 4, 1]), np.ones([3, 2, 5, 1]))
    values = tf.placeholder(tf.float32)
    _, update = tf.metrics.mean(values, [1.0, 2.0])
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast to values"):
            session.run(update, {values: np.ones([3, 2, 4])})


def test_predictions_at_thresholds_must_be_probabilities():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"predictions must be in \[0, 1\]"):
        value(tf.metrics.auc([0, 1], [0.5, 1.5]))
