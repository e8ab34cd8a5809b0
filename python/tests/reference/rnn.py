"""Recurrent networks: variables by name, outputs, states and gradients, for the same weights."""

### networks
cells, contrib = tf.nn.rnn_cell, tf.contrib.rnn
X = np.sin(np.arange(24).reshape(2, 4, 3)).astype('f')
def leaves(value):
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, (list, tuple)) else [value]
def case(build):
    with tf.Graph().as_default():
        x = tf.constant(X)
        results = leaves(build(x, tf.constant([2, 4])))
        variables = tf.trainable_variables()
        grads = tf.gradients(tf.add_n([tf.reduce_sum(tf.square(r)) for r in results]), variables + [x])
        show(build.__name__, [(v.name, v.shape.as_list()) for v in tf.global_variables()])
        with tf.Session() as s:
            for v in tf.global_variables():
                sizes = v.shape.as_list()
                v.load(np.sin(np.arange(np.prod(sizes)) + len(v.name)).reshape(sizes).astype('f') / 2, s)
            show(s.run(results))
            show([np.ravel(g)[:12] for g in s.run([tf.convert_to_tensor(g) for g in grads])])

def rnn(x, n):
    return tf.nn.dynamic_rnn(cells.BasicRNNCell(2), x, dtype=tf.float32)
def lstm(x, n):
    return tf.nn.dynamic_rnn(cells.BasicLSTMCell(2), x, sequence_length=n, dtype=tf.float32)
def gru(x, n):
    return tf.nn.dynamic_rnn(cells.GRUCell(2), x, sequence_length=[1, 3], dtype=tf.float32)
def peepholes(x, n):
    cell = cells.LSTMCell(3, use_peepholes=True, num_proj=2, cell_clip=.6, proj_clip=.7, forget_bias=.5)
    return tf.nn.dynamic_rnn(cell, x, sequence_length=n, dtype=tf.float32)
def layers(x, n):
    cell = cells.MultiRNNCell([cells.BasicLSTMCell(2), cells.GRUCell(3)])
    return tf.nn.dynamic_rnn(cell, x, sequence_length=n, dtype=tf.float32)
def joined_states(x, n):
    cell = cells.MultiRNNCell([cells.GRUCell(2), cells.GRUCell(3)], state_is_tuple=False)
    lstm = cells.LSTMCell(2, state_is_tuple=False)
    return tf.nn.dynamic_rnn(cell, x, dtype=tf.float32), tf.nn.dynamic_rnn(
        lstm, tf.transpose(x, [1, 0, 2]), time_major=True, initial_state=tf.ones([2, 4]))
def both_ways(x, n):
    return tf.nn.bidirectional_dynamic_rnn(cells.GRUCell(2), cells.BasicRNNCell(3), x, sequence_length=n, dtype=tf.float32)
def both_ways_whole(x, n):
    return tf.nn.bidirectional_dynamic_rnn(cells.GRUCell(2), cells.GRUCell(2), x, dtype=tf.float32, scope="bi")
def unrolled(x, n):
    return tf.nn.static_rnn(cells.BasicLSTMCell(2), tf.unstack(x, axis=1), dtype=tf.float32)
def unrolled_lengths(x, n):
    return tf.nn.static_rnn(cells.GRUCell(2), tf.unstack(x, axis=1), dtype=tf.float32, sequence_length=n, scope="mine")
def unrolled_both_ways(x, n):
    return contrib.static_bidirectional_rnn(cells.GRUCell(2), cells.BasicRNNCell(3), tf.unstack(x, axis=1),
                                            dtype=tf.float32, sequence_length=n)
def projected(x, n):
    return tf.nn.dynamic_rnn(contrib.OutputProjectionWrapper(cells.BasicLSTMCell(2), 4), x, dtype=tf.float32)
def residual(x, n):
    return tf.nn.dynamic_rnn(cells.ResidualWrapper(cells.GRUCell(3)), x, dtype=tf.float32)
def embedded(x, n):
    cell = contrib.EmbeddingWrapper(cells.GRUCell(3), 5, 2)
    return tf.nn.static_rnn(cell, [tf.constant([1, 2]), tf.constant([0, 4])], dtype=tf.float32), x
def kept(x, n):
    parts = [cells.DropoutWrapper(cells.BasicLSTMCell(2), 1., 1.) for _ in range(2)]
    return tf.nn.dynamic_rnn(cells.DropoutWrapper(cells.MultiRNNCell(parts), output_keep_prob=1.), x, dtype=tf.float32)
def by_hand(x, n):
    cell = cells.BasicLSTMCell(2, name="named", activation=tf.nn.relu)
    state, outputs = cell.zero_state(2, tf.float32), []
    with tf.variable_scope("RNN"):
        for t in range(3):
            if t > 0:
                tf.get_variable_scope().reuse_variables()
            output, state = cell(x[:, t, :], state)
            outputs.append(output)
    return outputs, state
def raw(x, n):
    cell = cells.LSTMCell(2)
    array = tf.TensorArray(tf.float32, 4).unstack(tf.transpose(x, [1, 0, 2]))
    def loop(time, output, state, loop_state):
        finished = time >= n
        inputs = tf.cond(tf.reduce_all(finished), lambda: tf.zeros([2, 3]), lambda: array.read(time))
        return finished, inputs, cell.zero_state(2, tf.float32) if output is None else state, output, None
    emitted, state, _ = tf.nn.raw_rnn(cell, loop)
    return emitted.stack(), state
def several(x, n):
    a = tf.nn.dynamic_rnn(cells.GRUCell(2), x, dtype=tf.float32)
    with tf.variable_scope("second"):
        b = tf.nn.dynamic_rnn(cells.GRUCell(2), a[0], dtype=tf.float32)
    return a, b, [cells.BasicRNNCell(2)(x[:, t], tf.zeros([2, 2])) for t in range(2)]
def shared(x, n):
    with tf.variable_scope("model"):
        a = tf.nn.dynamic_rnn(cells.BasicLSTMCell(2), x, dtype=tf.float32)
    with tf.variable_scope("model", reuse=True):
        return a, tf.nn.dynamic_rnn(cells.BasicLSTMCell(2), x * 2, dtype=tf.float32)
def own_cell(x, n):
    class MyCell(cells.RNNCell):
        state_size = output_size = property(lambda self: 2)
        def call(self, inputs, state):
            w = tf.get_variable("w", [3, 2])
            state = tf.tanh(tf.matmul(inputs, w) + state)
            return state, state
    return tf.nn.dynamic_rnn(MyCell(), x, dtype=tf.float32)
for build in (rnn, lstm, gru, peepholes, layers, joined_states, both_ways, both_ways_whole, unrolled,
              unrolled_lengths, unrolled_both_ways, projected, residual, embedded, kept, by_hand, raw, several,
              shared, own_cell):
    case(build)

### refusals
cells = tf.nn.rnn_cell
x = tf.zeros([2, 4, 3])
fails(lambda: tf.nn.dynamic_rnn(cells.GRUCell(2), x))
fails(lambda: tf.nn.dynamic_rnn(3, x, dtype=tf.float32))
fails(lambda: tf.nn.dynamic_rnn(cells.GRUCell(2), x, sequence_length=3, dtype=tf.float32))
fails(lambda: tf.nn.dynamic_rnn(cells.GRUCell(2), tf.placeholder(tf.float32, [2, 4, None]), dtype=tf.float32))
fails(lambda: tf.nn.dynamic_rnn(cells.GRUCell(2), tf.zeros([2]), dtype=tf.float32))
fails(lambda: tf.nn.static_rnn(cells.GRUCell(2), x, dtype=tf.float32))
fails(lambda: tf.nn.static_rnn(cells.GRUCell(2), [], dtype=tf.float32))
fails(lambda: tf.nn.raw_rnn(cells.GRUCell(2), None))
fails(lambda: cells.MultiRNNCell([]))
fails(lambda: cells.MultiRNNCell([cells.BasicLSTMCell(2)], state_is_tuple=False))
fails(lambda: cells.DropoutWrapper(cells.GRUCell(2), input_keep_prob=1.5))
fails(lambda: cells.DropoutWrapper(3))
fails(lambda: cells.DropoutWrapper(cells.GRUCell(2), 0.5, variational_recurrent=True))
fails(lambda: cells.GRUCell(2, no_such_option=3))
fails(lambda: cells.GRUCell(2)(x, tf.zeros([2, 2])))
lengths = tf.placeholder_with_default([1, 2, 3], [None])
y, _ = tf.nn.dynamic_rnn(cells.GRUCell(2), x, sequence_length=lengths, dtype=tf.float32)
s = tf.Session()
s.run(tf.global_variables_initializer())
fails(lambda: s.run(y))
show(s.run(y, {lengths: [0, 0]}))
cell = cells.LSTMCell(3, num_proj=2)
show(cell.state_size, cell.output_size, [t.shape.as_list() for t in cell.zero_state(5, tf.float32)])
cell(tf.zeros([5, 4]), cell.zero_state(5, tf.float32))
show([v.name for v in cell.variables], [v.name for v in cell.trainable_weights])
