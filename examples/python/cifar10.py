"""The CIFAR-10 network of TensorFlow's tutorial on any number of devices: trains it, or tests what was trained.

    python cifar10.py [--data_dir DIR] [--train_dir DIR] [--steps N] [--towers N] ...     --help lists the flags

Training goes on where the last checkpoint of --train_dir stands. The program runs on TensorFlow 1.15 and 2.x too.
"""
import tensorflow as tf

import argparse
import os
import re
import time
from datetime import datetime

import numpy as np

if not tf.__version__.startswith("1."):
    tf = tf.compat.v1
    tf.disable_v2_behavior()

IMAGE_SIZE = 24
NUM_CLASSES = 10
NUM_EXAMPLES_PER_EPOCH = 50000
MOVING_AVERAGE_DECAY = 0.9999
NUM_EPOCHS_PER_DECAY = 350.0
LEARNING_RATE_DECAY_FACTOR = 0.1
INITIAL_LEARNING_RATE = 0.1
TOWER_NAME = "tower"


# The model.


def name_in_tower(x):
    """A name without "tower_0/", so that curves of runs with different towers lie on one another."""
    return re.sub("^%s_[0-9]*/" % TOWER_NAME, "", x.op.name)


def activation_summary(x):
    tf.summary.histogram("activations", x)
    tf.summary.scalar("sparsity", tf.nn.zero_fraction(x))


def variable_on_cpu(name, shape, initializer):
    with tf.device("/cpu:0"):
        return tf.get_variable(name, shape, initializer=initializer, dtype=tf.float32)


def variable_with_weight_decay(name, shape, stddev, wd):
    var = variable_on_cpu(name, shape, tf.truncated_normal_initializer(stddev=stddev, dtype=tf.float32))
    if wd is not None:
        tf.add_to_collection("losses", tf.multiply(tf.nn.l2_loss(var), wd, name="weight_loss"))
    return var


def convolution(x, name, bias):
    with tf.variable_scope(name) as scope:
        kernel = variable_with_weight_decay("weights", [5, 5, x.get_shape().as_list()[3], 64], stddev=5e-2, wd=None)
        conv = tf.nn.conv2d(x, kernel, [1, 1, 1, 1], padding="SAME")
        biases = variable_on_cpu("biases", [64], tf.constant_initializer(bias))
        y = tf.nn.relu(tf.nn.bias_add(conv, biases), name=scope.name)
        activation_summary(y)
        return y


def dense(x, name, units):
    with tf.variable_scope(name) as scope:
        weights = variable_with_weight_decay("weights", [x.get_shape().as_list()[1], units], stddev=0.04, wd=0.004)
        biases = variable_on_cpu("biases", [units], tf.constant_initializer(0.1))
        y = tf.nn.relu(tf.matmul(x, weights) + biases, name=scope.name)
        activation_summary(y)
        return y


def max_pool(x, name):
    return tf.nn.max_pool(x, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME", name=name)


def lrn(x, name):
    return tf.nn.lrn(x, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75, name=name)


def inference(images):
    norm1 = lrn(max_pool(convolution(images, "conv1", 0.0), "pool1"), "norm1")
    pool2 = max_pool(lrn(convolution(norm1, "conv2", 0.1), "norm2"), "pool2")
    flat = tf.reshape(pool2, [-1, int(np.prod(pool2.get_shape().as_list()[1:]))])
    local4 = dense(dense(flat, "local3", 384), "local4", 192)
    with tf.variable_scope("softmax_linear") as scope:
        weights = variable_with_weight_decay("weights", [192, NUM_CLASSES], stddev=1 / 192.0, wd=None)
        biases = variable_on_cpu("biases", [NUM_CLASSES], tf.constant_initializer(0.0))
        softmax_linear = tf.add(tf.matmul(local4, weights), biases, name=scope.name)
        activation_summary(softmax_linear)
    return softmax_linear


def tower_loss(scope, images, labels):
    """All losses of one tower, the sum of the others last."""
    cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=inference(images), name="cross_entropy_per_example")
    tf.add_to_collection("losses", tf.reduce_mean(cross_entropy, name="cross_entropy"))
    losses = tf.get_collection("losses", scope)
    return losses + [tf.add_n(losses, name="total_loss")]


def average_gradients(tower_grads):
    """The mean of each variable's gradients over the towers."""
    average_grads = []
    for grad_and_vars in zip(*tower_grads):
        grads = [tf.expand_dims(g, 0) for g, _ in grad_and_vars]
        grad = tf.reduce_mean(tf.concat(axis=0, values=grads), 0)
        average_grads.append((grad, grad_and_vars[0][1]))
    return average_grads


# The input: a folder with train.tfrecord and test.tfrecord, or with the binary files of the original archive.


def from_example(record):
    features = tf.parse_single_example(record, {"image/encoded": tf.FixedLenFeature([], tf.string),
                                                "image/class/label": tf.FixedLenFeature([], tf.int64)})
    picture = tf.image.decode_jpeg(features["image/encoded"], channels=3, dct_method="INTEGER_ACCURATE")
    return tf.ensure_shape(picture, [32, 32, 3]), features["image/class/label"]


def from_binary(record):
    """A byte of label, then the red, green and blue pixels, row by row."""
    data = tf.decode_raw(record, tf.uint8)
    planes = tf.reshape(data[1:3073], [3, 32, 32])
    return tf.transpose(planes, [1, 2, 0]), tf.cast(data[0], tf.int64)


def pictures(folder, part):
    """A data set of (uint8 picture, label), in the order of the files."""
    records = os.path.join(folder, part + ".tfrecord")
    if os.path.exists(records):
        return tf.data.TFRecordDataset(records).map(from_example, num_parallel_calls=4)
    names = ["data_batch_%d.bin" % i for i in range(1, 6)] if part == "train" else ["test_batch.bin"]
    for place in (folder, os.path.join(folder, "cifar-10-batches-bin")):
        files = [os.path.join(place, name) for name in names]
        if os.path.exists(files[0]):
            return tf.data.FixedLengthRecordDataset(files, 3073).map(from_binary)
    raise SystemExit("cifar10: neither '%s' nor '%s' is there; --data_dir names the folder of train.tfrecord and test.tfrecord, "
                     "or of the original archive's files" % (records, os.path.join(folder, names[0])))


def distort(picture, label, seed):
    seed *= 4  # a seed for each: with one for all the same numbers would decide where, whether and how much
    x = tf.random_crop(tf.cast(picture, tf.float32), [IMAGE_SIZE, IMAGE_SIZE, 3], seed=seed)
    x = tf.image.random_flip_left_right(x, seed=seed + 1)
    x = tf.image.random_brightness(x, max_delta=63, seed=seed + 2)
    x = tf.image.random_contrast(x, lower=0.2, upper=1.8, seed=seed + 3)
    return tf.image.per_image_standardization(x), label


def central(picture, label):
    x = tf.image.resize_image_with_crop_or_pad(tf.cast(picture, tf.float32), IMAGE_SIZE, IMAGE_SIZE)
    return tf.image.per_image_standardization(x), label


def distorted_batches(flags):
    """Endless batches for training. Pictures are decoded once and kept in memory."""
    source = pictures(flags.data_dir, "train").cache().shuffle(20000, seed=flags.seed).repeat()
    batches = source.map(lambda picture, label: distort(picture, label, flags.seed))
    return batches.batch(flags.batch_size, drop_remainder=True).prefetch(2 * flags.towers)


def central_batches(flags, size=500):
    return pictures(flags.data_dir, "test").map(central).batch(size).prefetch(2)


# Training and testing.


class Evaluation:
    """The share of the test pictures that the moving averages of a checkpoint name right."""

    def __init__(self, flags):
        self._graph = tf.Graph()
        with self._graph.as_default():
            self._iterator = tf.data.make_initializable_iterator(central_batches(flags))
            images, labels = self._iterator.get_next()
            self._right = tf.nn.in_top_k(inference(images), labels, 1)
            averages = tf.train.ExponentialMovingAverage(MOVING_AVERAGE_DECAY)
            self._saver = tf.train.Saver(averages.variables_to_restore())

    def run(self, checkpoint):
        with tf.Session(graph=self._graph) as sess:
            self._saver.restore(sess, checkpoint)
            sess.run(self._iterator.initializer)
            right = []
            try:
                while True:
                    right.extend(sess.run(self._right))
            except tf.errors.OutOfRangeError:
                return np.mean(right)


def say(text):
    print("%s: %s" % (datetime.now(), text), flush=True)


def latest_checkpoint(folder):
    checkpoint = tf.train.latest_checkpoint(folder)
    if checkpoint is None:
        raise SystemExit("cifar10: there is no checkpoint in '%s'" % folder)
    return checkpoint


def session_config(flags):
    if flags.virtual_gpus:
        os.environ["WEIR_VIRTUAL_GPUS"] = str(flags.virtual_gpus)
    return tf.ConfigProto(allow_soft_placement=True, log_device_placement=flags.log_device_placement,
                          device_count={"CPU": flags.cpus} if flags.cpus else None)


def train(flags):
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        tf.set_random_seed(flags.seed)
        iterator = tf.data.make_initializable_iterator(distorted_batches(flags))
        global_step = tf.train.get_or_create_global_step()
        num_batches_per_epoch = NUM_EXAMPLES_PER_EPOCH / flags.batch_size / flags.towers
        lr = tf.train.exponential_decay(INITIAL_LEARNING_RATE, global_step,
                                        int(num_batches_per_epoch * NUM_EPOCHS_PER_DECAY),
                                        LEARNING_RATE_DECAY_FACTOR, staircase=True)
        opt = tf.train.GradientDescentOptimizer(lr)

        tower_grads = []
        with tf.variable_scope(tf.get_variable_scope()):
            for i in range(flags.towers):
                with tf.device("/cpu:%d" % (i % flags.cpus) if flags.cpus else "/gpu:%d" % i):
                    with tf.name_scope("%s_%d" % (TOWER_NAME, i)) as scope:
                        images, labels = iterator.get_next()
                        losses = tower_loss(scope, images, labels)
                        tf.get_variable_scope().reuse_variables()
                        summaries = tf.get_collection(tf.GraphKeys.SUMMARIES, scope)  # of the last tower only
                        tower_grads.append(opt.compute_gradients(losses[-1]))
        grads = average_gradients(tower_grads)
        apply_gradient_op = opt.apply_gradients(grads, global_step=global_step)

        loss_averages = tf.train.ExponentialMovingAverage(0.9, name="avg")
        loss_averages_op = loss_averages.apply(losses)
        for loss in losses:
            summaries.append(tf.summary.scalar(name_in_tower(loss) + " (raw)", loss))
            summaries.append(tf.summary.scalar(name_in_tower(loss), loss_averages.average(loss)))
        summaries.append(tf.summary.scalar("learning_rate", lr))
        for grad, var in grads:
            summaries.append(tf.summary.histogram(var.op.name + "/gradients", grad))
            summaries.append(tf.summary.histogram(var.op.name, var))
        summary_op = tf.summary.merge(summaries)

        variable_averages = tf.train.ExponentialMovingAverage(MOVING_AVERAGE_DECAY, global_step)
        with tf.control_dependencies([apply_gradient_op, loss_averages_op]):
            train_op = variable_averages.apply(tf.trainable_variables())

        saver = tf.train.Saver(tf.global_variables())
        init = tf.global_variables_initializer()
        evaluation = Evaluation(flags) if flags.eval_every else None
        with tf.Session(config=session_config(flags)) as sess:
            checkpoint = tf.train.latest_checkpoint(flags.train_dir)
            if checkpoint:
                saver.restore(sess, checkpoint)
                saver.recover_last_checkpoints(tf.train.get_checkpoint_state(flags.train_dir).all_model_checkpoint_paths)
            else:
                sess.run(init)
            first = int(sess.run(global_step))
            if first:
                say("goes on after step %d" % first)
            sess.run(iterator.initializer)
            summary_writer = tf.summary.FileWriter(flags.train_dir, sess.graph)
            path = os.path.join(flags.train_dir, "model.ckpt")
            trained = 0.0  # seconds
            for step in range(first, flags.steps):
                start_time = time.time()
                if step % 100 == 0:
                    _, loss_value, summary = sess.run([train_op, losses[-1], summary_op])
                    summary_writer.add_summary(summary, step)
                else:
                    _, loss_value = sess.run([train_op, losses[-1]])
                duration = time.time() - start_time
                trained += duration
                assert np.isfinite(loss_value), "Model diverged with loss = %s" % loss_value

                done = step + 1
                if step % 10 == 0:
                    say("step %d, loss = %.2f (%.1f examples/sec; %.3f sec/batch)" % (
                        step, loss_value, flags.batch_size * flags.towers / duration, duration / flags.towers))
                test = flags.eval_every and (done % flags.eval_every == 0 or done == flags.steps)
                if test or done % flags.checkpoint_every == 0 or done == flags.steps:
                    saver.save(sess, path, global_step=done)
                if test:
                    say("step %d, precision @ 1 = %.3f (%.1f s of training)" % (
                        done, evaluation.run(latest_checkpoint(flags.train_dir)), trained))
            summary_writer.close()
            say("saved %s" % latest_checkpoint(flags.train_dir))


def main():
    parser = argparse.ArgumentParser(description="Trains the CIFAR-10 network of TensorFlow's tutorial.")
    flag = parser.add_argument
    flag("--data_dir", default="data/cifar10", help="folder of train.tfrecord and test.tfrecord, or of the original binary files (%(default)s)")
    flag("--train_dir", default="runs/cifar10", help="where checkpoints and events go (%(default)s)")
    flag("--steps", type=int, default=3000, help="train up to this step (%(default)s)")
    flag("--batch_size", type=int, default=128, help="pictures a tower and step (%(default)s)")
    flag("--towers", type=int, default=1, help="replicas of the model, on /gpu:0, /gpu:1, ... (%(default)s)")
    flag("--virtual-gpus", type=int, default=0, help="Weir: make so many GPUs out of CPU cores")
    flag("--cpus", type=int, default=0, help="put the towers on so many logical CPUs instead")
    flag("--seed", type=int, default=1, help="of the weights and the distortions (%(default)s)")
    flag("--checkpoint_every", type=int, default=1000, help="steps (%(default)s)")
    flag("--eval_every", type=int, default=0, help="test after so many steps")
    flag("--eval", action="store_true", help="do not train: test the newest checkpoint of --train_dir")
    flag("--log_device_placement", action="store_true", help="say where each node runs")
    flags = parser.parse_args()
    if flags.eval:
        say("precision @ 1 = %.3f" % Evaluation(flags).run(latest_checkpoint(flags.train_dir)))
    else:
        train(flags)


if __name__ == "__main__":
    main()
