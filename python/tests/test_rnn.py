"""Recurrent networks: what a comparison with TensorFlow's values (reference/rnn.py) does not show."""

import numpy as np
import pytest

import weir as tf

cells = tf.nn.rnn_cell


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(fetches, feed_dict=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed_dict)


class Echo(cells.RNNCell):
    """Gives its inputs, and adds them up in its state."""

    state_size = output_size = property(lambda self: 1000)

    def call(self, inputs, state):
        return inputs, inputs + state


def test_dropout_drops_inputs_outputs_and_states():
    ones = tf.ones([1, 1000])
    for part in ("input", "output", "state"):
        cell = cells.DropoutWrapper(Echo(), seed=7, **{f"{part}_keep_prob": 0.5})
        output, state = run(cell(ones, tf.zeros([1, 1000])))
        dropped = [bool((value == 0).any()) for value in (output, state)]
        assert dropped == {"input": [True, True], "output": [True, False], "state": [False, True]}[part]
        kept = state if part == "state" else output
        assert set(np.unique(kept)) == {0, 2} and 400 < (kept == 0).sum() < 600


def test_dropout_draws_anew_at_every_step_unless_it_is_variational():
    x = tf.ones([1, 4, 1000])
    keep = tf.placeholder_with_default(0.5, [])
    plain, _ = tf.nn.dynamic_rnn(cells.DropoutWrapper(Echo(), output_keep_prob=keep), x, dtype=tf.float32)
    same, _ = tf.nn.dynamic_rnn(cells.DropoutWrapper(Echo(), output_keep_prob=keep, variational_recurrent=True,
                                                     dtype=tf.float32), x, dtype=tf.float32)
    a, b = run([plain, same])
    assert (a[0, 0] != a[0, 1]).any() and set(np.unique(a)) == {0, 2}
    assert (b[0] == b[0, 0]).all() and set(np.unique(b)) == {0, 2}
    assert (run(plain, {keep: 1.}) == 1).all()


def test_dropout_leaves_the_memory_of_an_lstm_alone():
    state = cells.LSTMStateTuple(tf.ones([1, 50]), tf.ones([1, 50]))
    inner = cells.BasicLSTMCell(50)
    clean = inner(tf.ones([1, 2]), state)[1]
    dropped = cells.DropoutWrapper(inner, state_keep_prob=0.5)(tf.ones([1, 2]), state)[1]
    every = cells.DropoutWrapper(inner, state_keep_prob=0.5, dropout_state_filter_visitor=lambda _: True)(
        tf.ones([1, 2]), state)[1]
    clean, dropped, every = run([clean, dropped, every])
    np.testing.assert_array_equal(dropped.c, clean.c)
    assert (dropped.h == 0).any() and (every.c == 0).any() and (every.h == 0).any()


def test_a_network_learns():
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, None, 1])
    outputs, _ = tf.nn.dynamic_rnn(cells.MultiRNNCell([cells.LSTMCell(8), cells.GRUCell(8)]), x, dtype=tf.float32)
    y = tf.reduce_mean(outputs[:, -1], axis=1)
    loss = tf.reduce_mean(tf.square(y - tf.reduce_mean(x, axis=[1, 2])))
    train = tf.train.AdamOptimizer(0.02).minimize(loss)
    rng = np.random.RandomState(0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train], {x: rng.uniform(-1, 1, (16, 3 + i % 4, 1))})[0] for i in range(150)]
    assert np.mean(losses[-10:]) < 0.1 * np.mean(losses[:10])


def test_cells_of_the_old_kind_are_called_as_they_are():
    class Old(cells.RNNCell):
        def __init__(self):
            pass

        state_size = output_size = property(lambda self: 2)

        def __call__(self, inputs, state, scope=None):
            with tf.variable_scope(scope or type(self).__name__):
                state = state + tf.matmul(inputs, tf.get_variable("w", [3, 2], initializer=tf.ones_initializer()))
            return state, state

    outputs, state = tf.nn.dynamic_rnn(Old(), tf.ones([1, 4, 3]), dtype=tf.float32)
    assert [v.name for v in tf.global_variables()] == ["rnn/Old/w:0"]
    assert run(state).tolist() == [[12, 12]]


def test_structures_of_inputs_and_outputs():
    class Two(cells.RNNCell):
        state_size = property(lambda self: 3)
        output_size = property(lambda self: (3, tf.TensorShape([])))

        def call(self, inputs, state):
            return (inputs["a"] + inputs["b"], tf.reduce_sum(inputs["a"], axis=1)), state + 1

    inputs = {"a": tf.ones([2, 5, 3]), "b": 2 * tf.ones([2, 5, 3])}
    (total, sums), state = tf.nn.dynamic_rnn(Two(), inputs, sequence_length=[5, 2], dtype=tf.float32)
    assert total.shape.as_list() == [2, 5, 3] and sums.shape.as_list() == [2, 5]
    sums, state = run([sums, state])
    assert sums.tolist() == [[3] * 5, [3, 3, 0, 0, 0]] and state[:, 0].tolist() == [5, 2]


def test_raw_rnn_feeds_outputs_back_and_carries_a_loop_state():
    class Double(cells.RNNCell):
        state_size = output_size = property(lambda self: 1)

        def call(self, inputs, state):
            return 2 * inputs, state + inputs

    def loop(time, output, state, steps):
        if output is None:
            return tf.zeros([2], tf.bool), tf.ones([2, 1]), tf.zeros([2, 1]), tf.zeros([1], tf.int32), tf.constant(0)
        return time >= [3, 5], output, state, tf.cast(output, tf.int32), steps + 1

    emitted, state, steps = tf.nn.raw_rnn(Double(), loop)
    emitted, state, steps = run([emitted.stack(), state, steps])
    assert emitted[:, :, 0].T.tolist() == [[2, 4, 8, 0, 0], [2, 4, 8, 16, 32]]
    assert (state.ravel().tolist(), steps) == ([7, 31], 5)


def test_cells_are_found_where_programs_look():
    for name in ("BasicRNNCell", "BasicLSTMCell", "LSTMCell", "GRUCell", "MultiRNNCell", "DropoutWrapper",
                 "ResidualWrapper", "LSTMStateTuple"):
        assert getattr(tf.contrib.rnn, name) is getattr(cells, name)
    assert tf.contrib.rnn.static_rnn is tf.nn.static_rnn
    with tf.device("/cpu:0"):
        cell = cells.DeviceWrapper(cells.BasicRNNCell(2, activation="relu"), "/device:CPU:0")
        assert cell(tf.zeros([1, 2]), cell.zero_state(1, tf.float32))[0].device == "/device:CPU:0"


def test_a_repeated_cell_has_weights_of_its_own_where_inputs_differ():
    cell = cells.MultiRNNCell([cells.DropoutWrapper(cells.BasicLSTMCell(3))] * 3)
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.ones([2, 4, 5]), dtype=tf.float32)
    shapes = {v.op.name.replace("rnn/multi_rnn_cell/", ""): v.shape.as_list() for v in tf.global_variables()}
    assert shapes == {"cell_0/basic_lstm_cell/kernel": [8, 12], "cell_0/basic_lstm_cell/bias": [12],
                      "cell_1/basic_lstm_cell/kernel": [6, 12], "cell_1/basic_lstm_cell/bias": [12],
                      "cell_2/basic_lstm_cell/kernel": [6, 12], "cell_2/basic_lstm_cell/bias": [12]}
    assert run(outputs).shape == (2, 4, 3)


def test_a_repeated_cell_shares_weights_where_inputs_agree():
    tf.nn.dynamic_rnn(cells.MultiRNNCell([cells.GRUCell(3)] * 2), tf.ones([2, 4, 3]), dtype=tf.float32)
    assert len(tf.global_variables()) == 4


def test_an_lstm_takes_its_state_as_one_tensor_as_in_0_x():
    steps = [tf.ones([2, 3])] * 2
    with tf.variable_scope("lstm"):
        outputs, state = tf.nn.rnn(cells.BasicLSTMCell(4), steps, initial_state=tf.fill([2, 8], 0.5))
    with tf.variable_scope("lstm", reuse=True):
        pair = cells.LSTMStateTuple(tf.fill([2, 4], 0.5), tf.fill([2, 4], 0.5))
        expected, (c, h) = tf.nn.rnn(cells.BasicLSTMCell(4), steps, initial_state=pair)
    got, one, expected, c, h = run([outputs[-1], state, expected[-1], c, h])
    assert np.array_equal(got, expected) and np.array_equal(one, np.concatenate([c, h], 1))


def test_linear_serves_cells_of_programs():
    x, y = tf.ones([2, 3]), tf.ones([2, 4])
    with tf.variable_scope("gates"):
        old = cells._linear([x, y], 5, True, 1.0)
    new = tf.contrib.rnn._linear(x, 5, False, kernel_initializer=tf.ones_initializer())
    cells._linear([x], 5, True, 0.0, "scope")
    assert [v.op.name for v in tf.global_variables()] == ["gates/kernel", "gates/bias", "kernel", "scope/kernel",
                                                          "scope/bias"]
    assert run(tf.global_variables()[1]).tolist() == [1] * 5 and run(new).tolist() == [[3] * 5] * 2
    assert old.shape.as_list() == [2, 5]
    with pytest.raises(ValueError, match="2D"):
        cells._linear(tf.ones([3]), 5, True)
    with tf.variable_scope("built"):
        built = cells._Linear([x, y], 6, True)
        assert built([x, y]).shape.as_list() == built([x, y]).shape.as_list() == [2, 6]
    assert len(tf.get_collection("variables", scope="built")) == 2


def test_cells_take_input_size_as_in_0_x():
    for make in (cells.BasicRNNCell, cells.GRUCell, cells.BasicLSTMCell, cells.LSTMCell):
        assert make(3, input_size=5).output_size == 3


def test_losses_of_sequences_take_functions_of_all_eras():
    logits, targets, weights = [tf.constant([[3.0, 1.0]])], [tf.constant([1.0])], [tf.constant([1.0])]
    for function, expected in ((lambda labels, logits: labels, 1), (lambda y_target, y_pre: y_target, 1),
                               (lambda inputs, labels: labels, 1)):
        loss = tf.nn.seq2seq.sequence_loss_by_example(logits, targets, weights, softmax_loss_function=function)
        assert run(loss).tolist() == [expected]


def test_states_are_fed_as_they_are_fetched():
    cell = cells.MultiRNNCell([cells.BasicLSTMCell(2), cells.GRUCell(3)])
    before = cell.zero_state(1, tf.float32)
    _, after = tf.nn.dynamic_rnn(cell, tf.ones([1, 1, 2]), initial_state=before)
    _, twice = tf.nn.dynamic_rnn(cell, tf.ones([1, 2, 2]), initial_state=before)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        once = session.run(after)
        assert all(map(np.allclose, tf.contrib.framework.nest.flatten(session.run(after, {before: once})),
                       tf.contrib.framework.nest.flatten(session.run(twice))))
        with pytest.raises(ValueError, match="Key had 3 elements, but value had 1"):
            session.run(after, {before: np.zeros(3)})
        with pytest.raises(ValueError, match="is not unique"):
            session.run(after, {(before[1], before[1]): (once[1], once[1])})


def cell_in_two_scopes(size):
    cell = cells.BasicLSTMCell(4)
    for scope, depth in (("a", 3), ("b", size), ("a", 3)):
        with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
            cell(tf.ones([2, depth]), cell.zero_state(2, tf.float32))
    return [v.op.name for v in tf.trainable_variables()]


def test_a_cell_has_the_same_weights_in_every_scope():
    assert cell_in_two_scopes(3) == ["a/basic_lstm_cell/kernel", "a/basic_lstm_cell/bias"]


def test_a_cell_has_weights_of_its_own_in_every_scope_of_a_program_for_tensorflow_0_x():
    tf.concat(0, [[1], [2]])
    assert cell_in_two_scopes(3) == ["a/basic_lstm_cell/kernel", "a/basic_lstm_cell/bias",
                                     "b/basic_lstm_cell/kernel", "b/basic_lstm_cell/bias"]


def test_a_cell_has_weights_of_its_own_where_its_inputs_have_another_depth():
    assert cell_in_two_scopes(5)[2:] == ["b/basic_lstm_cell/kernel", "b/basic_lstm_cell/bias"]


def test_stacked_cells_have_weights_of_their_own_in_every_scope_of_a_program_for_tensorflow_0_x():
    tf.split(0, 2, [1, 2])
    cell = cells.MultiRNNCell([cells.GRUCell(3)] * 2)
    for scope in "ab":
        tf.nn.dynamic_rnn(cell, tf.ones([2, 4, 3]), dtype=tf.float32, scope=scope)
    kernels = [v.op.name for v in tf.trainable_variables() if v.op.name.endswith("gates/kernel")]
    assert kernels == [f"{scope}/multi_rnn_cell/cell_{i}/gru_cell/gates/kernel" for scope in "ab" for i in (0, 1)]
