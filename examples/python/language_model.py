"""A language model in the manner of the PTB tutorial: LSTM, dropout, unrolled steps, a falling learning rate, perplexity.

The sentences are made up: "the old dog sees a red ball ." Knowing the grammar, a reader is about 3.7 words in doubt.

    python language_model.py [epochs]
"""
import sys

import numpy as np
import tensorflow as tf

epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 4
batch_size, num_steps, size, layers, max_norm = 20, 10, 64, 2, 5
words = "<eos> the a old young red big dog cat man bird ball tree house sees likes finds sleeps sings".split()
index = {word: i for i, word in enumerate(words)}


def sentences(count, seed):
    random = np.random.RandomState(seed)
    thing = lambda nouns: [random.choice(["the", "a"])] + [random.choice(["old", "young", "red", "big"])] * random.randint(2) + [
        random.choice(nouns)]
    text = []
    for _ in range(count):
        text += thing(["dog", "cat", "man", "bird"])
        if random.randint(2):
            text += [random.choice(["sees", "likes", "finds"])] + thing(["ball", "tree", "house"])
        else:
            text += [random.choice(["sleeps", "sings"])]
        text += ["<eos>"]
    return np.array([index[word] for word in text])


def batches(data):
    rows = data[:len(data) // batch_size * batch_size].reshape(batch_size, -1)
    for start in range(0, rows.shape[1] - num_steps, num_steps):
        yield rows[:, start:start + num_steps], rows[:, start + 1:start + num_steps + 1]


class Model(object):
    def __init__(self, is_training):
        self.inputs = tf.placeholder(tf.int32, [batch_size, num_steps])
        self.targets = tf.placeholder(tf.int32, [batch_size, num_steps])

        def lstm():
            cell = tf.nn.rnn_cell.BasicLSTMCell(size, forget_bias=0.0)
            return tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=0.8) if is_training else cell

        cell = tf.nn.rnn_cell.MultiRNNCell([lstm() for _ in range(layers)])
        self.initial_state = cell.zero_state(batch_size, tf.float32)
        embedding = tf.get_variable("embedding", [len(words), size])
        inputs = tf.nn.embedding_lookup(embedding, self.inputs)
        if is_training:
            inputs = tf.nn.dropout(inputs, 0.8)
        outputs, self.final_state = tf.nn.static_rnn(cell, tf.unstack(inputs, axis=1),
                                                     initial_state=self.initial_state)
        output = tf.reshape(tf.concat(outputs, 1), [-1, size])
        logits = tf.matmul(output, tf.get_variable("softmax_w", [size, len(words)])) + tf.get_variable(
            "softmax_b", [len(words)])
        logits = tf.reshape(logits, [batch_size, num_steps, len(words)])
        self.cost = tf.reduce_sum(tf.contrib.seq2seq.sequence_loss(
            logits, self.targets, tf.ones([batch_size, num_steps]), average_across_timesteps=False))
        if not is_training:
            return
        self.learning_rate = tf.placeholder(tf.float32, [])
        variables = tf.trainable_variables()
        gradients, _ = tf.clip_by_global_norm(tf.gradients(self.cost, variables), max_norm)
        self.train = tf.train.GradientDescentOptimizer(self.learning_rate).apply_gradients(zip(gradients, variables))


def perplexity(sess, model, data, learning_rate=None):
    costs, steps, state = 0.0, 0, sess.run(model.initial_state)
    fetches = [model.cost, model.final_state] + ([model.train] if learning_rate else [])
    for inputs, targets in batches(data):
        feed = {model.inputs: inputs, model.targets: targets, model.initial_state: state}
        if learning_rate:
            feed[model.learning_rate] = learning_rate
        cost, state = sess.run(fetches, feed)[:2]
        costs, steps = costs + cost, steps + num_steps
    return np.exp(costs / steps)


tf.set_random_seed(1)
with tf.variable_scope("Model", initializer=tf.random_uniform_initializer(-0.1, 0.1)):
    training = Model(is_training=True)
with tf.variable_scope("Model", reuse=True):
    evaluation = Model(is_training=False)
train_data, valid_data = sentences(4000, 1), sentences(400, 2)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(epochs):
        rate = 1.0 * 0.5 ** max(epoch - 2, 0)
        print("epoch %d  learning rate %.3f  training perplexity %.2f  validation perplexity %.2f" % (
            epoch + 1, rate, perplexity(sess, training, train_data, rate), perplexity(sess, evaluation, valid_data)))
