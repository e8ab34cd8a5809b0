"""tf.cond, tf.while_loop and tf.case. Names, messages and values are TensorFlow 1.15.5's."""

import collections

import numpy as np
import pytest

import weir as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(fetches, feed_dict=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed_dict)


@pytest.fixture
def pred():
    return tf.placeholder(tf.bool, [], name="pred")


@pytest.fixture
def x():
    return tf.placeholder(tf.float32, [2], name="x")


FEED = [1.0, 2.0]


def test_cond_runs_one_branch_and_has_tensorflows_names(pred, x):
    y = tf.cond(pred, lambda: x + 1, lambda: x * 2)
    assert y.name == "cond/Merge:0" and y.shape.as_list() == [2]
    assert run(y, {pred: True, x: FEED}).tolist() == [2, 3]
    assert run(y, {pred: False, x: FEED}).tolist() == [2, 4]


def test_cond_takes_the_argument_names_of_all_eras(pred, x):
    for kwargs in ({"true_fn": lambda: x, "false_fn": lambda: x * 2}, {"fn1": lambda: x, "fn2": lambda: x * 2}):
        assert run(tf.cond(pred, **kwargs), {pred: False, x: FEED}).tolist() == [2, 4]


def test_cond_gives_nested_structures_and_unpacks_singletons(pred, x):
    pair = collections.namedtuple("pair", "a b")
    y = tf.cond(pred, lambda: pair(x, [{"k": x + 1}]), lambda: pair(x * 2, [{"k": x}]))
    assert isinstance(y, pair) and y.b[0]["k"].name == "cond/Merge_1:0"
    assert run(y.b[0]["k"], {pred: True, x: FEED}).tolist() == [2, 3]
    assert isinstance(tf.cond(pred, lambda: [x], lambda: [x]), tf.Tensor)
    assert isinstance(tf.cond(pred, lambda: [x], lambda: [x], strict=True), list)


def test_cond_runs_operations(pred):
    v = tf.Variable(1.0)
    op = tf.cond(pred, lambda: v.assign(5.0).op, lambda: tf.no_op())
    assert op.dtype == tf.bool and op.name == "cond/Merge:0"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(op, {pred: False})
        assert session.run(v) == 1
        session.run(op, {pred: True})
        assert session.run(v) == 5


def test_cond_takes_numbers_and_variables(pred):
    v = tf.Variable(3.0)
    assert run(tf.cond(pred, lambda: v, lambda: 2.0), {pred: True}) == 3
    assert run(tf.cond(pred, lambda: 1, lambda: 2), {pred: False}) == 2


@pytest.mark.parametrize("call, error, message", [
    (lambda p, x: tf.cond(True, lambda: x, lambda: x), TypeError, "pred must not be a Python bool"),
    (lambda p, x: tf.cond(p, x, lambda: x), TypeError, "true_fn must be callable."),
    (lambda p, x: tf.cond(p, lambda: x, 3), TypeError, "false_fn must be callable."),
    (lambda p, x: tf.cond(p, lambda: x), TypeError, "cond\\(\\): false_fn argument required"),
    (lambda p, x: tf.cond(p, lambda: x, lambda: x, fn1=lambda: x), TypeError, "may not be set simultaneously"),
    (lambda p, x: tf.cond(p, lambda: None, lambda: x), ValueError, "true_fn must have a return value."),
    (lambda p, x: tf.cond(p, lambda: x, lambda: None), ValueError, "false_fn must have a return value."),
    (lambda p, x: tf.cond(p, lambda: x, lambda: (x, x)), ValueError, "don't have the same nested structure"),
    (lambda p, x: tf.cond(p, lambda: 1.0, lambda: 2), ValueError,
     "Outputs of true_fn and false_fn must have the same type: float32, int32"),
    (lambda p, x: tf.cond(x, lambda: x, lambda: x), TypeError, "does not match expected type of bool"),
    (lambda p, x: tf.while_loop(lambda i: i < 3, lambda i: i + 1, []), ValueError, "No loop variables provided"),
    (lambda p, x: tf.while_loop(3, lambda i: i + 1, [0]), TypeError, "cond must be callable."),
    (lambda p, x: tf.while_loop(lambda i: i < 3, 4, [0]), TypeError, "body must be callable."),
    (lambda p, x: tf.while_loop(lambda i: 3, lambda i: i + 1, [0]), TypeError, "does not match expected type of bool"),
    (lambda p, x: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], parallel_iterations=0), TypeError,
     "parallel_iterations must be a positive integer."),
    (lambda p, x: tf.while_loop(lambda i, j: i < 3, lambda i, j: (i + 1,), (0, x)), ValueError,
     "The two structures don't have the same"),
    (lambda p, x: tf.while_loop(lambda i, j: i < 3, lambda i, j: (i + 1, tf.concat([j, j], 0)), (0, x)), ValueError,
     r"enters the loop with shape \(2,\), but has shape \(4,\) after one iteration"),
    (lambda p, x: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], [tf.TensorShape([2])]), ValueError,
     "The shape invariant specified for while/Const:0 is not compatible with the initial shape"),
    (lambda p, x: tf.case([(1, lambda: x)]), TypeError, "pred must be a Tensor, got: 1"),
    (lambda p, x: tf.case([(p, x)]), TypeError, "fn for pred pred:0 must be callable."),
    (lambda p, x: tf.case([(p,)]), TypeError, "Each entry in pred_fn_pairs must be a 2-tuple"),
])
def test_mistakes_are_told_as_tensorflow_tells_them(pred, x, call, error, message):
    with pytest.raises(error, match=message):
        call(pred, x)


def test_exceptions_of_callbacks_come_out_as_they_are_and_leave_the_graph_usable(pred, x):
    class Mine(Exception):
        pass

    def fail(*args):
        raise Mine("here")

    for call in (lambda: tf.cond(pred, fail, lambda: x), lambda: tf.while_loop(fail, lambda i: i, [0]),
                 lambda: tf.while_loop(lambda i: i < 1, fail, [0])):
        with pytest.raises(Mine, match="here"):
            call()
    assert tf.get_default_graph().get_name_scope() == ""
    assert run(tf.cond(pred, lambda: x, lambda: x + 1), {pred: False, x: FEED}).tolist() == [2, 3]


def test_while_loop_counts_and_keeps_the_bodys_structure(x):
    i, state = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, {"v": s["v"] * 2}), (0, {"v": x}))
    assert i.name == "while/Exit:0" and state["v"].name == "while/Exit_1:0"
    assert [v.tolist() for v in run([i, state["v"]], {x: FEED})] == [3, [8, 16]]
    assert run(tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])) == 3
    assert run(tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [0], return_same_structure=True)) == [3]


def test_while_loop_takes_shape_invariants_and_maximum_iterations():
    start = tf.constant([[1.0, 2.0]])
    _, grown = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.concat([v, v], 0)), [0, start],
                             shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])])
    assert grown.shape.as_list() == [None, 2]
    assert run(grown).shape == (8, 2)
    assert run(tf.while_loop(lambda i: True, lambda i: i * 2, [1], maximum_iterations=5)) == 32
    i, j = tf.while_loop(lambda i, j: i < 100, lambda i, j: (i + 1, j + i), (0, 0), maximum_iterations=tf.constant(4))
    assert run([i, j]) == [4, 6]


def test_tensors_of_a_loop_stay_inside():
    inside = []

    def body(i):
        inside.append(i + 1)
        return inside[0]

    y = tf.while_loop(lambda i: i < 3, body, [0])
    with pytest.raises(ValueError, match="Cannot use 'while/add' as input to 'add' because 'while/add' is in a while loop."):
        inside[0] + 1
    with tf.Session() as session:
        with pytest.raises(ValueError, match="has been marked as not fetchable"):
            session.run(inside[0])
        with pytest.raises(ValueError, match="may not be fed"):
            session.run(y, {inside[0]: 1})


def test_case_takes_the_first_true_predicate():
    n = tf.placeholder(tf.int32, [])
    pairs = [(n < 1, lambda: tf.constant(10)), (n < 5, lambda: tf.constant(20))]
    y, exclusive = tf.case(pairs, default=lambda: tf.constant(30)), tf.case(pairs, exclusive=True)
    assert y.name == "case/cond/Merge:0"
    with tf.Session() as session:
        assert [session.run(y, {n: k}) for k in (0, 3, 7)] == [10, 20, 30]
        assert session.run(exclusive, {n: 3}) == 20
        with pytest.raises(tf.errors.InvalidArgumentError, match="exclusive=True"):
            session.run(exclusive, {n: 0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions evaluated as True"):
            session.run(exclusive, {n: 7})


def test_get_variable_inside_a_body_makes_it_outside(pred, x):
    def branch():
        return x * tf.get_variable("w", [2], initializer=tf.ones_initializer())

    y = tf.cond(pred, branch, lambda: x)
    assert [v.name for v in tf.trainable_variables()] == ["w:0"]
    assert run(y, {pred: True, x: FEED}).tolist() == FEED

    def body(i, v):
        return i + 1, v * tf.get_variable("k", [], initializer=tf.constant_initializer(3.0))

    assert run(tf.while_loop(lambda i, v: i < 2, body, (0, x))[1], {x: FEED}).tolist() == [9, 18]


def test_initialized_value_reads_or_initialises():
    v = tf.Variable(tf.random_normal([3]))
    w = tf.Variable(v.initialized_value() * 2)
    with tf.Session() as session:
        session.run(w.initializer)  # v has no value yet
        session.run(v.initializer)
        session.run(w.initializer)
        a, b = session.run([v, w])
        np.testing.assert_allclose(b, 2 * a)


def test_gradients_of_cond_and_while_loop(pred, x):
    y = tf.cond(pred, lambda: tf.exp(x) * x, lambda: x * x)
    dx, = tf.gradients(y, x)
    np.testing.assert_allclose(run(dx, {pred: True, x: FEED}), [2 * np.e, 3 * np.e ** 2], rtol=1e-6)
    np.testing.assert_allclose(run(dx, {pred: False, x: FEED}), [2, 4])
    z = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), (0, x))[1]
    dz, = tf.gradients(z, x)
    assert run(dz, {x: FEED}).tolist() == [4, 32]
    with pytest.raises(TypeError, match="Second-order gradient for while loops not supported."):
        tf.gradients(dz, x)
    stopped = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), (0, x), back_prop=False)[1]
    assert tf.gradients(stopped, x) == [None]


def test_gradients_inside_bodies(x):
    def body(i, v):  # Newton's method for v * v == x
        slope, = tf.gradients(v * v, v)
        return i + 1, v - (v * v - x) / slope

    _, root = tf.while_loop(lambda i, v: i < 20, body, (0, tf.ones([2])))
    np.testing.assert_allclose(run(root, {x: [2.0, 9.0]}), [2 ** 0.5, 3], rtol=1e-6)


def test_training_through_a_loop_learns():
    steps = tf.placeholder(tf.int32, [])
    w = tf.get_variable("w", [2, 2], initializer=tf.constant_initializer(0.5))
    _, h = tf.while_loop(lambda i, h: i < steps, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), (0, tf.ones([3, 2])))
    loss = tf.reduce_sum(tf.square(h - [[0.3, -0.2]]))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = session.run(loss, {steps: 3})
        for _ in range(50):
            session.run(train, {steps: 3})
        assert session.run(loss, {steps: 3}) < first / 10


def test_training_inside_a_branch(pred):
    v = tf.Variable(1.0)
    train = tf.cond(pred, lambda: tf.train.GradientDescentOptimizer(0.5).minimize(tf.square(v)), lambda: tf.no_op())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train, {pred: False})
        assert session.run(v) == 1
        session.run(train, {pred: True})
        assert session.run(v) == 0


def test_dropout_in_a_branch_draws_one_mask(pred):
    x = tf.ones([64])
    y = tf.cond(pred, lambda: tf.nn.dropout(x, 0.5), lambda: x)
    value, slope = run([y, tf.gradients(y, x)[0]], {pred: True})
    np.testing.assert_array_equal(value, slope)


# Variables.


def test_loops_see_what_they_assign():
    v = tf.get_variable("v", [], initializer=tf.constant_initializer(2))

    def body(i):
        squared = tf.cond(tf.constant(True), lambda: tf.assign(v, tf.square(v)), lambda: v)
        with tf.control_dependencies([squared]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 4, body, [0])
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(loop) == 4 and session.run(v) == 65536


def test_the_condition_of_a_loop_sees_what_its_body_assigns():
    a, b = tf.Variable(0), tf.Variable(0)

    def body(_):
        with tf.control_dependencies([tf.assign_add(a, 1), tf.assign_add(b, 1)]):
            return tf.identity(b)

    loop = tf.while_loop(lambda _: tf.less(b, 10), body, [b])
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=20000)) as session:
        session.run(tf.global_variables_initializer())
        session.run(loop)
        assert session.run([a, b]) == [10, 10]


def test_inner_loops_read_what_outer_ones_assign():
    v = tf.Variable(1.0)

    def body(i, total):
        inner = tf.while_loop(lambda j, _: j < 2, lambda j, sum_: (j + 1, sum_ + v), [0, 0.0])[1]
        with tf.control_dependencies([inner]):
            doubled = tf.assign(v, v * 2.0)
        with tf.control_dependencies([doubled]):
            return i + 1, total + inner

    assert run(tf.while_loop(lambda i, _: i < 3, body, [0, 0.0])[1]) == 2 + 4 + 8


def test_a_value_read_before_a_loop_stays_as_it_was():
    v = tf.Variable(3.0)
    before = v.read_value()

    def body(i, _):
        with tf.control_dependencies([tf.assign_add(v, 1.0)]):
            return i + 1, tf.identity(before)

    assert run(tf.while_loop(lambda i, _: i < 3, body, [0, 0.0])[1]) == 3


def test_optimizers_train_inside_loops():
    w = tf.Variable(5.0)
    optimizer = tf.train.GradientDescentOptimizer(0.1)

    def body(i):
        gradient = tf.gradients(tf.square(w), w)[0]
        with tf.control_dependencies([optimizer.apply_gradients([(gradient, w)])]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 10, body, [0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(loop)
        np.testing.assert_allclose(session.run(w), 5 * 0.8**10, rtol=1e-5)


# Order.


def test_bodies_wait_for_loop_variables_and_fed_placeholders():
    gate = tf.placeholder(tf.bool)

    def body(n, r):
        with tf.control_dependencies([r, gate]):
            return n + 1, tf.constant(12)

    with tf.control_dependencies([gate]):
        loop = tf.while_loop(lambda n, _: n < 3, body, [0, 0])
    assert run(loop, {gate: True}) == (3, 12)


def test_branches_wait_only_for_what_their_results_need():
    never = tf.placeholder(tf.float32, [])
    a = tf.constant(3)

    def branch():
        with tf.control_dependencies([never]):
            a + 1
        return a + 2

    assert run(tf.cond(tf.constant(True), branch, lambda: tf.constant(1))) == 5


def test_constants_wait_for_their_dependencies():
    v = tf.Variable(7.0)
    with tf.control_dependencies([v.initializer]):
        first = tf.identity(tf.constant(10))
    with tf.control_dependencies([first]):
        second = tf.identity(tf.constant(20))
    with tf.Session() as session:
        assert session.run(second) == 20 and session.run(v) == 7


def test_tuples_wait_for_effects_behind_every_tensor():
    v, w = tf.Variable([1.0]), tf.Variable([10.0])
    sums = []
    for variable in (v, w):
        with tf.control_dependencies([variable.initializer]):
            sums.append(tf.identity(variable._ref()) + 2.0)
    first, nothing, _ = tf.tuple([sums[0], None, sums[1]])
    with tf.Session() as session:
        assert nothing is None and session.run(first) == [3] and session.run(w) == [10]


# Sparse values.


def test_branches_give_indexed_slices_and_sparse_tensors(pred):
    slices = tf.cond(pred, lambda: tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])),
                     lambda: tf.IndexedSlices(tf.constant([2.0]), tf.constant([1])))
    assert isinstance(slices, tf.IndexedSlices) and slices.indices.dtype == tf.int32
    mixed = tf.cond(pred, lambda: tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])),
                    lambda: tf.IndexedSlices(tf.constant([2.0]), tf.constant([1], tf.int64)))
    assert mixed.indices.dtype == tf.int64
    sparse = tf.cond(pred, lambda: tf.SparseTensor([[0, 1]], [1.0], [2, 2]), lambda: tf.SparseTensor([[1, 1]], [2.0], [2, 2]))
    values = run([slices, mixed, sparse], {pred: False})
    assert values[0].values == [2] and values[0].indices == [1] and values[1].indices == [1]
    assert values[2].indices.tolist() == [[1, 1]] and values[2].dense_shape.tolist() == [2, 2]
    with pytest.raises(TypeError, match="Cannot reconcile tf.cond 0-th outputs"):
        tf.cond(pred, lambda: tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])), lambda: tf.constant([1.0]))


def test_loops_carry_indexed_slices_and_sparse_tensors():
    values = tf.constant([2.0, 4.0])
    slices = tf.IndexedSlices(values, tf.constant([0, 3]), tf.constant([10]))
    double = lambda i, x: (i + 1, tf.IndexedSlices(x.values * 2.0, x.indices, x.dense_shape))
    _, last = tf.while_loop(lambda i, _: i < 10, double, [0, slices])
    assert last.values.shape.as_list() == [2]
    gradient = tf.gradients(last.values, values)[0]
    assert [v.tolist() for v in run([last.values, gradient])] == [[2048, 4096], [1024, 1024]]

    sparse = tf.SparseTensor([[0], [3]], values, [10])
    more = lambda i, x: (i + 1, tf.SparseTensor(tf.concat([x.indices, x.indices], 0), tf.concat([x.values, x.values], 0),
                                                x.dense_shape))
    _, last = tf.while_loop(lambda i, _: i < 2, more, [0, sparse])
    assert last.indices.shape.as_list() == [None, 1] and last.dense_shape.shape.as_list() == [1]
    assert run(last).values.tolist() == [2, 4] * 4
    with pytest.raises(ValueError, match="is not compatible with"):
        tf.while_loop(lambda i, _: i < 2, more, [0, sparse], [tf.TensorShape([]), tf.TensorShape([5])])


# Indices.


def test_switch_case_takes_one_of_many_branches():
    index = tf.placeholder(tf.int32, [])
    branches = [lambda i=i: tf.constant(10.0 * i) for i in range(5)]
    last = tf.switch_case(index, branches)
    default = tf.switch_case(index, dict(enumerate(branches)), default=lambda: tf.constant(-1.0))
    expected = {-1: (40, -1), 0: (0, 0), 3: (30, 30), 4: (40, 40), 5: (40, -1)}
    for value, results in expected.items():
        assert tuple(run([last, default], {index: value})) == results
    x = [tf.constant(float(i)) for i in range(5)]
    y = tf.switch_case(index, [lambda i=i: x[i] ** 2.0 for i in range(5)])
    assert run(tf.gradients(y, x), {index: 3}) == [0, 0, 0, 6, 0]


def test_switch_case_refuses_what_is_no_index():
    with pytest.raises(TypeError, match="branch_index must be a Tensor"):
        tf.switch_case(1, [lambda: 1])
    with pytest.raises(ValueError, match="must form contiguous"):
        tf.switch_case(tf.constant(0), {0: lambda: 1, 2: lambda: 2})
    with pytest.raises(TypeError, match="must be a Python `int`"):
        tf.switch_case(tf.constant(0), [(tf.constant(0), lambda: 1)])


# Mistakes.


def test_graphs_know_what_can_be_fed_and_fetched(graph):
    inside = []

    def body(i):
        inside.append(i)
        return i + 1

    loop = tf.while_loop(lambda i: i < 3, body, [0])
    assert not graph.is_feedable(inside[0]) and not graph.is_fetchable(inside[0])
    assert graph.is_feedable(loop) and graph.is_fetchable(loop) and graph.is_fetchable(loop.op)
    graph.prevent_feeding(loop)
    graph.prevent_fetching(loop.op)
    assert not graph.is_feedable(loop) and not graph.is_fetchable(loop)


def test_gradients_stop_at_the_first_value_of_a_loop_variable():
    x = tf.placeholder(tf.float32, [], name="x")
    with pytest.raises(ValueError, match="Cannot compute gradient inside while loop with respect to op 'x'"):
        tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, tf.gradients(v * 2, x)[0]), [0, x + 1])


def test_second_derivatives_that_do_not_go_through_a_loop_are_none(pred):
    x = tf.constant(1.0)
    step = lambda i, v: (i + 1, tf.cond(pred, lambda: v * 2.0, lambda: 10.0))
    first = tf.gradients(tf.while_loop(lambda i, _: i < 3, step, [0, x]), x)[0]
    assert tf.gradients(first, x) == [None]
    assert run(first, {pred: True}) == 8


def test_predicates_are_scalars_when_a_run_knows():
    pred = tf.placeholder(tf.bool)
    y = tf.cond(pred, lambda: 1, lambda: 2)
    assert run(y, {pred: False}) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must be a scalar, but it has shape \[2\]"):
        run(y, {pred: [True, False]})


def test_tensors_of_another_loop_are_refused():
    inside = []

    def body(i):
        inside.append(tf.constant(1))
        return i + inside[0]

    tf.while_loop(lambda i: i < 3, body, [0])
    with pytest.raises(ValueError, match="Cannot use 'while/Const_1' as input to 'while_1/NextIteration' because they are"):
        tf.while_loop(lambda i: i < 3, lambda i: inside[0], [0])


def test_programs_can_ask_where_they_build():
    from weir.core import control_flow_context as control_flow_util

    graph = tf.get_default_graph()
    assert graph._get_control_flow_context() is None

    def body(i):
        loop = graph._get_control_flow_context()
        assert loop.IsWhileContext() and not loop.IsCondContext() and loop.outer_context is None

        def branch():
            here = graph._get_control_flow_context()
            assert here.IsCondContext() and here.outer_context == loop != here
            assert control_flow_util.GetContainingWhileContext(here) == loop
            assert control_flow_util.GetContainingXLAContext(here) is None
            inside = i + 1
            assert control_flow_util.IsInCond(inside.op) and control_flow_util.IsInWhileLoop(inside.op)
            return inside

        return tf.cond(i > 2, branch, lambda: i + 2)

    result = tf.while_loop(lambda i: i < 9, body, [tf.constant(0)])
    assert graph._get_control_flow_context() is None
    assert not control_flow_util.IsInWhileLoop(result.op)
    with tf.Session() as sess:
        assert sess.run(result) == 9


def test_a_branch_that_does_not_fit_the_shapes_is_an_error_only_when_it_is_taken():
    x = tf.placeholder(tf.float32, [None, None])
    steps = tf.shape(tf.identity(x) * 2.0)[1]
    square = tf.cond(tf.equal(steps, 3), lambda: tf.matmul(x, tf.ones([3, 1])), lambda: tf.reduce_sum(x, 1, keepdims=True))
    forced = tf.cond(tf.equal(steps, 5), lambda: tf.matmul(x, tf.ones([3, 1])), lambda: tf.zeros([1, 1]))
    gradient = tf.gradients(square, x)[0]
    with tf.Session() as sess:
        for columns in (3, 5):
            values = np.ones([2, columns], np.float32)
            assert sess.run(square, {x: values}).tolist() == [[columns], [columns]]
            assert sess.run(gradient, {x: values}).tolist() == values.tolist()
        with pytest.raises(tf.errors.InvalidArgumentError, match="Matrix size-incompatible"):
            sess.run(forced, {x: np.ones([2, 5])})


def test_values_from_around_a_branch_do_not_forbid_it(pred):
    sizes = tf.stack([5, 10])
    masks = tf.ones([3, 4, 2])
    y = tf.cond(pred, lambda: tf.reshape(masks, [-1, sizes[0], sizes[1]]), lambda: masks)
    assert run(y, {pred: False}).shape == (3, 4, 2)
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(y, {pred: True})
