import pickle

import pytest

import weir as tf
from weir import errors


def test_every_code_has_its_class_and_back():
    for code in range(1, 17):
        cls = errors.exception_type_from_error_code(code)
        assert errors.error_code_from_exception_type(cls) == code
        error = cls(None, None, "text")
        assert isinstance(error, errors.OpError)
        assert (error.error_code, error.message, error.op, error.node_def) == (code, "text", None, None)
        assert str(error) == "text"
    assert errors.error_code_from_exception_type(ValueError) == errors.UNKNOWN


def test_parts_name_the_node_and_the_users_line():
    error = errors.from_parts(3, "inner dimensions differ", "MatMul", "layer1/MatMul", "train.py", 42)
    assert type(error) is errors.InvalidArgumentError
    assert error.message == "inner dimensions differ"
    assert str(error) == "inner dimensions differ\n\t [[node 'layer1/MatMul' (MatMul) made at train.py:42]]"


def test_parts_are_not_repeated_when_the_message_tells_them():
    message = "MatMul 'x' (train.py:42): inner dimensions differ"
    assert str(errors.from_parts(3, message, "MatMul", "x", "train.py", 42)) == message


def test_parts_may_be_missing():
    assert str(errors.from_parts(5, "gone")) == "gone"
    assert str(errors.from_parts(5, "gone", None, "x")) == "gone\n\t [[node 'x']]"
    unknown = errors.from_parts(99, "odd")
    assert type(unknown) is errors.OpError and unknown.error_code == 99


def test_node_def_is_made_on_demand():
    node_def = errors.from_parts(3, "m", "MatMul", "x").node_def
    assert (node_def.name, node_def.op) == ("x", "MatMul")


def test_long_messages_fill_at_most_a_screen():
    for message in ("x" * 100000, "line\n" * 1000):
        error = errors.from_parts(13, message, "Add", "a", "f.py", 1)
        assert error.message == message
        assert len(str(error)) < 2700 and str(error).count("\n") < 25
        assert str(error).endswith("[[node 'a' (Add) made at f.py:1]]")


def test_errors_can_be_pickled():
    error = pickle.loads(pickle.dumps(errors.from_parts(11, "end", "Dequeue", "q", "f.py", 3)))
    assert type(error) is errors.OutOfRangeError
    assert str(error) == "end\n\t [[node 'q' (Dequeue) made at f.py:3]]"
    assert pickle.loads(pickle.dumps(errors.OpError(None, None, "m", 2))).error_code == 2


def test_status_context_raises_what_was_set():
    with errors.raise_exception_on_not_ok_status():
        pass
    with pytest.raises(errors.NotFoundError, match="gone"):
        with errors.raise_exception_on_not_ok_status() as status:
            status.code, status.message = errors.NOT_FOUND, "gone"
    with pytest.raises(KeyError):
        with errors.raise_exception_on_not_ok_status() as status:
            status.code = errors.NOT_FOUND
            raise KeyError


def test_a_checkpoint_makes_its_folder_but_no_mistyped_path(sess, tmp_path):
    value = tf.Variable(1.0)
    sess.run(value.initializer)
    saver = tf.train.Saver()
    path = saver.save(sess, str(tmp_path / "new" / "model"))
    assert tf.train.checkpoint_exists(path)
    with pytest.raises(ValueError, match="Parent directory of .* doesn't exist"):
        saver.save(sess, str(tmp_path / "no" / "such" / "model"))
