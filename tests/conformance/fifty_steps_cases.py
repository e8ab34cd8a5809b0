"""The cases of fifty_steps.py: what is built on which inputs."""
import numpy as np
import tensorflow as tf

CASES = {}  # name: (train, stream or evaluate, function of Inputs)
OTHER_VARIABLES = {'metrics.contrib.streaming_concat'}  # TensorFlow counts apart how much of its array is filled


class Inputs(object):
    """Placeholders, made when a case asks for one, and what is fed to them in a step."""

    def __init__(self, tf):
        self._kinds = []

    def _placeholder(self, dtype, shape, function):
        placeholder = tf.placeholder(dtype, shape)
        self._kinds.append((placeholder, function))
        return placeholder

    def numbers(self, *shape):
        count, which = int(np.prod(shape)), len(self._kinds)
        return self._placeholder(tf.float32, shape, lambda i: np.sin(
            np.arange(count) ** 1.5 * 0.9 + i * 1.3 + which).reshape(shape).astype('f'))

    def positive(self, *shape):
        """Between 0.05 and 0.95."""
        return self.numbers(*shape) * 0.45 + 0.5

    def classes(self, most, *shape, **options):
        count, which = int(np.prod(shape)), len(self._kinds)
        dtype = options.get('dtype', tf.int32)
        return self._placeholder(dtype, shape, lambda i: (
            (np.arange(count) * 7 + i * 3 + which * 5) ** 2 // 3 % most).reshape(shape).astype(dtype.as_numpy_dtype))

    def truths(self, *shape):
        return tf.equal(self.classes(2, *shape), 1)

    def feed(self, i):
        return {placeholder: function(i) for placeholder, function in self._kinds}


def case(name, kind, build):
    assert name not in CASES, name
    CASES[name] = (kind, build)


def squares(result):
    """A loss of whatever a case gives: tensors in any structure."""
    leaves = []

    def visit(value):
        if isinstance(value, (list, tuple)):
            for part in value:
                visit(part)
        elif isinstance(value, dict):
            for key in sorted(value):
                visit(value[key])
        elif isinstance(value, tf.Tensor) and value.dtype.is_floating:
            leaves.append(value)
    visit(result)
    return tf.add_n([tf.reduce_mean(tf.square(leaf - 0.3)) for leaf in leaves])


def trained(name, build, weight=1.):
    """``weight``: small steps, for what makes large differences of those of rounding in fifty steps on TensorFlow, too."""
    case(name, 'train', lambda inputs: weight * squares(build(inputs)))


# tf.layers.

L = tf.layers


def layer(name, build, *shape):
    trained('layers.' + name, lambda inputs: build(inputs.numbers(*(shape or (4, 6, 6, 3)))))


layer('dense', lambda x: L.dense(x, 5), 4, 3)
layer('dense_relu', lambda x: L.dense(x, 5, tf.nn.relu, use_bias=False), 4, 3)
layer('dense_rank3', lambda x: L.dense(x, 5, tf.nn.tanh), 4, 2, 3)
layer('flatten', lambda x: L.dense(L.flatten(x), 3))
layer('dropout', lambda x: L.dropout(L.dense(x, 5), 0.4, training=True, seed=5), 4, 3)
layer('dropout_noise_shape', lambda x: L.dropout(L.dense(x, 5), 0.4, noise_shape=[4, 1], training=True, seed=5), 4, 3)
layer('conv1d', lambda x: L.conv1d(x, 4, 3, padding='same', activation=tf.nn.relu), 4, 9, 3)
layer('conv1d_dilated', lambda x: L.conv1d(x, 4, 3, dilation_rate=2), 4, 9, 3)
layer('conv2d', lambda x: L.conv2d(x, 4, 3, activation=tf.nn.relu))
layer('conv2d_strided', lambda x: L.conv2d(x, 4, [3, 2], strides=(2, 1), padding='same'))
layer('conv2d_dilated', lambda x: L.conv2d(x, 4, 3, dilation_rate=2, padding='same'))
layer('conv3d', lambda x: L.conv3d(x, 3, 2, strides=(1, 2, 1), padding='same'), 2, 4, 4, 4, 2)
layer('separable_conv1d', lambda x: L.separable_conv1d(x, 4, 3, depth_multiplier=2), 4, 9, 3)
layer('separable_conv2d', lambda x: L.separable_conv2d(x, 4, 3, depth_multiplier=2, padding='same'))
layer('separable_conv2d_strided', lambda x: L.separable_conv2d(x, 4, 3, strides=2, activation=tf.nn.elu))
layer('conv2d_transpose', lambda x: L.conv2d_transpose(x, 3, 3, strides=2, padding='same'))
layer('conv2d_transpose_valid', lambda x: L.conv2d_transpose(x, 3, 2, strides=2, use_bias=False))
layer('conv3d_transpose', lambda x: L.conv3d_transpose(x, 3, 2, strides=2), 2, 3, 3, 3, 2)
for rank, shape in ((1, (4, 9, 3)), (2, (4, 6, 6, 3)), (3, (2, 4, 4, 4, 2))):
    for kind in ('max', 'average'):
        layer('%s_pooling%dd' % (kind, rank), lambda x, pool=getattr(L, '%s_pooling%dd' % (kind, rank)):
              pool(L.dense(x, 3), 3, 2, padding='same'), *shape)
layer('batch_normalization', lambda x: L.batch_normalization(L.dense(x, 5), training=True), 8, 3)
layer('batch_normalization_fused', lambda x: L.batch_normalization(x, training=True))
layer('batch_normalization_plain', lambda x: L.batch_normalization(x, training=True, fused=False, scale=False))
layer('batch_normalization_axis1', lambda x: L.batch_normalization(x, axis=1, training=True, fused=False))
layer('batch_normalization_inference', lambda x: L.batch_normalization(x))
layer('batch_normalization_renorm', lambda x: L.batch_normalization(
    L.dense(x, 5), training=True, renorm=True, renorm_clipping={'rmax': 3., 'rmin': .3, 'dmax': 2.}), 8, 3)
layer('batch_normalization_virtual', lambda x: L.batch_normalization(L.dense(x, 5), training=True, virtual_batch_size=4), 8, 3)
layer('regularized', lambda x: [L.dense(x, 5, kernel_regularizer=tf.contrib.layers.l2_regularizer(.1),
                                        activity_regularizer=lambda y: .01 * tf.reduce_sum(tf.abs(y)))] +
      tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES), 4, 3)
layer('constrained', lambda x: L.dense(x, 5, kernel_constraint=lambda w: tf.clip_by_value(w, -.2, .2)), 4, 3)

# tf.contrib.layers and slim.

C = tf.contrib.layers


def contrib(name, build, *shape, **options):
    trained('contrib.layers.' + name, lambda inputs: build(inputs.numbers(*(shape or (4, 6, 6, 3)))), **options)


contrib('fully_connected', lambda x: C.fully_connected(x, 5, weights_regularizer=C.l1_regularizer(.01)), 4, 3)
contrib('fully_connected_normalized', lambda x: C.fully_connected(x, 5, normalizer_fn=C.batch_norm), 8, 3, weight=.02)
contrib('conv2d', lambda x: C.conv2d(x, 4, 3, rate=2))
contrib('conv2d_normalized', lambda x: C.conv2d(x, 4, 3, stride=2, normalizer_fn=C.batch_norm,
                                                normalizer_params={'decay': .9, 'scale': True}))
contrib('conv2d_in_plane', lambda x: C.conv2d_in_plane(x, 3, padding='VALID'))
contrib('convolution1d', lambda x: C.convolution1d(x, 4, 3), 4, 9, 3)
contrib('convolution3d', lambda x: C.convolution3d(x, 3, 2), 2, 4, 4, 4, 2)
contrib('conv2d_transpose', lambda x: C.conv2d_transpose(x, 3, 3, stride=2))
contrib('conv3d_transpose', lambda x: C.conv3d_transpose(x, 3, 2, stride=2), 2, 3, 3, 3, 2)
contrib('separable_conv2d', lambda x: C.separable_conv2d(x, 4, 3, 2, normalizer_fn=C.batch_norm), weight=.02)
contrib('separable_conv2d_depthwise', lambda x: C.separable_conv2d(x, None, 3, 1, stride=2))
contrib('batch_norm', lambda x: C.batch_norm(x, decay=.9, center=True, scale=True, updates_collections=None))
contrib('batch_norm_fused', lambda x: C.batch_norm(x, decay=.9, fused=True, is_training=True))
contrib('batch_norm_zero_debias', lambda x: C.batch_norm(x, decay=.9, zero_debias_moving_mean=True))
contrib('layer_norm', lambda x: C.layer_norm(C.fully_connected(x, 5)), 4, 3)
contrib('group_norm', lambda x: C.group_norm(C.conv2d(x, 4, 1), groups=2))
contrib('instance_norm', lambda x: C.instance_norm(x))
contrib('unit_norm', lambda x: C.unit_norm(C.fully_connected(x, 5, activation_fn=None), 1), 4, 3)
contrib('bias_add', lambda x: C.bias_add(x, activation_fn=tf.nn.sigmoid))
contrib('maxout', lambda x: C.maxout(C.fully_connected(x, 6, activation_fn=None), 3), 4, 3)
contrib('spatial_softmax', lambda x: C.spatial_softmax(x))
contrib('avg_pool2d', lambda x: C.avg_pool2d(C.bias_add(x), 2))
contrib('max_pool2d', lambda x: C.max_pool2d(C.conv2d(x, 3, 1), 3, padding='SAME'))
contrib('avg_pool3d', lambda x: C.avg_pool3d(C.bias_add(x), 2), 2, 4, 4, 4, 2)
contrib('max_pool3d', lambda x: C.max_pool3d(C.bias_add(x), 2), 2, 4, 4, 4, 2)
contrib('flatten', lambda x: C.fully_connected(C.flatten(x), 3))
contrib('repeat', lambda x: C.repeat(x, 3, C.fully_connected, 4), 4, 3)
contrib('stack', lambda x: C.stack(x, C.fully_connected, [5, 4, 3]), 4, 3)
contrib('dropout', lambda x: C.dropout(C.bias_add(x), .6, seed=3))
contrib('fully_connected_shared', lambda x: [C.fully_connected(x, 3, scope='a'), C.fully_connected(x, 3, reuse=True, scope='a')], 4, 3)
trained('contrib.layers.embed_sequence', lambda inputs: C.embed_sequence(inputs.classes(7, 4, 5), 7, 3))
trained('contrib.layers.bow_encoder', lambda inputs: C.bow_encoder(inputs.classes(7, 4, 5), 7, 3))
trained('contrib.layers.one_hot', lambda inputs: C.fully_connected(C.one_hot_encoding(inputs.classes(7, 4), 7), 3))
trained('contrib.layers.safe_embedding', lambda inputs: C.safe_embedding_lookup_sparse(
    [tf.get_variable('table', [7, 3])], tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.cast(inputs.classes(7, 3), tf.int64), [4, 3])))
trained('contrib.layers.input_from_feature_columns', lambda inputs: C.input_from_feature_columns(
    {'x': inputs.numbers(4, 2), 'y': tf.cast(inputs.classes(5, 4, 1), tf.int64)},
    [C.real_valued_column('x', 2), C.embedding_column(C.sparse_column_with_integerized_feature('y', 5), 3,
                                                      initializer=tf.ones_initializer())]))
trained('feature_column.input_layer', lambda inputs: tf.feature_column.input_layer(
    {'x': inputs.numbers(4, 2), 'y': tf.cast(inputs.classes(5, 4, 1), tf.int64)},
    [tf.feature_column.numeric_column('x', 2),
     tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_identity('y', 5), 3)]))
trained('feature_column.linear_model', lambda inputs: tf.feature_column.linear_model(
    {'x': inputs.numbers(4, 2), 'y': tf.cast(inputs.classes(5, 4, 1), tf.int64)},
    [tf.feature_column.numeric_column('x', 2), tf.feature_column.categorical_column_with_identity('y', 5)]))
contrib('optimize_loss', lambda x: _optimized(C.fully_connected(x, 3)), 4, 3)


def _optimized(y):
    """The step of optimize_loss goes with the losses: fifty_steps.py takes a second, plain one after it."""
    train = C.optimize_loss(tf.reduce_mean(tf.square(y)), None, .05, 'SGD', clip_gradients=.5)
    with tf.control_dependencies([train]):
        return tf.identity(y)


# Cells and what stands around them.

R, K = tf.nn.rnn_cell, tf.contrib.rnn


def cell(name, make, size=3):
    trained('cells.' + name, lambda inputs: tf.nn.dynamic_rnn(
        make(), inputs.numbers(2, 5, size), sequence_length=[5, 3], dtype=tf.float32))


cell('BasicRNN', lambda: R.BasicRNNCell(4))
cell('GRU', lambda: R.GRUCell(4))
cell('BasicLSTM', lambda: R.BasicLSTMCell(4))
cell('LSTM', lambda: R.LSTMCell(4))
cell('LSTM_all', lambda: R.LSTMCell(4, use_peepholes=True, cell_clip=.5, num_proj=3, proj_clip=.4, forget_bias=.5))
cell('LSTM_joined', lambda: R.LSTMCell(4, state_is_tuple=False))
cell('Multi', lambda: R.MultiRNNCell([R.GRUCell(4), R.LSTMCell(3)]))
trained('cells.Dropout', lambda inputs: tf.nn.static_rnn(  # loops draw in any order on TensorFlow
    R.DropoutWrapper(R.GRUCell(4), .8, .7, .9, seed=3), tf.unstack(inputs.numbers(2, 5, 3), axis=1), dtype=tf.float32))
cell('Dropout_variational', lambda: R.DropoutWrapper(R.LSTMCell(4), .8, .7, .9, variational_recurrent=True,
                                                     input_size=3, dtype=tf.float32, seed=3))
cell('Residual', lambda: R.ResidualWrapper(R.GRUCell(3)))
cell('Device', lambda: R.DeviceWrapper(R.GRUCell(3), '/cpu:0'))
cell('InputProjection', lambda: K.InputProjectionWrapper(R.GRUCell(4), 2))
cell('OutputProjection', lambda: K.OutputProjectionWrapper(R.GRUCell(4), 2))
trained('cells.Embedding', lambda inputs: tf.nn.dynamic_rnn(
    K.EmbeddingWrapper(R.GRUCell(4), 7, 3), inputs.classes(7, 2, 5, 1), dtype=tf.float32))
cell('Highway', lambda: K.HighwayWrapper(R.GRUCell(3)))
cell('Highway_both', lambda: K.HighwayWrapper(R.GRUCell(3), couple_carry_transform_gates=False))
cell('Attention', lambda: K.AttentionCellWrapper(R.GRUCell(3), 3, attn_vec_size=4))
cell('Attention_LSTM', lambda: K.AttentionCellWrapper(R.LSTMCell(3), 2))
cell('CoupledInputForgetGateLSTM', lambda: K.CoupledInputForgetGateLSTMCell(4, use_peepholes=True, num_proj=3))
cell('LayerNormBasicLSTM', lambda: K.LayerNormBasicLSTMCell(4))
cell('NAS', lambda: K.NASCell(4, num_proj=3, use_bias=True))
cell('UGRNN', lambda: K.UGRNNCell(4))
cell('Intersection', lambda: K.IntersectionRNNCell(3))
cell('GLSTM', lambda: K.GLSTMCell(6, number_of_groups=3, num_proj=3))
cell('SRU', lambda: K.SRUCell(3))
cell('IndRNN', lambda: K.IndRNNCell(4))
cell('IndyGRU', lambda: K.IndyGRUCell(4))
cell('IndyLSTM', lambda: K.IndyLSTMCell(4))
cell('LSTMBlock', lambda: K.LSTMBlockCell(4))
cell('LSTMBlock_all', lambda: K.LSTMBlockCell(4, use_peephole=True, cell_clip=.5))
cell('GRUBlock', lambda: K.GRUBlockCell(4))
cell('GRUBlockV2', lambda: K.GRUBlockCellV2(4))
cell('TimeFreqLSTM', lambda: K.TimeFreqLSTMCell(2, feature_size=3, use_peepholes=True))
cell('GridLSTM', lambda: K.GridLSTMCell(2, feature_size=1, frequency_skip=1, num_frequency_blocks=[3]))
trained('cells.PhasedLSTM', lambda inputs: tf.nn.dynamic_rnn(
    K.PhasedLSTMCell(3), (inputs.positive(2, 5, 1) * 9, inputs.numbers(2, 5, 3)), dtype=tf.float32))
trained('cells.Conv1DLSTM', lambda inputs: tf.nn.dynamic_rnn(
    K.Conv1DLSTMCell(input_shape=[4, 2], output_channels=3, kernel_shape=[3]), inputs.numbers(2, 3, 4, 2), dtype=tf.float32))
trained('cells.Conv2DLSTM', lambda inputs: tf.nn.dynamic_rnn(
    K.Conv2DLSTMCell(input_shape=[4, 4, 2], output_channels=3, kernel_shape=[3, 3]), inputs.numbers(2, 3, 4, 4, 2), dtype=tf.float32))
trained('cells.Conv3DLSTM', lambda inputs: tf.nn.dynamic_rnn(
    K.Conv3DLSTMCell(input_shape=[2, 2, 2, 2], output_channels=2, kernel_shape=[2, 2, 2]),
    inputs.numbers(2, 3, 2, 2, 2, 2), dtype=tf.float32))
trained('cells.LSTMBlockFused', lambda inputs: K.LSTMBlockFusedCell(4, use_peephole=True)(
    inputs.numbers(5, 2, 3), dtype=tf.float32, sequence_length=tf.constant([5, 3])))


class OwnCell(R.RNNCell):
    """A cell that a program makes itself."""
    state_size = property(lambda self: 4)
    output_size = property(lambda self: 4)

    def build(self, shape):
        self._kernel = self.add_variable('own', [int(shape[-1]), 4])
        self.built = True

    def call(self, x, state):
        state = state * .9 + tf.tanh(tf.matmul(x, self._kernel))
        return state, state


cell('own', OwnCell)

# Loops.


def loop(name, build):
    trained('loops.' + name, lambda inputs: build(inputs.numbers(2, 5, 3)))


loop('static', lambda x: tf.nn.static_rnn(R.LSTMCell(4), tf.unstack(x, axis=1), dtype=tf.float32, sequence_length=[5, 3]))
loop('dynamic_time_major', lambda x: tf.nn.dynamic_rnn(R.GRUCell(4), tf.transpose(x, [1, 0, 2]), dtype=tf.float32, time_major=True))
loop('bidirectional', lambda x: tf.nn.bidirectional_dynamic_rnn(R.GRUCell(4), R.GRUCell(3), x, [5, 3], dtype=tf.float32))
loop('static_bidirectional', lambda x: tf.nn.static_bidirectional_rnn(
    R.LSTMCell(4), R.LSTMCell(4), tf.unstack(x, axis=1), dtype=tf.float32, sequence_length=[5, 3]))
loop('stacked_bidirectional', lambda x: K.stack_bidirectional_dynamic_rnn(
    [R.GRUCell(4), R.GRUCell(3)], [R.GRUCell(4), R.GRUCell(3)], x, dtype=tf.float32))
loop('static_stacked_bidirectional', lambda x: K.stack_bidirectional_rnn(
    [R.GRUCell(4), R.GRUCell(3)], [R.GRUCell(4), R.GRUCell(3)], tf.unstack(x, axis=1), dtype=tf.float32))


def raw(x):
    steps = tf.TensorArray(tf.float32, 5).unstack(tf.transpose(x, [1, 0, 2]))
    gru = R.GRUCell(4)

    def next_step(time, output, state, loop_state):
        finished = time >= 5
        following = tf.cond(finished, lambda: tf.zeros([2, 3]), lambda: steps.read(time))
        state = gru.zero_state(2, tf.float32) if output is None else state
        return tf.fill([2], finished), following, state, output, None
    outputs, state, _ = tf.nn.raw_rnn(gru, next_step)
    return outputs.stack(), state


loop('raw', raw)


class Saver(object):
    def __init__(self, x):
        self.x = x

    def state(self, name):
        return tf.tile(self.x[:, 0, :1], [1, 4])

    def save_state(self, name, value):
        return tf.no_op()


loop('state_saving', lambda x: tf.nn.static_state_saving_rnn(R.GRUCell(4), tf.unstack(x, axis=1), Saver(x), 'h'))
loop('map_fn', lambda x: tf.map_fn(lambda row: tf.tanh(row * tf.get_variable('w', [3])), x))
loop('scan', lambda x: tf.scan(lambda a, row: a * .5 + row * tf.get_variable('w', [3]), x))
loop('foldl', lambda x: tf.foldl(lambda a, row: a * .5 + row * tf.get_variable('w', [3]), x))
loop('foldr', lambda x: tf.foldr(lambda a, row: a * .5 + row * tf.get_variable('w', [3]), x))

# Sequence to sequence along lists.

OLD = tf.contrib.legacy_seq2seq


def old(name, build):
    trained('legacy_seq2seq.' + name, lambda inputs: build([inputs.classes(6, 3) for _ in range(3)],
                                                           [inputs.classes(5, 3) for _ in range(4)]))


old('embedding_rnn', lambda e, d: OLD.embedding_rnn_seq2seq(e, d, R.GRUCell(4), 6, 5, 3))
old('embedding_rnn_own_words', lambda e, d: OLD.embedding_rnn_seq2seq(e, d, R.GRUCell(4), 6, 5, 3, feed_previous=True))
old('embedding_tied', lambda e, d: OLD.embedding_tied_rnn_seq2seq(e, d, R.GRUCell(4), 6, 3))
old('embedding_attention', lambda e, d: OLD.embedding_attention_seq2seq(e, d, R.GRUCell(4), 6, 5, 3, num_heads=2))
old('one2many', lambda e, d: OLD.one2many_rnn_seq2seq(e, {'a': d, 'b': d[:2]}, R.GRUCell(4), {'a': R.GRUCell(4), 'b': R.GRUCell(4)},
                                                      6, {'a': 5, 'b': 5}, 3)[0])
trained('legacy_seq2seq.basic', lambda inputs: OLD.basic_rnn_seq2seq(
    [inputs.numbers(3, 2) for _ in range(3)], [inputs.numbers(3, 2) for _ in range(3)], R.LSTMCell(4)))
trained('legacy_seq2seq.tied', lambda inputs: OLD.tied_rnn_seq2seq(
    [inputs.numbers(3, 2) for _ in range(3)], [inputs.numbers(3, 2) for _ in range(3)], R.LSTMCell(4)))
trained('legacy_seq2seq.attention_decoder', lambda inputs: OLD.attention_decoder(
    [inputs.numbers(3, 2) for _ in range(3)], inputs.numbers(3, 4), inputs.numbers(3, 5, 4), R.GRUCell(4)))


def buckets(inputs):
    e, d = [inputs.classes(6, 3) for _ in range(4)], [inputs.classes(5, 3) for _ in range(4)]
    return OLD.model_with_buckets(e, d, d, [inputs.positive(3) for _ in range(4)], [(2, 2), (4, 4)],
                                  lambda x, y: OLD.embedding_rnn_seq2seq(x, y, R.GRUCell(4), 6, 5, 3))[1]


trained('legacy_seq2seq.buckets', buckets)

# contrib.seq2seq.

S = tf.contrib.seq2seq


def attended(name, make):
    def build(inputs):
        wrapped = S.AttentionWrapper(R.GRUCell(4), make(inputs.numbers(2, 6, 4)), attention_layer_size=3)
        decoder = S.BasicDecoder(wrapped, S.TrainingHelper(inputs.numbers(2, 5, 3), [5, 3]), wrapped.zero_state(2, tf.float32),
                                 tf.layers.Dense(5))
        outputs, _, _ = S.dynamic_decode(decoder)
        return outputs.rnn_output
    trained('seq2seq.' + name, build)


attended('Luong', lambda m: S.LuongAttention(4, m))
attended('Luong_scaled', lambda m: S.LuongAttention(4, m, memory_sequence_length=[6, 4], scale=True))
attended('Bahdanau', lambda m: S.BahdanauAttention(4, m))
attended('Bahdanau_normalized', lambda m: S.BahdanauAttention(4, m, memory_sequence_length=[6, 4], normalize=True))
attended('LuongMonotonic', lambda m: S.LuongMonotonicAttention(4, m, mode='parallel', score_bias_init=-.5))
attended('BahdanauMonotonic', lambda m: S.BahdanauMonotonicAttention(4, m, mode='recursive', normalize=True))


def decoded(name, helper, trains=True):
    def build(inputs):
        gru = R.GRUCell(4)
        decoder = S.BasicDecoder(gru, helper(inputs), inputs.numbers(2, 4), tf.layers.Dense(5))
        outputs, state, lengths = S.dynamic_decode(decoder, maximum_iterations=6)
        if trains:
            return squares([outputs.rnn_output, state])
        return [outputs.rnn_output, outputs.sample_id, state, lengths]
    case('seq2seq.' + name, 'train' if trains else 'evaluate', build)


def table():
    return tf.get_variable('table', [5, 3])


decoded('TrainingHelper', lambda inputs: S.TrainingHelper(inputs.numbers(2, 5, 3), [5, 3]))
decoded('ScheduledEmbedding', lambda inputs: S.ScheduledEmbeddingTrainingHelper(
    inputs.numbers(2, 5, 3), [5, 3], table(), 0., seed=3, scheduling_seed=4))
decoded('ScheduledOutput', lambda inputs: S.ScheduledOutputTrainingHelper(
    inputs.numbers(2, 5, 5), [5, 3], 1., seed=3))
decoded('GreedyEmbedding', lambda inputs: S.GreedyEmbeddingHelper(table(), [1, 2], 0), trains=False)
decoded('Inference', lambda inputs: S.InferenceHelper(
    lambda outputs: outputs, [5], tf.float32, tf.ones([2, 5]), lambda sample: tf.reduce_max(sample, 1) > 2.), trains=False)


def beam(inputs):
    gru = R.GRUCell(4)
    decoder = S.BeamSearchDecoder(gru, table(), [1, 2], 0, S.tile_batch(inputs.numbers(2, 4), 3), 3,
                                  tf.layers.Dense(5), length_penalty_weight=.5)
    outputs, state, lengths = S.dynamic_decode(decoder, maximum_iterations=6)
    return [outputs.predicted_ids, outputs.beam_search_decoder_output.scores, lengths, state.log_probs]


case('seq2seq.beam_search', 'evaluate', beam)
case('seq2seq.sequence_loss', 'train', lambda inputs: S.sequence_loss(
    tf.layers.dense(inputs.numbers(2, 5, 3), 6), inputs.classes(6, 2, 5), inputs.positive(2, 5)))
case('crf.log_likelihood', 'train', lambda inputs: -tf.reduce_mean(tf.contrib.crf.crf_log_likelihood(
    tf.layers.dense(inputs.numbers(2, 5, 3), 4), inputs.classes(4, 2, 5), tf.constant([5, 3]))[0]))
case('crf.decode', 'evaluate', lambda inputs: tf.contrib.crf.crf_decode(
    inputs.numbers(2, 5, 4), tf.get_variable('transitions', [4, 4]), tf.constant([5, 3])))
case('ctc.loss', 'train', lambda inputs: tf.reduce_mean(tf.nn.ctc_loss(
    tf.SparseTensor([[0, 0], [0, 1], [1, 0]], inputs.classes(3, 3), [2, 2]),
    tf.layers.dense(inputs.numbers(5, 2, 3), 4), [5, 4])))
case('ctc.beam_search', 'evaluate', lambda inputs: [tf.nn.ctc_beam_search_decoder(inputs.numbers(5, 2, 4) * 3, [5, 4])[1]])
case('ctc.greedy', 'evaluate', lambda inputs: [tf.nn.ctc_greedy_decoder(inputs.numbers(5, 2, 4) * 3, [5, 4])[1]])
case('edit_distance', 'evaluate', lambda inputs: [tf.edit_distance(
    tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.cast(inputs.classes(3, 3), tf.int64), [2, 2]),
    tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.cast(inputs.classes(3, 3), tf.int64), [2, 2]))])

# Losses.


def loss(name, build):
    case('losses.' + name, 'train', lambda inputs: tf.reduce_mean(build(
        tf.layers.dense(inputs.numbers(4, 3), 5), inputs)))


T = tf.losses
loss('absolute_difference', lambda y, i: T.absolute_difference(i.numbers(4, 5), y, i.positive(4, 1)))
loss('cosine_distance', lambda y, i: T.cosine_distance(i.numbers(4, 5), y, 1))
loss('hinge_loss', lambda y, i: T.hinge_loss(i.classes(2, 4, 5), y))
loss('huber_loss', lambda y, i: T.huber_loss(i.numbers(4, 5), y, delta=.3))
loss('log_loss', lambda y, i: T.log_loss(i.positive(4, 5), tf.sigmoid(y)))
loss('mean_pairwise_squared_error', lambda y, i: T.mean_pairwise_squared_error(i.numbers(4, 5), y))
loss('mean_squared_error', lambda y, i: T.mean_squared_error(i.numbers(4, 5), y, i.positive(4, 1)))
loss('sigmoid_cross_entropy', lambda y, i: T.sigmoid_cross_entropy(i.classes(2, 4, 5), y, label_smoothing=.1))
loss('softmax_cross_entropy', lambda y, i: T.softmax_cross_entropy(tf.one_hot(i.classes(5, 4), 5), y, label_smoothing=.1))
loss('sparse_softmax_cross_entropy', lambda y, i: T.sparse_softmax_cross_entropy(i.classes(5, 4), y, i.positive(4)))
loss('weighted_cross_entropy', lambda y, i: tf.nn.weighted_cross_entropy_with_logits(tf.cast(i.classes(2, 4, 5), tf.float32), y, 2.))
loss('sampled_softmax', lambda y, i: tf.nn.sampled_softmax_loss(
    tf.get_variable('w', [9, 5]), tf.get_variable('b', [9]), tf.cast(i.classes(9, 4, 1), tf.int64), y, 3, 9,
    sampled_values=tf.nn.log_uniform_candidate_sampler(tf.cast(tf.constant([[1], [2], [3], [4]]), tf.int64), 1, 3, True, 9, seed=5)))
loss('nce', lambda y, i: tf.nn.nce_loss(
    tf.get_variable('w', [9, 5]), tf.get_variable('b', [9]), tf.cast(i.classes(9, 4, 1), tf.int64), y, 3, 9,
    sampled_values=tf.nn.uniform_candidate_sampler(tf.cast(tf.constant([[1], [2], [3], [4]]), tf.int64), 1, 3, True, 9, seed=5)))
for name, weight in (('triplet_semihard_loss', .1), ('lifted_struct_loss', .002)):
    loss('metric_learning.' + name, lambda y, i, name=name, weight=weight: weight * getattr(
        tf.contrib.losses.metric_learning, name)(i.classes(2, 4), tf.nn.l2_normalize(y, 1)))
loss('metric_learning.npairs_loss', lambda y, i: tf.contrib.losses.metric_learning.npairs_loss(i.classes(3, 4), i.numbers(4, 5), y))
loss('metric_learning.contrastive_loss', lambda y, i: tf.contrib.losses.metric_learning.contrastive_loss(
    i.classes(2, 4), i.numbers(4, 5), y))

# Metrics.

M = tf.metrics


def metric(name, build):
    case('metrics.' + name, 'stream', build)


metric('accuracy', lambda i: M.accuracy(i.classes(3, 6), i.classes(3, 6), i.positive(6)))
metric('auc', lambda i: M.auc(i.truths(6), i.positive(6), num_thresholds=20))
metric('auc_pr', lambda i: M.auc(i.truths(6), i.positive(6), curve='PR', summation_method='careful_interpolation'))
metric('average_precision_at_k', lambda i: M.average_precision_at_k(tf.cast(i.classes(5, 4, 2), tf.int64), i.numbers(4, 5), 3))
for name in ('false_negatives', 'false_positives', 'true_negatives', 'true_positives'):
    metric(name, lambda i, name=name: getattr(M, name)(i.truths(6), i.truths(6), i.positive(6)))
    metric(name + '_at_thresholds', lambda i, name=name: getattr(M, name + '_at_thresholds')(
        i.truths(6), i.positive(6), [.2, .5, .8]))
metric('mean', lambda i: M.mean(i.numbers(6), i.positive(6)))
metric('mean_tensor', lambda i: M.mean_tensor(i.numbers(6), i.positive(6)))
metric('mean_absolute_error', lambda i: M.mean_absolute_error(i.numbers(6), i.numbers(6)))
metric('mean_squared_error', lambda i: M.mean_squared_error(i.numbers(6), i.numbers(6), i.positive(6)))
metric('root_mean_squared_error', lambda i: M.root_mean_squared_error(i.numbers(6), i.numbers(6)))
metric('mean_relative_error', lambda i: M.mean_relative_error(i.numbers(6), i.numbers(6), i.positive(6)))
metric('mean_cosine_distance', lambda i: M.mean_cosine_distance(
    tf.nn.l2_normalize(i.numbers(4, 5), 1), tf.nn.l2_normalize(i.numbers(4, 5), 1), 1))
metric('mean_iou', lambda i: M.mean_iou(i.classes(3, 6), i.classes(3, 6), 3, i.positive(6)))
metric('mean_per_class_accuracy', lambda i: M.mean_per_class_accuracy(i.classes(3, 6), i.classes(3, 6), 3))
metric('percentage_below', lambda i: M.percentage_below(i.numbers(6), .1))
metric('precision', lambda i: M.precision(i.truths(6), i.truths(6)))
metric('precision_at_thresholds', lambda i: M.precision_at_thresholds(i.truths(6), i.positive(6), [.2, .5, .8]))
metric('precision_at_k', lambda i: M.precision_at_k(tf.cast(i.classes(5, 4, 2), tf.int64), i.numbers(4, 5), 3, class_id=2))
metric('precision_at_top_k', lambda i: M.precision_at_top_k(
    tf.cast(i.classes(5, 4, 2), tf.int64), tf.cast(i.classes(5, 4, 3), tf.int64)))
metric('recall', lambda i: M.recall(i.truths(6), i.truths(6)))
metric('recall_at_thresholds', lambda i: M.recall_at_thresholds(i.truths(6), i.positive(6), [.2, .5, .8]))
metric('recall_at_k', lambda i: M.recall_at_k(tf.cast(i.classes(5, 4, 2), tf.int64), i.numbers(4, 5), 3))
metric('recall_at_top_k', lambda i: M.recall_at_top_k(
    tf.cast(i.classes(5, 4, 2), tf.int64), tf.cast(i.classes(5, 4, 3), tf.int64)))
metric('sensitivity_at_specificity', lambda i: M.sensitivity_at_specificity(i.truths(6), i.positive(6), .6))
metric('specificity_at_sensitivity', lambda i: M.specificity_at_sensitivity(i.truths(6), i.positive(6), .6))
N = tf.contrib.metrics
metric('contrib.streaming_covariance', lambda i: N.streaming_covariance(i.numbers(6), i.numbers(6), i.positive(6)))
metric('contrib.streaming_pearson_correlation', lambda i: N.streaming_pearson_correlation(i.numbers(6), i.numbers(6)))
metric('contrib.streaming_concat', lambda i: N.streaming_concat(i.numbers(6), max_size=40))
metric('contrib.streaming_sparse_average_precision_at_k', lambda i: N.streaming_sparse_average_precision_at_k(
    i.numbers(4, 5), tf.cast(i.classes(5, 4, 2), tf.int64), 3))
metric('contrib.streaming_curve_points', lambda i: N.streaming_curve_points(i.truths(6), i.positive(6), num_thresholds=9))
metric('contrib.streaming_recall_at_k', lambda i: N.streaming_recall_at_k(i.numbers(4, 5), tf.cast(i.classes(5, 4), tf.int64), 2))
metric('contrib.cohen_kappa', lambda i: N.cohen_kappa(i.classes(3, 6), i.classes(3, 6), 3))
metric('contrib.count', lambda i: N.count(i.numbers(6), i.positive(6)))
metric('contrib.recall_at_precision', lambda i: N.recall_at_precision(i.truths(6), i.positive(6), .5))
metric('contrib.precision_at_recall', lambda i: N.precision_at_recall(i.truths(6), i.positive(6), .5))
metric('contrib.streaming_mean_relative_error', lambda i: N.streaming_mean_relative_error(i.numbers(6), i.numbers(6), i.positive(6)))
metric('contrib.streaming_false_positive_rate', lambda i: N.streaming_false_positive_rate(i.truths(6), i.truths(6)))
metric('contrib.streaming_false_negative_rate', lambda i: N.streaming_false_negative_rate(i.truths(6), i.truths(6)))
