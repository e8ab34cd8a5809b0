"""Nodes, shapes, values and texts of tf.layers."""

### nodes
def dump(name, f):
    g = tf.Graph()
    with g.as_default():
        try:
            y = f()
        except Exception as e:
            show(name, type(e).__name__, str(e).split('Orig')[0])
            return
    show(name, y)
    show(' '.join('%s:%s(%s)' % (o.name, o.type, ','.join(i.name for i in o.inputs)) for o in g.get_operations()))
    for key in ('variables', 'trainable_variables', 'update_ops', 'regularization_losses'):
        show(key, [getattr(v, 'name', v) for v in g.get_collection(key)])

def X(*shape):
    return tf.placeholder(tf.float32, shape or [None, 4], name='x')
def I():
    return tf.placeholder(tf.float32, [None, 8, 8, 3], name='im')
reg = lambda w: tf.multiply(0.1, tf.nn.l2_loss(w), name='penalty')
L = tf.layers
dump('dense', lambda: L.dense(X(), 3))
dump('dense_relu', lambda: L.dense(X(), 3, tf.nn.relu, name='fc', kernel_regularizer=reg))
dump('dense_nobias', lambda: L.dense(X(), 3, use_bias=False))
dump('dense3', lambda: L.dense(X(2, 5, 4), 3))
dump('dense3u', lambda: L.dense(X(None, 5, 4), 3))
dump('twice', lambda: (L.dense(X(), 3), L.dense(X(), 3), L.dense(X(), 3, name='a'), L.dense(X(), 3, name='a', reuse=True))[-1])
dump('again', lambda: (L.dense(X(), 3, name='a'), L.dense(X(), 3, name='a'))[-1])
def shared():
    d = L.Dense(3)
    d(X())
    return d(X())
dump('shared', shared)
dump('conv1d', lambda: L.conv1d(X(None, 9, 4), 5, 3))
dump('conv1dcf', lambda: L.conv1d(X(None, 4, 9), 5, 3, data_format='channels_first'))
dump('conv2d', lambda: L.conv2d(I(), 5, 3, activation=tf.nn.relu, padding='same'))
dump('conv2d_stride', lambda: L.conv2d(I(), 5, [3, 2], strides=(2, 1)))
dump('conv2d_dilated', lambda: L.conv2d(I(), 5, 3, dilation_rate=2))
dump('conv2d_dilated_same', lambda: L.conv2d(I(), 5, 3, dilation_rate=(2, 3), padding='same'))
dump('conv3d', lambda: L.conv3d(X(None, 5, 6, 7, 2), 5, 3))
dump('sep1', lambda: L.separable_conv1d(X(None, 9, 4), 5, 3))
dump('sep2', lambda: L.separable_conv2d(I(), 5, 3, depth_multiplier=2))
dump('sep2r', lambda: L.separable_conv2d(I(), 5, 3, dilation_rate=2))
dump('convt', lambda: L.conv2d_transpose(I(), 5, 3, strides=2))
dump('convt_same', lambda: L.conv2d_transpose(I(), 5, 3, strides=2, padding='same', use_bias=False))
dump('conv3t', lambda: L.conv3d_transpose(X(None, 5, 6, 7, 2), 5, 3, strides=2))
dump('mp1', lambda: L.max_pooling1d(X(None, 9, 4), 2, 2))
dump('mp2', lambda: L.max_pooling2d(I(), 2, 2))
dump('mp3', lambda: L.max_pooling3d(X(None, 5, 6, 7, 2), 2, 2, padding='same'))
dump('ap1', lambda: L.average_pooling1d(X(None, 9, 4), 2, 2))
dump('ap2', lambda: L.average_pooling2d(I(), 3, 2, name='pool'))
dump('ap3cf', lambda: L.average_pooling3d(X(None, 2, 5, 6, 7), 2, 2, data_format='channels_first'))
dump('drop', lambda: L.dropout(X(), 0.3, training=True, seed=3))
dump('drop_off', lambda: L.dropout(X()))
dump('flatten', lambda: L.flatten(I()))
dump('flatten_known', lambda: L.flatten(X(2, 3, 4)))
dump('bn', lambda: L.batch_normalization(X(), training=True))
dump('bn_off', lambda: L.batch_normalization(X()))
dump('bn_fused', lambda: L.batch_normalization(I(), training=True, name='bn'))
dump('bn_fused_off', lambda: L.batch_normalization(I()))
dump('bn_plain', lambda: L.batch_normalization(I(), training=True, fused=False, scale=False))
dump('bn_axis', lambda: L.batch_normalization(I(), axis=[1, 2], training=True))
dump('bn_cf', lambda: L.batch_normalization(I(), axis=1, training=True, fused=False))
dump('bn_nocenter', lambda: L.batch_normalization(I(), training=True, center=False, scale=False))
dump('bn_renorm', lambda: L.batch_normalization(X(), training=True, renorm=True, renorm_clipping={'rmax': 3., 'dmax': 2.}))
dump('bn_virtual', lambda: L.batch_normalization(X(8, 4), training=True, virtual_batch_size=2))

### errors
def dump(name, f):
    with tf.Graph().as_default():
        try:
            show(name, f())
        except Exception as e:
            show(name, type(e).__name__, str(e).split('Orig')[0])
def X(*shape):
    return tf.placeholder(tf.float32, shape or [None, 4], name='x')
L = tf.layers
dump('rank', lambda: L.dense(X(3), 2))
dump('unknown', lambda: L.dense(X(2, None), 2))
dump('conv_rank', lambda: L.conv2d(X(2, 3), 2, 2))
dump('conv_channels', lambda: L.conv2d(X(2, 3, 3, None), 2, 2))
dump('kernel', lambda: L.conv2d(X(2, 3, 3, 1), 2, (1, 2, 3)))
dump('padding', lambda: L.conv2d(X(2, 3, 3, 1), 2, 1, padding='other'))
dump('format', lambda: L.conv2d(X(2, 3, 3, 1), 2, 1, data_format='other'))
dump('pool', lambda: L.max_pooling2d(X(2, 3, 3), 2, 2))
dump('bn', lambda: L.batch_normalization(X(2, 3), axis=5))
dump('noname', lambda: L.Dense(3).scope_name)
dump('nobuild', lambda: L.Dense(3).count_params())
dump('reuse', lambda: L.dense(X(), 3, name='none', reuse=True))
def other():
    d = L.Dense(3)
    d(X())
    return d(X(None, 5))
dump('other', other)

### values
tf.set_random_seed(7)
x = tf.placeholder(tf.float32, [None, 6, 6, 2])
training = tf.placeholder(tf.bool, [])
h = tf.layers.conv2d(x, 4, 3, padding='same', activation=tf.nn.relu)
h = tf.layers.batch_normalization(h, training=training)
h = tf.layers.max_pooling2d(h, 2, 2)
init = tf.glorot_uniform_initializer  # with seeds: conditionals have other nodes than TensorFlow's
h = tf.layers.separable_conv2d(h, 4, 2, depthwise_initializer=init(1), pointwise_initializer=init(2))
h = tf.layers.conv2d_transpose(h, 3, 2, strides=2, kernel_initializer=init(3))
h = tf.layers.flatten(h)
h = tf.layers.dropout(h, 0.5, training=False)
y = tf.layers.dense(h, 3, kernel_initializer=init(4))
loss = tf.reduce_mean(tf.square(y))
updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
with tf.control_dependencies(updates):
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
s = tf.Session()
s.run(tf.global_variables_initializer())
data = np.cos(np.arange(4 * 72, dtype=np.float32)).reshape(4, 6, 6, 2)
show(s.run(y, {x: data, training: False}))
for i in range(5):
    show(s.run([loss, step], {x: data, training: True})[0])
show(s.run(y, {x: data, training: False}))
show([s.run(v) for v in tf.global_variables() if 'moving' in v.name])

### layer
d = tf.layers.Dense(3, name='d', kernel_regularizer=lambda w: tf.reduce_sum(w))
show(d.name, d.built, d.weights, d.dtype, d.trainable)
y = d(tf.zeros([2, 4]))
show(d.name, d.built, [v.name for v in d.weights], d.dtype, d.scope_name, d.count_params(), y.name)
show(d.compute_output_shape([None, 4]), [v.name for v in d.trainable_weights], d.updates)
d.trainable = False
show([v.name for v in d.trainable_variables], [v.name for v in d.non_trainable_variables])
class Mine(tf.layers.Layer):
    def build(self, shape):
        self.w = self.add_variable('w', [int(shape[-1]), 2], initializer=tf.ones_initializer())
        self.c = self.add_weight('c', [], trainable=False, initializer=tf.zeros_initializer(), dtype=tf.float64)
    def call(self, x, training=False):
        return tf.matmul(x, self.w) * (2. if training else 1.)
m = Mine()
show(m(tf.ones([1, 3]), training=True).name, m.name, [(v.name, v.dtype) for v in m.variables])
show(m.apply(tf.ones([1, 3])).name, Mine()(tf.ones([1, 3])).name, tf.layers.InputSpec(ndim=3, axes={1: 2}))
