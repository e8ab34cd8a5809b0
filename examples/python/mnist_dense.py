"""A fully connected network on MNIST with histograms of weights, biases and activations for TensorBoard.

    python mnist_dense.py [folder of the MNIST files] [folder for the events]
"""
import sys

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

mnist = input_data.read_data_sets(sys.argv[1] if len(sys.argv) > 1 else "data/mnist", one_hot=True, seed=1)
tf.set_random_seed(1)


def layer(inputs, size, name, activation=None):
    with tf.name_scope(name):
        with tf.name_scope("weights"):
            weights = tf.Variable(tf.truncated_normal([inputs.get_shape().as_list()[1], size], stddev=0.1), name="W")
            tf.summary.histogram("histogram", weights)
        with tf.name_scope("biases"):
            biases = tf.Variable(tf.constant(0.1, shape=[size]), name="b")
            tf.summary.histogram("histogram", biases)
        outputs = tf.matmul(inputs, weights) + biases
        if activation is not None:
            outputs = activation(outputs)
        tf.summary.histogram("activations", outputs)
        return outputs


with tf.name_scope("inputs"):
    x = tf.placeholder(tf.float32, [None, 784], name="x")
    y = tf.placeholder(tf.float32, [None, 10], name="y")
hidden = layer(x, 128, "hidden", tf.nn.relu)
logits = layer(hidden, 10, "output")
with tf.name_scope("loss"):
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits))
    tf.summary.scalar("loss", loss)
with tf.name_scope("train"):
    train = tf.train.AdamOptimizer(1e-3).minimize(loss)
with tf.name_scope("accuracy"):
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1)), tf.float32))
    tf.summary.scalar("accuracy", accuracy)
summaries = tf.summary.merge_all()

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    writer = tf.summary.FileWriter(sys.argv[2], sess.graph) if len(sys.argv) > 2 else None
    for step in range(300):
        images, labels = mnist.train.next_batch(100)
        sess.run(train, feed_dict={x: images, y: labels})
        if step % 100 == 99:
            feed = {x: mnist.test.images, y: mnist.test.labels}
            summary, value = sess.run([summaries, accuracy], feed_dict=feed)
            print("step %d  accuracy %.2f" % (step + 1, value))
            if writer:
                writer.add_summary(summary, step)
    if writer:
        writer.close()
