"""The network of the CIFAR-10 tutorial: two convolutions with pooling and normalisation, two dense layers with weight
decay, and a linear one.

    images, labels = cifar10.distorted_inputs()
    loss = cifar10.loss(cifar10.inference(images), labels)
    train_op = cifar10.train(loss, global_step)

Programs reach its settings through tf.app.flags.FLAGS or, as those of 2018 do, through `parser`.
"""

import argparse
import os
import re
import sys
import tarfile

from weir import flags as _flags
from weir.download import fetch
from weir.models.image.cifar10 import cifar10_input

FLAGS = _flags.FLAGS
_flags.DEFINE_integer("batch_size", 128, "Number of images to process in a batch.")
_flags.DEFINE_string("data_dir", "/tmp/cifar10_data", "Path to the CIFAR-10 data directory.")
_flags.DEFINE_boolean("use_fp16", False, "Train the model using fp16.")

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=128, help="Number of images to process in a batch.")
parser.add_argument("--data_dir", type=str, default="/tmp/cifar10_data", help="Path to the CIFAR-10 data directory.")
parser.add_argument("--use_fp16", type=bool, default=False, help="Train the model using fp16.")

IMAGE_SIZE = cifar10_input.IMAGE_SIZE
NUM_CLASSES = cifar10_input.NUM_CLASSES
NUM_EXAMPLES_PER_EPOCH_FOR_TRAIN = cifar10_input.NUM_EXAMPLES_PER_EPOCH_FOR_TRAIN
NUM_EXAMPLES_PER_EPOCH_FOR_EVAL = cifar10_input.NUM_EXAMPLES_PER_EPOCH_FOR_EVAL

MOVING_AVERAGE_DECAY = 0.9999
NUM_EPOCHS_PER_DECAY = 350.0
LEARNING_RATE_DECAY_FACTOR = 0.1
INITIAL_LEARNING_RATE = 0.1
TOWER_NAME = "tower"  # names of towers are left out of summaries, so that their curves lie on one another

DATA_URL = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"
_FOLDER = "cifar-10-batches-bin"  # in the archive


def _tf():
    return sys.modules["weir"]


def _type():
    tf = _tf()
    return tf.float16 if FLAGS.use_fp16 else tf.float32


def _activation_summary(x):
    """A histogram of a layer, and which part of it is zero."""
    tf = _tf()
    name = re.sub(f"{TOWER_NAME}_[0-9]*/", "", x.op.name)
    tf.summary.histogram(name + "/activations", x)
    tf.summary.scalar(name + "/sparsity", tf.nn.zero_fraction(x))


def _variable_on_cpu(name, shape, initializer):
    tf = _tf()
    with tf.device("/cpu:0"):
        return tf.get_variable(name, shape, initializer=initializer, dtype=_type())


def _variable_with_weight_decay(name, shape, stddev, wd):
    """A variable whose squares, times `wd` (if any), are one of the losses."""
    tf = _tf()
    var = _variable_on_cpu(name, shape, tf.truncated_normal_initializer(stddev=stddev, dtype=_type()))
    if wd:
        tf.add_to_collection("losses", tf.multiply(tf.nn.l2_loss(var), wd, name="weight_loss"))
    return var


def _data_dir():
    if not FLAGS.data_dir:
        raise ValueError("Please supply a data_dir")
    return os.path.join(FLAGS.data_dir, _FOLDER)


def _as_model_type(images, labels):
    tf = _tf()
    return (tf.cast(images, tf.float16), tf.cast(labels, tf.float16)) if FLAGS.use_fp16 else (images, labels)


def distorted_inputs():
    """Images [batch, 24, 24, 3] and labels [batch] for training; see cifar10_input."""
    return _as_model_type(*cifar10_input.distorted_inputs(data_dir=_data_dir(), batch_size=FLAGS.batch_size))


def inputs(eval_data):
    """The same for testing; of the test set if `eval_data` is true."""
    return _as_model_type(*cifar10_input.inputs(eval_data=eval_data, data_dir=_data_dir(), batch_size=FLAGS.batch_size))


def _convolution(x, name, channels, bias):
    tf = _tf()
    with tf.variable_scope(name) as scope:
        kernel = _variable_with_weight_decay("weights", shape=[5, 5, channels, 64], stddev=5e-2, wd=None)
        conv = tf.nn.conv2d(x, kernel, [1, 1, 1, 1], padding="SAME")
        biases = _variable_on_cpu("biases", [64], tf.constant_initializer(bias))
        y = tf.nn.relu(tf.nn.bias_add(conv, biases), name=scope.name)
        _activation_summary(y)
        return y


def _dense(x, name, inputs_, units):
    tf = _tf()
    with tf.variable_scope(name) as scope:
        weights = _variable_with_weight_decay("weights", shape=[inputs_, units], stddev=0.04, wd=0.004)
        biases = _variable_on_cpu("biases", [units], tf.constant_initializer(0.1))
        y = tf.nn.relu(tf.matmul(x, weights) + biases, name=scope.name)
        _activation_summary(y)
        return y


def inference(images):
    """The logits [batch, NUM_CLASSES] of images."""
    tf = _tf()

    def max_pool(x, name):
        return tf.nn.max_pool(x, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME", name=name)

    def normalised(x, name):
        return tf.nn.lrn(x, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75, name=name)

    conv1 = _convolution(images, "conv1", cifar10_input.CIFAR10Record.depth, 0.0)
    norm1 = normalised(max_pool(conv1, "pool1"), "norm1")
    conv2 = _convolution(norm1, "conv2", 64, 0.1)
    pool2 = max_pool(normalised(conv2, "norm2"), "pool2")
    flat = tf.reshape(pool2, [images.get_shape().as_list()[0] or FLAGS.batch_size, -1])
    local3 = _dense(flat, "local3", flat.get_shape()[1].value, 384)
    local4 = _dense(local3, "local4", 384, 192)
    with tf.variable_scope("softmax_linear") as scope:
        weights = _variable_with_weight_decay("weights", [192, NUM_CLASSES], stddev=1 / 192.0, wd=None)
        biases = _variable_on_cpu("biases", [NUM_CLASSES], tf.constant_initializer(0.0))
        logits = tf.add(tf.matmul(local4, weights), biases, name=scope.name)
        _activation_summary(logits)
    return logits


def loss(logits, labels):
    """The mean cross entropy of a batch and the weight decay, which are the collection "losses", together."""
    tf = _tf()
    cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.cast(labels, tf.int64), logits=logits, name="cross_entropy_per_example")
    tf.add_to_collection("losses", tf.reduce_mean(cross_entropy, name="cross_entropy"))
    return tf.add_n(tf.get_collection("losses"), name="total_loss")


def _add_loss_summaries(total_loss):
    """Curves of the losses and of their moving averages; the operation that updates those."""
    tf = _tf()
    averages = tf.train.ExponentialMovingAverage(0.9, name="avg")
    losses = tf.get_collection("losses") + [total_loss]
    update = averages.apply(losses)
    for one in losses:
        tf.summary.scalar(one.op.name + " (raw)", one)
        tf.summary.scalar(one.op.name, averages.average(one))
    return update


def train(total_loss, global_step):
    """The operation that takes a step: gradient descent with a rate that falls, and moving averages of the variables."""
    tf = _tf()
    batches_per_epoch = NUM_EXAMPLES_PER_EPOCH_FOR_TRAIN / FLAGS.batch_size
    rate = tf.train.exponential_decay(INITIAL_LEARNING_RATE, global_step, int(batches_per_epoch * NUM_EPOCHS_PER_DECAY),
                                      LEARNING_RATE_DECAY_FACTOR, staircase=True)
    tf.summary.scalar("learning_rate", rate)
    with tf.control_dependencies([_add_loss_summaries(total_loss)]):
        optimizer = tf.train.GradientDescentOptimizer(rate)
        gradients = optimizer.compute_gradients(total_loss)
    apply = optimizer.apply_gradients(gradients, global_step=global_step)
    for var in tf.trainable_variables():
        tf.summary.histogram(var.op.name, var)
    for gradient, var in gradients:
        if gradient is not None:
            tf.summary.histogram(var.op.name + "/gradients", gradient)
    averages = tf.train.ExponentialMovingAverage(MOVING_AVERAGE_DECAY, global_step)
    with tf.control_dependencies([apply, averages.apply(tf.trainable_variables())]):
        return tf.no_op(name="train")


def maybe_download_and_extract():
    """Sees to it that `FLAGS.data_dir` holds the data: there already, in an archive there, or downloaded."""
    folder = FLAGS.data_dir
    if os.path.exists(os.path.join(folder, "train.tfrecord")) or os.path.exists(os.path.join(folder, _FOLDER)):
        return
    os.makedirs(folder, exist_ok=True)
    archive = os.path.join(folder, os.path.basename(DATA_URL))
    if not os.path.exists(archive):
        fetch(DATA_URL, archive, instead=f"Put that file into {folder}, or train.tfrecord and test.tfrecord, or say "
                                         f"--data_dir.")
        print("Successfully downloaded", os.path.basename(archive), os.stat(archive).st_size, "bytes.")
    with tarfile.open(archive, "r:gz") as tar:
        tar.extractall(folder, filter="data")
