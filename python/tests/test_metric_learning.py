"""tf.contrib.losses.metric_learning beside the definitions, written as loops."""

import numpy as np
import pytest

import weir as tf

losses = tf.contrib.losses.metric_learning
_RANDOM = np.random.RandomState(5)
X, Y = _RANDOM.normal(size=(12, 4)).astype(np.float32), _RANDOM.normal(size=(12, 4)).astype(np.float32)
LABELS = np.array([0, 1, 2, 3] * 3)


def _run(value):
    with tf.Session() as session:
        return session.run(value)


def _pairs():
    return [(i, j) for i in range(12) for j in range(12) if i != j and LABELS[i] == LABELS[j]]


def test_contrastive_loss():
    same = (LABELS < 2).astype(np.int64)
    d = np.sqrt(((X - Y) ** 2).sum(1))
    expected = np.mean(same * d ** 2 + (1 - same) * np.maximum(2.5 - d, 0) ** 2)
    with tf.Graph().as_default():
        np.testing.assert_allclose(_run(losses.contrastive_loss(tf.constant(same), X, Y, margin=2.5)), expected, rtol=1e-5)


def test_triplet_semihard_loss():
    d = ((X[:, None] - X[None]) ** 2).sum(2)
    terms = []
    for i, j in _pairs():
        others = d[i, LABELS != LABELS[i]]
        farther = others[others > d[i, j]]
        terms.append(max(1.0 + d[i, j] - (farther.min() if len(farther) else others.max()), 0))
    with tf.Graph().as_default():
        np.testing.assert_allclose(_run(losses.triplet_semihard_loss(tf.constant(LABELS), tf.constant(X))), np.mean(terms),
                                   rtol=1e-4)


def test_lifted_struct_loss():
    d = np.sqrt(((X[:, None] - X[None]) ** 2).sum(2))
    total, pairs = 0, [(i, j) for i, j in _pairs() if i < j]
    for i, j in pairs:
        near = sum(np.exp(1.0 - d[k, LABELS != LABELS[k]]).sum() for k in (i, j))
        total += max(np.log(near) + d[i, j], 0) ** 2
    with tf.Graph().as_default():
        loss = losses.lifted_struct_loss(tf.constant(LABELS), tf.constant(X))
        np.testing.assert_allclose(_run(loss), total / (2 * len(pairs)), rtol=1e-4)


def _npairs(weights):
    weights = weights / weights.sum(1, keepdims=True)
    similarity = X @ Y.T
    logs = similarity - np.log(np.exp(similarity).sum(1, keepdims=True))
    return (0.25 * 0.002 * ((X ** 2).sum(1).mean() + (Y ** 2).sum(1).mean())) - (weights * logs).sum(1).mean()


@pytest.mark.parametrize("print_losses", [False, True])
def test_npairs_loss(print_losses):
    with tf.Graph().as_default():
        loss = losses.npairs_loss(tf.constant(LABELS), tf.constant(X), tf.constant(Y), print_losses=print_losses)
        np.testing.assert_allclose(_run(loss), _npairs((LABELS[:, None] == LABELS[None]).astype(float)), rtol=1e-4)


def test_npairs_loss_of_several_labels_counts_what_examples_have_in_common():
    has = _RANDOM.randint(0, 2, (12, 6))
    has[:, 0] = 1
    with tf.Graph().as_default():
        labels = [tf.SparseTensor([[i] for i in np.flatnonzero(row)], tf.ones([row.sum()], tf.int64), [6]) for row in has]
        loss = losses.npairs_loss_multilabel(labels, tf.constant(X), tf.constant(Y))
        np.testing.assert_allclose(_run(loss), _npairs((has @ has.T).astype(float)), rtol=1e-4)
        with pytest.raises(TypeError, match="must be a list of SparseTensors"):
            losses.npairs_loss_multilabel([tf.constant([1])], X, Y)


def test_gradients_are_finite_where_embeddings_are_equal():
    with tf.Graph().as_default():
        x = tf.constant(np.ones((4, 3), np.float32))
        labels = tf.constant([0, 0, 1, 1])
        gradients = [tf.gradients(loss(labels, x), x)[0] for loss in (losses.triplet_semihard_loss, losses.lifted_struct_loss)]
        assert np.isfinite(_run(tf.stack(gradients))).all()
