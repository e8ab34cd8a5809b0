"""tf.contrib.learn.io: batches from files, and arrays that feed placeholders by their names."""

import numpy as np
import pytest

import weir as tf

io = tf.contrib.learn.io


def _all(graph_function):
    """What comes until the end of an input, as lists."""
    with tf.Graph().as_default(), tf.Session() as session:
        batch = graph_function()
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = []
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                found.append(session.run(batch))
        coordinator.request_stop()
        coordinator.join(threads)
        return found


def test_files_become_batches_of_examples(tmp_path):
    for name, lines in (("a.txt", "1\n2\n"), ("b.txt", "3\n")):
        (tmp_path / name).write_text(lines)
    pattern = str(tmp_path / "*.txt")
    found = _all(lambda: io.read_batch_examples(pattern, 2, tf.TextLineReader, randomize_input=False, num_epochs=1))
    assert [batch.tolist() for batch in found] == [[b"1", b"2"], [b"3"]]
    parsed = _all(lambda: io.read_keyed_batch_examples(
        pattern, 3, tf.TextLineReader, num_epochs=2, parse_fn=lambda x: tf.string_to_number(x))[1])
    assert sorted(np.concatenate(parsed).tolist()) == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
    for bad, options in (("batch_size", {"batch_size": 0}), ("num_threads", {"num_threads": 0}),
                         ("read_batch_size", {"read_batch_size": 0}), ("num_epochs", {"num_epochs": -1})):
        with pytest.raises(ValueError, match=f"Invalid {bad}"):
            io.read_batch_examples(pattern, **{"batch_size": 2, "reader": tf.TextLineReader, **options})
    with pytest.raises(ValueError, match="No files match"):
        io.read_batch_examples(str(tmp_path / "none*"), 2, tf.TextLineReader)


def test_features_of_records_are_parsed_and_queued(tmp_path):
    path = str(tmp_path / "records")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(3):
            writer.write(tf.train.Example(features=tf.train.Features(feature={"x": tf.train.Feature(
                int64_list=tf.train.Int64List(value=[i] * i))})).SerializeToString())
    features = {"x": tf.VarLenFeature(tf.int64)}
    found = _all(lambda: io.read_batch_record_features(path, 3, features, randomize_input=False, num_epochs=1)["x"])
    assert found[0].values.tolist() == [1, 2, 2] and found[0].dense_shape.tolist() == [3, 2]


def test_arrays_are_fed_batch_by_batch_in_shuffled_epochs():
    x, y = np.arange(6.0).reshape(3, 2), np.array([0, 2, 1])
    with tf.Graph().as_default():
        feeder = io.data_feeder.setup_train_data_feeder(x, y, n_classes=3, batch_size=2, epochs=1)
        inputs, outputs = feeder.input_builder()
        assert inputs.shape.as_list() == [None, 2] and outputs.shape.as_list() == [None, 3]
        feeds = feeder.get_feed_dict_fn()
        first, second = feeds(), feeds()
        rows = np.concatenate([first[inputs.name], second[inputs.name]])
        ones = np.concatenate([first[outputs.name], second[outputs.name]])
        assert np.argmax(ones, 1).tolist() == [y[int(row[0]) // 2] for row in rows] and len(second[inputs.name]) == 1
        with pytest.raises(StopIteration):
            feeds()


def test_iterators_are_fed_as_they_come():
    with tf.Graph().as_default():
        feeder = io.data_feeder.setup_train_data_feeder(
            iter([np.array([1.0, 2.0]), np.array([3.0, 4.0])]), iter([np.array([1]), np.array([2])]), n_classes=0, batch_size=2)
        inputs, outputs = feeder.input_builder()
        fed = feeder.get_feed_dict_fn()()
        assert fed[inputs.name].tolist() == [[1, 2], [3, 4]] and fed[outputs.name].tolist() == [1, 2]
    batches = io.data_feeder.setup_predict_data_feeder(iter([[1, 2], [3, 4], [5, 6]]), batch_size=2)
    assert [batch.tolist() for batch in batches] == [[[1, 2], [3, 4]], [[5, 6]]]
