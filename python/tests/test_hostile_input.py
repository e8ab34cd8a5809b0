"""Inputs that would crash, hang or exhaust a careless library: each is refused or gives its right result."""

import numpy as np
import pytest

import weir as tf
from weir.core.op_functions import RawOps

raw = RawOps()
LARGEST = 2**63 - 1


def fed(value, dtype=None):
    """A placeholder of unknown shape and the array that it is fed."""
    array = np.asarray(value, dtype)
    return tf.placeholder(array.dtype, None), array


# Sizes beside an empty dimension cost nothing, so they may be of any magnitude: [2^40,0] has 2^40 rows.


@pytest.mark.parametrize("make", [
    tf.nn.softmax,
    lambda x: tf.reverse(x, [0]),
    lambda x: tf.nn.top_k(x, 0)[0],
    lambda x: tf.cumsum(x, 0),
    lambda x: tf.segment_mean(tf.transpose(x), tf.zeros([0], tf.int32)),
    lambda x: tf.reduce_sum(x, 0),
    lambda x: tf.argmax(x, 0),
    tf.random_shuffle,
    tf.transpose,
    lambda x: tf.tile(x, [2, 2]),
])
def test_rows_without_elements_are_not_walked(sess, make):
    x, value = fed(np.zeros((2**40, 0), np.float32))
    assert sess.run(make(x), {x: value}).size == 0


@pytest.mark.parametrize("make", [
    lambda x: tf.reverse_sequence(x, [1, 1], seq_axis=1, batch_axis=0),
    lambda x: tf.cholesky(tf.zeros(np.array([2**40, 0, 0]))),
    lambda x: tf.matrix_inverse(tf.zeros(np.array([2**40, 0, 0]))),
    lambda x: tf.nn.conv2d(tf.zeros(np.array([2**40, 0, 3, 2])), tf.ones([1, 1, 2, 1]), [1, 1, 1, 1], "SAME"),
    lambda x: raw.SegmentMax(data=tf.zeros([3, 0]), segment_ids=[0, 1, 2**31 - 2]),
])
def test_matrices_and_images_without_elements_are_not_walked(sess, make):
    x, value = fed(np.zeros((2, 2**40, 0), np.float32))
    assert sess.run(make(x), {x: value}).size == 0


def test_sizes_beside_an_empty_dimension_must_fit_too(sess):
    sizes, value = fed([0, 2**40, 2**40], np.int64)
    with pytest.raises(tf.errors.InvalidArgumentError, match="overflow"):
        sess.run(tf.zeros(sizes), {sizes: value})


def test_sizes_are_not_cut_to_32_bits(sess):
    x, value = fed(np.zeros((2**40, 0), np.float32))
    for fetch in (tf.shape(x), tf.shape_n([x])[0], tf.ones_like(x), tf.gradients(tf.nn.relu(x), x)[0]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not fit int32"):
            sess.run(fetch, {x: value})
    assert sess.run(tf.shape(x, out_type=tf.int64), {x: value}).tolist() == [2**40, 0]


def test_many_indices_of_a_scalar_are_not_walked(sess):
    indices, value = fed(np.zeros((2**40, 0), np.int32))
    dense = tf.sparse_to_dense(indices, tf.zeros([0], tf.int32), 7.0, validate_indices=False)
    assert sess.run(dense, {indices: value}) == 7
    with pytest.raises(tf.errors.InvalidArgumentError, match="repeated"):
        sess.run(tf.sparse_to_dense(indices, tf.zeros([0], tf.int32), 7.0), {indices: value})


# Memory.


def test_values_of_a_plan_together_must_fit_too(sess):
    parts = [tf.fill([2**60], float(i)) for i in range(4)]  # 2^64 bytes, which is 0 in 64 bits
    with pytest.raises(tf.errors.ResourceExhaustedError):
        sess.run(tf.add_n(parts))


def test_order_of_rows_without_elements_takes_no_memory(sess):
    x, value = fed(np.zeros((2**61, 0), np.int8))
    assert sess.run(tf.random_shuffle(x), {x: value}).shape == (2**61, 0)


def test_lists_are_resized_by_what_was_written(sess):
    reserved = raw.TensorListReserve(element_shape=-1, num_elements=2**31 - 1, element_dtype=tf.float32)
    written = raw.TensorListSetItem(input_handle=reserved, index=5, item=[1.0, 2.0])
    for size in (2**30, 1000, 2**31 - 1):
        resized = raw.TensorListResize(input_handle=written, size=size)
        item = raw.TensorListGetItem(input_handle=resized, index=5, element_shape=[2], element_dtype=tf.float32)
        length, value = sess.run([raw.TensorListLength(input_handle=resized), item])
        assert length == size and value.tolist() == [1, 2]


def test_lists_of_lists_of_lists_go_away(sess):
    def empty():
        return raw.EmptyTensorList(element_shape=tf.zeros([0], tf.int32), max_num_elements=-1, element_dtype=tf.variant)

    def body(i, outer):
        return i + 1, raw.TensorListPushBack(input_handle=empty(), tensor=outer)

    _, nested = tf.while_loop(lambda i, outer: i < 300000, body, [0, empty()])
    assert sess.run(raw.TensorListLength(input_handle=nested)) == 1


@pytest.mark.parametrize("config", [
    {"intra_op_parallelism_threads": 10**9},
    {"device_count": {"CPU": 2**31 - 1}},
])
def test_sessions_of_absurd_sizes(config):
    x = tf.constant(1) + 1
    try:
        with tf.Session(config=tf.ConfigProto(**config)) as session:
            assert session.run(x) == 2
    except tf.errors.InvalidArgumentError as error:
        assert "at most" in str(error)


# Values.


@pytest.mark.parametrize("op, paddings", [
    ("MirrorPad", [[2**62, 2**62]]),
    ("MirrorPad", [[-(2**63), LARGEST]]),
    ("MirrorPadGrad", [[2**62, 2**62]]),
    ("MirrorPadGrad", [[LARGEST, LARGEST]]),
])
def test_paddings_do_not_wrap_around(sess, op, paddings):
    x, value = fed([1.0, 2.0, 3.0], np.float32)
    p, pads = fed(paddings, np.int64)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(getattr(raw, op)(input=x, paddings=p, mode="SYMMETRIC"), {x: value, p: pads})


def test_axes_that_the_result_does_not_depend_on_are_checked(sess):
    axis, value = fed(50000000, np.int32)
    vector, scalar = tf.constant([1.0, 2.0]), tf.constant(1.0)
    for fetch in (tf.gather(vector, 0, axis=axis), tf.argmax(vector, axis), tf.cumsum(vector, axis),
                  tf.reverse(vector, [axis])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(fetch, {axis: value})
    for make in (lambda: tf.split(scalar, 3, axis), lambda: tf.split(scalar, [1, 1], axis)):
        with pytest.raises(ValueError, match="rank"):
            make()


def test_crops_do_not_wrap_around(sess):
    x, value = fed([[1.0]], np.float32)
    crops, pairs = fed([[LARGEST, LARGEST]], np.int64)
    with pytest.raises(tf.errors.InvalidArgumentError, match="overflow"):
        sess.run(raw.BatchToSpaceND(input=x, block_shape=[1], crops=crops), {x: value, crops: pairs})


def test_handles_are_not_saved(sess, tmp_path):
    handle = raw.VarHandleOp(shape=[], dtype=tf.float32)
    for op, more in (("SaveV2", {"prefix": str(tmp_path / "a"), "shape_and_slices": [""]}),
                     ("Save", {"filename": str(tmp_path / "b")})):
        values = {"tensors" if op == "SaveV2" else "data": [handle]}
        with pytest.raises(tf.errors.InvalidArgumentError, match="handle"):
            sess.run(getattr(raw, op)(tensor_names=["a"], **more, **values))


def test_largest_range_of_classes(sess):
    sampled, _, _ = tf.nn.log_uniform_candidate_sampler([[1]], 1, 1000, False, LARGEST, seed=1)
    values = sess.run(sampled)
    assert (values >= 0).all() and (values < LARGEST).all()


def test_numbers_that_are_no_integers_are_no_attributes():
    for number in (1e30, -1e30, float("nan"), float("inf"), 2.5):
        with pytest.raises(TypeError, match="Expected int"):
            raw.Pack(values=[1.0], axis=number)


# Python's own structures.


def holds_itself():
    items = []
    items.append(items)
    return items


def deeply_nested(item=1.0):
    for _ in range(100000):
        item = [item]
    return item


@pytest.mark.parametrize("value", [holds_itself(), deeply_nested()], ids=["cyclic", "deep"])
def test_nested_lists_that_are_no_tensors(sess, value):
    for use in (tf.constant, tf.convert_to_tensor, lambda v: tf.add(v, 1.0)):
        with pytest.raises((ValueError, TypeError)):
            use(value)
    x = tf.placeholder(tf.float32)
    with pytest.raises((ValueError, TypeError)):
        sess.run(x, {x: value})


def test_nested_fetches_that_have_no_end(sess):
    x = tf.constant(1.0)
    cyclic = {}
    cyclic["self"] = cyclic
    for fetches in (holds_itself(), cyclic, deeply_nested(x)):
        with pytest.raises(RecursionError):
            sess.run(fetches)


def test_fetches_that_the_run_changes(sess):
    x = tf.constant(1.0)
    fetches = []

    def grow(value):
        fetches.extend([x] * 1000)
        return value

    fetches.append(tf.py_func(grow, [x], tf.float32))
    with pytest.raises(RuntimeError, match="changed"):
        sess.run(fetches)


def test_handles_and_lists_go_through_identities(sess):
    handle = raw.VarHandleOp(shape=[2], dtype=tf.float32)
    filled = raw.TensorListFromTensor(tensor=[[1.0], [2.0]], element_shape=[1])
    with tf.control_dependencies([raw.AssignVariableOp(resource=handle, value=[3.0, 4.0])]):
        same, same_list, number = raw.IdentityN(input=[handle, filled, 5])
    value = raw.ReadVariableOp(resource=same, dtype=tf.float32)
    values = sess.run([value, raw.TensorListLength(input_handle=same_list), number])
    assert values[0].tolist() == [3, 4] and values[1:] == [2, 5]


def test_messages_quote_any_bytes(sess):
    with pytest.raises(tf.errors.NotFoundError, match="xff"):
        sess.run(tf.read_file(b"missing\xff"))
    with pytest.raises(ValueError, match="xfe"):
        raw.AsString(input=1, fill=b"\xfe")


@pytest.mark.parametrize("lengths", [(2, 1, 2), (2, 2, 1), (1, 2, 2), (0, 1, 1)])
def test_slices_have_as_many_ends_as_beginnings(sess, lengths):
    feeds = dict(fed(np.ones(n, np.int32)) for n in lengths)
    begin, end, strides = feeds
    for make in (lambda: raw.StridedSlice(input=tf.zeros([3, 4]), begin=begin, end=end, strides=strides),
                 lambda: raw.StridedSliceGrad(shape=[3, 4], begin=begin, end=end, strides=strides, dy=tf.zeros([1, 1]))):
        with pytest.raises(tf.errors.InvalidArgumentError, match="equal lengths"):
            sess.run(make(), feeds)


def test_length_of_a_scattered_list_is_one_number(sess):
    length, value = fed(np.zeros(0, np.int32))
    made = raw.TensorListScatterV2(tensor=[[1.0]], indices=[0], element_shape=[1], num_elements=length)
    with pytest.raises(tf.errors.InvalidArgumentError, match="rank 0"):
        sess.run(raw.TensorListLength(input_handle=made), {length: value})


def test_sums_of_nothing_are_not_walked(sess):
    x, value = fed(np.zeros((2**40, 8, 0), np.float32))
    for make in (lambda: raw.BiasAddGrad(out_backprop=x, data_format="NCHW"), lambda: tf.reduce_sum(x, [0, 2]),
                 lambda: tf.reduce_sum(tf.cast(x, tf.int32), [0, 2])):
        assert sess.run(make(), {x: value}).tolist() == [0] * 8


def test_strides_of_a_single_window_mean_nothing(sess):
    x, image = fed(np.ones((1, 3, 3, 1), np.float32))
    w = tf.ones([1, 1, 1, 1])
    for strides in ([1, 2**62, 2**62, 1], [1, LARGEST, LARGEST, 1]):
        y = tf.nn.conv2d(x, w, strides, "SAME")
        pooled = [tf.nn.max_pool(x, [1, 1, 1, 1], strides, "SAME"), tf.nn.avg_pool(x, [1, 1, 1, 1], strides, "SAME")]
        values = sess.run([y, tf.gradients(y, w)[0], tf.gradients(y, x)[0]] + pooled, {x: image})
        assert [np.sum(v) for v in values] == [1, 1, 1, 1, 1]


def test_masks_and_strides_of_slices_may_be_absurd(sess):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    one = raw.StridedSlice(input=x, begin=np.array([1]), end=np.array([LARGEST]), strides=np.array([LARGEST]))
    assert sess.run(one).tolist() == [[3, 4]]
    whole = raw.StridedSlice(input=x, begin=[0], end=[9], strides=[1], ellipsis_mask=-(2**63))
    assert sess.run(whole).tolist() == [[1, 2], [3, 4]]
