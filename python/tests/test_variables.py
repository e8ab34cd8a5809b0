"""Variables as programs make and read them."""

import numpy as np
import pytest
import weir as tf


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_a_function_without_arguments_tells_shape_and_type(session):
    v = tf.get_variable("v", initializer=lambda: tf.ones([3], tf.float64))
    assert v.shape.as_list() == [3] and v.dtype.base_dtype == tf.float64
    session.run(v.initializer)
    np.testing.assert_array_equal(session.run(v), np.ones(3))


def test_a_value_is_cut_into_parts(session):
    value = np.arange(10, dtype=np.float32).reshape(5, 2)
    parts = tf.get_variable("w", partitioner=tf.fixed_size_partitioner(3), initializer=tf.constant(value))
    session.run(tf.global_variables_initializer())
    assert [part.shape.as_list() for part in parts] == [[2, 2], [2, 2], [1, 2]]
    np.testing.assert_array_equal(np.concatenate(session.run(list(parts))), value)


@pytest.mark.parametrize("read", [lambda v: v + 0.0, tf.identity, lambda v: v.value() * 1.0, lambda v: v.read_value()])
def test_a_resource_variable_is_read_after_what_the_reader_waits_for(session, read):
    v = tf.get_variable("v", initializer=tf.constant(1.0), use_resource=True)
    with tf.control_dependencies([v.assign(5.0)]):
        after = read(v)
    session.run(v.initializer)
    assert session.run(after) == 5.0


def test_embeddings_in_parts_of_unknown_shape(session):
    table = np.random.RandomState(0).rand(13, 4).astype(np.float32)
    ids = [0, 12, 5, 5, 7]
    for strategy, cut in (("mod", [table[i::3] for i in range(3)]), ("div", np.array_split(table, 3))):
        parts = [tf.placeholder(tf.float32) for _ in cut]
        rows = tf.nn.embedding_lookup(parts, ids, strategy)
        np.testing.assert_array_equal(session.run(rows, dict(zip(parts, cut))), table[ids])


@pytest.mark.parametrize("use_resource", [False, True])
def test_an_empty_list_of_collections_means_none(use_resource):
    tf.get_variable("v", [2], collections=[], use_resource=use_resource, trainable=False)
    tf.get_variable("w", [2], collections=[], use_resource=use_resource)
    tf.Variable(1.0, collections=[], trainable=False)
    assert tf.global_variables() == []
    assert [v.op.name for v in tf.trainable_variables()] == ["w"]


def test_a_variable_without_elements_is_initialized(session):
    empty = tf.Variable(np.zeros((0, 3), np.float32), name="empty")
    tf.Variable(1.0, name="full")
    assert session.run(tf.report_uninitialized_variables()).tolist() == [b"full"]
    assert session.run(empty).shape == (0, 3)


def test_an_empty_name_is_a_scope_as_in_tensorflow():
    with tf.variable_scope("linear"):
        with tf.variable_scope(None, default_name=""):
            assert tf.get_variable("w", [1]).op.name == "linear//w"
        with tf.variable_scope(""):
            assert tf.get_variable("v", [1]).op.name == "linear//v"
    with tf.variable_scope(""):
        assert tf.get_variable("z", [1]).op.name == "z"


def test_creators_make_variables(session):
    seen = []

    def outer(next_creator, **kwargs):
        seen.append(("outer", kwargs["name"]))
        return next_creator(**kwargs)

    def inner(next_creator, **kwargs):
        kwargs["trainable"] = False
        made = next_creator(**kwargs)
        seen.append(("inner", made.op.name))
        return made

    with tf.variable_creator_scope(outer), tf.variable_creator_scope(inner):
        v = tf.Variable(1.0, name="v")
        with tf.variable_scope("s"):
            w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        with tf.variable_scope("s", reuse=True):
            assert tf.get_variable("w", [2]) is w
    after = tf.Variable(2.0)
    assert seen == [("outer", "v"), ("inner", "v"), ("outer", "s/w"), ("inner", "s/w")]
    assert tf.trainable_variables() == [after]
    session.run(tf.global_variables_initializer())
    assert session.run(v) == 1 and session.run(w).tolist() == [1, 1]


def test_a_creator_may_change_the_initial_value_or_give_something_else(session):
    with tf.variable_creator_scope(lambda next_creator, **kwargs: next_creator(**dict(kwargs, initial_value=[5.0, 6.0]))):
        w = tf.get_variable("w", [2])
    with tf.variable_creator_scope(lambda next_creator, **kwargs: kwargs["initial_value"]):
        assert tf.Variable(7.0) == 7
    session.run(w.initializer)
    assert session.run(w).tolist() == [5, 6]


def test_a_template_whose_scope_is_made_at_once_names_nodes_after_it():
    def double(x):
        return x * tf.get_variable("w", [])

    template = tf.make_template("a", double, create_scope_now_=True)
    assert not template._variables_created  # NiftyNet's layers ask
    assert [template(tf.constant(1.0)).name for _ in range(2)] == ["a/mul:0", "a_1/mul:0"]
    assert template.variable_scope.name == "a"


def test_a_getter_that_says_nothing_about_reuse_gets_what_is_there():
    def with_suffix(getter, name, *args, **kwargs):
        kwargs["reuse"] = None
        return getter(f"{name}_suffix", *args, **kwargs)

    made = []
    for _ in range(2):
        with tf.variable_scope("s", custom_getter=with_suffix):
            made.append(tf.get_variable("w", []))
    assert made[0] is made[1] and made[0].name == "s/w_suffix:0"


def test_a_resource_variable_may_have_an_initial_value_of_unknown_shape():
    initial = tf.placeholder_with_default(tf.zeros([2, 3]), shape=None)
    variable = tf.Variable(initial, trainable=False, use_resource=True)
    assert variable.shape.ndims is None
    grown = tf.assign(variable, tf.ones([4, 3]), validate_shape=False)
    with tf.Session() as sess:
        sess.run(variable.initializer)
        assert sess.run(variable).shape == (2, 3)
        sess.run(grown)
        assert sess.run(variable).tolist() == [[1] * 3] * 4
    with pytest.raises(ValueError, match="must be known"):
        tf.Variable(initial)


def test_scopes_that_libraries_write_into_the_collection_are_current():
    from weir.core.variable_scope import _VARSCOPE_KEY

    with tf.variable_scope("outer"):
        outer = tf.get_variable_scope()
        scopes = tf.get_collection_ref(_VARSCOPE_KEY)
        assert scopes[0] is outer and len(scopes) == 1
        scopes[0] = tf.VariableScope(False, name="outer/written")
        assert tf.get_variable("v", []).name == "outer/written/v:0"
        scopes[0] = outer
        assert tf.get_variable_scope() is outer and tf.get_variable("v", []).name == "outer/v:0"


def test_a_variable_of_no_known_shape_is_updated_by_that_of_its_value():
    variable = tf.Variable(tf.constant([]), validate_shape=False)
    rows = tf.placeholder(tf.float32, [None, 2])
    grown = tf.assign(variable, rows, validate_shape=False)
    same, added = tf.assign(variable, rows), tf.scatter_add(variable, [1], tf.reduce_sum(rows, 0, keepdims=True))
    with tf.Session() as sess:
        sess.run(variable.initializer)
        sess.run(grown, {rows: np.ones((3, 2))})
        assert sess.run(same, {rows: np.zeros((3, 2))}).tolist() == [[0, 0]] * 3
        assert sess.run(added, {rows: np.ones((4, 2))}).tolist() == [[0, 0], [4, 4], [0, 0]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="shapes of both tensors"):
            sess.run(same, {rows: np.ones((4, 2))})
        sess.run(grown, {rows: np.ones((1, 2))})
        assert sess.run(same, {rows: np.zeros((1, 2))}).tolist() == [[0, 0]]


def test_a_variable_takes_another_shape_where_none_is_checked():
    names = tf.Variable([], dtype=tf.string)
    read = tf.identity(names)
    grow = tf.assign(names, tf.concat([names, ["a"]], 0), validate_shape=False)
    with tf.Session() as sess:
        sess.run(names.initializer)
        assert sess.run(read).tolist() == []
        for expected in ([b"a"], [b"a", b"a"]):
            assert sess.run(grow).tolist() == expected and sess.run(read).tolist() == expected


def test_messages_give_variables_back_in_the_graph_that_has_them():
    with tf.Graph().as_default():
        for resource in (False, True):
            v = tf.Variable(2., use_resource=resource)
            w = tf.Variable.from_proto(v.to_proto())
            assert (w.name, w.dtype, w.trainable) == (v.name, v.dtype, True)
            with tf.Session() as sess:
                sess.run(v.initializer)
                assert sess.run(w + 1.) == 3.
                assert sess.run(w.assign_add(1.)) == 3.


def test_updates_without_a_read_are_operations():
    with tf.Graph().as_default():
        for resource in (False, True):
            v = tf.Variable(1., use_resource=resource)
            update = v.assign_add(2., read_value=False)
            assert isinstance(update, tf.Operation) and update.type.startswith("AssignAdd")
            with tf.Session() as sess:
                sess.run(v.initializer)
                sess.run(update)
                assert sess.run(v) == 3.


def test_first_values_may_come_from_other_variables():
    for resource in (False, True):
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.Variable(tf.random_normal([3]), use_resource=resource)
            copied, doubled = tf.Variable(v, use_resource=resource), tf.Variable(2. * v, use_resource=resource)
            shared = tf.get_variable("shared", initializer=tf.concat([doubled, v], 0), use_resource=resource)
            sess.run(tf.global_variables_initializer())
            a, b, c, d = sess.run([v, copied, doubled, shared])
            np.testing.assert_array_equal(b, a)
            np.testing.assert_array_equal(c, 2 * a)
            np.testing.assert_array_equal(d, np.concatenate([c, a]))
            # What has a value keeps it: the next first value is computed from that.
            sess.run(v.assign([1., 2., 3.]))
            sess.run(doubled.initializer)
            assert sess.run(doubled).tolist() == [2., 4., 6.]


def test_a_saver_restores_into_a_graph_with_the_same_names(tmp_path):
    path = str(tmp_path / "model")
    savers = []
    for first in (1., 2.):
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.Variable(first, name="v")
            savers.append(tf.train.Saver({"v": v}))
            sess.run(v.initializer)
            if first == 1.:
                savers[0].save(sess, path)
            else:
                savers[0].restore(sess, path)
                assert sess.run(v) == 1.


def test_partitioned_variables_are_updated_part_by_part():
    with tf.Graph().as_default(), tf.Session() as sess:
        with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
            v = tf.get_variable("v", initializer=tf.constant([1., 2., 3.]))
        sess.run(tf.global_variables_initializer())
        sess.run(v.assign_add([10., 20., 30.]))
        sess.run(v.assign_sub([[1., 1.], [1.]]))
        operations = v.assign_sub(v, read_value=False)
        assert sess.run(tf.convert_to_tensor(v)).tolist() == [10., 21., 32.]
        assert all(isinstance(op, tf.Operation) for op in operations)
        sess.run(operations)
        assert sess.run(tf.convert_to_tensor(v)).tolist() == [0., 0., 0.]
