"""Control flow between Weir and TensorFlow (which is no dependency: run this by hand in environments that have it).

  control_flow_graphs.py make DIRECTORY   writes the graphs of tests/data/control_flow and what they give: 1.15 writes
                                          those of Switch and Merge, of the functional If and While, and of functions;
                                          2.x writes those named tf2_*
  control_flow_graphs.py check DIRECTORY  runs what Weir wrote of the same graphs (the tests leave it in the system's
                                          temporary directory as weir_control_flow) and compares the results

A line of runs-*.tsv is a graph, a fetch, feeds and the value, or an operation to run without a value. Lines of a graph
are run in one session, in their order.
"""
import os
import sys

import numpy as np
import tensorflow as tf
from google.protobuf import text_format

VERSION = tf.__version__.split('.')[0]
tf1 = tf.compat.v1
if VERSION == '2':
    tf1.disable_eager_execution()
    tf1.disable_control_flow_v2()

GRAPHS = {}


def graph(*runs, v2=False, version='1'):
    def register(build):
        if version == VERSION:
            GRAPHS[build.__name__] = (build, runs, v2)
        return build
    return register


def xs(p, x=(1.0, 2.0)):
    return {'p:0': p, 'x:0': x}


def inputs():
    return tf1.placeholder(tf.bool, [], name='p'), tf1.placeholder(tf.float32, [None], name='x')


def cond_outputs():
    p, x = inputs()
    y, n = tf1.cond(p, lambda: (x * 2.0, tf.constant(7)), lambda: (tf.exp(x), tf.constant(8)))
    tf.add(y, 1.0, name='y')
    tf.add(n, 1, name='n')
    z = tf1.cond(p, lambda: y, lambda: x)
    tf.identity(z, name='z')


graph(*[(f, xs(p)) for f in ('y:0', 'n:0', 'z:0', 'cond/Merge:0', 'cond_1/Merge:0') for p in (True, False)])(cond_outputs)


def build_nested():
    p, x = inputs()
    q = tf.greater(tf.reduce_sum(x), 0.0, name='q')
    a = tf.reduce_max(x)

    def inner():
        b = a + 1.0
        return tf1.cond(q, lambda: b * x, lambda: tf1.cond(tf.less(b, -1.0), lambda: b - x, lambda: x * x))
    y = tf1.cond(p, inner, lambda: tf1.cond(q, lambda: -x, lambda: x + a))
    tf.identity(y, name='y')
    grad, = tf1.gradients(tf.reduce_sum(y * y), x)
    tf.identity(grad, name='grad')


CASES = [(True, (1.0, 2.0)), (True, (-1.0, -2.0)), (True, (-5.0, -4.0)), (False, (1.0, 2.0)), (False, (-1.0, 0.5))]


@graph(*[(f, xs(*c)) for f in ('y:0', 'grad:0') for c in CASES])
def cond_nested():
    build_nested()


@graph(*[(f, xs(*c)) for f in ('y:0',) for c in CASES], v2=True)
def functional_nested():
    build_nested_forward()


def build_nested_forward():
    p, x = inputs()
    q = tf.greater(tf.reduce_sum(x), 0.0, name='q')
    y = tf1.cond(p, lambda: tf1.cond(q, lambda: x * 3.0, lambda: x + 1.0), lambda: x - 1.0)
    tf.identity(y, name='y')


@graph('init', ('w:0', {}), *[(f, xs(p)) for p in (True, False, True) for f in ('y:0', 'v/read:0', 'w:0')])
def cond_assign():
    p, x = inputs()
    v = tf1.Variable([1.0, 1.0], name='v')
    w = tf1.Variable(3.0, name='r', use_resource=True)

    def then():
        with tf.control_dependencies([tf1.assign_add(v, x), w.assign_add(2.0)]):
            return tf.identity(x * 10.0)

    def otherwise():
        update = tf1.assign(v, x * 2.0)
        with tf.control_dependencies([update]):
            return v.read_value() + w
    y = tf1.cond(p, then, otherwise)
    tf.identity(y, name='y')
    tf.identity(w.read_value(), name='w')
    tf1.global_variables_initializer()


@graph('init', *[(f, xs(p)) for p in (True, False) for f in ('train', 'loss:0', 'v/read:0')])
def cond_training():
    p, x = inputs()
    v = tf1.Variable([0.5, -0.5], name='v')
    w = tf1.Variable(2.0, name='w')

    def then():
        h = tf.tanh(v * x) * w
        return h, tf.reduce_sum(h)
    a, b = tf1.cond(p, then, lambda: (v + x, w * w))
    c = tf1.cond(tf.less(b, 0.1), lambda: a * b, lambda: tf.sigmoid(a))
    loss = tf.add(tf.reduce_sum(c * c), b, name='loss')
    tf1.train.GradientDescentOptimizer(0.1).minimize(loss, name='train')
    tf1.global_variables_initializer()


@graph(*[('y:0', {'k:0': k}) for k in (0, 1, 2, 5)])
def case_of_many():
    k = tf1.placeholder(tf.int32, [], name='k')
    y = tf1.case([(tf.equal(k, i), lambda i=i: tf.constant(float(10 * i)) + tf1.to_float(k)) for i in range(3)],
                 default=lambda: tf.constant(-1.0), exclusive=True)
    tf.identity(y, name='y')


@graph(*[('y:0', xs(True, x)) for x in ((1.0, 2.0), (3.0, 4.0))])
def asserted():
    p, x = inputs()
    with tf.control_dependencies([tf1.Assert(tf.reduce_all(x > 0.0), [x]), tf1.assert_less(x, 5.0)]):
        tf.identity(x + 1.0, name='y')


@graph(*[(f, {'n:0': n, 'x:0': (1.0, 2.0)}) for f in ('y:0', 'i:0', 'while/Exit_1:0') for n in (0, 1, 5)])
def while_simple():
    n, x = tf1.placeholder(tf.int32, [], name='n'), tf1.placeholder(tf.float32, [None], name='x')
    i, y = tf1.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 2.0 + x), [0, tf.zeros_like(x)])
    tf.identity(i, name='i')
    tf.identity(y, name='y')


def build_nested_loops():
    n, x = tf1.placeholder(tf.int32, [], name='n'), tf1.placeholder(tf.float32, [], name='x')
    p = tf.greater(x, 0.0, name='p')

    def body(i, a, grown):
        _, inner = tf1.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b + x * tf1.to_float(j)), [0, a])
        a = tf1.cond(tf.equal(i % 2, 0), lambda: inner + 1.0, lambda: tf1.cond(p, lambda: inner * 2.0, lambda: -inner))
        return i + 1, a, tf.concat([grown, [a]], 0)
    shapes = [tf.TensorShape([]), tf.TensorShape([]), tf.TensorShape([None])]
    loop = tf1.while_loop(lambda i, a, g: tf.logical_and(i < n, a < 1000.0), body, [0, x, tf.zeros([1])], shapes)
    tf.identity(loop[1], name='y')
    tf.identity(loop[2], name='grown')
    z = tf1.cond(p, lambda: tf1.while_loop(lambda a: a < 10.0, lambda a: a * 3.0, [x]), lambda: loop[1])
    tf.identity(z, name='z')


LOOPS = [{'n:0': n, 'x:0': x} for n in (0, 1, 4) for x in (1.5, -2.0)]


@graph(*[(f, feeds) for f in ('y:0', 'grown:0', 'z:0') for feeds in LOOPS])
def while_nested():
    build_nested_loops()


@graph(*[(f, feeds) for f in ('y:0', 'grown:0', 'z:0') for feeds in LOOPS], v2=True)
def functional_loops():
    build_nested_loops()


@graph('init', ('y:0', {'n:0': 3}), ('v/read:0', {}), ('r:0', {}), ('y:0', {'n:0': 2}), ('v/read:0', {}), ('r:0', {}))
def while_assign():
    n = tf1.placeholder(tf.int32, [], name='n')
    v = tf1.Variable(1.0, name='v')
    w = tf1.Variable(3.0, name='w', use_resource=True)

    def body(i, a):
        with tf.control_dependencies([tf1.assign_add(v, a), w.assign_sub(1.0)]):
            return i + 1, tf.identity(a) + w
    loop = tf1.while_loop(lambda i, a: i < n, body, [0, 1.0], parallel_iterations=1)
    tf.identity(loop[1], name='y')
    tf.identity(w.read_value(), name='r')
    tf1.global_variables_initializer()


@graph('init', *[(f, {'n:0': n}) for n in (3, 1, 0) for f in ('grad:0', 'train', 'loss:0', 'v/read:0')])
def while_training():
    n = tf1.placeholder(tf.int32, [], name='n')
    v = tf1.Variable([0.5, -0.3], name='v')

    def body(i, a):
        return i + 1, tf.tanh(a * v) + tf1.cond(tf.equal(i % 2, 0), lambda: a * a, lambda: 0.1 * a)
    loop = tf1.while_loop(lambda i, a: i < n, body, [0, tf.constant([1.0, 2.0])])
    loss = tf.reduce_sum(loop[1] * loop[1], name='loss')
    tf.identity(tf1.gradients(loss, v)[0], name='grad')
    tf1.train.GradientDescentOptimizer(0.01).minimize(loss, name='train')
    tf1.global_variables_initializer()


@graph(*[(f, xs(True, x)) for f in ('mapped:0', 'grad:0', 'joined:0') for x in ((1.0, 2.0), (3.0, -1.0, 0.5))])
def arrays():
    """TensorArrays in loops: map_fn and scan with gradients, and an array that grows."""
    _, x = inputs()
    mapped = tf.map_fn(lambda v: tf1.cond(v > 0, lambda: v * v, lambda: v - 1.0), x)
    tf.identity(mapped, name='mapped')
    running = tf.scan(lambda a, v: a * 0.5 + v, x)
    tf.identity(tf.gradients([mapped, running], x)[0], name='grad')
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, infer_shape=False)
    _, array = tf1.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a.write(i, tf.fill([i + 1], x[0]))), [0, array])
    tf.identity(array.concat(), name='joined')


@graph('init', *[(f, {'x:0': (1.0, 2.0), 'p:0': p}) for p in (True, False) for f in ('y:0', 'z:0')])
def functions():
    from tensorflow.python.framework import function

    @function.Defun(tf.float32, tf.float32)
    def scale(a, b):
        return a * b, a + b

    @function.Defun(tf.float32, tf.bool)
    def choose(a, c):
        one, other = scale(a, 3.0)
        return tf1.cond(c, lambda: one, lambda: other)

    p, x = inputs()
    y, _ = scale(choose(x, p), x)
    tf.identity(y, name='y')
    tf.identity(choose(x, tf.logical_not(p)), name='z')
    tf.no_op(name='init')


@graph('init', *[(f, {'x:0': (1.0, 2.0), 'n:0': n}) for n in (0, 3) for f in ('y:0', 'r:0')], version='2')
def tf2_functions():
    n, x = tf1.placeholder(tf.int32, [], name='n'), tf1.placeholder(tf.float32, [None], name='x')
    w = tf1.Variable(2.0, name='w', use_resource=True)

    @tf.function
    def step(a):
        w.assign_add(1.0)
        return a * w

    @tf.function
    def loop(x, n):
        a = x
        for i in tf.range(n):
            if tf.equal(i % 2, 0):
                a = step(a)
            else:
                a = a - 1.0
        return a
    tf.identity(loop(x, n), name='y')
    tf.identity(w.read_value(), name='r')
    tf1.global_variables_initializer()


def show(value):
    value = np.asarray(value)
    return '%s|%s' % (','.join(map(str, value.shape)), ' '.join('%.9g' % v for v in value.astype(np.float64).ravel()))


def numbers(value):
    return np.asarray(value, dtype=np.float64)


def run(session, runs):
    for item in runs:
        if isinstance(item, str):
            session.run(item)
            yield item, {}, ''
            continue
        fetch, feeds = item
        value = session.run(fetch, feeds)
        yield fetch, feeds, '' if ':' not in fetch else show(value)


def make(directory):
    with open(os.path.join(directory, 'runs-%s.tsv' % VERSION), 'w') as table:
        for name, (build, runs, v2) in GRAPHS.items():
            (tf1.enable_control_flow_v2 if v2 else tf1.disable_control_flow_v2)()
            with tf1.Graph().as_default() as made:
                build()
                with open(os.path.join(directory, name + '.pbtxt'), 'w') as out:
                    out.write(text_format.MessageToString(made.as_graph_def()))
                with tf1.Session() as session:
                    for fetch, feeds, value in run(session, runs):
                        fed = ';'.join('%s=%s' % (k, show(v)) for k, v in sorted(feeds.items()))
                        table.write('%s\t%s\t%s\t%s\n' % (name, fetch, fed, value))


def parse(text, dtype):
    shape, values = text.split('|')
    values = np.array([float(v) for v in values.split()])
    return values.reshape([int(n) for n in shape.split(',') if n]).astype(dtype)


def check(ours, theirs):
    sessions, bad = {}, 0
    for table in (os.path.join(theirs, 'runs-0.tsv'), os.path.join(theirs, 'runs-1.tsv'), os.path.join(theirs, 'runs-2.tsv'), os.path.join(ours, 'runs-here.tsv')):
        for line in open(table):
            name, fetch, fed, value = line.rstrip('\n').split('\t')
            if name not in sessions:
                message = tf1.GraphDef()
                text_format.Parse(open(os.path.join(ours, name + '.pbtxt')).read(), message)
                with tf1.Graph().as_default() as imported:
                    tf1.import_graph_def(message, name='')
                sessions[name] = tf1.Session(graph=imported)
            session = sessions[name]
            feeds = dict(item.split('=') for item in fed.split(';') if item)
            feeds = {k: parse(v, session.graph.get_tensor_by_name(k).dtype.as_numpy_dtype) for k, v in feeds.items()}
            got = session.run(fetch, feeds)
            if value and not np.allclose(numbers(got), parse(value, np.float64), rtol=1e-5, atol=1e-6):
                bad += 1
                print('%s %s %s: %s, not %s' % (name, fetch, fed, got, value))
    print('%d graphs, %d differences' % (len(sessions), bad))
    return bad


if __name__ == '__main__':
    here = os.path.dirname(os.path.abspath(__file__))
    if sys.argv[1] == 'make':
        make(sys.argv[2])
    else:
        sys.exit(1 if check(sys.argv[2], os.path.join(here, '../data/control_flow')) else 0)
