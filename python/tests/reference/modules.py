"""Modules beside the main one: nest, graph_util, sparse tensors, templates, checks, tests, metrics."""

### compat
show(tf.compat.as_bytes('a'))
show(tf.compat.as_text(b'a'))
show(tf.compat.as_str(b'x'))
show(tf.compat.as_str_any(5))
show(tf.compat.as_str_any(b'q'))
show(tf.compat.bytes_or_text_types)
fails(lambda: tf.compat.as_bytes(5))
fails(lambda: tf.compat.as_text(5))
show(tf.compat.v1.Session is tf.Session)
show(isinstance(np.int32(1), tf.compat.integral_types))
show(isinstance(1.5, tf.compat.real_types))

### nest
n = tf.nest
from collections import namedtuple, OrderedDict
P = namedtuple('P', 'x y')
show(n.flatten([1, (2, [3])]))
show(n.flatten({'b': 1, 'a': 2}))
show(n.flatten(5))
show(n.flatten(P(1, [2])))
show(n.pack_sequence_as([1, (2, 3)], [4, 5, 6]))
show(n.pack_sequence_as({'b': 0, 'a': 0}, [1, 2]))
show(n.map_structure(lambda x: x + 1, [1, (2,)]))
show(n.map_structure(lambda x, y: x + y, [1], [2]))
show(n.pack_sequence_as(P(0, 0), [1, 2]))
show(n.is_nested([1]))
show(n.is_nested(1))
show(n.is_nested('a'))
fails(lambda: n.pack_sequence_as([1, 2], [1]))
fails(lambda: n.map_structure(lambda x, y: 0, [1], [1, 2]))
fails(lambda: n.assert_same_structure([1], (1,)))
fails(lambda: n.assert_same_structure({'a': 1}, {'b': 1}))
fails(lambda: n.pack_sequence_as(1, [1, 2]))
fails(lambda: n.map_structure(5, [1]))
fails(lambda: n.assert_same_structure([1], 1))

### protos
p = tf.make_tensor_proto([1.0, 2.0])
show(p.dtype)
show(tf.make_ndarray(p))
for v in [1, [1, 2], 'a', ['a', b'b'], np.zeros((2, 2)), True, np.float16([1.5]), np.array([1 + 2j]), []]:
    show(tf.make_ndarray(tf.make_tensor_proto(v)))
show(tf.make_ndarray(tf.make_tensor_proto(3, shape=[2, 2])))
show(tf.make_ndarray(tf.make_tensor_proto([1, 2], dtype=tf.float64)))
c = tf.constant([1.0, 2.0])
show(tf.contrib.util.constant_value(c))
show(tf.contrib.util.constant_value(tf.placeholder(tf.float32)))
show(tf.contrib.util.constant_value(tf.shape(tf.zeros([2, 3]))))
show(c.op.get_attr('dtype'))
show(tf.make_ndarray(c.op.get_attr('value')))
show(tf.reduce_sum(c, 0).op.get_attr('keep_dims'))
show(tf.placeholder(tf.float32, [None, 2]).op.get_attr('shape').dim[1].size)
show(tf.nn.max_pool(tf.zeros([1, 4, 4, 1]), [1, 2, 2, 1], [1, 2, 2, 1], 'SAME').op.get_attr('padding'))

### graphutil
a = tf.placeholder(tf.float32, [2], name='a')
v = tf.Variable([1.0, 2.0], name='v')
y = tf.add(a * v, 1.0, name='y')
z = tf.identity(y, name='z')
s = tf.Session()
s.run(v.initializer)
gd = tf.graph_util.convert_variables_to_constants(s, s.graph_def, ['z'])
show([(n.name, n.op) for n in gd.node])
show([n.name for n in tf.graph_util.extract_sub_graph(s.graph_def, ['y']).node])
show([n.name for n in tf.graph_util.remove_training_nodes(gd).node])
fails(lambda: tf.graph_util.extract_sub_graph(s.graph_def, ['nope']))
fails(lambda: tf.graph_util.extract_sub_graph(s.graph_def, 'y'))
g = tf.Graph()
with g.as_default():
    r, = tf.import_graph_def(gd, return_elements=['z:0'], name='')
    show(tf.Session().run(r, {'a:0': [1.0, 1.0]}))

### sparse
sp = tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [3, 4])
s = tf.Session()
show(sp.indices)
show(sp.values)
show(sp.dense_shape)
show(sp.dtype)
show(sp.get_shape())
show(sp.shape)
show(s.run(sp))
show(sp.op.name)
show(sp.eval(session=s))
q = tf.sparse_placeholder(tf.float32, name='q')
show(q.indices)
show(q.values)
show(q.dense_shape)
show(q.get_shape())
show(s.run(q, {q: tf.SparseTensorValue([[0, 1]], [3.0], [2, 2])}))
show(s.run(q.values, {q: ([[0, 1]], [3.0], [2, 2])}))
q2 = tf.sparse_placeholder(tf.float32, [3, 4])
show(q2.indices)
show(q2.dense_shape)
show(q2.get_shape())
fails(lambda: tf.SparseTensor([0], [1.0], [1]))
fails(lambda: tf.SparseTensor([[0, 0]], [1.0, 2.0], [3, 4]))
fails(lambda: tf.convert_to_tensor(sp))
i = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([3, 1]))
show(str(i))
show(i.dtype)
show(i.values)
show(i.name)
show(s.run(i))
show(tf.convert_to_tensor(i))

### template
def f(x):
    return x * tf.get_variable('w', [1], initializer=tf.ones_initializer())
t = tf.make_template('t', f)
a = t(1.0)
b = t(2.0)
show([v.name for v in tf.global_variables()])
show(a.name)
show(b.name)
t2 = tf.make_template('t', f)
t2(1.0)
show([v.name for v in tf.global_variables()])
t3 = tf.make_template('k', lambda x, y: x * y * tf.get_variable('z', [1]), y=3.0)
show(t3(2.0).name)
show(t3.variable_scope.name)
show(t3.name)

### partition
p = tf.get_variable('p', [5, 3], partitioner=tf.fixed_size_partitioner(2))
show([v.name for v in p])
show([v.shape for v in p])
show(p.get_shape())
show(p.dtype)
show(p.name)
show(len(p))
show(tf.convert_to_tensor(p))
show([v.name for v in tf.trainable_variables()])
with tf.variable_scope('s', partitioner=tf.fixed_size_partitioner(3, axis=1)):
    show([v.name for v in tf.get_variable('q', [2, 6])])
show(tf.variable_axis_size_partitioner(16)(tf.TensorShape([8, 2]), tf.float32))
show(tf.min_max_variable_partitioner(4, min_slice_size=16)(tf.TensorShape([8, 2]), tf.float32))
show(tf.fixed_size_partitioner(3)(shape=tf.TensorShape([8, 2]), dtype=tf.float32))
s = tf.Session()
s.run(tf.global_variables_initializer())
show(s.run(tf.convert_to_tensor(p)).shape)
show(tf.nn.embedding_lookup(p, [1, 4]))
show([v.name for v in tf.create_partitioned_variables([4, 2], [2, 1], tf.zeros_initializer(), name='cpv')])

### check
s = tf.Session()
x = tf.constant([1, 2, 3])
p = tf.placeholder(tf.int32, [3])
for f in [lambda: tf.assert_equal(x, x), lambda: tf.assert_rank(x, 1), lambda: tf.assert_rank(x, 2),
        lambda: tf.assert_rank_at_least(x, 2),
        lambda: tf.assert_rank_in(x, [2, 3]), lambda: tf.assert_integer(x), lambda: tf.assert_integer(1.5),
        lambda: tf.assert_type(x, tf.float32), lambda: tf.assert_scalar(x),
        lambda: tf.assert_proper_iterable(5), lambda: tf.assert_same_float_dtype([tf.constant(1.0)]),
        lambda: tf.assert_same_float_dtype([tf.constant(1)]), lambda: 1]:
    try:
        r = f()
    except Exception as e:
        show('RAISES')
        show(type(e).__name__)
    else:
        show('ok')

def chk(op, v):
    try:
        s.run(op, {p: v})
    except tf.errors.InvalidArgumentError as e:
        show('failed')
    else:
        show('passed')
for op in [tf.assert_equal(p, x), tf.assert_positive(p), tf.assert_less(p, [5, 5, 5]), tf.assert_greater_equal(p,
        2), tf.assert_non_negative(p), tf.assert_negative(p), tf.assert_less_equal(p, x)]:
    chk(op, [1, 2, 3])
    chk(op, [9, 0, 3])
    chk(op, [-1, -1, -1])
show(s.run(tf.is_non_decreasing([1, 2, 2])))
show(s.run(tf.is_strictly_increasing([1, 2, 2])))
show(tf.is_numeric_tensor(x))
show(tf.is_numeric_tensor(5))
show(s.run(tf.is_non_decreasing([3, 1])))
show(tf.contrib.framework.is_tensor(x))
with tf.control_dependencies([tf.assert_positive(p)]):
    y = tf.identity(p)
chk(y, [0, 1, 1])
chk(y, [1, 1, 1])
s.run(tf.Assert(tf.reduce_all(p > 0), [p]), {p: [1, 1, 1]})
fails(lambda: s.run(tf.Assert(tf.reduce_all(p > 0), [p]), {p: [0, 1, 1]}))
fails(lambda: s.run(tf.verify_tensor_all_finite([1.0, np.nan], 'bad')))

### namespaces
s = tf.Session()
show(tf.math.add(1, 2))
show(tf.math.log([1.0]))
show(tf.linalg.matmul([[1.0]], [[2.0]]))
show(tf.random.uniform([2]).shape)
show(tf.math.argmax([1, 2]))
show(tf.math.reduce_sum([1, 2]))
show(tf.nn.sigmoid([1.0]))
show(tf.debugging.assert_equal is tf.assert_equal)
show(tf.initializers.zeros()([2]))
show(tf.dtypes.cast(1, tf.float32))
show(tf.manip.reshape([1], [1, 1]))
show(tf.linalg.norm([3.0, 4.0]))
show(tf.random.normal([2], seed=1).dtype)
show(tf.math.floormod(5, 3))
show(tf.random.shuffle([1, 2]))
show(tf.initializers.random_normal()([2]).dtype)
show(tf.initializers.variables([]))
show(tf.math.l2_normalize([1.0, 2.0], 0))
show(tf.random.set_random_seed(1))
show(tf.math.softplus([1.0]))
show(tf.math.zero_fraction([0.0, 1.0]).dtype)
show(s.run(tf.math.unsorted_segment_mean([1.0, 2.0, 3.0], [0, 0, 1], 2)))
show(s.run(tf.math.reciprocal_no_nan([0.0, 2.0])))
show(s.run(tf.math.polyval([1.0, 2.0, 3.0], 2.0)))
show(s.run(tf.lbeta([1.0, 2.0])))
show(s.run(tf.math.reduce_std([1.0, 3.0])))
show(s.run(tf.sort([3, 1, 2])))
show(s.run(tf.argsort([3, 1, 2], direction='DESCENDING')))
show(s.run(tf.repeat([1, 2], 2)))
show(s.run(tf.batch_gather([[1, 2], [3, 4]], [[1], [0]])))
show(s.run(tf.unravel_index([3], [2, 2])))
show(s.run(tf.eye(2, batch_shape=[2])))
show(s.run(tf.einsum('bij,bj->bi', tf.ones((2, 3, 4)), tf.ones((2, 4)))))
show(s.run(tf.gather([[1, 2], [3, 4]], [[1], [0]], batch_dims=1)))
show(tf.VERSION[:2])
show(tf.GRAPH_DEF_VERSION > 0)
show(tf.executing_eagerly())
show(tf.sysconfig.get_include() is not None)
show(tf.newaxis)
show(tf.GraphKeys.GLOBAL_VARIABLES)
show(tf.GraphKeys.TRAINABLE_VARIABLES)
show(tf.GraphKeys.UPDATE_OPS)
show(tf.GraphKeys.LOSSES)
show(tf.GraphKeys.REGULARIZATION_LOSSES)
show(tf.GraphKeys.SUMMARIES)
d = tf.DeviceSpec(job='w', task=1, device_type='GPU', device_index=0)
show(d.to_string())
show(tf.DeviceSpec.from_string('/job:a/replica:1/task:2/cpu:0').to_string())
show(d.job)
show(d.device_type)

### old
s = tf.Session()
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
show(s.run(tf.reduce_sum(x, reduction_indices=0)))
show(s.run(tf.argmax(x, dimension=1)))
show(s.run(tf.expand_dims(x, dim=0)).shape)
show(tf.initialize_all_variables().type)
show(tf.all_variables())
show(tf.initialize_variables([]).type)
show(tf.to_float(1))
show(tf.to_int64(1.5))
show(tf.arg_max(x, 0))
show(tf.nn.softmax(x, dim=0).shape)
show(tf.nn.moments(x, [0], keep_dims=True)[0].shape)
show(tf.squeeze(x[None], squeeze_dims=[0]).shape)
show(tf.reduce_mean(x, 1, keep_dims=True).shape)
show(tf.nn.l2_normalize(x, dim=1).shape)
with tf.variable_scope('a') as sc:
    show(tf.get_variable_scope().name)
    tf.get_variable_scope().reuse_variables()
    show(sc.reuse)

### testcase
import unittest

class T(tf.test.TestCase):

    def test_a(self):
        with self.test_session() as s:
            self.assertAllEqual([1, 2], tf.constant([1, 2]).eval())
            self.assertAllClose(1.0, s.run(tf.constant(1.0000001)))

    def test_b(self):
        with self.cached_session():
            self.assertEqual(3, tf.constant(3).eval())
        self.assertShapeEqual(np.zeros([2]), tf.zeros([2]))
        self.assertEqual(tf.get_default_graph().seed, 87654321)

    def test_c(self):
        with self.assertRaisesOpError('bad'):
            with self.session() as s:
                s.run(tf.check_numerics(tf.constant([np.nan]), 'bad'))

    def test_d(self):
        x = tf.constant([1.0, 2.0])
        with self.session():
            self.assertLess(tf.test.compute_gradient_error(x, [2], x * x, [2]), 0.01)

    def test_f(self):
        self.assertAllEqual([1], [2])
r = unittest.TestResult()
unittest.TestLoader().loadTestsFromTestCase(T).run(r)
show(r.testsRun)
show([f[0].id().split('.')[-1] for f in r.failures])
show([f[0].id().split('.')[-1] for f in r.errors])
show(tf.test.get_temp_dir() is not None)
show(tf.test.is_gpu_available())
show(tf.test.is_built_with_cuda())

### metrics
s = tf.Session()
l = tf.placeholder(tf.int64, [None])
p = tf.placeholder(tf.int64, [None])
f = tf.placeholder(tf.float32, [None])
ms = [tf.metrics.accuracy(l, p), tf.metrics.mean(f), tf.metrics.mean_squared_error(f, tf.cast(p, tf.float32)),
    tf.metrics.root_mean_squared_error(f, tf.cast(p, tf.float32)), tf.metrics.precision(l, p), tf.metrics.recall(l,
    p), tf.metrics.mean(f, weights=tf.cast(p, tf.float32)), tf.metrics.accuracy(l, p, weights=f, name='acc'),
    tf.metrics.true_positives(l, p), tf.metrics.false_negatives(l, p), tf.metrics.mean_absolute_error(f, tf.cast(p,
    tf.float32))]
show([v.name for v in tf.local_variables()])
s.run(tf.local_variables_initializer())
for d in [([1, 0, 1], [1, 1, 1], [1.0, 2.0, 3.0]), ([0, 0, 1], [0, 0, 0], [2.0, 0.0, 1.0])]:
    fd = {l: d[0], p: d[1], f: d[2]}
    for v, u in ms:
        show(s.run(u, fd))
    for v, u in ms:
        show(s.run(v))
show([v.name for v in tf.global_variables()])
show(ms[0][0].dtype)
show(ms[1][0].name)
show(ms[1][1].name)
show(ms[0][0].name)
fails(lambda: tf.metrics.accuracy([1, 2], [1]))
