"""Claims about values are checked by the run, not while the graph is built."""

import pytest

import weir as tf


@pytest.mark.parametrize("check", [lambda x: tf.assert_equal(x, [1, 2, 4], message="why"),
                                   lambda x: tf.assert_negative(x, message="why"),
                                   lambda x: tf.assert_less(x, 3, message="why")])
def test_a_claim_that_constants_break_fails_in_the_run(check):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1, 2, 3], name="x")
        op = check(x)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)why.*x:0"):
            session.run(op)


def test_a_closed_writer_of_events_ignores_what_comes(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.close()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_summary(tf.Summary())
    writer.reopen()
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=1.0)]), 1)
    writer.close()
    tags = [value.tag for path in sorted(tmp_path.iterdir()) for event in tf.train.summary_iterator(str(path))
            for value in event.summary.value]
    assert tags == ["a"]
