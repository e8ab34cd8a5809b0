"""tf.contrib.training.batch_sequences_with_states: segments come in order, states go from one to the next."""

import numpy as np
import pytest

import weir as tf

training = tf.contrib.training


def _lengths_and_sums(lengths, num_unroll, batch_size, **options):
    """Runs sequences of the given lengths through; state: how many steps of its sequence a segment has behind it."""
    queue = tf.train.input_producer(list(range(len(lengths))), num_epochs=1, shuffle=False)
    number = queue.dequeue()
    length = tf.gather(tf.constant(lengths), number)
    values = tf.range(length) + 100 * number
    batch = training.batch_sequences_with_states(
        input_key=tf.as_string(number), input_sequences={"values": tf.expand_dims(values, 1)},
        input_context={"number": number}, input_length=length, initial_states={"seen": tf.constant([0])},
        num_unroll=num_unroll, batch_size=batch_size, num_threads=2, **options)
    save = batch.save_state("seen", batch.state("seen") + tf.expand_dims(batch.length, 1))
    fetches = [batch.key, batch.next_key, batch.length, batch.total_length, batch.sequence, batch.sequence_count,
               batch.sequences["values"], batch.context["number"], batch.state("seen")]
    rows = []
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        try:
            while True:
                taken = sess.run(fetches + [save])[:-1]
                rows.extend(zip(*taken))
        except tf.errors.OutOfRangeError:
            pass
        coord.request_stop()
        coord.join(threads)
    return rows


def test_every_segment_comes_once_with_the_state_of_the_one_before():
    lengths = [5, 1, 3, 8]
    rows = _lengths_and_sums(lengths, num_unroll=3, batch_size=2, capacity=10)
    assert len(rows) == sum(-(-length // 3) for length in lengths)
    for key, next_key, length, total, sequence, count, values, number, seen in rows:
        assert total == lengths[number] and count == -(-total // 3)
        assert key == b"%05d_of_%05d:%d" % (sequence, count, number)
        assert next_key == (b"%05d_of_%05d:%d" % (sequence + 1, count, number) if sequence + 1 < count else
                            b"STOP:%d" % number)
        assert length == min(3, total - 3 * sequence) and seen == [3 * sequence]
        assert values[:length, 0].tolist() == [100 * number + 3 * sequence + i for i in range(length)]
        assert not values[length:].any()


def test_capacity_bounds_the_sequences_under_way():
    rows = _lengths_and_sums([4] * 20, num_unroll=2, batch_size=2, capacity=2)
    assert len(rows) == 40
    order = [number for *_, number, _ in rows]
    assert all(abs(a - b) <= 3 for a, b in zip(order, np.repeat(range(20), 2)))


def test_a_recurrent_network_carries_its_state():
    cell = tf.nn.rnn_cell.BasicRNNCell(2)
    batch = training.batch_sequences_with_states(
        input_key=tf.constant("one"), input_sequences={"x": tf.ones([4, 1])}, input_context={}, input_length=None,
        initial_states={"state": tf.zeros([2])}, num_unroll=2, batch_size=1, make_keys_unique=True, num_threads=1)
    inputs = [tf.squeeze(x, [1]) for x in tf.split(batch.sequences["x"], 2, axis=1)]
    outputs, _ = tf.nn.static_state_saving_rnn(cell, inputs, batch, "state", sequence_length=batch.length)
    whole, _ = tf.nn.static_rnn(cell, [tf.ones([1, 1])] * 4, dtype=tf.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        expected = {1: sess.run(whole[1]), 3: sess.run(whole[3])}
        for _ in range(6):
            output, sequence = sess.run([outputs[-1], batch.sequence])
            np.testing.assert_allclose(output, expected[2 * sequence[0] + 1], rtol=1e-5)
        coord.request_stop()
        coord.join(threads)


def test_what_cannot_work_is_refused():
    def saver(**options):
        arguments = dict(batch_size=2, num_unroll=2, input_length=2, input_key="key", input_sequences={"x": tf.zeros([2])},
                         input_context={}, initial_states={"state": tf.zeros([1])})
        return training.SequenceQueueingStateSaver(**{**arguments, **options})

    with pytest.raises(ValueError, match="capacity"):
        saver(capacity=1)
    with pytest.raises(ValueError, match="at least one state"):
        saver(initial_states={})
    with pytest.raises(tf.errors.InvalidArgumentError, match="multiple of num_unroll"):
        saver(input_sequences={"x": tf.zeros([3])})
    odd = tf.placeholder(tf.float32, [None])
    prefetch = saver(input_sequences={"x": odd}).prefetch_op
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="multiple of num_unroll"):
        sess.run(prefetch, {odd: [1, 2, 3]})
    with pytest.raises(KeyError, match="not declared"):
        saver().next_batch.save_state("other", tf.zeros([2, 1]))
