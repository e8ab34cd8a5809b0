"""Fits y = 2x + noise with thirty steps of gradient descent. TensorBoard shows the run:

    python linear.py runs/linear && tensorboard --logdir runs
"""
import sys

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(1)
xs = np.linspace(-1, 1, 101).astype(np.float32)
ys = (2 * xs + rng.randn(101) * 0.3).astype(np.float32)

x = tf.placeholder(tf.float32, [None], name="x")
y = tf.placeholder(tf.float32, [None], name="y")
with tf.name_scope("model"):
    w = tf.Variable(0.5, name="W")
    prediction = w * x
with tf.name_scope("loss"):
    cost = tf.reduce_mean(tf.square(prediction - y))
train = tf.train.GradientDescentOptimizer(0.3).minimize(cost)
tf.summary.scalar("cost", cost)
tf.summary.histogram("W", w)
summaries = tf.summary.merge_all()

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    writer = tf.summary.FileWriter(sys.argv[1], sess.graph) if len(sys.argv) > 1 else None
    for step in range(30):
        _, c, summary = sess.run([train, cost, summaries], feed_dict={x: xs, y: ys})
        if writer:
            writer.add_summary(summary, step)
        if step % 5 == 4:
            print("step %2d  cost %.5f" % (step + 1, c))
    if writer:
        writer.close()
    print("W = %.4f" % sess.run(w))
