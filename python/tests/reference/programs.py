"""What programs do between: arithmetic of mixed types, updates and their order, feeds and fetches."""

### misc
s = tf.Session()
x = tf.placeholder(tf.float32, [None, 3], name='x')
v = tf.get_variable('v', [3, 2], initializer=tf.ones_initializer())
y = tf.matmul(x, v)
l = tf.reduce_mean(tf.square(y))
g = tf.gradients(l, v)[0]
s.run(v.initializer)
show(s.run([l, g], {x: np.ones((2, 3))}))
show(tf.get_default_graph().as_graph_def().node[0].attr['dtype'].type)
show([n.name for n in tf.get_default_graph().as_graph_def().node][:6])
a = tf.constant([1.0, 2.0])
a.set_shape([2])
fails(lambda: a.set_shape([3]))
u = tf.placeholder(tf.float32)
u.set_shape([None, 3])
show(u.shape)
show(u)
u.set_shape([2, None])
show(u)
show(tf.placeholder(tf.float32, shape=[]).shape)
show(tf.placeholder(tf.float32, shape=()).shape)
show(tf.placeholder(tf.float32, shape=tf.TensorShape([1, None])).shape)
v2 = tf.Variable(tf.zeros([2, 2]))
show(v2.get_shape().as_list())
show(v2.shape[0])
show(v2.shape[0].value)
show(int(v2.shape[0]))
show(v2.shape.as_list())
n = int(x.shape[1])
w = tf.Variable(tf.random_normal([n, 4]))
show(w.shape)
w2 = tf.Variable(tf.random_normal([x.get_shape()[1].value, 4]))
w3 = tf.Variable(tf.random_normal([x.get_shape()[1], 4]))
show(w3.shape)
show(tf.zeros([x.shape[1], 2]).shape)
show(tf.reshape(x, [-1, x.shape[1]]).shape)
show(tf.reshape(x, [-1, x.get_shape()[1].value * 1]).shape)
show(tf.ones(tf.stack([tf.shape(x)[0], 3])).shape)

### arith
s = tf.Session()
i = tf.constant(5)
f = tf.constant(2.5)
b = tf.constant(True)
d = tf.constant(2.0, tf.float64)
for e in [lambda: i + 1, lambda: i + True, lambda: f + 1, lambda: f * 2, lambda: 1 / f, lambda: i / 2,
        lambda: 2 ** f, lambda: f ** 2, lambda: i // 2, lambda: -i, lambda: f - np.float64(1),
        lambda: np.float32(2) * f, lambda: f + np.array([1.0, 2.0]), lambda: i + np.int64(3),
        lambda: f + np.float64(1.5), lambda: d + 1, lambda: d * np.float32(2), lambda: i * 1.0, lambda: f + i,
        lambda: f + d, lambda: f > 1, lambda: f == f, lambda: i < 2, lambda: 3 < i, lambda: f + [1.0, 2.0],
        lambda: [1.0, 2.0] + f, lambda: (1.0, 2.0) * f, lambda: f + 'a', lambda: b + 1, lambda: ~b,
        lambda: b & False, lambda: i & 1, lambda: abs(-f), lambda: round(f), lambda: f % 2, lambda: 7 % i,
        lambda: divmod(i, 2), lambda: f @ f, lambda: tf.pow(i, 2), lambda: tf.maximum(f, 0), lambda: tf.maximum(0.0,
        i), lambda: tf.add(1, 2.5), lambda: tf.add(1, 2), lambda: tf.equal(i, 5), lambda: tf.equal(i, 5.0),
        lambda: tf.equal('a', 'a'), lambda: tf.logical_and(True, b), lambda: tf.logical_and(1, b),
        lambda: tf.greater(f, 1), lambda: tf.not_equal(b, False), lambda: tf.square(3), lambda: tf.sqrt(4.0),
        lambda: tf.sqrt(4), lambda: tf.reduce_mean(5), lambda: tf.abs(-3), lambda: tf.sign(-2.0),
        lambda: tf.exp(1.0)]:

    def run():
        r = e()
        return (r.dtype.name, r.name, s.run(r))
    fails(run)

### control
s = tf.Session()
v = tf.Variable(0)
inc = v.assign_add(1)
s.run(v.initializer)
with tf.control_dependencies([inc]):
    r = v.read_value()
    t = tf.identity(v)
    n = tf.no_op('after')
show(s.run(r))
s.run(n)
show(s.run(v))
s.run(inc.op)
show(s.run(v))
show(s.run([inc, inc]))
show(s.run(v))
with tf.control_dependencies([inc]):
    x = tf.constant(7)
show(s.run(x))
show(s.run(v))
show(x.op.control_inputs)
g = tf.group(inc, tf.no_op())
show(g.control_inputs)
show(s.run(g))
show(s.run(v))
with tf.control_dependencies([v.assign(100)]):
    y = v + 1
    z = v.read_value() + 1
show(s.run(z))
tu = tf.tuple([inc, tf.constant(1)])
show(s.run(tu))
show(s.run(v))
c = v.count_up_to(200)
show(s.run(c))
e = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
s.run(e.initializer)
show(s.run(tf.scatter_update(e, [0], [[9.0, 9.0]])))
show(s.run(tf.scatter_add(e, [1], [[1.0, 1.0]])))
show(s.run(tf.scatter_sub(e, [0, 0], [[1.0, 1.0], [1.0, 1.0]])))
show(s.run(tf.assign(v, 5)))
show(s.run(v.assign_sub(2)))
show(s.run(tf.assign_add(v, 3)))
show(tf.assign(v, 5).dtype)
show(v.assign(1).op.type)
l = tf.Variable(1.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
s.run(tf.local_variables_initializer())
show(s.run(l))
show(l in tf.global_variables())
q = tf.Variable(tf.zeros([2]) + 3.0, name='q')
show(s.run(tf.report_uninitialized_variables()))
s.run(q.initializer)
show(s.run(tf.report_uninitialized_variables()))
show(s.run(tf.is_variable_initialized(q)))
rv = tf.get_variable('rv', [2], use_resource=True, initializer=tf.zeros_initializer())
s.run(rv.initializer)
show(s.run(rv))
show(s.run(rv.assign([1.0, 2.0])))
show(s.run(rv.assign_add([1.0, 1.0])))
show(s.run(rv + 1))
show(rv.op.type)
show(s.run(tf.gradients(rv * rv, rv)[0]))
ini = 0
w = tf.Variable([1.0, 2.0], name='w')
show(w.op.node_def.op)
show(w.initializer.name)
show(str(w.initializer).split('\n')[0])
show(w.value().op.type)
show(w._as_graph_element() is not None)

### eval
x = tf.placeholder(tf.float32, name='x')
y = x * 2
with tf.Session() as s:
    show(y.eval({x: 3}))
    show(y.eval(feed_dict={x: [1, 2]}))
    show(s.run(y, feed_dict={'x:0': 4}))
    show(s.run(fetches=y, feed_dict={x: 1}))
    show(s.run(y, {x: np.float64(2)}))
    show(s.run([y, x], {x: [[1]]}))
    fails(lambda: s.run(y))
    fails(lambda: s.run(y, {y.op: 1}))
    fails(lambda: s.run([y, 'zz']))
    fails(lambda: s.run({'a': None}, {x: 1}))
    fails(lambda: s.run(y, {x: 1, None: 2}))
    fails(lambda: s.run((y, 5), {x: 1}))
    fails(lambda: s.run(y, {x: {}}))
    fails(lambda: s.run(y, {x: object()}))
    fails(lambda: s.run(y, {x: [[1], [2, 3]]}))
    fails(lambda: s.run(y, {x: 'abc'}))
    fails(lambda: s.run(y, {x: [None]}))
    fails(lambda: s.run(y, 5))
    fails(lambda: s.run(y, {x: 1j}))

    class O(object):
        pass
    fails(lambda: s.run(O()))
