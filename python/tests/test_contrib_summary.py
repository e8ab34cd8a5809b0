"""tf.contrib.summary: operations that write event files."""

import pytest

import weir as tf

contrib = tf.contrib.summary


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def events(folder):
    [path] = folder.iterdir()
    return list(tf.train.summary_iterator(str(path)))


def written(folder):
    """(step, tag, kind) of every value."""
    return [(event.step, value.tag, value.WhichOneof("value"))
            for event in events(folder) for value in event.summary.value]


def test_every_kind_of_summary_is_written_at_its_step(tmp_path):
    with contrib.create_file_writer(str(tmp_path)).as_default(), contrib.always_record_summaries():
        contrib.scalar("loss", 0.5, step=3)
        contrib.scalar("loss", 1, family="train", step=3)
        contrib.histogram("weights", [1., 2., 2.], step=4)
        contrib.image("picture", tf.zeros([2, 4, 4, 3]), max_images=1, step=5)
        contrib.image("bytes", tf.zeros([2, 4, 4, 1], tf.uint8), max_images=3, step=5)
        contrib.audio("sound", tf.zeros([1, 100]), 8000., 1, step=6)
        contrib.generic("text", ["a", "b"], step=7)
        flush = contrib.flush()
    with tf.Session() as session:
        contrib_ops = contrib.all_summary_ops()
        session.run(contrib.summary_writer_initializer_op())
        assert session.run(contrib_ops) == [True] * 7
        session.run(flush)
    assert sorted(written(tmp_path)) == [
        (3, "loss", "simple_value"), (3, "train/train/loss", "simple_value"), (4, "weights", "histo"),
        (5, "bytes/image/0", "image"), (5, "bytes/image/1", "image"), (5, "picture/image", "image"),
        (6, "sound/audio", "audio"), (7, "text", "tensor")]


def test_steps_are_counted_by_the_global_step_and_some_may_be_left_out(tmp_path):
    step = tf.train.get_or_create_global_step()
    writer = contrib.create_file_writer(str(tmp_path))
    with writer.as_default(), contrib.record_summaries_every_n_global_steps(2):
        contrib.scalar("loss", tf.cast(step, tf.float32))
        close = writer.close()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            contrib.initialize(graph=tf.get_default_graph())
            advance = step.assign_add(1)
            for _ in range(5):
                session.run(contrib.all_summary_ops())
                session.run(advance)
            session.run(close)
            with pytest.raises(tf.errors.NotFoundError, match="not initialized, or closed"):
                session.run(writer.flush())
    assert [event.WhichOneof("what") for event in events(tmp_path)][:2] == ["file_version", "graph_def"]
    assert written(tmp_path) == [(at, "loss", "simple_value") for at in (0, 2, 4)]


def test_nothing_is_recorded_without_a_writer_or_unless_it_is_asked_for(tmp_path):
    assert contrib.scalar("loss", 1.).type == "NoOp"
    with contrib.create_file_writer(None).as_default(), contrib.always_record_summaries():
        assert contrib.scalar("loss", 1.).type == "NoOp"
    with contrib.create_file_writer(str(tmp_path)).as_default():
        contrib.scalar("loss", 1.)
        with contrib.never_record_summaries():
            contrib.scalar("loss", 1.)
    with tf.Session() as session:
        session.run(contrib.summary_writer_initializer_op())
        assert session.run(contrib.all_summary_ops()) == [False, False]
        session.run(tf.contrib.summary.flush())


def test_writers_of_one_folder_write_one_file(tmp_path):
    for value in (1., 2.):
        with contrib.create_file_writer(str(tmp_path)).as_default(), contrib.always_record_summaries():
            contrib.scalar("loss", value, step=1)
            flush = contrib.flush()
    with tf.Session() as session:
        session.run(contrib.summary_writer_initializer_op())
        session.run(contrib.all_summary_ops())
        session.run(flush)
    assert len(written(tmp_path)) == 2


def test_bad_summaries_are_errors_of_the_run(tmp_path):
    with contrib.create_file_writer(str(tmp_path)).as_default(), contrib.always_record_summaries():
        bad = [contrib.histogram("h", [float("nan")], step=0), contrib.generic("g", 1., metadata=b"\xff", step=0)]
    with tf.Session() as session:
        session.run(contrib.summary_writer_initializer_op())
        for each in bad:
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(each)
