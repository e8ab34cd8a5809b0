"""The cells and wrappers of tf.contrib.rnn: variables by name, outputs, states and gradients, for the same weights."""

### cells
cells, contrib = tf.nn.rnn_cell, tf.contrib.rnn
X = np.sin(np.arange(24).reshape(2, 4, 3)).astype('f')
def leaves(value):
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, (list, tuple)) else [value]
def case(name, build):
    try:
        compare(name, build)
    except Exception as error:
        show(name, 'raises', type(error).__name__, str(error)[:200])
def compare(name, build):
    with tf.Graph().as_default():
        x = tf.constant(X)
        results = leaves(build(x, tf.constant([2, 4])))
        variables = tf.trainable_variables()
        grads = tf.gradients(tf.add_n([tf.reduce_sum(tf.square(r)) for r in results]), variables + [x])
        show(name, [(v.name, v.shape.as_list()) for v in tf.global_variables()])
        with tf.Session() as s:
            for v in tf.global_variables():
                sizes = v.shape.as_list()
                v.load(np.sin(np.arange(np.prod(sizes)) + len(v.name)).reshape(sizes).astype('f') / 2, s)
            show(s.run(results))
            show([g is None for g in grads])
            show([np.ravel(g)[:12] for g in s.run([tf.convert_to_tensor(g) for g in grads if g is not None])])
def dynamic(name, make):
    case(name, lambda x, n: tf.nn.dynamic_rnn(make(), x, sequence_length=n, dtype=tf.float32))

dynamic('coupled', lambda: contrib.CoupledInputForgetGateLSTMCell(2))
dynamic('coupled_all', lambda: contrib.CoupledInputForgetGateLSTMCell(
    4, use_peepholes=True, num_proj=2, proj_clip=.6, num_unit_shards=2, layer_norm=True, norm_shift=.1))
dynamic('coupled_joined', lambda: contrib.CoupledInputForgetGateLSTMCell(2, state_is_tuple=False))
dynamic('layer_norm', lambda: contrib.LayerNormBasicLSTMCell(3, norm_gain=.9))
dynamic('layer_norm_off', lambda: contrib.LayerNormBasicLSTMCell(3, layer_norm=False))
dynamic('nas', lambda: contrib.NASCell(2))
dynamic('nas_all', lambda: contrib.NASCell(3, num_proj=2, use_bias=True))
dynamic('ugrnn', lambda: contrib.UGRNNCell(2))
dynamic('intersection', lambda: contrib.IntersectionRNNCell(2, num_in_proj=2))
dynamic('intersection_same', lambda: contrib.IntersectionRNNCell(3))
dynamic('groups', lambda: contrib.GLSTMCell(6, number_of_groups=3, num_proj=3))
dynamic('sru', lambda: contrib.SRUCell(2))
dynamic('ind_rnn', lambda: contrib.IndRNNCell(2))
dynamic('indy_gru', lambda: contrib.IndyGRUCell(2))
dynamic('indy_lstm', lambda: contrib.IndyLSTMCell(2))
dynamic('lstm_block', lambda: contrib.LSTMBlockCell(2))
dynamic('lstm_block_all', lambda: contrib.LSTMBlockCell(2, use_peephole=True, cell_clip=.5, forget_bias=.5))
dynamic('gru_block', lambda: contrib.GRUBlockCell(2))
dynamic('gru_block_v2', lambda: contrib.GRUBlockCellV2(2))
dynamic('highway', lambda: contrib.HighwayWrapper(cells.GRUCell(3)))
dynamic('highway_both', lambda: contrib.HighwayWrapper(cells.GRUCell(3), couple_carry_transform_gates=False))
dynamic('attention', lambda: contrib.AttentionCellWrapper(cells.GRUCell(2), 3, attn_vec_size=4))
dynamic('attention_lstm', lambda: contrib.AttentionCellWrapper(cells.LSTMCell(2), 2))
dynamic('attention_joined', lambda: contrib.AttentionCellWrapper(cells.GRUCell(2), 2, state_is_tuple=False))
dynamic('time_freq', lambda: contrib.TimeFreqLSTMCell(2, feature_size=3, use_peepholes=True, cell_clip=.7))
dynamic('grid', lambda: contrib.GridLSTMCell(2, feature_size=1, frequency_skip=1, num_frequency_blocks=[3]))
dynamic('grid_all', lambda: contrib.GridLSTMCell(
    2, use_peepholes=True, cell_clip=.6, feature_size=2, frequency_skip=1, num_frequency_blocks=[2]))
dynamic('grid_shared', lambda: contrib.GridLSTMCell(
    2, use_peepholes=True, share_time_frequency_weights=True, couple_input_forget_gates=True, feature_size=1,
    frequency_skip=1, num_frequency_blocks=[2, 1], start_freqindex_list=[0, 2], end_freqindex_list=[2, 3]))
dynamic('grid_both_ways', lambda: contrib.BidirectionalGridLSTMCell(
    2, feature_size=1, frequency_skip=1, num_frequency_blocks=[3], backward_slice_offset=1))
dynamic('compiled', lambda: contrib.CompiledWrapper(cells.GRUCell(2)))
dynamic('cudnn_gru', lambda: tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(2))
dynamic('cudnn_lstm', lambda: tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(2))
case('phased', lambda x, n: tf.nn.dynamic_rnn(
    contrib.PhasedLSTMCell(2, use_peepholes=True, period_init_max=10.), (x[:, :, :1] + 5., x), dtype=tf.float32))
case('conv1d', lambda x, n: tf.nn.dynamic_rnn(
    contrib.Conv1DLSTMCell(input_shape=[3, 1], output_channels=2, kernel_shape=[2]), x[:, :, :, None], dtype=tf.float32))
case('conv2d', lambda x, n: tf.nn.dynamic_rnn(
    contrib.Conv2DLSTMCell(input_shape=[3, 2, 1], output_channels=2, kernel_shape=[2, 2]),
    tf.tile(x[:, :, :, None, None], [1, 1, 1, 2, 1]), dtype=tf.float32))
case('conv3d', lambda x, n: tf.nn.dynamic_rnn(
    contrib.Conv3DLSTMCell(input_shape=[3, 1, 2, 1], output_channels=1, kernel_shape=[1, 1, 2], use_bias=False),
    tf.tile(x[:, :, :, None, None, None], [1, 1, 1, 1, 2, 1]), dtype=tf.float32))

case('whole', lambda x, n: contrib.LSTMBlockFusedCell(2, use_peephole=True)(tf.transpose(x, [1, 0, 2]), dtype=tf.float32))
case('whole_lengths', lambda x, n: contrib.LSTMBlockFusedCell(2, cell_clip=.4)(
    tf.transpose(x, [1, 0, 2]), dtype=tf.float32, sequence_length=n))
case('adapted', lambda x, n: contrib.FusedRNNCellAdaptor(cells.GRUCell(2), use_dynamic_rnn=True)(
    tf.transpose(x, [1, 0, 2]), dtype=tf.float32, sequence_length=n))
case('adapted_list', lambda x, n: contrib.FusedRNNCellAdaptor(cells.GRUCell(2))(
    tf.unstack(x, axis=1), dtype=tf.float32))
case('reversed', lambda x, n: contrib.TimeReversedFusedRNN(contrib.LSTMBlockFusedCell(2))(
    tf.transpose(x, [1, 0, 2]), dtype=tf.float32, sequence_length=n))

case('stacked', lambda x, n: contrib.stack_bidirectional_dynamic_rnn(
    [cells.GRUCell(2), cells.GRUCell(3)], [cells.GRUCell(2), cells.LSTMCell(3)], x, dtype=tf.float32, sequence_length=n))
case('stacked_list', lambda x, n: contrib.stack_bidirectional_rnn(
    [cells.GRUCell(2), cells.GRUCell(3)], [cells.GRUCell(2), cells.GRUCell(3)], tf.unstack(x, axis=1), dtype=tf.float32))
class Saver(object):
    def __init__(self, x):
        self.saved, self.x = {}, x
    def state(self, name):
        return self.x[:, 0, :2] * len(name)
    def save_state(self, name, value):
        self.saved[name] = value
        return tf.no_op()
case('saving', lambda x, n: tf.nn.static_state_saving_rnn(cells.GRUCell(2), tf.unstack(x, axis=1), Saver(x), 'h'))
case('saving_pair', lambda x, n: tf.nn.static_state_saving_rnn(
    cells.LSTMCell(2), tf.unstack(x, axis=1), Saver(x), ('c', 'hh'), sequence_length=n))
