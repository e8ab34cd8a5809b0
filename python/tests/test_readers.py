"""Readers and record files, from Python."""

import pytest

import weir as tf


@pytest.fixture
def sess():
    tf.reset_default_graph()
    with tf.Session() as session:
        yield session


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_record_files_are_packed_and_read_back(tmp_path, sess, compression):
    path = str(tmp_path / "r.tfrecord")
    options = tf.python_io.TFRecordOptions(compression, compression_level=9)
    with tf.python_io.TFRecordWriter(path, options) as writer:
        for i in range(3):
            writer.write(b"record %d" % i)
    assert list(tf.python_io.tf_record_iterator(path, options)) == [b"record 0", b"record 1", b"record 2"]
    queue = tf.FIFOQueue(10, [tf.string], shapes=[[]])
    reader = tf.TFRecordReader(options=options)
    key, value = reader.read(queue)
    sess.run(queue.enqueue([path]))
    sess.run(queue.close())
    assert [sess.run(value) for _ in range(3)] == [b"record 0", b"record 1", b"record 2"]
    with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has insufficient elements"):
        sess.run([key, value])
    assert sess.run(reader.num_records_produced()) == 3
    assert sess.run(reader.num_work_units_completed()) == 1


def test_readers_of_text_whole_files_and_fixed_lengths(tmp_path, sess):
    path = tmp_path / "f.txt"
    path.write_bytes(b"Habc\ndef\n")
    queue = tf.FIFOQueue(10, [tf.string], shapes=[[]])
    put = queue.enqueue([str(path)])
    for reader, expected in ((tf.TextLineReader(), b"Habc"), (tf.TextLineReader(skip_header_lines=1), b"def"),
                             (tf.WholeFileReader(), b"Habc\ndef\n"), (tf.IdentityReader(), str(path).encode()),
                             (tf.FixedLengthRecordReader(record_bytes=3, header_bytes=1), b"abc")):
        _, value = reader.read(queue)
        sess.run(put)
        assert sess.run(value) == expected
    keys, values = tf.TextLineReader().read_up_to(queue, 5)
    sess.run(put)
    assert list(sess.run(values)) == [b"Habc", b"def"]


def test_state_of_a_reader_is_restored(sess):
    queue = tf.FIFOQueue(10, [tf.string], shapes=[[]])
    reader = tf.IdentityReader("test_reader")
    assert reader.supports_serialize
    key, _ = reader.read(queue)
    for name in ("X", "Y"):
        sess.run(queue.enqueue([name]))
    sess.run(key)
    state = sess.run(reader.serialize_state())
    sess.run(key)
    sess.run(reader.restore_state(state))
    assert sess.run(reader.num_records_produced()) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse state for IdentityReader 'test_reader'"):
        sess.run(reader.restore_state(state[1:]))
    with pytest.raises(ValueError):
        reader.restore_state([state, state])


def test_a_closed_record_writer_has_nothing_to_flush(tmp_path):
    writer = tf.python_io.TFRecordWriter(str(tmp_path / "records"))
    writer.write(b"one")
    writer.flush()
    writer.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match="previously closed"):
        writer.flush()
