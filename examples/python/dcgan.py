"""A generative adversarial network of convolutions on MNIST (Radford et al., 2015): one network draws digits, another
tells them from real ones.

    python dcgan.py [folder of the MNIST files] [steps] [picture of drawn digits, .pgm]
"""
import sys

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

mnist = input_data.read_data_sets(sys.argv[1] if len(sys.argv) > 1 else "data/mnist", seed=1)
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
noise_size, batch_size, width = 64, 64, 32
tf.set_random_seed(1)


def generator(noise):
    with tf.variable_scope("generator"):
        x = tf.reshape(tf.layers.dense(noise, 7 * 7 * 2 * width), [-1, 7, 7, 2 * width])
        x = tf.nn.relu(tf.layers.batch_normalization(x, training=True))
        x = tf.layers.conv2d_transpose(x, width, 5, strides=2, padding="same")
        x = tf.nn.relu(tf.layers.batch_normalization(x, training=True))
        return tf.sigmoid(tf.layers.conv2d_transpose(x, 1, 5, strides=2, padding="same"))


def discriminator(pictures):
    with tf.variable_scope("discriminator", reuse=tf.AUTO_REUSE):
        x = tf.nn.leaky_relu(tf.layers.conv2d(pictures, width, 5, strides=2, padding="same", name="conv1"))
        x = tf.nn.leaky_relu(tf.layers.conv2d(x, 2 * width, 5, strides=2, padding="same", name="conv2"))
        return tf.layers.dense(tf.layers.flatten(x), 1, name="logits")


real = tf.placeholder(tf.float32, [None, 784])
drawn = generator(tf.random_uniform([batch_size, noise_size], -1, 1))
real_logits, drawn_logits = discriminator(tf.reshape(real, [-1, 28, 28, 1])), discriminator(drawn)


def loss_of(logits, label):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.fill(tf.shape(logits), label), logits=logits))


discriminator_loss = loss_of(real_logits, 0.9) + loss_of(drawn_logits, 0.0)  # real ones count 0.9: it stays modest
generator_loss = loss_of(drawn_logits, 1.0)
optimizer = lambda: tf.train.AdamOptimizer(2e-4, beta1=0.5)
train = tf.group(
    optimizer().minimize(discriminator_loss, var_list=tf.trainable_variables("discriminator")),
    optimizer().minimize(generator_loss, var_list=tf.trainable_variables("generator")))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(1, steps + 1):
        feed = {real: mnist.train.next_batch(batch_size)[0]}
        _, d, g = sess.run([train, discriminator_loss, generator_loss], feed)
        if step % 100 == 0 or step == steps:
            print("step %d  discriminator %.3f  generator %.3f" % (step, d, g))
    pictures = sess.run(drawn)
    print("drawn pixels lie between %.2f and %.2f" % (pictures.min(), pictures.max()))
    if len(sys.argv) > 3:
        page = pictures[:16].reshape(4, 4, 28, 28).transpose(0, 2, 1, 3).reshape(112, 112)
        with open(sys.argv[3], "wb") as file:
            file.write(b"P5 112 112 255\n" + (page * 255).astype(np.uint8).tobytes())
