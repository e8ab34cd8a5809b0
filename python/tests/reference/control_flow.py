"""Branches and loops: values and gradients, nested in each other, with shapes that only runs know."""

### rnn_dynamic
x = tf.placeholder(tf.float32, [None, None, 3])
n = tf.shape(x)[0]
w = tf.Variable(np.linspace(-1, 1, 12).reshape(3, 4).astype('f'))
u = tf.Variable(np.linspace(-0.5, 0.7, 16).reshape(4, 4).astype('f'))
b = tf.Variable(np.zeros(4, 'f') + 0.1)
def body(t, h, acc):
    h = tf.tanh(tf.matmul(x[t], w) + tf.matmul(h, u) + b)
    return (t + 1, h, acc + tf.reduce_sum(h))
t, h, acc = tf.while_loop(lambda t, h, a: t < n, body, (0, tf.zeros([tf.shape(x)[1], 4]), 0.0),
          shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 4]), tf.TensorShape([])))
loss = tf.reduce_sum(h * h) + acc
g = tf.gradients(loss, [w, u, b, x])
rng = np.random.RandomState(0)
fetches, feeds = ([loss] + g, [{x: rng.randn(5, 2, 3)}, {x: rng.randn(1, 3, 3)}, {x: rng.randn(7, 1, 3)}])
s = tf.Session()
s.run(tf.global_variables_initializer())
for feed in feeds:
    show(s.run(fetches, feed))

### cond_in_while_grad
x = tf.placeholder(tf.float32, [3])
k = tf.placeholder(tf.float32, [])
def body(i, v):
    r = tf.cond(tf.reduce_sum(v) > 0.0, lambda: tf.sin(v) * k + tf.exp(-v * v), lambda: tf.tanh(v * k) - 0.1 * v * v)
    return (i + 1, r)
_, v = tf.while_loop(lambda i, v: i < 6, body, (0, x))
fetches, feeds = ([v] + tf.gradients(v, [x, k]), [{x: [0.1, 0.5, -0.9], k: 1.5}, {x: [-0.1, 0.5, -0.9], k: -1.5},
          {x: [2, 1, 1], k: -0.7}])
s = tf.Session()
s.run(tf.global_variables_initializer())
for feed in feeds:
    show(s.run(fetches, feed))

### while_in_cond_in_while
x = tf.placeholder(tf.float32, [])
y = tf.placeholder(tf.float32, [])
def inner(v, n):
    return tf.while_loop(lambda j, u: j < n, lambda j, u: (j + 1, tf.sin(u * y) + 0.3 * u), (0, v))[1]
def body(i, v):
    return (i + 1, tf.cond(tf.equal(i % 2, 0), lambda: inner(v, i + 1), lambda: v * v * y))
_, v = tf.while_loop(lambda i, v: i < 5, body, (0, x))
fetches, feeds = ([v] + tf.gradients(v, [x, y]), [{x: 0.4, y: 1.2}, {x: 0.9, y: 0.7}])
s = tf.Session()
s.run(tf.global_variables_initializer())
for feed in feeds:
    show(s.run(fetches, feed))

### embedding
e = tf.Variable(np.arange(12).reshape(6, 2).astype('f') / 10)
ids = tf.placeholder(tf.int32, [None])
p = tf.placeholder(tf.bool, [])
c = tf.cond(p, lambda: tf.reduce_sum(tf.square(tf.nn.embedding_lookup(e, ids))), lambda: tf.reduce_sum(e))
_, w = tf.while_loop(lambda i, s: i < tf.size(ids), lambda i, s: (i + 1, s * tf.reduce_sum(tf.gather(e, ids[i]))),
          (0, 1.0))
g1 = tf.gradients(c, e)[0]
g2 = tf.gradients(w, e)[0]
fetches, feeds = ([c, w, tf.convert_to_tensor(g1), tf.convert_to_tensor(g2)],
          [{ids: [1, 1, 3], p: True}, {ids: [0, 5], p: False}])
s = tf.Session()
s.run(tf.global_variables_initializer())
for feed in feeds:
    show(s.run(fetches, feed))

### second_order_cond
x = tf.placeholder(tf.float32, [2])
p = tf.placeholder(tf.bool, [])
y = tf.cond(p, lambda: tf.exp(x * x) * tf.sin(x), lambda: x ** 3)
g = tf.gradients(y, x)[0]
h = tf.gradients(g, x)[0]
fetches, feeds = ([y, g, h], [{x: [0.3, 0.8], p: True}, {x: [0.3, 0.8], p: False}])
s = tf.Session()
s.run(tf.global_variables_initializer())
for feed in feeds:
    show(s.run(fetches, feed))

### adam_through_while
w = tf.Variable(np.eye(3).astype('f') * 0.5 + 0.05)
x = tf.constant(np.linspace(-1, 1, 6).reshape(2, 3).astype('f'))
_, h = tf.while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, tf.nn.relu(tf.matmul(h, w)) + 0.1 * h), (0, x))
loss = tf.reduce_mean(tf.square(h - 1))
tr = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.control_dependencies([tr]):
    after = tf.identity(w.read_value() if hasattr(w, 'read_value') else w)
fetches, feeds = ([loss, after], [{}] * 5)
s = tf.Session()
s.run(tf.global_variables_initializer())
for feed in feeds:
    show(s.run(fetches, feed))

### variables_in_loop
v = tf.Variable(1.0)
a = tf.Variable([0.0, 0.0])
def body(i):
    with tf.control_dependencies([v.assign_add(tf.cast(i, tf.float32))]):
        with tf.control_dependencies([a.assign_add([1.0, 2.0])]):
            return i + 1
r = tf.while_loop(lambda i: i < 5, body, [0], parallel_iterations=1)
with tf.control_dependencies([r]):
    z = [v.read_value(), a.read_value()]
fetches, feeds = ([r] + z, [{}] * 3)
s = tf.Session()
s.run(tf.global_variables_initializer())
for feed in feeds:
    show(s.run(fetches, feed))

### none_grads
x = tf.placeholder(tf.float32, [])
z = tf.placeholder(tf.float32, [])
a, b, c = tf.while_loop(lambda i, u, w: i < 3, lambda i, u, w: (i + 1, u * 2.0, w + x), (0, x, z))
g = tf.gradients(b, [x, z])
g2 = tf.gradients(c, [x, z])
fetches, feeds = ([g[0]] + g2 + [tf.constant(float(g[1] is None))], [{x: 1.5, z: 2.0}])
s = tf.Session()
s.run(tf.global_variables_initializer())
for feed in feeds:
    show(s.run(fetches, feed))

### strings_bools
p = tf.placeholder(tf.bool, [])
s = tf.cond(p, lambda: tf.constant(['a', 'b']), lambda: tf.constant(['c', 'd']))
i, st, fl = tf.while_loop(lambda i, st, fl: tf.logical_and(i < 4, fl), lambda i, st,
          fl: (i + 1, tf.string_join([st, 'x']), i < 2), (0, 's', True))
fetches, feeds = ([tf.equal(s, 'a'), i, tf.equal(st, 'sxxxx'), tf.equal(st, 'sxxx'), fl], [{p: True}, {p: False}])
s = tf.Session()
s.run(tf.global_variables_initializer())
for feed in feeds:
    show(s.run(fetches, feed))

### batch_norm_like
tr = tf.placeholder(tf.bool, [])
x = tf.placeholder(tf.float32, [None, 2])
mm = tf.Variable([0.0, 0.0], trainable=False)
gamma = tf.Variable([1.0, 2.0])
mean, var = tf.nn.moments(x, [0])
def train():
    with tf.control_dependencies([mm.assign(mm * 0.9 + mean * 0.1)]):
        return tf.identity(mean)
m = tf.cond(tr, train, lambda: mm + 0.0)
y = tf.reduce_sum(tf.square((x - m) * gamma))
g = tf.gradients(y, [gamma, x])
fetches, feeds = ([y] + g + [m], [{tr: True, x: [[1, 2], [3, 5]]}, {tr: True, x: [[1, 2], [3, 5]]},
          {tr: False, x: [[1, 2], [3, 5], [0, 1]]}])
s = tf.Session()
s.run(tf.global_variables_initializer())
for feed in feeds:
    show(s.run(fetches, feed))

### grad_ys_stop
x = tf.placeholder(tf.float32, [2])
y = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * b, b + a), (0, x, x * 2))
g = tf.gradients(y[1:], x, grad_ys=[tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])])
g2 = tf.gradients(y[1], x, stop_gradients=[x * 1.0])
fetches, feeds = (g + g2, [{x: [1.0, 0.5]}])
s = tf.Session()
s.run(tf.global_variables_initializer())
for feed in feeds:
    show(s.run(fetches, feed))

### growing
x = tf.placeholder(tf.float32, [None])
_, v = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.concat([v * 2, [tf.cast(i, tf.float32)]], 0)),
          (0, x), shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))
fetches, feeds = ([v] + tf.gradients(tf.reduce_sum(v * v), x), [{x: [1, 2]}, {x: [3]}, {x: np.zeros(0)}])
s = tf.Session()
s.run(tf.global_variables_initializer())
for feed in feeds:
    show(s.run(fetches, feed))

### tile_bcast
x = tf.placeholder(tf.float32, [None, 1])
b = tf.placeholder(tf.float32, [None])
_, v = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * b + x), (0, x * b))
fetches, feeds = ([v] + tf.gradients(v, [x, b]), [{x: [[1], [2]], b: [1, 2, 3]}, {x: [[1]], b: [1, 0.5]}])
s = tf.Session()
s.run(tf.global_variables_initializer())
for feed in feeds:
    show(s.run(fetches, feed))

### get_variable_shared
x = tf.placeholder(tf.float32, [1, 2])
def body(i, v):
    with tf.variable_scope('cell', reuse=tf.AUTO_REUSE):
        k = tf.get_variable('k', [2, 2], initializer=tf.constant_initializer(0.3))
        return (i + 1, tf.matmul(v, k) + v)
_, v = tf.while_loop(lambda i, v: i < 3, body, (0, x))
fetches, feeds = ([v] + tf.gradients(v, tf.trainable_variables() + [x]), [{x: [[1, 2]]}])
s = tf.Session()
s.run(tf.global_variables_initializer())
for feed in feeds:
    show(s.run(fetches, feed))

### softmax_mask
x = tf.placeholder(tf.float32, [None, 3])
lab = tf.placeholder(tf.int32, [None])
w = tf.Variable(np.linspace(-1, 1, 9).reshape(3, 3).astype('f'))
def body(i, l, h):
    h = tf.matmul(h, w)
    l = l + tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=lab, logits=h))
    return (i + 1, l, tf.nn.softmax(h))
_, l, h = tf.while_loop(lambda i, l, h: i < 3, body, (0, 0.0, x))
fetches, feeds = ([l, h] + tf.gradients(l, [w, x]), [{x: [[1, 2, 3], [0, 1, 0]], lab: [0, 2]}])
s = tf.Session()
s.run(tf.global_variables_initializer())
for feed in feeds:
    show(s.run(fetches, feed))

### case_fn
n = tf.placeholder(tf.int32, [])
x = tf.placeholder(tf.float32, [])
y = tf.case([(n < 1, lambda: x * x), (n < 2, lambda: tf.sin(x))], default=lambda: x * 3)
fetches, feeds = ([y] + tf.gradients(y, x), [{n: i, x: 0.7} for i in (0, 1, 2)])
s = tf.Session()
s.run(tf.global_variables_initializer())
for feed in feeds:
    show(s.run(fetches, feed))
