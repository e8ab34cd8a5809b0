"""tf.compat.v2: TensorFlow 2's names in TensorFlow 1.15."""

import importlib
import inspect

import pytest

import weir as tf

v2 = tf.compat.v2


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(*fetches):
    with tf.Session() as session:
        return session.run(list(fetches))


def test_names_are_those_of_1_where_they_mean_the_same():
    assert v2.matmul is tf.matmul and v2.linalg is tf.linalg and v2.Variable is tf.Variable
    assert v2.random.normal is tf.random.normal and v2.nn.relu is tf.nn.relu
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        v2.nothing


def test_the_module_is_found_under_the_name_that_libraries_import():
    tf.install_as_tensorflow()
    assert importlib.import_module("tensorflow.compat.v2") is v2


@pytest.mark.parametrize("name, signature", [
    ("reduce_sum", "(input_tensor, axis=None, keepdims=False, name=None)"),
    ("reduce_all", "(input_tensor, axis=None, keepdims=False, name=None)"),
    ("concat", "(values, axis, name='concat')"), ("equal", "(x, y, name=None)"), ("maximum", "(x, y, name=None)"),
    ("where", "(condition, x=None, y=None, name=None)"), ("zeros_like", "(input, dtype=None, name=None)"),
    ("transpose", "(a, perm=None, conjugate=False, name='transpose')"), ("squeeze", "(input, axis=None, name=None)")])
def test_signatures_are_those_of_tensorflow_2(name, signature):
    assert str(inspect.signature(getattr(v2, name))) == signature


def test_arguments_stand_in_the_order_of_tensorflow_2():
    table = tf.constant([[1, 2], [3, 4]])
    mask, gathered, padded, highest, conjugate = run(
        v2.boolean_mask(table, [True, False], 1), v2.gather(table, [1], None, 1), v2.pad([1], [[1, 1]], "CONSTANT", 9),
        v2.argmax(table, 1, tf.int32), v2.transpose([[1 + 2j]], None, True))
    assert mask.tolist() == [[1], [3]] and gathered.tolist() == [[2], [4]] and padded.tolist() == [9, 1, 9]
    assert highest.tolist() == [1, 1] and highest.dtype == "int32" and conjugate.tolist() == [[1 - 2j]]
    assert v2.random.poisson([4], [1., 2.]).shape == [4, 2]
    assert v2.convert_to_tensor(1, None, tf.float32).dtype == tf.float32


def test_where_broadcasts_and_loops_give_the_structure_that_they_were_given():
    [value] = v2.while_loop(lambda i: i < 3, lambda i: [i + 1], [tf.constant(0)])
    chosen, value = run(v2.where([True, False], [1, 2], 0), value)
    assert chosen.tolist() == [1, 0] and value == 3


def test_name_scopes_have_names():
    with v2.name_scope("a") as scope:
        assert scope == "a/"
    with pytest.raises(ValueError, match="must be a string"):
        v2.name_scope(None)


def test_dimensions_are_numbers_or_none_whatever_release_made_them():
    shape = tf.TensorShape([2, None])
    assert [tf.compat.dimension_value(each) for each in (shape[0], shape[1], 3, None)] == [2, None, 3, None]
    assert v2.compat.dimension_value is tf.compat.dimension_value
    assert tf.compat.dimension_at_index(shape, 0).value == 2
    assert tf.compat.dimension_at_index(tf.TensorShape(None), 5).value is None
