"""Exchanges graphs with TensorFlow 1.15 (which is no dependency: run this by hand in an environment that has it).

  graph_exchange.py make DIRECTORY     writes the graphs of tests/data/graphs
  graph_exchange.py seeds DIRECTORY    writes the small graphs that tests/fuzz/graph_def_fuzzer.cc begins with
  graph_exchange.py check OURS THEIRS  imports what Weir wrote (OURS/*.pb; the GraphDef tests leave it in the system's
                                       temporary directory as weir_exports) and compares it, node by node and attribute
                                       by attribute, with the file of the same name in THEIRS
"""
import os
import sys

import numpy as np
import tensorflow as tf


def mlp():
    x = tf.placeholder(tf.float32, [None, 12], name='x')
    y = tf.placeholder(tf.float32, [None, 3], name='y')
    w1 = tf.Variable(tf.truncated_normal([12, 8], stddev=0.1, seed=1), name='w1')
    b1 = tf.Variable(tf.zeros([8]), name='b1')
    h = tf.nn.relu(tf.matmul(x, w1) + b1)
    w2 = tf.Variable(tf.random_normal([8, 3], seed=2), name='w2')
    logits = tf.nn.bias_add(tf.matmul(h, w2), tf.Variable(tf.constant(0.1, shape=[3]), name='b2'))
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits), name='loss')
    tf.train.AdamOptimizer(1e-2).minimize(loss, name='train')
    correct = tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1))
    tf.reduce_mean(tf.cast(correct, tf.float32), name='accuracy')
    tf.global_variables_initializer()


def convnet():
    images = tf.placeholder(tf.float32, [None, 64], name='images')
    labels = tf.placeholder(tf.int64, [None], name='labels')
    keep = tf.placeholder_with_default(1.0, [], name='keep')
    x = tf.reshape(images, [-1, 8, 8, 1])
    for i, channels in enumerate([4, 6]):
        with tf.variable_scope('conv%d' % i, initializer=tf.random_uniform_initializer(-0.1, 0.1, seed=i)):
            kernel = tf.get_variable('kernel', [3, 3, x.shape[-1], channels])
            bias = tf.get_variable('bias', [channels], initializer=tf.zeros_initializer())
            x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, [1, 1, 1, 1], 'SAME'), bias))
            x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')
            x = tf.nn.lrn(x, 2, bias=1.0, alpha=0.001, beta=0.75)
    x = tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 1, 1, 1], 'VALID')
    flat = tf.reshape(x, [-1, 6])
    flat = tf.nn.dropout(flat, keep_prob=keep, seed=3)
    w = tf.get_variable('w', [6, 5], initializer=tf.truncated_normal_initializer(seed=4))
    logits = tf.matmul(flat, w)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    loss = tf.add(loss, 1e-3 * tf.nn.l2_loss(w), name='loss')
    step = tf.train.get_or_create_global_step()
    tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=step, name='train')
    tf.global_variables_initializer()


def shapes():
    x = tf.placeholder(tf.float32, [None, 4, 3], name='x')
    dynamic = tf.placeholder(tf.float32, name='dynamic')
    parts = tf.split(x, 2, axis=1)
    joined = tf.concat([parts[1], parts[0]], axis=1)
    turned = tf.transpose(joined, [0, 2, 1])
    n = tf.shape(x)[0]
    flat = tf.reshape(turned, tf.stack([n, 12]))
    rows = tf.unstack(flat, num=12, axis=1)
    again = tf.stack(rows[::-1], axis=1)
    sliced = again[:, 1:9:2]
    picked = tf.gather(sliced, tf.constant([2, 0]), axis=1)
    grown = tf.expand_dims(picked, -1)
    back = tf.squeeze(tf.slice(grown, [0, 0, 0], [-1, 2, 1]), [2])
    padded = tf.pad(back, [[0, 0], [1, 1]])
    tiled = tf.tile(padded, [1, 2])
    hot = tf.one_hot(tf.argmax(tiled, 1), 8)
    chosen = tf.where(tiled > 0, tiled, tf.zeros_like(tiled))
    total = tf.reduce_sum(chosen * hot + tf.cast(tf.size(dynamic), tf.float32) + tf.cast(tf.rank(dynamic), tf.float32))
    tf.identity(tf.gradients(total, x)[0], name='grad')
    with tf.control_dependencies([total]):
        tf.no_op(name='after')
    with tf.device('/cpu:0'), tf.colocate_with(total.op):
        tf.maximum(total, 1.0, name='beside')


def constants():
    for dtype in [np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16,
                  np.uint32, np.uint64, np.bool_, np.complex64, np.complex128]:
        name = np.dtype(dtype).name
        tf.constant(np.array(1, dtype), name=name + '_scalar')
        tf.constant(np.array([[0, 1, 1], [1, 0, 1]], dtype), name=name + '_matrix')
        tf.constant(np.zeros([0, 2], dtype), name=name + '_empty')
    tf.constant(1.5, tf.bfloat16, name='bfloat16_scalar')
    tf.constant([1.5, -2.0], tf.bfloat16, name='bfloat16_vector')
    tf.constant('text', name='string_scalar')
    tf.constant([['a', 'bc'], ['', u'\u00e4']], name='string_matrix')
    tf.constant(7.0, shape=[3, 2], name='filled')


GRAPHS = [mlp, convnet, shapes, constants]


def make(directory):
    for build in GRAPHS:
        with tf.Graph().as_default() as graph:
            build()
            with open(os.path.join(directory, build.__name__ + '.pb'), 'wb') as f:
                f.write(graph.as_graph_def().SerializeToString())


def seeds(directory):
    """One small graph for each operation, of constants only, so that a session can run it without feeds."""
    def m(*shape):
        return tf.constant(np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape))

    builders = dict(
        matmul=lambda: tf.matmul(m(2, 3), m(3, 2)),
        batch_matmul=lambda: tf.matmul(m(2, 2, 3), m(2, 3, 2)),
        conv2d=lambda: tf.nn.conv2d(m(1, 4, 4, 2), m(3, 3, 2, 2), [1, 1, 1, 1], 'SAME'),
        conv2d_grad=lambda: tf.gradients(tf.nn.conv2d(X(m(1, 4, 4, 1)), m(2, 2, 1, 2), [1, 2, 2, 1], 'VALID'), X.last),
        max_pool=lambda: tf.gradients(tf.nn.max_pool(X(m(1, 4, 4, 1)), [1, 2, 2, 1], [1, 2, 2, 1], 'SAME'), X.last),
        avg_pool=lambda: tf.gradients(tf.nn.avg_pool(X(m(1, 3, 3, 1)), [1, 2, 2, 1], [1, 1, 1, 1], 'VALID'), X.last),
        lrn=lambda: tf.gradients(tf.nn.lrn(X(m(1, 1, 2, 4)), 1), X.last),
        bias=lambda: tf.gradients(tf.nn.bias_add(X(m(2, 3)), m(3)), X.last),
        softmax=lambda: tf.nn.softmax(m(2, 3)),
        cross_entropy=lambda: tf.nn.softmax_cross_entropy_with_logits_v2(labels=m(2, 3), logits=m(2, 3)),
        sparse_cross_entropy=lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0], logits=m(2, 3)),
        reductions=lambda: [f(m(2, 3), 1) for f in (tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_prod)],
        logic=lambda: [tf.reduce_all(m(2) > 1), tf.reduce_any(tf.logical_and([True], [False])), tf.logical_not(True)],
        arg=lambda: [tf.argmax(m(2, 3), 1), tf.argmin(m(2, 3), 0)],
        unary=lambda: [f(m(3)) for f in (tf.exp, tf.log, tf.tanh, tf.sigmoid, tf.sqrt, tf.rsqrt, tf.abs, tf.sign)],
        binary=lambda: [f(m(2, 3), m(3)) for f in (tf.add, tf.subtract, tf.multiply, tf.divide, tf.pow, tf.maximum)],
        integers=lambda: [f([7, -7], [2, -2]) for f in (tf.floordiv, tf.floormod, tf.truncatediv, tf.truncatemod)],
        cast=lambda: [tf.cast(m(3), t) for t in (tf.int32, tf.float16, tf.bool, tf.complex64, tf.uint8, tf.int64)],
        select=lambda: tf.where([True, False], m(2), m(2)),
        where=lambda: tf.where([True, False]),
        reshape=lambda: tf.reshape(m(2, 3), [3, -1]),
        transpose=lambda: tf.transpose(m(2, 3), [1, 0]),
        concat=lambda: tf.concat([m(2, 2), m(2, 3)], 1),
        split=lambda: [tf.split(m(4), 2), tf.split(m(4), [1, 3])],
        stack=lambda: tf.unstack(tf.stack([m(2), m(2)], axis=1)),
        slice=lambda: tf.slice(m(3, 3), [0, 1], [2, -1]),
        strided_slice=lambda: tf.gradients(X(m(4, 4))[1:3, ::-1, tf.newaxis], X.last),
        gather=lambda: tf.convert_to_tensor(tf.gradients(tf.gather(X(m(4, 2)), [3, 0]), X.last)[0]),
        gather_nd=lambda: tf.gather_nd(m(2, 2), [[1, 0]]),
        scatter_nd=lambda: tf.scatter_nd([[1], [2]], m(2), [4]),
        fill=lambda: [tf.fill([2, 3], 1.0), tf.ones_like(m(2)), tf.range(1, 9, 2)],
        tile=lambda: tf.tile(m(2), [3]),
        pad=lambda: tf.pad(m(2), [[1, 2]], constant_values=1.0),
        one_hot=lambda: tf.one_hot([1, 3], 3),
        squeeze=lambda: tf.squeeze(tf.expand_dims(m(2), 0)),
        shape=lambda: [tf.shape(m(2, 3), out_type=tf.int64), tf.size(tf.identity(m(2))), tf.rank(tf.identity(m(2)))],
        stitch=lambda: tf.dynamic_stitch([[0, 2], [1]], [m(2), m(1)]),
        partition=lambda: tf.dynamic_partition(m(3), [0, 1, 0], 2),
        cumsum=lambda: [tf.cumsum(m(3)), tf.cumprod(m(3), reverse=True, exclusive=True)],
        top_k=lambda: tf.nn.top_k(m(4), 2),
        random=lambda: [f([2, 2], seed=1) for f in (tf.random_uniform, tf.random_normal, tf.truncated_normal)],
        random_int=lambda: tf.random_uniform([3], 1, 9, dtype=tf.int32, seed=1),
        variable=lambda: tf.Variable(m(2), name='v').assign_add(m(2)),
        resource=lambda: tf.Variable(m(2), name='v', use_resource=True).assign_sub(m(2)),
        train=lambda: tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(tf.Variable(m(2), name='v') ** 2)),
        checks=lambda: [tf.check_numerics(m(2), 'bad'), tf.raw_ops.Assert(condition=tf.constant(True), data=[m(1)])],
        control=lambda: tf.group(m(1).op, name='g'),
        strings=lambda: tf.reshape(tf.constant(['a', 'bc']), [2, 1]))

    class X(object):
        """Remembers a tensor, to differentiate with respect to it."""
        def __new__(cls, tensor):
            cls.last = tensor
            return tensor

    for name, build in builders.items():
        with tf.Graph().as_default() as graph:
            build()
            with open(os.path.join(directory, name + '.pb'), 'wb') as f:
                f.write(graph.as_graph_def().SerializeToString())


def constants_of(graph_def):
    """The value of every constant, as TensorFlow reads it, whatever its encoding."""
    alone = tf.GraphDef()
    for node in graph_def.node:
        if node.op == 'Const':
            copy = alone.node.add(name=node.name, op='Const')
            for name in ('dtype', 'value'):
                copy.attr[name].CopyFrom(node.attr[name])
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        tf.import_graph_def(alone, name='')
        values = session.run({node.name: node.name + ':0' for node in alone.node})
    arrays = {name: np.asarray(value) for name, value in values.items()}
    return {name: (str(array.dtype), array.shape, array.tolist()) for name, array in arrays.items()}


def nodes(graph_def):
    """Every node as (op, inputs, device, attributes, constant value)."""
    values = constants_of(graph_def)
    result = {}
    for node in graph_def.node:
        attrs = {name: value.SerializeToString() for name, value in node.attr.items() if not value.HasField('tensor')}
        result[node.name] = (node.op, list(node.input), node.device, attrs, values.get(node.name))
    return result


def load(path):
    graph_def = tf.GraphDef()
    with open(path, 'rb') as f:
        graph_def.ParseFromString(f.read())
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name='')
        return nodes(graph.as_graph_def())


def check(ours, theirs):
    names = sorted(name for name in os.listdir(ours) if name.endswith('.pb'))
    assert names, 'nothing in ' + ours
    for name in names:
        a, b = load(os.path.join(ours, name)), load(os.path.join(theirs, name))
        assert list(a) == list(b), '%s: nodes differ: %s' % (name, set(a) ^ set(b))
        for node in a:
            assert a[node] == b[node], '%s: %s differs:\n%s\n%s' % (name, node, a[node], b[node])
        print('%s: %d nodes, all the same' % (name, len(a)))


if __name__ == '__main__':
    {'make': make, 'seeds': seeds, 'check': check}[sys.argv[1]](*sys.argv[2:])
