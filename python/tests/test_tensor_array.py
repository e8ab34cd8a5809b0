"""tf.TensorArray, tf.map_fn, tf.scan, tf.foldl and tf.foldr. Values, gradients and shapes are TensorFlow 1.15.5's."""

import collections

import numpy as np
import pytest

import weir as tf

X = np.array([[0.5, 1], [1.5, 2], [2.5, 3]], np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def x():
    return tf.constant(X)


def run(fetches, feed_dict=None):
    with tf.Session() as session:
        return session.run(fetches, feed_dict)


def weighted(*ys):
    """A sum with another weight for every element."""
    flat = [tf.reshape(y, [-1]) for y in ys]
    return sum(tf.reduce_sum(y * tf.cast(tf.range(1, tf.size(y) + 1), tf.float32)) for y in flat)


def check(ys, xs, values, gradients):
    """``ys`` and the gradients of their weighted sum with respect to ``xs``."""
    got, grads = run([ys, tf.gradients(weighted(*ys), xs)])
    for value, expected in zip(got + grads, values + gradients):
        np.testing.assert_allclose(value, expected, rtol=1e-6)
    assert len(got) == len(values) and len(grads) == len(gradients)


def test_map_fn_maps_rows(x):
    y = tf.map_fn(lambda e: e * e + tf.reduce_sum(e), x)
    assert y.shape.as_list() == [3, 2]
    check([y], [x], [[[1.75, 2.5], [5.75, 7.5], [11.75, 14.5]]], [[[4, 7], [16, 23], [36, 47]]])


def test_map_fn_takes_and_gives_structures(x):
    z = tf.constant(3 * X)
    y = tf.map_fn(lambda e: (e[0] * e[1], tf.reduce_sum(e[0])), (x, z), dtype=(tf.float32, tf.float32))
    assert isinstance(y, tuple) and y[1].shape.as_list() == [3]
    check(list(y), [x, z], [[[0.75, 3], [6.75, 12], [18.75, 27]], [1.5, 3.5, 5.5]],
          [[[2.5, 7], [15.5, 26], [40.5, 57]], [[0.5, 2], [4.5, 8], [12.5, 18]]])
    Pair = collections.namedtuple("Pair", "a b")
    y = tf.map_fn(lambda e: Pair(tf.cast(e, tf.int32), {"first": e[0]}), x, dtype=Pair(tf.int32, {"first": tf.float32}))
    a, b = run([y.a, y.b["first"]])
    assert a.tolist() == [[0, 1], [1, 2], [2, 3]] and b.tolist() == [0.5, 1.5, 2.5]


def test_map_fn_reads_what_is_around_it(x):
    w = tf.constant([2., 3.])
    check([tf.map_fn(lambda e: tf.tensordot(w, e, 1), x)], [w, x], [[4, 9, 14]], [[11, 14], [[2, 3], [4, 6], [6, 9]]])


def test_map_fn_of_an_unknown_number_of_rows():
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.map_fn(lambda e: e * 2, x)
    assert y.shape.as_list() == [None, 2]
    grad, = tf.gradients(tf.reduce_sum(y * y), [x])
    for rows in (0, 1, 3, 40):
        value = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
        got, got_grad = run([y, grad], {x: value})
        np.testing.assert_allclose(got, 2 * value)
        np.testing.assert_allclose(got_grad, 8 * value)


def test_maps_and_branches_nest(x):
    check([tf.map_fn(lambda e: tf.map_fn(lambda f: f * f * f, e), x)], [x],
          [[[0.125, 1], [3.375, 8], [15.625, 27]]], [[[0.75, 6], [20.25, 48], [93.75, 162]]])
    check([tf.map_fn(lambda e: tf.cond(e[0] > 1, lambda: e * e, lambda: -e), x)], [x],
          [[[-0.5, -1], [2.25, 4], [6.25, 9]]], [[[-1, -2], [9, 16], [25, 36]]])


def test_map_fn_without_infer_shape_knows_no_shape(x):
    assert tf.map_fn(lambda e: e, x, infer_shape=False).shape.ndims is None


def test_map_fn_refuses_what_it_cannot_map(x):
    with pytest.raises(TypeError, match="fn must be callable."):
        tf.map_fn(3, x)
    with pytest.raises(ValueError, match="elems must be a 1\\+ dimensional Tensor, not a scalar"):
        tf.map_fn(lambda e: e, 1.)
    with pytest.raises(TypeError, match="sparse tensor"):
        tf.map_fn(lambda e: e, tf.SparseTensor([[0]], [1.], [2]))
    with pytest.raises((TypeError, ValueError), match="structure"):
        tf.map_fn(lambda e: (e, e), x)
    with pytest.raises(TypeError, match="has dtype int32, but expected dtype float32"):
        tf.map_fn(lambda e: tf.cast(e, tf.int32), x)


def test_scan_gives_every_step(x):
    check([tf.scan(lambda a, e: a * e + 1, x)], [x], [[[0.5, 1], [1.75, 3], [5.375, 10]]],
          [[[24.25, 46], [7.75, 22], [8.75, 18]]])
    start = tf.constant([1., 2.])
    y = tf.scan(lambda a, e: a * e, x, initializer=start, reverse=True)
    assert y.shape.as_list() == [3, 2]
    check([y], [x, start], [[[1.875, 12], [3.75, 12], [2.5, 6]]],
          [[[3.75, 24], [8.75, 36], [10.25, 36]], [25.625, 54]])
    check([tf.scan(lambda a, e: a + e, x, reverse=True)], [x], [[[4.5, 6], [4, 5], [2.5, 3]]],
          [[[1, 2], [4, 6], [9, 12]]])


def test_scan_of_structures(x):
    y = tf.scan(lambda a, e: (a[0] + e[0], a[1] * e[1]), (x, x))
    check(list(y), [x], [[[0.5, 1], [2, 3], [4.5, 6]], [[0.5, 1], [0.75, 2], [1.875, 6]]],
          [[[33.25, 58], [15.75, 32], [8.75, 18]]])
    a, b = tf.scan(lambda a, _: (a[1], a[0] + a[1]), tf.range(6), initializer=(np.int64(0), np.int64(1)))
    assert [v.tolist() for v in run([a, b])] == [[1, 1, 2, 3, 5, 8], [1, 2, 3, 5, 8, 13]]
    none = tf.placeholder_with_default(np.zeros((0, 2), np.float32), [None, 2])
    assert run(tf.scan(lambda a, e: a + e, none, initializer=tf.zeros([2]))).shape == (0, 2)


def test_folds_go_from_either_end(x):
    check([tf.foldl(lambda a, e: a * e + e, x)], [x], [[8.125, 15]], [[[3.75, 12], [3.75, 12], [3.25, 10]]])
    check([tf.foldr(lambda a, e: a * e + e, x)], [x], [[3.125, 9]], [[[6.25, 18], [1.75, 8], [0.75, 4]]])
    start = tf.constant([1., 1.])
    for fold in (tf.foldl, tf.foldr):
        check([fold(lambda a, e: a - 2 * e, x, initializer=start)], [x, start], [[-8, -11]],
              [[[-2, -4], [-2, -4], [-2, -4]], [1, 2]])


def test_arrays_are_loop_variables(x):
    read = tf.TensorArray(tf.float32, size=3).unstack(x)

    def body(i, array):
        return i + 1, array.write(i, read.read(2 - i) * tf.cast(i + 1, tf.float32))

    _, array = tf.while_loop(lambda i, array: i < 3, body, (0, tf.TensorArray(tf.float32, 3)))
    assert isinstance(array, tf.TensorArray) and array.element_shape.as_list() == [2]
    y = array.stack()
    assert y.shape.as_list() == [None, 2] and run(array.size()) == 3
    check([y], [x], [[[2.5, 3], [3, 4], [1.5, 3]]], [[[15, 18], [6, 8], [1, 2]]])
    only = tf.while_loop(lambda a: a.size() < 5, lambda a: a.write(a.size(), 1.),
                         [tf.TensorArray(tf.float32, 0, dynamic_size=True)],
                         shape_invariants=[tf.TensorShape(None)])
    assert run(only.stack()).tolist() == [1] * 5


def test_later_iterations_read_what_earlier_ones_wrote():
    x = tf.constant(2.)
    start = tf.TensorArray(tf.float32, 5, clear_after_read=False).write(0, x).write(1, x * x)
    _, array = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a.write(i, a.read(i - 1) + x * a.read(i - 2))),
                             (2, start))
    y = array.read(4)  # 3x^2 + ... : x, x^2, 2x^2, 2x^2 + x^3, 2x^2 + 3x^3
    assert run([y] + tf.gradients(y, x)) == [2 * 4 + 3 * 8, 4 * 2 + 9 * 4]


def test_arrays_are_results_of_branches(x):
    pred = tf.placeholder(tf.bool, [])
    array = tf.TensorArray(tf.float32, 3).unstack(x)
    chosen = tf.cond(pred, lambda: array.write(0, x[1] * 10), lambda: array.identity())
    assert isinstance(chosen, tf.TensorArray)
    y = chosen.stack()
    grad, = tf.gradients(weighted(y), x)
    got = [run([y, grad], {pred: value}) for value in (True, False)]
    assert got[0][0].tolist() == [[15, 20], [1.5, 2], [2.5, 3]] and got[0][1].tolist() == [[0, 0], [13, 24], [5, 6]]
    assert got[1][0].tolist() == X.tolist() and got[1][1].tolist() == [[1, 2], [3, 4], [5, 6]]


def test_arrays_gather_scatter_and_join(x):
    grown = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for i in range(3):
        grown = grown.write(i, x[i])
    check([grown.gather([2, 0]), grown.concat()], [x], [[[2.5, 3], [0.5, 1]], [0.5, 1, 1.5, 2, 2.5, 3]],
          [[[4, 6], [3, 4], [6, 8]]])
    check([tf.TensorArray(tf.float32, size=4).scatter([3, 1, 0], x).gather([0, 1, 3])], [x],
          [[[2.5, 3], [1.5, 2], [0.5, 1]]], [[[5, 6], [3, 4], [1, 2]]])
    assert run(tf.TensorArray(tf.float32, 0, dynamic_size=True).scatter([4, 1], x[:2]).size()) == 5
    parts = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x, [1, 2])
    check([parts.read(1), parts.concat()], [x], [X[1:], X], [[[1, 2], [4, 6], [8, 10]]])


def test_arrays_keep_what_they_were(x):
    empty = tf.TensorArray("float32", size=2, element_shape=[2])
    one = empty.write(0, x[0])
    two = one.write(1, x[1])
    a, b, c = run([empty.stack(), one.stack(), two.stack()])
    assert (a.tolist(), b.tolist(), c.tolist()) == ([[0, 0], [0, 0]], [[0.5, 1], [0, 0]], X[:2].tolist())
    again = tf.TensorArray(tf.float32, handle=two.handle, flow=two.flow)
    assert run(again.read(1)).tolist() == [1.5, 2]
    assert run([two.identity().size(), two.close()]) == [2, None]
    assert (two.dtype, two.dynamic_size, two.flow.dtype) == (tf.float32, False, tf.variant)


@pytest.mark.parametrize("index", [-1, 3, 2 ** 31 - 1])
def test_indices_out_of_range_are_refused(x, index):
    array = tf.TensorArray(tf.float32, size=3).unstack(x)
    at = tf.placeholder(tf.int32, [])
    for y in (array.read(at), array.write(at, x[0]).stack(), array.gather([at]), array.scatter([at], x[:1]).stack()):
        with pytest.raises(tf.errors.InvalidArgumentError, match=str(index)):
            run(y, {at: index})


def test_wrong_shapes_types_and_sizes_are_refused(x):
    array = tf.TensorArray(tf.float32, size=3).write(0, x[0])
    with pytest.raises(ValueError, match="Inconsistent shapes: saw \\(3,\\) but expected \\(2,\\)"):
        array.write(1, tf.zeros([3]))
    with pytest.raises(TypeError, match="has dtype int32, but expected dtype float32"):
        array.write(1, tf.constant(1))
    with pytest.raises(ValueError, match="Size must be provided"):
        tf.TensorArray(tf.float32)
    any_shape = tf.TensorArray(tf.float32, size=2, infer_shape=False)
    size = tf.placeholder(tf.int32, [])
    for bad in (any_shape.read(0), any_shape.write(0, 1.).write(1, [1., 2.]).stack(),
                any_shape.split(x, [1, 1]).concat(), tf.TensorArray(tf.float32, size=size).size(),
                tf.TensorArray(tf.float32, size=2).unstack(x).stack()):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(bad, {size: -1})


def test_a_long_scan_keeps_every_element():
    x = tf.placeholder(tf.float32, [None])
    y = tf.scan(lambda a, e: a + e, x)
    grad, = tf.gradients(y[-1] + y[10], x)
    value = np.ones(5000, np.float32)
    got, got_grad = run([y, grad], {x: value})
    np.testing.assert_array_equal(got, np.arange(1, 5001))
    np.testing.assert_array_equal(got_grad, [2] * 11 + [1] * 4989)


def test_names_are_those_of_tensorflows_arrays():
    array = tf.TensorArray(tf.float32, size=2).unstack([1.0, 2.0])
    assert array.stack().name == "TensorArrayStack/TensorArrayGatherV3:0"
    assert array.write(0, 3.0).flow.name == "TensorArrayWrite/TensorArrayWriteV3:0"
    assert tf.map_fn(lambda x: x * 2, tf.constant([1.0])).name == "map/TensorArrayStack/TensorArrayGatherV3:0"


def test_flows_can_be_fetched_for_their_effects():
    array = tf.TensorArray(tf.float32, size=3)
    with tf.Session() as session:
        assert session.run(array.write(0, 1.0).flow) == 0
        with pytest.raises(tf.errors.InvalidArgumentError, match="Tried to write to index 3 but array is not resizeable and "
                           "size is: 3"):
            session.run(array.write(3, 1.0).flow)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Tried to read from index -1 but array size is: 3"):
            session.run(array.read(-1))


def test_concat_fills_with_zeros():
    array = tf.TensorArray(tf.float32, size=3).write(1, [[4.0, 5.0]])
    with tf.Session() as session:
        assert session.run(array.concat()).tolist() == [[0, 0], [4, 5], [0, 0]]


def test_tensors_behind_unused_loop_variables_have_a_gradient_of_zeros():
    a, b = tf.Variable(0.0), tf.Variable(0.0)
    first, second = tf.scan(lambda *_: (a, b), tf.zeros(5), initializer=(0.0, 0.0))
    gradients = tf.gradients(first + tf.stop_gradient(second), [a, b])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(gradients) == [5, 0]


def test_arrays_of_gradients_add_up():
    array = tf.TensorArray(tf.float32, size=3, infer_shape=False)
    grad, same = array.grad("source"), array.grad("source")
    flow = grad.write(0, 1.0).write(0, 2.5).flow
    with tf.control_dependencies([flow]):
        total = same.read(0)
    with tf.Session() as session:
        assert session.run(total) == 3.5
