"""A variational autoencoder on MNIST: pictures as points of a small space from which new ones are drawn.

    python vae.py [folder of the MNIST files] [steps] [picture of drawn digits, .pgm]
"""
import sys

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

mnist = input_data.read_data_sets(sys.argv[1] if len(sys.argv) > 1 else "data/mnist", seed=1)
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
latent, hidden, batch_size = 8, 256, 100
tf.set_random_seed(1)


def decoder(z):
    with tf.variable_scope("decoder", reuse=tf.AUTO_REUSE):
        return tf.layers.dense(tf.layers.dense(z, hidden, tf.nn.relu, name="hidden"), 784, name="picture")


x = tf.placeholder(tf.float32, [None, 784])
with tf.variable_scope("encoder"):
    encoded = tf.layers.dense(x, hidden, tf.nn.relu, name="hidden")
    mean = tf.layers.dense(encoded, latent, name="mean")
    log_variance = tf.layers.dense(encoded, latent, name="log_variance")
z = mean + tf.exp(0.5 * log_variance) * tf.random_normal(tf.shape(mean))
logits = decoder(z)
pixels = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
reconstruction = tf.reduce_mean(tf.reduce_sum(pixels, 1))
divergence = tf.reduce_mean(-0.5 * tf.reduce_sum(1 + log_variance - tf.square(mean) - tf.exp(log_variance), 1))
loss = reconstruction + divergence
train = tf.train.AdamOptimizer(1e-3).minimize(loss)
drawn = tf.sigmoid(decoder(tf.random_normal([16, latent])))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(1, steps + 1):
        sess.run(train, {x: mnist.train.next_batch(batch_size)[0]})
        if step % 500 == 0 or step == steps:
            values = sess.run([reconstruction, divergence], {x: mnist.test.images[:1000]})
            print("step %d  reconstruction %.1f  divergence %.1f" % ((step,) + tuple(values)))
    if len(sys.argv) > 3:
        pictures = sess.run(drawn).reshape(4, 4, 28, 28).transpose(0, 2, 1, 3).reshape(112, 112)
        with open(sys.argv[3], "wb") as file:
            file.write(b"P5 112 112 255\n" + (pictures * 255).astype(np.uint8).tobytes())
