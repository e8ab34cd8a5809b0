"""Softmax regression on MNIST: one layer, gradient descent.

    python logistic.py [folder of the MNIST files]
"""
import sys

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

mnist = input_data.read_data_sets(sys.argv[1] if len(sys.argv) > 1 else "data/mnist", one_hot=True, seed=1)

x = tf.placeholder(tf.float32, [None, 784])
y = tf.placeholder(tf.float32, [None, 10])
weights = tf.Variable(tf.zeros([784, 10]))
biases = tf.Variable(tf.zeros([10]))
prediction = tf.nn.softmax(tf.matmul(x, weights) + biases)
cost = tf.reduce_mean(-tf.reduce_sum(y * tf.log(prediction + 1e-10), reduction_indices=1))
train = tf.train.GradientDescentOptimizer(0.5).minimize(cost)
correct = tf.equal(tf.argmax(prediction, 1), tf.argmax(y, 1))
accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(300):
        images, labels = mnist.train.next_batch(100)
        _, c = sess.run([train, cost], feed_dict={x: images, y: labels})
        if step % 100 == 99:
            print("step %d  cost %.3f" % (step + 1, c))
    print("accuracy %.3f" % accuracy.eval({x: mnist.test.images, y: mnist.test.labels}))
