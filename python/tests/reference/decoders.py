"""tf.contrib.seq2seq: variables by name, outputs, states, lengths and gradients of attention, decoders and beam search."""

### decoders
cells, seq = tf.nn.rnn_cell, tf.contrib.seq2seq
X = np.sin(np.arange(24).reshape(2, 4, 3)).astype('f')
def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value.stack() if hasattr(value, 'stack') else value]
def case(name, build, grads=True):
    try:
        compare(name, build, grads)
    except Exception as error:
        show(name, 'raises', type(error).__name__, str(error)[:100])
def compare(name, build, grads):
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        x = tf.constant(X)
        results = leaves(build(x, tf.constant([2, 4])))
        variables = tf.trainable_variables()
        show(name, [(v.name, v.shape.as_list()) for v in tf.global_variables()])
        with tf.Session() as s:
            def fill():
                for v in tf.global_variables():
                    sizes = v.shape.as_list()
                    v.load(np.sin(np.arange(np.prod(sizes)) + len(v.name)).reshape(sizes).astype('f') / 2, s)
            fill()
            show(s.run(results))
            if grads:
                floats = [r for r in results if r.dtype == tf.float32]
                found = tf.gradients(tf.add_n([tf.reduce_sum(tf.square(r)) for r in floats]), variables + [x])
                show([g is None for g in found])
                show([np.ravel(g)[:12] for g in s.run([tf.convert_to_tensor(g) for g in found if g is not None])])
def attending(mechanism, **wrapping):
    def build(x, n):
        memory = tf.tanh(tf.concat([x, x[:, :1] * 2.], 1))
        cell = seq.AttentionWrapper(cells.LSTMCell(3), mechanism(memory, n + 1), **wrapping)
        helper = seq.TrainingHelper(x, n)
        decoder = seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
        outputs, state, lengths = seq.dynamic_decode(decoder, impute_finished=True)
        return outputs.rnn_output, outputs.sample_id, state.cell_state, state.attention, state.alignments, lengths
    return build

case('luong', attending(lambda m, n: seq.LuongAttention(3, m)))
case('luong_all', attending(lambda m, n: seq.LuongAttention(3, m, n, scale=True), attention_layer_size=4))
case('bahdanau', attending(lambda m, n: seq.BahdanauAttention(5, m, memory_sequence_length=n)))
case('bahdanau_all', attending(lambda m, n: seq.BahdanauAttention(5, m, n, normalize=True), output_attention=False))
case('hardmax', attending(lambda m, n: seq.LuongAttention(3, m, n, probability_fn=seq.hardmax)), grads=False)
for mode in ('recursive', 'parallel', 'hard'):
    case('monotonic_' + mode, attending(lambda m, n: seq.BahdanauMonotonicAttention(
        5, m, n, normalize=True, score_bias_init=-.5, mode=mode)), grads=mode == 'parallel')
    case('luong_monotonic_' + mode, attending(lambda m, n: seq.LuongMonotonicAttention(3, m, n, scale=True, mode=mode)),
         grads=mode == 'parallel')
case('several', attending(lambda m, n: [seq.LuongAttention(3, m, n), seq.BahdanauAttention(2, m)],
                          attention_layer_size=[2, 3]))
case('input_fn', attending(lambda m, n: seq.LuongAttention(3, m), cell_input_fn=lambda x, a: x + a))
class Mean(seq.AttentionMechanism):
    def __init__(self, memory):
        self.values, self.dtype, self.batch_size = memory, tf.float32, 2
    alignments_size = property(lambda self: 5)
    state_size = property(lambda self: 5)
    def initial_alignments(self, batch_size, dtype):
        return tf.zeros([batch_size, 5])
    def initial_state(self, batch_size, dtype):
        return tf.zeros([batch_size, 5])
    def __call__(self, query, state):
        weights = tf.nn.softmax(tf.reduce_sum(query, 1, keepdims=True) * tf.constant([[1., 2., 0., 1., .5]]))
        return weights, state + weights
case('own_mechanism', attending(lambda m, n: Mean(m)))

class Own(cells.RNNCell):
    state_size = property(lambda self: {'a': 2, 'b': (3, 1)})
    output_size = property(lambda self: (2, 3))
    def call(self, inputs, state):
        w = tf.get_variable('w', [3, 2])
        a = tf.tanh(tf.matmul(inputs, w) + state['a'])
        return (a, inputs), {'a': a, 'b': (state['b'][0] + inputs, state['b'][1] + 1.)}
def own_cell(x, n):
    output, state = tf.nn.dynamic_rnn(Own(), x, sequence_length=n, dtype=tf.float32)
    return output, state['a'], state['b']
case('own_cell', own_cell)

def trained(impute, maximum, time_major=False):
    def build(x, n):
        helper = seq.TrainingHelper(tf.transpose(x, [1, 0, 2]) if time_major else x, n, time_major=time_major)
        decoder = seq.BasicDecoder(cells.GRUCell(3), helper, tf.ones([2, 3]))
        return seq.dynamic_decode(decoder, impute_finished=impute, maximum_iterations=maximum,
                                  output_time_major=time_major)
    return build
case('trained', trained(False, None))
case('trained_imputed', trained(True, None))
case('trained_shortly', trained(True, 3, True))

E = np.cos(np.arange(15)).reshape(5, 3).astype('f')
def greedy(x, n):
    helper = seq.GreedyEmbeddingHelper(tf.constant(E), [1, 2], 4)
    cell = cells.GRUCell(5)
    return seq.dynamic_decode(seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32)), maximum_iterations=6)
case('greedy', greedy)
def custom(x, n):
    helper = seq.CustomHelper(lambda: (tf.tile([False], [2]), x[:, 0]), lambda time, outputs, state: tf.argmax(outputs, 1, output_type=tf.int32),
                              lambda time, outputs, state, sample_ids: (time >= n, x[:, 1] * tf.cast(time + 1, tf.float32), state))
    return seq.dynamic_decode(seq.BasicDecoder(cells.GRUCell(3), helper, tf.zeros([2, 3])))
case('custom', custom)
def inferred(x, n):
    helper = seq.InferenceHelper(lambda outputs: outputs * 2., [3], tf.float32, x[:, 0], lambda ids: tf.reduce_sum(ids, 1) > 1.)
    return seq.dynamic_decode(seq.BasicDecoder(cells.GRUCell(3), helper, tf.zeros([2, 3])), maximum_iterations=4)
case('inferred', inferred)
def scheduled(probability):
    def build(x, n):
        helper = seq.ScheduledOutputTrainingHelper(x, n, probability, seed=3, auxiliary_inputs=None)
        return seq.dynamic_decode(seq.BasicDecoder(cells.GRUCell(3), helper, tf.zeros([2, 3])))
    return build
case('scheduled_never', scheduled(0.))
case('scheduled_always', scheduled(1.))
def scheduled_embedding(x, n):
    helper = seq.ScheduledEmbeddingTrainingHelper(x, n, tf.constant(E), 0., seed=3)
    outputs, state, lengths = seq.dynamic_decode(seq.BasicDecoder(cells.GRUCell(3), helper, tf.zeros([2, 3])))
    return outputs.rnn_output, state, lengths
case('scheduled_embedding', scheduled_embedding)

def beam(**options):
    def build(x, n):
        cell = cells.GRUCell(5)
        state = seq.tile_batch(tf.tanh(tf.concat([x[:, 0], x[:, 1, :2]], 1)), 3)
        decoder = seq.BeamSearchDecoder(cell, tf.constant(E), [1, 2], 4, state, 3, **options)
        outputs, state, lengths = seq.dynamic_decode(decoder, maximum_iterations=5)
        return (outputs.predicted_ids, outputs.beam_search_decoder_output, state.log_probs, state.finished, state.lengths,
                state.cell_state, lengths)
    return build
case('beam', beam(), grads=False)
case('beam_penalty', beam(length_penalty_weight=.8), grads=False)
def beam_attending(x, n):
    memory = seq.tile_batch(tf.tanh(x), 2)
    mechanism = seq.LuongAttention(3, memory, seq.tile_batch(n, 2))
    cell = seq.AttentionWrapper(cells.LSTMCell(3), mechanism, attention_layer_size=5, alignment_history=True)
    first = cells.LSTMStateTuple(x[:, 0], x[:, 1])
    state = cell.zero_state(4, tf.float32).clone(cell_state=seq.tile_batch(first, 2))
    decoder = seq.BeamSearchDecoder(cell, tf.constant(E), [1, 2], 4, state, 2, coverage_penalty_weight=.3)
    outputs, state, lengths = seq.dynamic_decode(decoder, maximum_iterations=4)
    return outputs.predicted_ids, outputs.beam_search_decoder_output, state.cell_state.alignment_history, lengths
case('beam_attending', beam_attending, grads=False)

with tf.Session() as s:
    show(s.run(seq.gather_tree([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]]], [[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]]], [3], 10)))
    show(s.run(seq.tile_batch({'a': tf.range(3), 'b': (tf.ones([2, 1]),)}, 2)))
    show(s.run(seq.safe_cumprod(tf.constant([[.5, 0., 1.]]), axis=1, exclusive=True)))
    p, q = tf.constant([[.1, .5, .9]]), tf.constant([[.3, .4, .3]])
    for mode in ('recursive', 'parallel', 'hard'):
        show(mode, s.run(seq.monotonic_attention(p, q, mode)))
fails(lambda: seq.monotonic_attention(p, q, 'other'))
fails(lambda: seq.LuongAttention(3, tf.placeholder(tf.float32, [2, 4, None])))
fails(lambda: seq.AttentionWrapper(cells.GRUCell(2), 3))
fails(lambda: seq.BasicDecoder(cells.GRUCell(2), 3, tf.zeros([2, 2])))
fails(lambda: seq.dynamic_decode(3))
fails(lambda: seq.TrainingHelper(tf.zeros([2, 3, 1]), 3))
