"""The convolutional network of the MNIST tutorial, with an InteractiveSession.

    python mnist_convnet.py [folder of the MNIST files] [steps]
"""
import sys

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

mnist = input_data.read_data_sets(sys.argv[1] if len(sys.argv) > 1 else "data/mnist", one_hot=True, seed=1)
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
tf.set_random_seed(1)
sess = tf.InteractiveSession()


def weight_variable(shape):
    return tf.Variable(tf.truncated_normal(shape, stddev=0.1))


def bias_variable(shape):
    return tf.Variable(tf.constant(0.1, shape=shape))


def convolve(value, kernel):
    return tf.nn.conv2d(value, kernel, strides=[1, 1, 1, 1], padding="SAME")


def pool(value):
    return tf.nn.max_pool(value, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")


x = tf.placeholder(tf.float32, [None, 784])
y = tf.placeholder(tf.float32, [None, 10])
keep_prob = tf.placeholder(tf.float32)
images = tf.reshape(x, [-1, 28, 28, 1])
hidden = pool(tf.nn.relu(convolve(images, weight_variable([5, 5, 1, 32])) + bias_variable([32])))
hidden = pool(tf.nn.relu(convolve(hidden, weight_variable([5, 5, 32, 64])) + bias_variable([64])))
flat = tf.reshape(hidden, [-1, 7 * 7 * 64])
dense = tf.nn.relu(tf.matmul(flat, weight_variable([7 * 7 * 64, 1024])) + bias_variable([1024]))
logits = tf.matmul(tf.nn.dropout(dense, keep_prob), weight_variable([1024, 10])) + bias_variable([10])

loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits))
train_step = tf.train.AdamOptimizer(1e-4).minimize(loss)
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1)), tf.float32))
sess.run(tf.global_variables_initializer())

for step in range(steps):
    batch = mnist.train.next_batch(50)
    train_step.run(feed_dict={x: batch[0], y: batch[1], keep_prob: 0.5})
    if step % 50 == 49:
        value = accuracy.eval(feed_dict={x: batch[0], y: batch[1], keep_prob: 1.0})
        print("step %d  training accuracy %.2f" % (step + 1, value))

test = mnist.test.images[:2000], mnist.test.labels[:2000]
print("test accuracy %.2f" % accuracy.eval(feed_dict={x: test[0], y: test[1], keep_prob: 1.0}))
