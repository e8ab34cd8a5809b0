"""Training that can be killed at any moment and goes on where its last checkpoint stands.

    python resume.py FOLDER [steps]     run it, kill it, run it again
"""
import os
import sys

import numpy as np
import tensorflow as tf

folder = sys.argv[1]
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 20
if not os.path.isdir(folder):
    os.makedirs(folder)

xs = np.linspace(-1, 1, 101).astype(np.float32)
x = tf.placeholder(tf.float32, [None])
w = tf.Variable(0.0, name="w")
b = tf.Variable(1.0, name="b")
global_step = tf.Variable(0, trainable=False, name="global_step")
loss = tf.reduce_mean(tf.square(w * x + b - (2 * x - 1)))
train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=global_step)
saver = tf.train.Saver(max_to_keep=3)

with tf.Session() as sess:
    checkpoint = tf.train.latest_checkpoint(folder)
    if checkpoint:
        saver.restore(sess, checkpoint)
        print("goes on after step %d" % sess.run(global_step))
    else:
        sess.run(tf.global_variables_initializer())
        print("begins")
    step = sess.run(global_step)
    while step < steps:
        _, value = sess.run([train, loss], feed_dict={x: xs})
        step = sess.run(global_step)
        if step % 5 == 0:
            path = saver.save(sess, os.path.join(folder, "model.ckpt"), global_step=step)
            print("step %d  loss %.5f  %s" % (step, value, os.path.basename(path)))
    print("w = %.4f, b = %.4f" % tuple(sess.run([w, b])))
