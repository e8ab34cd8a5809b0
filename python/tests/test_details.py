"""Small things that TensorFlow's own tests look at: words of messages, names of nodes, arguments of other kinds."""

import numpy as np
import pytest

import weir as tf
from weir.core.op_functions import RawOps
from weir.file_io import FileIO

raw = RawOps()


def _sparse():
    return tf.SparseTensor([[0, 1], [1, 0]], [1.5, -2.0], [2, 2])


@pytest.mark.parametrize("function, values", [
    (tf.abs, [1.5, 2]), (tf.square, [2.25, 4]), (tf.negative, [-1.5, 2]), (tf.sign, [1, -1]),
    (lambda x: tf.cast(x, tf.int32), [1, -2]), (tf.to_int64, [1, -2]),
    (lambda x: tf.constant([[1.0, 2.0], [3.0, 4.0]]) * x, [3, -6]),
])
def test_functions_of_elements_take_sparse_tensors(sess, function, values):
    result = sess.run(function(_sparse()))
    assert result.values.tolist() == values and result.indices.tolist() == [[0, 1], [1, 0]]


def test_sparse_tensors_have_shape_size_and_rank(sess):
    for sparse in (_sparse(), tf.SparseTensorValue([[0, 1]], [1.0], [2, 2])):
        assert sess.run(tf.shape(sparse)).tolist() == [2, 2]
        assert sess.run([tf.size(sparse), tf.rank(sparse)]) == [4, 2]
    assert _sparse().shape.dtype == tf.int64


def test_functions_of_one_argument_take_it_by_name(sess):
    assert sess.run(tf.square(x=3.0)) == 9 and tf.tanh(1.0, name="t").op.name == "t"


def test_the_conjugate_of_real_numbers_is_themselves():
    x = tf.constant([1, 2])
    assert tf.conj(x) is x and tf.conj(tf.constant(1j)).op.type == "Conj"
    with pytest.raises(TypeError, match="Expected numeric"):
        tf.conj(tf.constant("a"))


@pytest.mark.parametrize("make, words", [
    (lambda: raw.SparseSegmentSum(data=tf.ones([4, 2]), indices=[0, 9], segment_ids=[0, 0]),
     r"indices\[1\] == 9 out of range \[0, 4\)"),
    (lambda: raw.SparseSegmentSumWithNumSegments(data=tf.ones([4, 2]), indices=[0], segment_ids=[3], num_segments=2),
     "segment ids must be < num_segments"),
    (lambda: raw.SparseToDense(sparse_indices=[[1], [7]], output_shape=[5], sparse_values=[1, 2], default_value=0),
     r"indices\[1\] = \[7\] is out of bounds: need 0 <= index < \[5\]"),
    (lambda: raw.SparseToDense(sparse_indices=[[1], [1]], output_shape=[5], sparse_values=[1, 2], default_value=0),
     r"indices\[1\] = \[1\] is repeated"),
    (lambda: raw.SparseToDense(sparse_indices=[[2], [1]], output_shape=[5], sparse_values=[1, 2], default_value=0),
     r"indices\[1\] = \[1\] is out of order"),
    (lambda: raw.SparseToDense(sparse_indices=[[1], [2]], output_shape=[5], sparse_values=[1, 2, 3], default_value=0),
     r"sparse_values has incorrect shape \[3\], should be \[\] or \[2\]"),
    (lambda: raw.ParseTensor(serialized="bogus", out_type=tf.float32), "Could not parse `serialized` as TensorProto: 'bogus'"),
    (lambda: tf.scatter_nd([[0], [1]], tf.ones([3, 2]), [4, 2]), r"The outer 1 dimensions of indices\.shape=\[2,1\]"),
    (lambda: tf.scatter_nd([[0], [1]], tf.ones([2, 3]), [4, 2]), r"The inner 1 dimensions of output\.shape=\[4,2\]"),
    (lambda: tf.reshape(tf.ones([4]), [3, -1]), "must be evenly divisible by 3"),
    (lambda: tf.reshape(tf.ones([4]), [3, 7]), "is a tensor with 4 values, but the requested shape has 21"),
    (lambda: tf.unstack(tf.placeholder(tf.float32, [None, 2])), r"Cannot infer num from shape \(\?, 2\)"),
    (lambda: tf.assert_equal([1, 2, 3], [1, 2]), "must be"),
])
def test_messages_are_tensorflows(sess, make, words):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=words):
        sess.run(make())


def test_numbers_in_text_may_be_hexadecimal(sess):
    assert sess.run(tf.string_to_number(["0xF", "0X10"])).tolist() == [15, 16]
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert string"):
        sess.run(tf.string_to_number(["0x"]))


def test_dropout_that_keeps_everything_is_its_argument():
    x = tf.zeros([3])
    assert tf.nn.dropout(x, tf.constant(1.0)) is x


def test_a_custom_getter_is_called_outside_of_scopes_of_names():
    def getter(inner, name, *args, **kwargs):
        first = inner(f"{name}/0", *args, **kwargs)
        with tf.name_scope("getter"):
            return first + 1.0

    with tf.variable_scope("scope", custom_getter=getter):
        assert tf.get_variable("v", [2]).name == "getter/add:0"


def test_the_store_of_variables_gives_what_it_has():
    from weir.core.variable_scope import _get_default_variable_store

    store = _get_default_variable_store()
    assert store.get_variable("v", [1]) is store.get_variable("v", [1])


def test_a_template_makes_its_variables_in_its_first_call():
    template = tf.make_template("t", lambda: tf.Variable(1.0))
    template()
    with pytest.raises(ValueError, match="after the first time"):
        template()


def test_the_type_of_a_variable_serves_for_its_values(sess):
    variable = tf.Variable(1.0)
    assert variable.dtype._is_ref_dtype
    assert tf.placeholder(variable.dtype, []).dtype == tf.float32
    assert tf.zeros([2], variable.dtype).dtype == tf.float32


def test_operations_are_numbered_in_the_order_of_their_making():
    first, second = tf.constant(1).op, tf.constant(2).op
    assert first._id < second._id


def test_shapes_that_nobody_knows_are_not_unequal():
    with pytest.raises(ValueError, match="inequality of unknown"):
        tf.TensorShape(None) != tf.TensorShape([2])  # noqa: B015
    assert tf.TensorShape([1]) != tf.TensorShape([2])


def test_files_opened_for_reading_and_writing_are_made(tmp_path):
    with FileIO(str(tmp_path / "file"), "r+") as file:
        file.write("text")
        file.seek(0)
        assert file.read() == "text"


def test_a_scalar_may_be_said_to_have_one_element_in_gradient_checks(sess):
    x = tf.constant([1.0, 2.0])
    theory, numeric = tf.test.compute_gradient(x, [2], tf.reduce_sum(x * x) + 1.0, [1])
    np.testing.assert_allclose(theory, numeric, 1e-2)


def test_structures_are_walked_down_to_the_leaves_of_shallower_ones():
    from weir import nest

    deep = {"a": [1, 2], "b": ([3], 4)}
    assert nest.flatten_up_to({"a": 0, "b": 0}, deep) == [[1, 2], ([3], 4)]
    assert nest.map_structure_up_to({"a": 0, "b": (0, 0)}, lambda x: str(x), deep) == {"a": "[1, 2]", "b": ("[3]", "4")}
    assert nest.flatten_with_joined_string_paths(deep) == [("a/0", 1), ("a/1", 2), ("b/0/0", 3), ("b/1", 4)]
    assert nest.map_structure_with_paths(lambda path, x: path, [7, [8]]) == ["0", ["1/0"]]
    for shallow, words in (([0], "same sequence type"), ({"a": 0}, "same sequence length")):
        with pytest.raises((TypeError, ValueError), match=words):
            nest.flatten_up_to(shallow, deep)


def test_inner_names_that_libraries_reach_for(sess):
    from weir.core.variable_scope import _pure_variable_scope
    from weir.ops.init_ops import _assert_float_dtype
    from weir.rnn.cells import _zero_state_tensors

    zeros = _zero_state_tensors((3, tf.TensorShape([2, 2])), 4, tf.float32)
    assert [part.shape.as_list() for part in zeros] == [[4, 3], [4, 2, 2]]
    assert _assert_float_dtype(tf.float16) == tf.float16
    with pytest.raises(ValueError, match="floating"):
        _assert_float_dtype(tf.int32)
    with tf.name_scope("names"), _pure_variable_scope("variables"):
        assert tf.get_variable("v", [1], regularizer={}).name == "variables/v:0"
        assert tf.constant(1.0, name="c").name == "names/c:0"


def test_parts_of_a_variable_are_saved_under_a_name(sess, tmp_path):
    whole = tf.get_variable("whole", [4, 1], partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer())
    saver = tf.train.Saver({"other": list(whole)})
    sess.run(tf.global_variables_initializer())
    path = saver.save(sess, str(tmp_path / "checkpoint"), global_step=1)
    assert tf.train.list_variables(path) == [("other", [4, 1])]
    sess.run([part.assign(part * 0.0) for part in whole])
    saver.restore(sess, path)
    assert sess.run(whole.as_tensor()).tolist() == [[1]] * 4


def test_one_value_fills_no_elements_and_sizes_may_be_whole_floats(sess, tmp_path):
    assert sess.run(tf.constant(0.0, shape=[0, 4])).shape == (0, 4)
    assert tf.zeros([3, 4 / 2]).shape == tf.ones((3.0, 2)).shape == (3, 2)
    with pytest.raises(ValueError, match="Ambiguous dimension"):
        tf.zeros([2.5])
    with pytest.raises(ValueError, match="Too many elements"):
        tf.constant([1, 2, 3], shape=[2])


def test_records_may_be_text(tmp_path):
    path = str(tmp_path / "records")
    with tf.python_io.TFRecordWriter(path) as writer:
        writer.write("text")
    assert list(tf.python_io.tf_record_iterator(path)) == [b"text"]


def test_tensors_of_several_devices_are_reduced_for_each():
    from weir.contrib import nccl

    with tf.Graph().as_default():
        towers = []
        for i in range(2):
            with tf.device(f"/gpu:{i}"):
                towers.append(tf.constant([1.0, 2.0]) * (i + 1.0))
        sums = nccl.all_sum(towers)
        assert [part.device for part in sums] == [tower.device for tower in towers]
        config = tf.ConfigProto(allow_soft_placement=True)
        with tf.Session(config=config) as session:
            assert [value.tolist() for value in session.run(sums)] == [[3, 6], [3, 6]]
            assert session.run(nccl.all_max(towers)[0]).tolist() == [2, 4]
            assert session.run(tf.gradients(nccl.reduce_sum(towers), towers[1]))[0].tolist() == [1, 1]
        with pytest.raises(ValueError, match="unique device"):
            nccl.all_sum([towers[0], towers[0]])
        with pytest.raises(ValueError, match="Device assignment required"):
            nccl.broadcast(tf.constant(1.0))


def test_what_stands_for_a_tensor_is_differentiated_by_it(sess):
    class Named:
        def __init__(self, value):
            self.value = value

    tf.register_tensor_conversion_function(Named, lambda value, dtype=None, name=None, as_ref=False: value.value)
    x = Named(tf.constant(3.0))
    assert sess.run(tf.gradients(tf.square(x.value), x)[0]) == 6


def test_scopes_of_variables_are_made_by_name_from_the_top():
    with tf.Graph().as_default(), tf.variable_scope("outer"):
        absolute = tf.VariableScope(reuse=tf.AUTO_REUSE, name="top/inner", initializer=tf.ones_initializer())
        with tf.variable_scope(absolute, auxiliary_name_scope=False):
            made = tf.get_variable("v", [1])
            assert made.name == "top/inner/v:0" and tf.get_variable("v", [1]) is made
        assert tf.get_variable("w", [1]).name == "outer/w:0"
        with tf.variable_scope(tf.VariableScope(False, "top"), reuse=True):
            assert tf.get_variable("inner/v", [1]) is made


def test_values_of_variables_from_around_a_function_are_no_variables_of_its_own(sess):
    weights = tf.Variable([2.0])
    outer = weights * 3.0  # the function sees a value

    @tf.custom_gradient
    def scaled(x):
        return x * outer, lambda dy: dy * 10.0

    x = tf.constant([1.0])
    sess.run(weights.initializer)
    assert sess.run(tf.gradients(scaled(x), x)[0]).tolist() == [10]

    @tf.custom_gradient
    def reading(x):
        return x * weights, lambda dy: dy

    with pytest.raises(TypeError, match="uses variables"):
        reading(x)


def test_a_wait_at_a_full_queue_names_the_reader_that_empties_it(late):
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(1, tf.string, [[]])
        put = queue.enqueue(["name"])
        tf.WholeFileReader().read(queue, name="reading")
        session.run(put)
        assert "emptied by 'reading'" in late(session, put)


def test_inner_functions_of_math_ops(sess):
    from weir.inner import math_ops

    slices = math_ops._as_indexed_slices(tf.constant([[1.0], [2.0]]))
    assert sess.run(slices.indices).tolist() == [0, 1]
    assert sess.run(tf.convert_to_tensor(slices)).tolist() == [[1], [2]]
    longer = tf.IndexedSlices(tf.ones([1, 1]), tf.constant([0], tf.int64), tf.constant([2, 1]))
    assert {part.indices.dtype for part in math_ops._as_indexed_slices_list([slices, longer])} == {tf.int64}
    assert sess.run(math_ops.reduced_shape([2, 3, 5], [-1, 0])).tolist() == [1, 3, 1]


def test_exceptions_are_made_by_code():
    error = tf.errors._impl._make_specific_exception(None, None, "words", tf.errors.NOT_FOUND)
    assert isinstance(error, tf.errors.NotFoundError) and error.message == "words"
    with pytest.warns(UserWarning, match="37"):
        assert tf.errors._impl._make_specific_exception(None, None, None, 37).error_code == 37
    assert tf.variant.as_numpy_dtype is object


@pytest.mark.usefixtures("grpc")
def test_iterators_of_the_same_name_are_each_sessions_own():
    server = tf.train.Server.create_local_server()
    for elements in ((1, 2, 3), (4, 5)):
        with tf.Graph().as_default():
            iterator = tf.data.Dataset.from_tensors(elements).make_initializable_iterator()
            element = iterator.get_next()
            with tf.Session(server.target) as session:
                session.run(iterator.initializer)
                assert session.run(element) == elements


def test_a_graph_is_imported_again_under_free_names():
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")
        b = tf.add(a, 2.0, name="b")
        with graph.colocate_with(a.op):
            tf.identity(b, name="c")
    message = graph.as_graph_def()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(message, name="")
        b, c = tf.import_graph_def(message, name="", return_elements=["b", "c:0"])
        assert [b.name, c.name] == ["b_1", "c_1:0"] and c.op.colocation_groups() == [b"loc:@a_1"]
        fed, = tf.import_graph_def(message, name="", input_map={"a:0": tf.constant(5.0)}, return_elements=["b:0"])
        assert session.run([c, fed]) == [3.0, 7.0]


def test_a_tape_differentiates_what_was_made_while_it_recorded():
    with tf.Graph().as_default(), tf.Session() as session:
        x, v, w = tf.constant(3.0), tf.Variable(2.0), tf.Variable(5.0, use_resource=True)
        before = x * x
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x * v + before * w
            z = y * y
        after = z * 2.0
        assert [variable.name for variable in tape.watched_variables()] == [v.name, w.name]
        found = tape.gradient(z, {"x": x, "v": v, "w": w, "y": y, "before": before})
        assert found["before"] is None and tape.gradient(after, x) is None
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                cube = x**3
            first = inner.gradient(cube, x)
        second = outer.gradient(first, x)
        with pytest.raises(RuntimeError, match="can only be called once"):
            outer.gradient(first, x)
        session.run(tf.global_variables_initializer())
        assert session.run([found["x"], found["v"], found["w"], found["y"]]) == [1512.0, 1134.0, 1134.0, 126.0]
        assert session.run([first, second]) == [27.0, 18.0]


def test_references_to_tensors_are_keys():
    with tf.Graph().as_default():
        x, v = tf.constant(1), tf.Variable(1)
        assert {x.experimental_ref(): "x", v.experimental_ref(): "v"}[x.experimental_ref()] == "x"
        assert v.experimental_ref().deref() is v and x.experimental_ref() != tf.constant(1).experimental_ref()


def test_accumulate_n_wants_one_shape_and_type():
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.accumulate_n([tf.ones([2]), tf.ones([2])])).tolist() == [2, 2]
        with pytest.raises(ValueError):
            tf.accumulate_n([tf.ones([2]), tf.ones([3])])
        with pytest.raises(ValueError):
            tf.accumulate_n([tf.ones([]), tf.ones([])], shape=[2, 2])
        with pytest.raises(TypeError, match="tensor_dtype"):
            tf.accumulate_n([tf.ones([2])], tensor_dtype=tf.int32)


def test_no_gradient_stays_none_where_the_slope_is_infinite(sess):
    x = tf.constant([0., 4.])
    kept = tf.where(x > 0., tf.sqrt(x), x)
    functions = (tf.sqrt, tf.rsqrt, tf.reciprocal)
    nothing = [tf.gradients(f(x), x, grad_ys=tf.zeros_like(x))[0] for f in functions]
    found = sess.run([tf.gradients(kept, x)[0], *nothing])
    np.testing.assert_array_equal(found[0], [1., 0.25])
    np.testing.assert_array_equal(found[1:], np.zeros((3, 2)))


def test_evenly_spaced_values_end_where_they_should(sess):
    for stop in (1., 0.7, -3.3):
        assert sess.run(tf.linspace(0.1, stop, 11))[-1] == np.float32(stop)


def test_parts_of_an_identity_matrix(sess):
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(3)):
        v = tf.get_variable("v", [6, 4], initializer=tf.initializers.identity())
    sess.run(tf.global_variables_initializer())
    np.testing.assert_array_equal(sess.run(tf.convert_to_tensor(v)), np.eye(6, 4))


def test_complex_and_whole_numbers_have_a_euclidean_norm(sess):
    assert sess.run(tf.math.reduce_euclidean_norm(tf.constant([3 + 4j, 12j]))) == 13
    assert sess.run(tf.math.reduce_euclidean_norm(tf.constant([[3, 4], [6, 8]]), axis=1)).tolist() == [5, 10]
    x = tf.constant([3., 4.])
    np.testing.assert_allclose(sess.run(tf.gradients(tf.math.reduce_euclidean_norm(x), x)[0]), [0.6, 0.8], rtol=1e-6)


def test_missing_labels_are_none_of_the_relevant(sess):
    predictions = tf.constant([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
    _, update = tf.metrics.average_precision_at_k(tf.constant([[2, 3], [3, -1]], tf.int64), predictions, 2)
    sess.run(tf.local_variables_initializer())
    assert sess.run(update) == 0.5


def test_the_limits_of_bfloat16():
    assert tf.bfloat16.max == float.fromhex("0x1.FEp127") and tf.bfloat16.min == -tf.bfloat16.max


def test_real_numbers_have_no_imaginary_part(sess):
    assert sess.run(tf.imag(tf.constant([1., 2.]))).tolist() == [0., 0.]


def test_lists_that_are_asked_for_in_a_type_cast_their_tensors(sess):
    whole, real = tf.constant(2), tf.constant(0.5)
    assert sess.run(tf.convert_to_tensor([whole, real], dtype=tf.float64)).tolist() == [2., 0.5]
    joined = tf.concat([tf.constant([[1, 2]], tf.int64), [[whole, 7]]], 0)
    assert joined.dtype == tf.int64 and sess.run(joined).tolist() == [[1, 2], [2, 7]]
    with pytest.raises(TypeError):
        tf.convert_to_tensor([whole, real])
