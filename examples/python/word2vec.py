"""Vectors for words from their neighbours (skip-gram), with a loss over a sample of the words.

The text is made up of sentences about animals, colours and numbers: words of a kind stand in the same places, so that the
words nearest to one are those of its kind.

    python word2vec.py [steps]
"""
import sys

import numpy as np
import tensorflow as tf

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
batch_size, embedding_size, num_sampled = 128, 16, 8
kinds = {"animals": "dog cat horse bird fish".split(), "colours": "red green blue white black".split(),
         "numbers": "two three four five six".split()}
patterns = ["i see numbers colours animals", "animals like colours things", "she has numbers animals",
            "paint it colours", "numbers of the animals are colours"]
random = np.random.RandomState(1)
text = [random.choice(kinds[word]) if word in kinds else word
        for _ in range(4000) for word in random.choice(patterns).split()]
words = sorted(set(text))
numbers = np.array([words.index(word) for word in text])


def skip_grams(count):
    """Words, and for each a neighbour at most two places away."""
    places = random.randint(2, len(numbers) - 2, size=count)
    return numbers[places], numbers[places + random.choice([-2, -1, 1, 2], size=count)][:, None]


tf.set_random_seed(1)
inputs = tf.placeholder(tf.int32, [None])
labels = tf.placeholder(tf.int32, [None, 1])
embeddings = tf.Variable(tf.random_uniform([len(words), embedding_size], -1.0, 1.0))
nce_weights = tf.Variable(tf.truncated_normal([len(words), embedding_size], stddev=1.0 / np.sqrt(embedding_size)))
nce_biases = tf.Variable(tf.zeros([len(words)]))
loss = tf.reduce_mean(tf.nn.nce_loss(
    weights=nce_weights, biases=nce_biases, labels=labels, inputs=tf.nn.embedding_lookup(embeddings, inputs),
    num_sampled=num_sampled, num_classes=len(words)))
train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
normalized = tf.nn.l2_normalize(embeddings, 1)
similarity = tf.matmul(normalized, normalized, transpose_b=True)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(1, steps + 1):
        batch, neighbours = skip_grams(batch_size)
        _, value = sess.run([train, loss], {inputs: batch, labels: neighbours})
        if step % 500 == 0 or step == steps:
            print("step %d  loss %.3f" % (step, value))
    likeness = sess.run(similarity)
    right = 0
    for kind in kinds.values():
        for word in kind:
            nearest = words[np.argsort(-likeness[words.index(word)])[1]]
            right += nearest in kind
        print("nearest to %s: %s" % (word, nearest))
    print("%d of 15 words have one of their kind nearest" % right)
