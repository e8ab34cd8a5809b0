"""tf.data, beside what TensorFlow 1.15.5 gives for the same programs."""

import gc
import gzip
import os
import threading
import time
from collections import namedtuple

import numpy as np
import pytest

import weir as tf

D, X = tf.data.Dataset, tf.data.experimental


def plain(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in value}
    if isinstance(value, tuple):
        parts = [plain(part) for part in value]
        return parts if hasattr(value, "_fields") else tuple(parts)
    return value


def elements(make, limit=1000, one_shot=False, seed=None):
    """What steps get until the end, or as many as the limit says."""
    with tf.Graph().as_default():
        if seed is not None:
            tf.set_random_seed(seed)
        dataset = make()
        iterator = dataset.make_one_shot_iterator() if one_shot else dataset.make_initializable_iterator()
        following = iterator.get_next()
        got = []
        with tf.Session() as session:
            if not one_shot:
                session.run(iterator.initializer)
            for _ in range(limit):
                try:
                    got.append(plain(session.run(following)))
                except tf.errors.OutOfRangeError as error:
                    assert "End of sequence" in error.message
                    break
    return got


# The right column is what TensorFlow 1.15.5 gives.
PIPELINES = {
    "shuffle": (lambda: D.range(10).shuffle(10, seed=7),
        [2, 8, 6, 5, 9, 1, 0, 3, 7, 4]),
    "shuffle5": (lambda: D.range(10).shuffle(5, seed=7),
        [2, 4, 0, 3, 8, 1, 6, 5, 7, 9]),
    "shuffle_repeat": (lambda: D.range(5).shuffle(3, seed=7).repeat(3),
        [0, 2, 3, 1, 4, 2, 1, 0, 3, 4, 2, 0, 1, 3, 4]),
    "shuffle_repeat_inf": (lambda: D.range(5).shuffle(3, seed=7).repeat(),
        [0, 2, 3, 1, 4, 2, 1, 0, 3, 4, 2, 0, 1, 3, 4, 0, 2, 3, 4, 1]),
    "shuffle_noreshuffle": (lambda: D.range(5).shuffle(5, seed=7, reshuffle_each_iteration=False).repeat(2),
        [2, 4, 3, 0, 1, 2, 4, 3, 0, 1]),
    "shuffle_map_repeat": (lambda: D.range(5).shuffle(5, seed=7).map(lambda x: x).repeat(3),
        [2, 4, 0, 3, 1, 4, 3, 1, 0, 2, 1, 2, 3, 4, 0]),
    "shuffle_batch_repeat": (lambda: D.range(6).shuffle(6, seed=3).batch(2).repeat(2),
        [[0, 1], [2, 3], [4, 5], [0, 4], [1, 5], [3, 2]]),
    "shuffle_oneshot": (lambda: D.range(6).shuffle(6, seed=3),
        [0, 1, 2, 3, 4, 5]),
    "shuffle_shuffle_repeat": (lambda: D.range(5).shuffle(5, seed=1).shuffle(5, seed=2).batch(1).repeat(2),
        [[0], [3], [2], [4], [1], [3], [2], [0], [1], [4]]),
    "sar": (lambda: D.range(4).apply(X.shuffle_and_repeat(3, 3, seed=5)),
        [1, 3, 2, 0, 2, 0, 3, 1, 2, 1, 3, 0]),
    "sar_big": (lambda: D.range(3).apply(X.shuffle_and_repeat(100, 4, seed=5)),
        [1, 2, 0, 2, 1, 0, 1, 2, 0, 0, 2, 1]),
    "batch": (lambda: D.range(7).batch(3),
        [[0, 1, 2], [3, 4, 5], [6]]),
    "batch_drop": (lambda: D.range(7).batch(3, drop_remainder=True),
        [[0, 1, 2], [3, 4, 5]]),
    "map": (lambda: D.range(4).map(lambda x: (x, x*x)),
        [(0, 0), (1, 1), (2, 4), (3, 9)]),
    "mapdict": (lambda: D.from_tensor_slices({'a':[1,2,3],'b':['x','y','z']}).map(lambda d: {'s': d['a']*2, 't': d['b']+'!'}),
        [{'s': 2, 't': b'x!'}, {'s': 4, 't': b'y!'}, {'s': 6, 't': b'z!'}]),
    "pmap": (lambda: D.range(20).map(lambda x: x*2, num_parallel_calls=4),
        [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38]),
    "filter": (lambda: D.range(10).filter(lambda x: tf.equal(x % 3, 0)),
        [0, 3, 6, 9]),
    "flat_map": (lambda: D.range(4).flat_map(lambda x: D.range(x)),
        [0, 0, 1, 0, 1, 2]),
    "interleave": (lambda: D.range(5).interleave(lambda x: D.from_tensors(x).repeat(3), cycle_length=2, block_length=2),
        [0, 0, 1, 1, 0, 1, 2, 2, 3, 3, 2, 3, 4, 4, 4]),
    "pinterleave": (lambda: D.range(5).interleave(lambda x: D.from_tensors(x).repeat(3), cycle_length=2, block_length=2, num_parallel_calls=2),
        [0, 0, 1, 1, 0, 1, 2, 2, 3, 3, 2, 3, 4, 4, 4]),
    "window": (lambda: D.range(7).window(3, shift=2).flat_map(lambda x: x.batch(3)),
        [[0, 1, 2], [2, 3, 4], [4, 5, 6], [6]]),
    "window_drop": (lambda: D.range(7).window(2, shift=1, stride=2, drop_remainder=True).flat_map(lambda x: x.batch(2)),
        [[0, 2], [1, 3], [2, 4], [3, 5], [4, 6]]),
    "zip": (lambda: D.zip((D.range(3), D.range(10,20).batch(2))),
        [(0, [10, 11]), (1, [12, 13]), (2, [14, 15])]),
    "concat": (lambda: D.range(3).concatenate(D.range(10,12)),
        [0, 1, 2, 10, 11]),
    "padded": (lambda: D.range(1,5).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x)).padded_batch(2, [None]),
        [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]]),
    "padded_val": (lambda: D.range(1,4).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x)).padded_batch(2, [4], tf.constant(-1, tf.int64)),
        [[[1, -1, -1, -1], [2, 2, -1, -1]], [[3, 3, 3, -1]]]),
    "gbw": (lambda: D.range(10).apply(X.group_by_window(lambda x: x%2, lambda k, d: d.batch(3), 3)),
        [[0, 2, 4], [1, 3, 5], [6, 8], [7, 9]]),
    "scan": (lambda: D.range(5).apply(X.scan(tf.constant(0,tf.int64), lambda s, x: (s+x, s*10+x))),
        [0, 1, 12, 33, 64]),
    "bucket": (lambda: D.range(1,9).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x)).apply(X.bucket_by_sequence_length(lambda x: tf.size(x), [3,6], [2,2,2])),
        [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]], [[6, 6, 6, 6, 6, 6, 0], [7, 7, 7, 7, 7, 7, 7]], [[5, 5, 5, 5, 5]], [[8, 8, 8, 8, 8, 8, 8, 8]]]),
    "enumerate": (lambda: D.range(5,8).enumerate(start=2),
        [(2, 5), (3, 6), (4, 7)]),
    "shard": (lambda: D.range(10).shard(3, 1),
        [1, 4, 7]),
    "take_skip": (lambda: D.range(10).skip(3).take(4),
        [3, 4, 5, 6]),
    "cache": (lambda: D.range(3).cache().repeat(2),
        [0, 1, 2, 0, 1, 2]),
    "ignore": (lambda: D.from_tensor_slices([1.,0.,2.]).map(lambda x: tf.check_numerics(1./x, 'bad')).apply(X.ignore_errors()),
        [1.0, 0.5]),
    "mab": (lambda: D.range(7).apply(X.map_and_batch(lambda x: x*3, 3)),
        [[0, 3, 6], [9, 12, 15], [18]]),
    "sample": (lambda: X.sample_from_datasets([D.from_tensors(i).repeat(10) for i in range(3)], [0.2,0.3,0.5], seed=9),
        [0, 2, 2, 2, 2, 1, 1, 2, 0, 1, 1, 0, 2, 2, 0, 0, 0, 1, 1, 0, 1, 1, 2, 2, 2, 0, 1, 0, 0, 1]),
    "choose": (lambda: X.choose_from_datasets([D.from_tensors(i).repeat(3) for i in range(3)], D.range(3).repeat(4)),
        [0, 1, 2, 0, 1, 2, 0, 1, 2]),
    "random": (lambda: X.RandomDataset(seed=3).take(4),
        [3534849767, 279844183, 888998500, 1099633400]),
    "counter": (lambda: X.Counter(3, 2).take(4),
        [3, 5, 7, 9]),
    "unbatch": (lambda: D.range(6).batch(4).apply(X.unbatch()),
        [0, 1, 2, 3, 4, 5]),
    "unique": (lambda: D.from_tensor_slices([1,2,1,3,2]).apply(X.unique()),
        [1, 2, 3]),
    "take_while": (lambda: D.range(6).apply(X.take_while(lambda x: x < 3)),
        [0, 1, 2]),
    "gen": (lambda: D.from_generator(lambda: iter([(1,[1,2]),(2,[3])]), (tf.int32, tf.int64), ([], [None])),
        [(1, [1, 2]), (2, [3])]),
    "repeat_empty": (lambda: D.range(0).repeat(),
        []),
    "reduce_window": (lambda: D.range(6).window(2).flat_map(lambda w: D.from_tensors(w.reduce(tf.constant(0,tf.int64), lambda s,x: s+x))),
        [1, 5, 9]),
    "gbr": (lambda: D.range(6).apply(X.group_by_reducer(lambda x: x%2, X.Reducer(lambda k: tf.constant(0,tf.int64), lambda s,x: s+x, lambda s: s))),
        [6, 9]),
}


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("one_shot", [False, True])
def test_elements_are_tensorflows(name, one_shot):
    make, wanted = PIPELINES[name]
    assert elements(make, len(wanted) + (name not in ENDLESS), one_shot) == wanted


ENDLESS = {"shuffle_repeat_inf", "sample"}


def test_random_numbers_of_functions_are_tensorflows():
    uniform = tf.random_uniform
    assert elements(lambda: D.range(2).map(lambda x: uniform([], seed=3)).repeat(2)) == [
        0.38692939281463623, 0.6633445024490356, 0.19575107097625732, 0.9421699047088623]
    assert elements(lambda: D.range(4).map(lambda x: uniform([])), seed=1) == [
        0.3853874206542969, 0.7942407131195068, 0.01394641399383545, 0.4297177791595459]
    assert elements(lambda: D.range(6).shuffle(6), seed=42) == [5, 4, 0, 1, 2, 3]


def test_nodes_have_tensorflows_names():
    with tf.Graph().as_default() as graph:
        dataset = (D.from_tensor_slices(([1., 2.], [3, 4])).map(lambda a, b: (a + 1., b)).shuffle(10).repeat().batch(2)
                   .prefetch(1))
        dataset.make_initializable_iterator().get_next()
        dataset.make_one_shot_iterator().get_next()
        assert [op.name for op in graph.get_operations()] == [
            "normalize_element/component_0", "normalize_element/component_1", "TensorSliceDataset", "MapDataset",
            "buffer_size", "seed", "seed2", "ShuffleDataset", "count", "RepeatDataset", "batch_size", "drop_remainder",
            "BatchDatasetV2", "buffer_size_1", "PrefetchDataset", "optimizations", "OptimizeDataset", "ModelDataset",
            "IteratorV2", "MakeIterator", "IteratorToStringHandle", "IteratorGetNext", "OneShotIterator",
            "IteratorToStringHandle_1", "IteratorGetNext_1"]


def test_structures_keep_their_kinds():
    Pair = namedtuple("Pair", ["x", "y"])
    dataset = D.from_tensor_slices({"a": [1., 2.], "b": Pair([3, 4], ["x", "y"])}).batch(2)
    assert repr(dataset) == ("<DatasetV1Adapter shapes: {a: (?,), b: Pair(x=(?,), y=(?,))}, types: {a: tf.float32, b: "
                             "Pair(x=tf.int32, y=tf.string)}>")
    following = dataset.make_one_shot_iterator().get_next()
    assert isinstance(following["b"], Pair) and following["a"].shape.as_list() == [None]
    assert dataset.output_types["b"].y == tf.string and dataset.output_classes["a"] is tf.Tensor


def test_sparse_tensors_travel():
    sparse = lambda: D.from_tensor_slices(tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [2, 3]))
    assert elements(sparse) == [[[[0]], [1], [3]], [[[2]], [2], [3]]]
    assert elements(lambda: sparse().batch(2)) == [[[[0, 0], [1, 2]], [1, 2], [2, 3]]]
    assert elements(lambda: sparse().map(lambda s: s).batch(2).apply(X.unbatch())) == [[[[0]], [1], [3]], [[[2]], [2], [3]]]
    rows = lambda: D.range(1, 4).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x))
    assert elements(lambda: rows().apply(X.dense_to_sparse_batch(2, [5]))) == [
        [[[0, 0], [1, 0], [1, 1]], [1, 2, 2], [2, 5]], [[[0, 0], [0, 1], [0, 2]], [3, 3, 3], [1, 5]]]


def error_of(make, limit=5):
    """The class and the first line of what a pipeline ends with."""
    with pytest.raises(Exception) as caught:
        elements(make, limit)
    return type(caught.value).__name__, str(caught.value).split("\n")[0]


def test_errors_are_tensorflows():
    rows = lambda: D.range(1, 4).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x))
    bad = "InvalidArgumentError"
    for make, kind, text in [
            (lambda: D.range(4).batch(0), bad, "Batch size must be greater than zero."),
            (lambda: D.range(4).shuffle(0), bad, "buffer_size must be greater than zero."),
            (lambda: D.range(10).shard(3, 5), bad, "Index must be between 0 and 2 (currently index = 5)."),
            (lambda: rows().padded_batch(2, [1]), "DataLossError",
             "Attempted to pad to a smaller size than the input element."),
            (lambda: rows().batch(2), bad, "Cannot batch tensors with different shapes in component 0. First element had "
                                           "shape [1] and element 1 had shape [2]."),
            (lambda: D.from_tensor_slices(([1, 2], [1, 2, 3])), "ValueError", "Dimensions 2 and 3 are not compatible"),
            (lambda: D.range(3).map(lambda x: None), "TypeError",
             "Unsupported return value from function passed to Dataset.map(): None."),
            (lambda: D.range(3).filter(lambda x: x), "ValueError", "`predicate` return type must be convertible to a scalar "),
            (lambda: D.range(3).flat_map(lambda x: x), "TypeError", "`map_func` must return a `Dataset` object."),
            (lambda: D.zip([D.range(3)]), "TypeError", "The argument to `Dataset.zip()` must be a nested structure of "),
            (lambda: D.range(3).concatenate(D.from_tensors(1.)), "TypeError",
             "Two datasets to concatenate have different types"),
            (lambda: D.range(3).apply(lambda d: 3), "TypeError", "`transformation_func` must return a Dataset. Got 3."),
            (lambda: D.from_generator(3, tf.int32), "TypeError", "`generator` must be callable."),
            (lambda: D.from_generator(lambda: iter([1, "a"]), tf.int32), bad,
             "TypeError: `generator` yielded an element that could not be converted to the expected type. The expected type "
             "was int32, but the yielded element was a."),
            (lambda: D.from_generator(lambda: iter([[1, 2, 3]]), tf.int32, [2]), bad,
             "ValueError: `generator` yielded an element of shape (3,) where an element of shape (2,) was expected."),
    ]:
        got = error_of(make)
        assert got[0] == kind and got[1].startswith(text), got


def test_uninitialised_and_incompatible_iterators():
    iterator = tf.data.Iterator.from_structure(tf.int64, tf.TensorShape([]))
    following = iterator.get_next()
    with pytest.raises(ValueError, match="Iterator does not have an initializer."):
        iterator.initializer
    with pytest.raises(TypeError, match="Expected output types tf.int64 but got dataset with output types tf.float32."):
        iterator.make_initializer(D.from_tensors(1.))
    with pytest.raises(TypeError, match="Expected output shapes compatible with"):
        iterator.make_initializer(D.range(3).batch(2))
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="GetNext\\(\\) failed because the "
                                                "iterator has not been initialized. Ensure that you have run the"):
        session.run(following)


def test_one_shot_iterators_refuse_state():
    variable = tf.Variable(1, name="v")
    with pytest.raises(ValueError, match="Failed to create a one-shot iterator for a dataset."):
        D.range(3).map(lambda x: tf.cast(x, tf.int32) + variable).make_one_shot_iterator()
    with pytest.raises(ValueError, match="Cannot capture a placeholder"):
        D.range(tf.placeholder(tf.int64, [])).make_one_shot_iterator()


def test_functions_read_variables_and_feeds():
    variable = tf.Variable(tf.constant(5, tf.int64))
    rows = tf.placeholder(tf.int64, [None])
    iterator = D.from_tensor_slices(rows).map(lambda x: x + variable).make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for begin in (0, 10):
            session.run(iterator.initializer, {rows: [begin, begin + 1]})
            assert [session.run(following) for _ in range(2)] == [begin + 5, begin + 6]


def test_iterators_by_turns_and_by_handle():
    training, validation = D.range(3).repeat(), D.range(10, 13)
    handle = tf.placeholder(tf.string, [])
    chosen = tf.data.Iterator.from_string_handle(handle, training.output_types, training.output_shapes).get_next()
    first, second = training.make_one_shot_iterator(), validation.make_initializable_iterator()
    with tf.Session() as session:
        handles = session.run([first.string_handle(), second.string_handle()])
        session.run(second.initializer)
        assert [session.run(chosen, {handle: handles[i]}) for i in (0, 1, 0, 0, 1)] == [0, 10, 1, 2, 11]


def test_functions_of_the_program_run_in_threads():
    double = lambda x: tf.py_func(lambda v: v * 2, [x], tf.int64)
    assert elements(lambda: D.range(50).map(double, num_parallel_calls=4).prefetch(3)) == list(range(0, 100, 2))


def test_generators_are_left_when_iterations_end():
    ended = []

    def generate(count):
        try:
            for i in range(count):
                yield i, np.full([i], i, np.float32)
        finally:
            ended.append(count)

    make = lambda: D.from_generator(generate, (tf.int64, tf.float32), ([], [None]), args=(3,))
    assert elements(lambda: make().repeat(2)) == [(0, []), (1, [1.]), (2, [2., 2.])] * 2
    assert elements(lambda: make().take(1)) == [(0, [])]
    gc.collect()
    assert ended == [3, 3, 3]


def test_files(tmp_path):
    write = lambda name, data: (tmp_path / name).write_bytes(data) and str(tmp_path / name)
    lines = [write("a.txt", b"l1\nl2\n"), write("b.txt", b"m1\r\nm2")]
    packed = write("c.gz", gzip.compress(b"z1\nz2\n"))
    assert elements(lambda: tf.data.TextLineDataset(lines)) == [b"l1", b"l2", b"m1", b"m2"]
    assert elements(lambda: tf.data.TextLineDataset(packed, "GZIP")) == [b"z1", b"z2"]
    assert elements(lambda: tf.data.TextLineDataset(tf.data.Dataset.list_files(str(tmp_path / "*.txt"), shuffle=False))
                    ) == [b"l1", b"l2", b"m1", b"m2"]
    fixed = write("r.bin", b"HHaabbccF")
    assert elements(lambda: tf.data.FixedLengthRecordDataset(fixed, 2, 2, 1)) == [b"aa", b"bb", b"cc"]
    assert "has body length 6 bytes, which is not an exact multiple of the record length (4 bytes)." in error_of(
        lambda: tf.data.FixedLengthRecordDataset(fixed, 4, 2, 1))[1]
    records = str(tmp_path / "r.tf")
    with tf.python_io.TFRecordWriter(records) as writer:
        writer.write(b"one")
        writer.write(b"two")
    assert elements(lambda: tf.data.TFRecordDataset([records] * 2)) == [b"one", b"two"] * 2
    assert elements(lambda: tf.data.TFRecordDataset([records] * 2, num_parallel_reads=2)) == [b"one", b"one", b"two", b"two"]
    assert error_of(lambda: tf.data.TFRecordDataset(str(tmp_path / "absent")))[0] == "NotFoundError"
    assert error_of(lambda: tf.data.TFRecordDataset(lines[0]))[0] == "DataLossError"


def test_csv(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('a,b,c\n1,2.5,foo\n2,,"b,""ar"""\n3,4.5,\n')
    read = lambda *defaults, **options: (lambda: X.CsvDataset(str(path), list(defaults), header=True, **options))
    assert elements(read(tf.int32, [0.5], ["none"])) == [(1, 2.5, b"foo"), (2, 0.5, b'b,"ar"'), (3, 4.5, b"none")]
    assert elements(read(tf.int32, ["none"], select_cols=[0, 2])) == [(1, b"foo"), (2, b'b,"ar"'), (3, b"none")]
    assert error_of(read(tf.int32, tf.float32, ["none"]))[1] == "Field 1 is required but missing in record!"
    batches = elements(lambda: X.make_csv_dataset(str(path), 2, label_name="c", num_epochs=1, shuffle=False))
    assert batches == [({"a": [1, 2], "b": [2.5, 0.0]}, [b"foo", b'b,"ar"']), ({"a": [3], "b": [4.5]}, [b""])]


def test_caches_in_files_are_used_again(tmp_path):
    calls = []
    count = lambda x: tf.py_func(lambda v: calls.append(v) or v, [x], tf.int64)
    for _ in range(2):
        assert elements(lambda: D.range(3).map(count).cache(str(tmp_path / "cache"))) == [0, 1, 2]
    assert len(calls) == 3 and sorted(os.listdir(tmp_path)) == ["cache.data"]


def test_close_ends_silent_pipelines():
    silent = D.range(1 << 60).filter(lambda x: x < 0)
    for dataset in (silent, silent.prefetch(1), silent.map(lambda x: tf.py_func(lambda v: v, [x], tf.int64), 3)):
        iterator = dataset.make_initializable_iterator()
        following = iterator.get_next()
        session = tf.Session()
        session.run(iterator.initializer)
        raised = []

        def ask():
            try:
                session.run(following)
            except tf.errors.CancelledError as error:
                raised.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        time.sleep(0.02)
        session.close()
        thread.join(10)
        assert len(raised) == 1 and not thread.is_alive()


def test_graphs_with_pipelines_travel():
    with tf.Graph().as_default() as graph:
        dataset = D.range(5).flat_map(lambda x: D.range(x).map(lambda y: y * 10 + x)).batch(3)
        iterator = dataset.make_initializable_iterator()
        tf.identity(iterator.get_next(), name="out")
        definition, initializer = graph.as_graph_def(), iterator.initializer.name
        assert len(definition.library.function) == 2
    with tf.Graph().as_default() as copy, tf.Session() as session:
        tf.import_graph_def(definition, name="")
        session.run(initializer)
        assert session.run("out:0").tolist() == [1, 2, 12]
        assert {op.name for op in copy.get_operations()} == {op.name for op in graph.get_operations()}


def test_options_are_checked_and_merged():
    options = tf.data.Options()
    with pytest.raises(TypeError):
        options.experimental_deterministic = 3
    options.experimental_optimization.apply_default_optimizations = False
    make = lambda: D.range(5).shuffle(3, seed=7).repeat(3).with_options(options)
    assert elements(make) == [1, 2, 0, 3, 4, 1, 0, 3, 4, 2, 1, 3, 0, 4, 2]
    other = tf.data.Options()
    other.experimental_deterministic = True
    assert options.merge(other).experimental_optimization.apply_default_optimizations is False


def test_whole_data_sets_in_one_run():
    with tf.Session() as session:
        total = D.range(5).reduce((tf.constant(0, tf.int64), 1.), lambda state, x: (state[0] + x, state[1] * 2.))
        assert plain(session.run(total)) == (10, 32.0)
        assert session.run(X.get_single_element(D.range(5).skip(2).take(1))) == 2
        with pytest.raises(tf.errors.InvalidArgumentError, match="Dataset had more than one element."):
            session.run(X.get_single_element(D.range(5)))
        sizes = [X.cardinality(d) for d in (D.range(5), D.range(5).repeat(), D.range(7).batch(2),
                                            D.range(3).filter(lambda x: x > 0))]
        assert plain(tuple(session.run(sizes))) == (5, -1, 4, -2)


def test_memory_stays_flat():
    """Hundreds of thousands of elements through threads and batches leave nothing behind."""
    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    dataset = D.range(1 << 60).map(lambda x: x + 1, num_parallel_calls=2).shuffle(100).batch(1000).prefetch(2)
    following = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        step = session.make_callable(following.op)
        for _ in range(30):
            step()
        before = resident()
        for _ in range(200):
            step()
        assert resident() - before < 16 << 20


def test_statistics_of_pipelines():
    aggregator = tf.data.experimental.StatsAggregator()
    dataset = tf.data.Dataset.range(10).map(lambda x: tf.tile([x], [x]))
    dataset = dataset.apply(tf.data.experimental.bytes_produced_stats("bytes"))
    dataset = dataset.apply(tf.data.experimental.latency_stats("latency"))
    options = tf.data.Options()
    options.experimental_stats.aggregator = aggregator
    options.experimental_stats.prefix = "input"
    iterator = dataset.with_options(options).make_initializable_iterator()
    element, summary = iterator.get_next(), aggregator.get_summary()
    with tf.Session() as sess:
        for epoch in (1, 2):
            sess.run(iterator.initializer)
            for _ in range(10):
                sess.run(element)
            with pytest.raises(tf.errors.OutOfRangeError):
                sess.run(element)
            message = tf.Summary.FromString(sess.run(summary))
            values = {value.tag: value.histo for value in message.value}
            assert sorted(values) == ["input::bytes", "input::latency"]
            assert values["input::bytes"].num == values["input::latency"].num == 10 * epoch
            assert values["input::bytes"].sum == 8 * 45 * epoch and values["input::bytes"].max == 72
            assert values["input::latency"].sum > 0


def test_statistics_go_to_the_nearest_aggregator():
    def measured(aggregator, count):
        dataset = tf.data.Dataset.range(count).apply(tf.data.experimental.latency_stats("latency"))
        return dataset._unary("SetStatsAggregatorDataset", [aggregator._resource, "", ""])

    first, second = tf.data.experimental.StatsAggregator(), tf.data.experimental.StatsAggregator()
    plain = tf.data.Dataset.range(4).apply(tf.data.experimental.latency_stats("nowhere"))
    iterator = tf.data.Dataset.zip((measured(first, 4), measured(second, 4), plain)).make_initializable_iterator()
    element = iterator.get_next()
    summaries = [first.get_summary(), second.get_summary()]
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        sess.run(element), sess.run(element)
        for summary in sess.run(summaries):
            (value,) = tf.Summary.FromString(summary).value
            assert value.tag == "latency" and value.histo.num == 2


def test_structures_of_elements_are_compared_and_mapped():
    from weir.data import nest

    pair = {"a": (1, 2), "b": 3}
    assert nest.map_structure_up_to({"a": 0, "b": 0}, lambda part: part, pair) == pair
    with pytest.raises(ValueError, match="Only valid keyword argument"):
        nest.map_structure(lambda x: x, pair, foo=1)
    with pytest.raises(ValueError, match="Structure had 3 elements, but flat_sequence had 2"):
        nest.pack_sequence_as(pair, [1, 2])
    with pytest.raises(ValueError, match="don't have the same keys"):
        nest.assert_shallow_structure({"a": 0, "c": 0}, pair)


def test_arguments_of_data_sets_become_tensors():
    from weir.inner import dataset_utilities as utilities

    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        assert session.run(utilities.get_seed(tf.constant(7, tf.int64))) == (1, 7)
        assert session.run(utilities.partial_shape_to_tensor(tf.TensorShape([None, 3]))).tolist() == [-1, 3]
        with pytest.raises(TypeError, match="must be a 1-D tensor of tf.int64"):
            utilities.partial_shape_to_tensor(tf.constant([1.0]))
        sparse = tf.SparseTensor([[0, 1]], [5], [1, 2])
        packed = utilities.serialize_sparse_tensors((sparse, tf.constant(1)))
        back = utilities.deserialize_sparse_tensors(packed, (tf.int32, tf.int32), (tf.TensorShape([1, 2]), tf.TensorShape([])),
                                                    utilities.get_classes((sparse, tf.constant(1))))
        assert session.run(back[0]).values.tolist() == [5]
