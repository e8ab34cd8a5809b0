"""The network of the MNIST tutorial: two hidden layers of rectified linear units and a linear output layer."""

import math
import sys

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def _tf():
    return sys.modules["weir"]


def _dense(x, inputs, outputs):
    """x w + b, with weights that keep the size of what goes through."""
    tf = _tf()
    deviation = 1.0 / math.sqrt(float(inputs))
    weights = tf.Variable(tf.truncated_normal([inputs, outputs], stddev=deviation), name="weights")
    biases = tf.Variable(tf.zeros([outputs]), name="biases")
    return tf.matmul(x, weights) + biases


def inference(images, hidden1_units, hidden2_units):
    """The logits [batch, NUM_CLASSES] of images [batch, IMAGE_PIXELS]."""
    tf = _tf()
    with tf.name_scope("hidden1"):
        hidden1 = tf.nn.relu(_dense(images, IMAGE_PIXELS, hidden1_units))
    with tf.name_scope("hidden2"):
        hidden2 = tf.nn.relu(_dense(hidden1, hidden1_units, hidden2_units))
    with tf.name_scope("softmax_linear"):
        return _dense(hidden2, hidden2_units, NUM_CLASSES)


def loss(logits, labels):
    """The mean cross entropy of integer labels [batch]."""
    tf = _tf()
    labels = tf.cast(labels, tf.int64)
    entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
    return tf.reduce_mean(entropy, name="xentropy_mean")


def training(loss, learning_rate):
    """An operation that takes one step of gradient descent and counts it; adds a summary of the loss."""
    tf = _tf()
    tf.summary.scalar("loss", loss)
    global_step = tf.Variable(0, name="global_step", trainable=False)
    return tf.train.GradientDescentOptimizer(learning_rate).minimize(loss, global_step=global_step)


def evaluation(logits, labels):
    """How many of the batch are right (int32)."""
    tf = _tf()
    correct = tf.nn.in_top_k(logits, labels, 1)
    return tf.reduce_sum(tf.cast(correct, tf.int32))
