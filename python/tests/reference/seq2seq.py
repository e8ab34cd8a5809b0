"""tf.contrib.legacy_seq2seq and the loss of tf.contrib.seq2seq: variables by name, outputs, states and losses."""

### models
seq2seq, cells = tf.contrib.legacy_seq2seq, tf.nn.rnn_cell
def vectors(count, size):
    return [tf.constant(np.cos(np.arange(2 * size).reshape(2, size) + i), tf.float32) for i in range(count)]
def symbols(count):
    return [tf.constant([i % 5, (2 * i + 1) % 5]) for i in range(count)]
def leaves(value):
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, (list, tuple)) else [value]
def case(build):
    with tf.Graph().as_default():
        results = leaves(build())
        show(build.__name__, [(v.op.name, v.shape.as_list()) for v in tf.global_variables()])
        with tf.Session() as s:
            for v in tf.global_variables():
                sizes = v.shape.as_list()
                v.load(np.sin(np.arange(np.prod(sizes)) + len(v.name)).reshape(sizes).astype('f') / 2, s)
            show(s.run(results))
def lstm():
    return cells.BasicLSTMCell(3)
def layers():
    return cells.MultiRNNCell([cells.GRUCell(3), cells.BasicLSTMCell(3)])

def basic():
    return seq2seq.basic_rnn_seq2seq(vectors(3, 4), vectors(2, 4), layers())
def tied():
    return seq2seq.tied_rnn_seq2seq(vectors(3, 4), vectors(2, 4), lstm())
def on_its_own_outputs():
    return seq2seq.rnn_decoder(vectors(3, 3), lstm().zero_state(2, tf.float32), lstm(), loop_function=lambda x, i: 2 * x)
def embedded():
    return seq2seq.embedding_rnn_seq2seq(symbols(3), symbols(2), lstm(), 5, 6, 4)
def embedded_feeding():
    return seq2seq.embedding_rnn_seq2seq(symbols(3), symbols(2), lstm(), 5, 6, 4, feed_previous=True)
def projected():
    projection = tf.get_variable('w', [3, 6]), tf.get_variable('b', [6])
    return seq2seq.embedding_rnn_seq2seq(symbols(3), symbols(2), lstm(), 5, 6, 4, projection, tf.constant(True))
def attentive():
    return seq2seq.embedding_attention_seq2seq(symbols(3), symbols(2), layers(), 5, 6, 4, num_heads=2)
def attentive_feeding():
    return seq2seq.embedding_attention_seq2seq(symbols(3), symbols(2), layers(), 5, 6, 4, feed_previous=tf.constant(False))
def attentive_from_the_start():
    return seq2seq.embedding_attention_seq2seq(symbols(3), symbols(2), lstm(), 5, 6, 4, initial_state_attention=True)
def buckets():
    decoder = symbols(5)
    return seq2seq.model_with_buckets(symbols(4), decoder, decoder[1:] + decoder[:1], [tf.constant([1., .5])] * 5,
                                      [(2, 3), (4, 5)], lambda x, y: seq2seq.embedding_rnn_seq2seq(x, y, lstm(), 5, 6, 4))
def tied_embedding():
    return seq2seq.embedding_tied_rnn_seq2seq(symbols(3), symbols(2), lstm(), 5, 4)
def tied_embedding_feeding():
    return seq2seq.embedding_tied_rnn_seq2seq(symbols(3), symbols(2), lstm(), 5, 4, num_decoder_symbols=6, feed_previous=tf.constant(True))
def several():
    outputs, states = seq2seq.one2many_rnn_seq2seq(symbols(3), {'a': symbols(2)}, lstm(), {'a': lstm()}, 5, {'a': 6}, 4)
    return outputs['a'], states['a']
for build in (tied_embedding, tied_embedding_feeding, several, basic, tied, on_its_own_outputs, embedded, embedded_feeding, projected, attentive, attentive_feeding,
              attentive_from_the_start, buckets):
    case(build)
fails(lambda: seq2seq.attention_decoder([], None, tf.zeros([1, 2, 3]), lstm()))
fails(lambda: seq2seq.model_with_buckets([], [], [], [], [(2, 3)], None))

### losses
seq2seq, contrib = tf.contrib.legacy_seq2seq, tf.contrib.seq2seq
sess = tf.InteractiveSession()
logits = [tf.constant(np.cos(np.arange(10).reshape(2, 5) + i), tf.float32) for i in range(3)]
targets, weights = [tf.constant([i, 4 - i]) for i in range(3)], [tf.constant([1., .5 * i]) for i in range(3)]
show(sess.run([seq2seq.sequence_loss(logits, targets, weights),
               seq2seq.sequence_loss(logits, targets, weights, False, False),
               seq2seq.sequence_loss_by_example(logits, targets, weights),
               seq2seq.sequence_loss_by_example(logits, targets, weights, average_across_timesteps=False)]))
show(sess.run(seq2seq.sequence_loss_by_example(
    logits, targets, weights,
    softmax_loss_function=lambda labels, logits: tf.reduce_sum(logits, 1) - tf.cast(labels, tf.float32))))
fails(lambda: seq2seq.sequence_loss(logits, targets[1:], weights))
logits, targets, weights = tf.stack(logits, 1), tf.stack(targets, 1), tf.stack(weights, 1)
for options in ((True, True), (True, False), (False, True), (False, False), (False, False, True, True),
                (False, False, True, False), (False, False, False, True)):
    show(options, sess.run(contrib.sequence_loss(logits, targets, weights, *options)))
fails(lambda: contrib.sequence_loss(logits, tf.one_hot(targets, 5), weights))
fails(lambda: contrib.sequence_loss(logits[0], targets, weights))
fails(lambda: contrib.sequence_loss(logits, targets, weights, True, True, True))
