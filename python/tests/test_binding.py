"""What the binding does with arguments of wrong kinds, with graphs that end or are finalized, and with errors."""

import gc
import os
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import weir as tf
from weir import _weir, errors

FUZZER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "fuzz", "fuzz_binding.py")


# Arguments.


@pytest.mark.skipif(not os.path.exists(FUZZER), reason="the fuzzer is not part of the package")
def test_arguments_of_wrong_kinds_never_end_the_process():
    """The same calls every time; tests/fuzz/fuzz_binding.py makes more."""
    run = subprocess.run([sys.executable, FUZZER, "--calls", "12"], text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=900, env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
    assert run.returncode == 0, run.stdout
    assert "ok" in run.stdout


def test_sizes_of_parts_are_integers_or_tensors(sess):
    x = tf.reshape(tf.range(8.0), [2, 4])
    for sizes in ([4 / 2, 4 / 2], [2, 2.0], [None, 2], ["2", 2], [tf.Dimension(None), 2]):
        with pytest.raises(TypeError, match="size_splits|list"):
            tf.split(x, sizes, 1)
    for number in (2.0, None, object()):
        with pytest.raises((TypeError, ValueError)):
            tf.split(x, number, 1)
    for sizes in ([1, 3], [tf.constant(1), 3], tf.constant([1, 3]), [tf.Dimension(1), np.int64(3)]):
        first, rest = sess.run(tf.split(x, sizes, 1))
        assert first.tolist() == [[0], [4]] and rest.shape == (2, 3)


@pytest.mark.parametrize("call", [
    lambda bad: tf.one_hot([1], 2, axis=bad), lambda bad: tf.unstack(tf.zeros([2, 2]), bad),
    lambda bad: tf.nn.moments(tf.zeros([2, 2]), [bad]), lambda bad: tf.stack([1, 2], axis=bad),
    lambda bad: tf.zeros([2, bad]), lambda bad: tf.placeholder(tf.float32, [bad]),
    lambda bad: tf.nn.max_pool(tf.zeros([1, 4, 4, 1]), [1, bad, 2, 1], [1, 2, 2, 1], "SAME"),
    lambda bad: tf.tensordot(tf.zeros([2, 2]), tf.zeros([2, 2]), bad),
])
def test_integers_are_no_fractions_texts_or_tensors_of_other_kinds(call):
    for bad in (0.5, "x", object(), tf.zeros([2]), 1j):
        with pytest.raises((TypeError, ValueError)):
            call(bad)


def test_numbers_that_do_not_fit_are_refused():
    for bad in (2**63, -2**64, 10**30):
        with pytest.raises((ValueError, TypeError)):
            tf.unstack(tf.zeros([2, 2]), bad)
        with pytest.raises((ValueError, TypeError)):
            tf.one_hot([1], 2, axis=bad)
    with pytest.raises((ValueError, TypeError)):
        tf.DeviceSpec(task=2**40)
    for bad in (float("nan"), "x", object()):
        with pytest.raises((ValueError, TypeError, OverflowError)):
            tf.random_normal([2], seed=bad)


def test_a_list_of_tensors_that_holds_itself_is_refused():
    items = [tf.constant(1.0)]
    items.append(items)
    with pytest.raises(ValueError, match="nested too deeply"):
        tf.convert_to_tensor(items)
    with pytest.raises(ValueError, match="nested too deeply"):
        tf.add_n([items])


def test_variables_that_were_never_made_are_refused():
    ghost = tf.Variable.__new__(tf.Variable)
    _weir.Variable.__init__(ghost)
    for use in (lambda: ghost.assign(1.0), lambda: ghost.dtype, lambda: ghost.graph, lambda: tf.assign(ghost, 1.0),
                lambda: tf.identity(ghost)):
        with pytest.raises((ValueError, TypeError, AttributeError)):
            use()


def test_a_conversion_function_must_give_a_tensor():
    class Odd:
        pass

    tf.register_tensor_conversion_function(Odd, lambda value, dtype=None, name=None, as_ref=False: 5)
    with pytest.raises(RuntimeError, match="must give a Tensor|conversion function"):
        tf.identity(Odd())


class Interrupting:
    """An object whose use is interrupted, as by Ctrl-C at that moment."""

    def __init__(self, error=KeyboardInterrupt):
        self.error = error

    def __index__(self):
        raise self.error

    __float__ = __array__ = __len__ = __getitem__ = lambda self, *args, **kwargs: self.__index__()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
def test_interrupts_and_exits_are_never_taken_for_bad_arguments(error):
    bad = Interrupting(error)
    for call in (lambda: tf.constant(bad), lambda: tf.zeros([bad]), lambda: tf.one_hot([1], 2, axis=bad),
                 lambda: tf.split(tf.zeros([2]), [bad], 0),
                 lambda: tf.nn.max_pool(tf.zeros([1, 4, 4, 1]), [1, bad, 2, 1], [1, 2, 2, 1], "SAME")):
        with pytest.raises(error):
            call()


# Finalized graphs.


def test_nothing_changes_a_finalized_graph():
    x, v = tf.constant(1.0), tf.Variable(1.0)
    graph_def = tf.get_default_graph().as_graph_def()
    graph = tf.get_default_graph()
    graph.finalize()
    assert graph.finalized
    version = graph.version
    for change in (lambda: tf.constant(2.0), lambda: x + 1, lambda: tf.Variable(2.0), lambda: v.assign(2.0),
                   lambda: tf.get_variable("w", [2]), lambda: tf.placeholder(tf.float32), lambda: tf.no_op(),
                   lambda: tf.group(v.initializer), lambda: tf.gradients(x, x), lambda: tf.nn.moments(x, []),
                   lambda: tf.cond(x > 0, lambda: x, lambda: -x), lambda: tf.train.exponential_decay(0.1, 1, 2, 0.5),
                   lambda: tf.import_graph_def(graph_def, name="again"), lambda: tf.train.Saver(),
                   lambda: tf.summary.scalar("x", x), lambda: tf.losses.mean_squared_error([1.0], [2.0]),
                   lambda: tf.global_variables_initializer(), lambda: graph.create_op("NoOp", []),
                   lambda: tf.one_hot([1], 2), lambda: tf.random_normal([2]), lambda: tf.stack([x, x]),
                   lambda: tf.add_to_collection("a", x), lambda: graph.clear_collection("variables")):
        with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
            change()
    assert graph.version == version
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(v) == 1
    graph._unsafe_unfinalize()
    tf.constant(2.0)


# Collections.


def test_the_reference_to_a_collection_is_the_collection():
    graph = tf.get_default_graph()
    ref = tf.get_collection_ref("things")
    assert isinstance(ref, list) and ref is graph.get_collection_ref("things") and ref == [] and not ref
    tf.add_to_collection("things", 1)
    ref.append(2)
    tf.add_to_collection("things", 3)
    assert ref == [1, 2, 3] == tf.get_collection("things") and len(ref) == 3 and list(ref) == [1, 2, 3] and 3 in ref
    ref.remove(2)
    tf.add_to_collection("things", 4)
    assert tf.get_collection("things") == [1, 3, 4] and ref[-1] == 4 and sorted(ref) == [1, 3, 4] and ref + [5] == [1, 3, 4, 5]
    ref += [6]
    assert tf.get_collection("things") == [1, 3, 4, 6] and ref is graph.get_collection_ref("things")
    del ref[:]
    assert tf.get_collection("things") == []
    tf.add_to_collection("things", 7)
    assert ref == [7]
    assert pickle.loads(pickle.dumps(ref)) == [7]


def test_variables_made_beside_a_held_reference_are_in_it():
    ref = tf.get_collection_ref(tf.GraphKeys.GLOBAL_VARIABLES)
    v = tf.Variable(1.0)
    w = tf.Variable(2.0)
    assert ref == [v, w]
    ref.remove(v)
    u = tf.Variable(3.0)
    assert tf.global_variables() == [w, u] == ref


def test_a_copy_of_a_collection_is_the_programs_own():
    tf.add_to_collection("things", 1)
    items = tf.get_collection("things")
    items.append(2)
    assert tf.get_collection("things") == [1]


# Graph.create_op.


def test_create_op_sets_attributes():
    from weir import protos

    graph = tf.get_default_graph()
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    product = graph.create_op("MatMul", [x, x], [tf.float32], name="product",
                              attrs={"transpose_b": protos.AttrValue(b=True), "_label": protos.AttrValue(s=b"mine")})
    assert isinstance(product, tf.Operation) and product.name == "product" and product.get_attr("transpose_b")
    assert product.get_attr("_label") == b"mine"
    concat = graph.create_op("ConcatV2", [x, x, tf.constant(1)], attrs={"N": 2})
    with tf.Session() as session:
        assert session.run(product.outputs[0]).tolist() == [[5, 11], [11, 25]]
        assert session.run(concat.outputs[0]).shape == (2, 4)
    with pytest.raises((TypeError, ValueError), match="attribute"):
        graph.create_op("MatMul", [x, x], attrs={"no_such": protos.AttrValue(b=True)})
    with pytest.raises((TypeError, ValueError), match="transpose_b"):
        graph.create_op("MatMul", [x, x], attrs={"transpose_b": protos.AttrValue(s=b"yes")})


# Classes of exceptions.


def test_the_classes_of_building_errors_come_from_codes():
    x = tf.constant(1.0)
    cases = [(lambda: tf.matmul(x, x), ValueError, errors.InvalidArgumentError),
             (lambda: tf.sqrt(tf.constant("a")), TypeError, None),
             (lambda: tf.gradients(x * 2, x, grad_ys=[tf.constant(1)]), TypeError, errors.InvalidArgumentError),
             (lambda: tf.get_default_graph().create_op("Add", [x, tf.constant("a")]), TypeError,
              errors.InvalidArgumentError)]
    for call, builtin, of_code in cases:
        with pytest.raises(builtin) as caught:
            call()
        if of_code:
            assert isinstance(caught.value, of_code)
            again = pickle.loads(pickle.dumps(caught.value))
            assert type(again) is type(caught.value) and str(again) == str(caught.value)


def test_words_of_a_message_do_not_choose_the_class():
    """A name may hold any words: those that once made a TypeError of an error."""
    x = tf.placeholder(tf.float32, [2, 3], name="input")
    with pytest.raises(ValueError) as caught:
        with tf.name_scope("Second-order"):
            tf.reshape(x, [4, 5], name="gradient")
    assert not isinstance(caught.value, TypeError)
    for code in errors._CLASS_BY_CODE:
        for fault in (errors._VALUE, errors._TYPE):
            error = errors.of_building(code, fault, "input 'x' must be float; 'y' is int: attribute 'T'; allowed are")
            assert isinstance(error, TypeError) == (fault == errors._TYPE)
            assert error.error_code == code and isinstance(error, errors.exception_type_from_error_code(code))


def test_messages_that_are_no_utf8_are_shown(tmp_path, sess):
    text = tf.placeholder(tf.string, [])
    with pytest.raises(errors.OpError) as caught:
        sess.run(tf.string_to_number(text), {text: b"\xff\xfe"})
    assert "\\xff" in str(caught.value)
    with pytest.raises((errors.OpError, ValueError)) as caught:
        sess.run(tf.read_file(text), {text: os.fsencode(str(tmp_path)) + b"/\xff\xfe"})
    assert "\\xff" in str(caught.value)
    with pytest.raises((ValueError, TypeError)):
        tf.constant(1.0, name=b"\xff")
    with pytest.raises((ValueError, TypeError)):
        tf.constant(1.0, name="\udcff")


# Lifetimes.


def collected(make):
    """Whether what `make` gives a weak reference to goes out of use when everything else does."""
    reference = make()
    for _ in range(3):
        gc.collect()
    return reference() is None


def test_a_scope_may_be_left_after_its_graph_is_forgotten():
    for enter in (lambda g: tf.name_scope("a"), lambda g: g.name_scope("a"), lambda g: tf.device("/cpu:0"),
                  lambda g: tf.control_dependencies([tf.no_op()]), lambda g: tf.variable_scope("v"),
                  lambda g: g.gradient_override_map({"Abs": "Other"}), lambda g: tf.colocate_with(tf.no_op())):
        tf.reset_default_graph()
        scope = enter(tf.get_default_graph())
        scope.__enter__()
        tf.reset_default_graph()
        gc.collect()
        with tf.name_scope("new"):
            x = tf.constant(1.0, name="x")
        scope.__exit__(None, None, None)
        assert x.name == "new/x:0" and tf.constant(1.0, name="y").name == "y:0"


def test_a_scope_that_is_left_keeps_nothing():
    def make():
        graph = tf.Graph()
        with graph.as_default():
            scope = tf.name_scope("a")
            with scope:
                tf.constant(1.0)
        make.scope = scope
        return weakref.ref(graph)

    assert collected(make)


def test_variable_scopes_serve_other_graphs_when_their_own_is_gone():
    with tf.Graph().as_default():
        weights = tf.constant(3.0)  # what keeps the first graph in the initializer
        with tf.variable_scope("v", initializer=lambda shape, dtype=None, partition_info=None: tf.ones(shape) * 5,
                               regularizer=lambda w: tf.reduce_sum(w)) as scope:
            pass
        del weights
    gc.collect()
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope(scope):
            v = tf.get_variable("w", [2])
        session.run(v.initializer)
        assert session.run(v).tolist() == [5, 5]
        assert session.run(tf.losses.get_regularization_losses()) == [10]


@pytest.mark.parametrize("fill", [
    lambda g: tf.add_to_collection("own", g), lambda g: tf.add_to_collection("own", (g, [g])),
    lambda g: tf.add_to_collection("own", lambda: g), lambda g: tf.get_collection_ref("own").append({"graph": g}),
    lambda g: tf.variable_scope("s", initializer=lambda shape, dtype=None, partition_info=None: g and tf.ones(shape)).__enter__(),
    lambda g: tf.get_variable_scope().set_initializer(lambda shape, dtype=None, partition_info=None: g and tf.ones(shape)),
    lambda g: tf.get_variable_scope().set_regularizer(lambda w: g and tf.reduce_sum(w)),
    lambda g: tf.get_variable("w", [2], initializer=lambda shape, dtype=None, partition_info=None: g and tf.ones(shape)),
    lambda g: tf.Variable(lambda: g and tf.ones([2])), lambda g: tf.py_func(lambda x: g and x, [1.0], tf.float32),
    lambda g: tf.train.Saver([tf.Variable(1.0)]), lambda g: setattr(g, "session", tf.Session()),
    lambda g: setattr(g, "call", tf.Session().make_callable(tf.constant(1.0))),
    lambda g: setattr(g, "call", tf.Session().make_callable(tf.SparseTensor([[0]], [1.0], [1]))),
    lambda g: tf.train.AdamOptimizer(tf.constant(0.1)).minimize(tf.square(tf.Variable(1.0))),
    lambda g: tf.train.ExponentialMovingAverage(tf.constant(0.9)).apply([tf.Variable(1.0)]),
    lambda g: tf.cond(tf.constant(True), lambda: g and tf.constant(1), lambda: tf.constant(2)),
    lambda g: g.device(lambda op: g and "/cpu:0").__enter__(),
])
def test_graphs_that_go_out_of_use_are_freed(fill):
    def make():
        graph = tf.Graph()
        with graph.as_default():
            fill(graph)
        return weakref.ref(graph)

    assert collected(make)


def test_averages_and_savers_keep_their_graph():
    with tf.Graph().as_default():
        average = tf.train.ExponentialMovingAverage(tf.constant(0.9))
        v = tf.Variable(1.0, name="v")
        average.apply([v])
        saver = tf.train.Saver([v])
        definition = saver.as_saver_def()
        again = tf.train.Saver(saver_def=definition)
        reference = weakref.ref(v)
        del v
    gc.collect()
    assert average.average(reference()).op.name == "v/ExponentialMovingAverage"
    assert again.as_saver_def() == definition


def test_a_loop_that_makes_graphs_keeps_its_memory_bounded():
    def step():
        with tf.Graph().as_default() as graph, tf.Session() as session:
            with tf.variable_scope("s", initializer=lambda shape, dtype=None, partition_info=None: tf.ones(shape)):
                v = tf.get_variable("v", [1 << 18])
            tf.add_to_collection("own", (graph, v))
            loss = tf.reduce_sum(v * np.ones(1 << 18, np.float32))
            train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            session.run(tf.global_variables_initializer())
            session.run(train)

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(5):
        step()
    gc.collect()
    before = resident()
    for _ in range(40):  # each holds some megabytes
        step()
    gc.collect()
    assert resident() - before < 40 << 20


# Savers.


def test_a_saver_is_made_from_its_definition(tmp_path, sess):
    v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(3.0, name="w")
    saver = tf.train.Saver(max_to_keep=2, keep_checkpoint_every_n_hours=7.0)
    nodes = tf.get_default_graph().version
    again = tf.train.Saver(saver_def=saver.as_saver_def())
    assert tf.get_default_graph().version == nodes, "the nodes are there already"
    sess.run(tf.global_variables_initializer())
    paths = [again.save(sess, str(tmp_path / "model"), global_step=step) for step in range(3)]
    assert again.last_checkpoints == paths[1:], "how many are kept is the definition's"
    sess.run([v.assign([0.0, 0.0]), w.assign(0.0)])
    again.restore(sess, paths[-1])
    assert sess.run([v, w])[0].tolist() == [1, 2] and sess.run(w) == 3
    assert again.as_saver_def() == saver.as_saver_def()
    meta_graph = again.export_meta_graph()
    assert meta_graph.saver_def == saver.as_saver_def()
    from_proto = tf.train.Saver.from_proto(saver.to_proto())
    from_proto.restore(sess, paths[-1])
    with tf.Graph().as_default() as graph, tf.Session() as other:
        tf.import_graph_def(meta_graph.graph_def, name="old")
        tf.train.Saver.from_proto(saver.to_proto(), import_scope="old").restore(other, paths[-1])
        assert other.run(graph.get_tensor_by_name("old/w:0")) == 3


# Threads.


def test_threads_that_share_a_record_writer_tear_nothing(tmp_path):
    path = str(tmp_path / "records")
    expected = sorted(b"%d %d " % (t, i) + b"x" * (i * 37 % 3000) for t in range(4) for i in range(300))
    with tf.python_io.TFRecordWriter(path) as writer:
        def write(t):
            for i in range(300):
                writer.write(b"%d %d " % (t, i) + b"x" * (i * 37 % 3000))

        threads = [threading.Thread(target=write, args=(t,)) for t in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
    assert sorted(tf.python_io.tf_record_iterator(path)) == expected
