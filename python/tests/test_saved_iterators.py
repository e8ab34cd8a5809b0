"""Iterators in checkpoints, and other ways in which input goes on or comes without end."""

import os

import numpy as np
import pytest

import weir as tf

RECORDS = os.path.join(os.path.dirname(__file__), "..", "..", "tests", "data", "records")


def _rest(sess, element):
    values = []
    while True:
        try:
            values.append(sess.run(element).tolist())
        except tf.errors.OutOfRangeError:
            return values


@pytest.mark.parametrize("one_shot", [True, False])
def test_a_program_that_is_begun_again_goes_on(tmp_path, one_shot):
    path = str(tmp_path / "model")

    def program(sess_body):
        with tf.Graph().as_default():
            # Without a seed: what was drawn is saved.
            dataset = tf.data.Dataset.range(20).shuffle(20).map(lambda x: x * 2).batch(3)
            iterator = dataset.make_one_shot_iterator() if one_shot else dataset.make_initializable_iterator()
            element = iterator.get_next()
            step = tf.Variable(0, name="step")
            tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS,
                                 tf.data.experimental.make_saveable_from_iterator(iterator))
            saver = tf.train.Saver()
            with tf.Session() as sess:
                return sess_body(sess, iterator, element, step, saver)

    def first(sess, iterator, element, step, saver):
        sess.run(tf.global_variables_initializer())
        if not one_shot:
            sess.run(iterator.initializer)
        seen = [sess.run(element).tolist() for _ in range(3)]
        saver.save(sess, path)
        return seen, _rest(sess, element)

    def second(sess, iterator, element, step, saver):
        saver.restore(sess, path)
        assert sess.run(step) == 0
        return _rest(sess, element)

    seen, wanted = program(first)
    assert program(second) == wanted
    assert sorted(sum(seen + wanted, [])) == list(range(0, 40, 2))


def test_an_estimator_goes_on_with_its_input(tmp_path):
    seen = []

    def input_fn():
        return tf.data.Dataset.range(100).map(lambda x: ({"x": x}, tf.cast(x, tf.float32)))

    def model_fn(features, labels, mode):
        note = tf.py_func(lambda x: seen.append(int(x)) or np.float32(x), [features["x"]], tf.float32)
        weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
        note.set_shape([])
        train = tf.group(tf.assign_add(tf.train.get_global_step(), 1), weight.assign(note))
        return tf.estimator.EstimatorSpec(mode, loss=note, train_op=train)

    for _ in range(2):
        config = tf.estimator.RunConfig(model_dir=str(tmp_path), save_checkpoints_steps=4)
        estimator = tf.estimator.Estimator(model_fn, config=config)
        estimator.train(input_fn, steps=4, hooks=[tf.data.experimental.CheckpointInputPipelineHook(estimator)])
    assert seen == [0, 1, 2, 3, 4, 5, 6, 7]


def test_records_come_without_end(tmp_path):
    for part in range(3):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"part{part}")) as writer:
            for i in range(4):
                writer.write(b"%d" % (4 * part + i))
    with tf.Graph().as_default(), tf.Session() as sess:
        records = tf.contrib.framework.RecordInput(str(tmp_path / "part*"), batch_size=12, buffer_size=100, seed=3)
        batch = records.get_yield_op()
        assert batch.shape == [12]
        for _ in range(3):
            assert sorted(map(int, sess.run(batch))) == list(range(12))
        several = tf.contrib.framework.RecordInput(str(tmp_path / "part*"), batch_size=6, batches=2).get_yield_op()
        assert [len(rows) for rows in several] == [6, 6]
        assert sorted(map(int, sum(sess.run(several), []))) == list(range(12))


def test_lmdb_databases_are_read():
    path = os.path.join(RECORDS, "small.mdb")
    wanted = [(b"%d" % i, b"%c" % (97 + i)) for i in range(10)]
    with tf.Graph().as_default(), tf.Session() as sess:
        element = tf.contrib.data.LMDBDataset(path).make_one_shot_iterator().get_next()
        assert [sess.run(element) for _ in range(10)] == wanted
        queue = tf.FIFOQueue(2, tf.string)
        sess.run([queue.enqueue(path), queue.close()])
        pair = tf.LMDBReader().read(queue)
        assert [tuple(sess.run(pair)) for _ in range(10)] == wanted
