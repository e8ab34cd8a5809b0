"""Random networks, made of what programs of TensorFlow 1 train: the same number makes the same network on Weir and on
TensorFlow, with the same initial values and batches."""
import numpy as np


class Network:
    """One network under construction: `tf` is Weir, or TensorFlow's compat.v1."""

    def __init__(self, tf, number):
        self.tf = tf
        self.random = np.random.RandomState(number)
        self.variables, self.feeds, self.kinds = [], [], []  # feeds: (placeholder, function of the batch size)
        kind = self.pick('image', 'image', 'image', 'sequence', 'sequence', 'vector')
        self.kinds.append(kind)
        logits = getattr(self, kind + '_network')()
        self.loss = self.loss_of(logits)
        if self.chance(0.4):
            self.loss += 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in self.variables])
        gradients = tf.gradients(self.loss, self.variables)
        self.used = [(g, v) for g, v in zip(gradients, self.variables) if g is not None]
        gradients = [tf.convert_to_tensor(g) for g, _ in self.used]
        self.gradients = gradients
        if self.chance(0.7):  # large steps would multiply differences
            gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
        self.train = self.optimizer().apply_gradients(zip(gradients, [v for _, v in self.used]))

    def batches(self, steps=3):
        """Feeds for each step; the last has another batch size."""
        random = np.random.RandomState(self.random.randint(1 << 30))
        for step in range(steps):
            count = self.batch if step + 1 < steps else self.batch + 1
            yield {placeholder: make(random, count) for placeholder, make in self.feeds}

    def pick(self, *values):
        return values[self.random.randint(len(values))]

    def chance(self, probability):
        return self.random.rand() < probability

    # What networks are made of.

    def variable(self, *shape, scale=None, at=0.0):
        if scale is None:
            scale = 1.2 / np.sqrt(max(1, np.prod(shape[:-1])))
        value = (at + scale * self.random.randn(*shape)).astype(np.float32)
        variable = self.tf.Variable(value, name='v%d' % len(self.variables), use_resource=bool(self.random.randint(2)))
        self.variables.append(variable)
        return variable

    def feed(self, shape, make, dtype='float32'):
        placeholder = self.tf.placeholder(dtype, [None] + list(shape))
        self.feeds.append((placeholder, make))
        return placeholder

    def activation(self, x):
        tf = self.tf
        kind = self.pick('relu', 'relu', 'relu', 'relu6', 'elu', 'leaky', 'sigmoid', 'tanh', 'swish', 'gelu', 'softplus', 'selu',
                         'prelu', 'max', 'none')
        self.kinds.append(kind)
        if kind == 'leaky':
            return self.pick(lambda: tf.nn.leaky_relu(x, 0.2), lambda: tf.maximum(0.2 * x, x))()
        if kind == 'swish':
            return x * tf.sigmoid(x)
        if kind == 'gelu':
            return 0.5 * x * (1.0 + tf.tanh(0.7978845608 * (x + 0.044715 * tf.pow(x, 3))))
        if kind == 'prelu':
            slope = self.variable(int(x.shape[-1]), scale=0.1, at=0.2)
            return tf.nn.relu(x) - slope * tf.nn.relu(-x)
        if kind == 'max':
            return tf.maximum(x, 0.1)
        return {'relu': tf.nn.relu, 'relu6': tf.nn.relu6, 'elu': tf.nn.elu, 'sigmoid': tf.sigmoid, 'tanh': tf.tanh,
                'softplus': tf.nn.softplus, 'selu': tf.nn.selu, 'none': lambda y: y}[kind](x)

    def normalised(self, x):
        """Over the last axis's channels, in one of the ways that programs have."""
        tf = self.tf
        channels, rank = int(x.shape[-1]), len(x.shape)
        scale, offset = self.variable(channels, scale=0.2, at=1.0), self.variable(channels, scale=0.2)
        kind = self.pick('batch', 'batch', 'moments', 'inference', 'layer', 'instance' if rank == 4 else 'layer', 'group' if
                         rank == 4 and channels % 2 == 0 else 'moments')
        self.kinds.append('norm_' + kind)
        if kind == 'batch' and rank == 4:
            return tf.nn.fused_batch_norm(x, scale, offset, epsilon=1e-3)[0]
        if kind in ('batch', 'moments'):
            mean, variance = tf.nn.moments(x, list(range(rank - 1)))
            return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)
        if kind == 'inference':
            mean = self.random.randn(channels).astype(np.float32) * 0.1
            variance = 0.5 + self.random.rand(channels).astype(np.float32)
            if rank == 4:
                return tf.nn.fused_batch_norm(x, scale, offset, mean=tf.constant(mean), variance=tf.constant(variance),
                                              epsilon=1e-3, is_training=False)[0]
            return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)
        if kind == 'group':
            _, h, w, c = x.shape.as_list()
            y = tf.reshape(x, [-1, h, w, 2, c // 2])
            mean, variance = tf.nn.moments(y, [1, 2, 4], keep_dims=True)
            y = (y - mean) * tf.rsqrt(variance + 1e-3)
            return tf.reshape(y, [-1, h, w, c]) * scale + offset
        mean, variance = tf.nn.moments(x, [1, 2] if kind == 'instance' else [-1], keep_dims=True)
        return (x - mean) / tf.sqrt(variance + 1e-3) * scale + offset

    def dense(self, x, units, bias=True):
        tf = self.tf
        y = tf.matmul(x, self.variable(int(x.shape[-1]), units))
        if not bias:
            return y
        b = self.variable(units, scale=0.1)
        return self.pick(lambda: tf.nn.bias_add(y, b), lambda: y + b)()

    # Images.

    def image_network(self):
        tf = self.tf
        size, channels = self.pick(5, 8, 9, 12, 14, 16, 21), self.pick(1, 2, 3, 3, 4, 8)
        self.batch = self.pick(1, 2, 3, 4, 8)
        wide = self.pick(size, size, size + 3)
        x = self.feed([size, wide, channels], lambda random, n: random.randn(n, size, wide, channels).astype(np.float32))
        for _ in range(self.random.randint(2, 8)):
            x = self.image_layer(x)
        if self.chance(0.5):
            self.kinds.append('mean')
            x = tf.reduce_mean(x, [1, 2])
        else:
            x = tf.reshape(x, [-1, int(np.prod(x.shape.as_list()[1:]))])
        if self.chance(0.4):
            x = self.activation(self.dense(x, self.pick(8, 17, 32)))
        return self.dense(x, self.pick(2, 5, 10))

    def image_layer(self, x):
        tf = self.tf
        _, h, w, c = x.shape.as_list()
        kind = self.pick('conv', 'conv', 'conv', 'conv', 'depthwise', 'separable', 'transposed', 'pool', 'pool', 'residual', 'residual',
                         'branches', 'squeeze', 'lrn', 'pad', 'resize', 'shuffle', 'dilated', 'norm', 'act', 'gate')
        if max(h, w) > 40 and kind in ('transposed', 'resize', 'pad'):
            kind = 'pool'
        self.kinds.append(kind)
        if kind == 'conv':
            return self.conv_block(x)
        if kind == 'depthwise':
            return self.activation(self.depthwise(x))
        if kind == 'separable':
            return self.conv_block(self.depthwise(x), size=1)
        if kind == 'transposed':
            return self.transposed(x)
        if kind == 'pool':
            pool = self.pick(tf.nn.max_pool, tf.nn.max_pool, tf.nn.avg_pool)
            size, stride = self.pick((2, 2), (3, 2), (3, 1), (2, 1), (3, 3))
            padding = 'VALID' if min(h, w) >= size and self.chance(0.5) else 'SAME'
            return pool(x, [1, size, size, 1], [1, stride, stride, 1], padding)
        if kind == 'residual':
            y = self.conv_block(x, stride=1, padding='SAME')
            y = self.conv(y, c, stride=1, padding='SAME')
            if self.chance(0.6):
                y = self.normalised(y)
            return self.activation(self.pick(lambda: x + y, lambda: y + x, lambda: x + 0.3 * y)())
        if kind == 'branches':
            ys = [self.conv_block(x, stride=1, padding='SAME') for _ in range(self.random.randint(2, 4))]
            if self.chance(0.3):
                ys.append(tf.nn.max_pool(x, [1, 3, 3, 1], [1, 1, 1, 1], 'SAME'))
            return tf.concat(ys, 3)
        if kind == 'squeeze':
            y = self.activation(self.dense(tf.reduce_mean(x, [1, 2]), max(1, c // 2)))
            return x * tf.reshape(tf.sigmoid(self.dense(y, c)), [-1, 1, 1, c])
        if kind == 'lrn':
            return tf.nn.lrn(x, self.pick(1, 2, 4), bias=1.0, alpha=0.01, beta=0.75)
        if kind == 'pad':
            mode = self.pick('CONSTANT', 'REFLECT', 'SYMMETRIC')
            return tf.pad(x, [[0, 0], [1, 1], [1, 2], [0, 0]], mode) if min(h, w) > 2 else x
        if kind == 'resize':
            return self.pick(tf.image.resize_bilinear, tf.image.resize_nearest_neighbor)(x, [h + 3, 2 * w])
        if kind == 'shuffle':
            return tf.space_to_depth(x, 2) if h % 2 == 0 and w % 2 == 0 else tf.nn.relu(x[:, ::-1])
        if kind == 'dilated':
            if min(h, w) < 5:
                return x
            units = self.pick(4, 8)
            filters = self.variable(3, 3, c, units)
            return tf.nn.conv2d(x, filters, [1, 1, 1, 1], 'SAME', dilations=[1, 2, 2, 1])
        if kind == 'norm':
            return self.normalised(x)
        if kind == 'gate':
            a, b = tf.split(self.conv(x, 2 * self.pick(3, 8), stride=1), 2, 3)
            return tf.tanh(a) * tf.sigmoid(b)
        return self.activation(x)

    def conv(self, x, units, size=None, stride=None, padding=None):
        _, h, w, c = x.shape.as_list()
        size = size or self.pick(1, 1, 3, 3, 3, 5, 7)
        stride = stride or self.pick(1, 1, 1, 2, 2, 3)
        if size > min(h, w):
            padding = 'SAME'
        padding = padding or self.pick('SAME', 'VALID')
        self.kinds.append('%dx%d/%d>%d' % (size, size, stride, units))
        return self.tf.nn.conv2d(x, self.variable(size, size, c, units), [1, stride, stride, 1], padding)

    def conv_block(self, x, size=None, stride=None, padding=None):
        units = self.pick(1, 2, 3, 4, 8, 12, 16, 24, 32)
        y = self.conv(x, units, size, stride, padding)
        order = self.pick('bias', 'norm', 'norm', 'bias+norm', 'none')
        if 'bias' in order:
            y = self.tf.nn.bias_add(y, self.variable(units, scale=0.1))
        if 'norm' in order:
            y = self.normalised(y)
        return self.activation(y)

    def depthwise(self, x):
        _, h, w, c = x.shape.as_list()
        size, stride, times = self.pick(3, 3, 5), self.pick(1, 1, 2), self.pick(1, 1, 2)
        padding = 'SAME' if size > min(h, w) or self.chance(0.7) else 'VALID'
        filters = self.variable(size, size, c, times, scale=0.4)
        return self.tf.nn.depthwise_conv2d(x, filters, [1, stride, stride, 1], padding)

    def transposed(self, x):
        tf = self.tf
        _, h, w, c = x.shape.as_list()
        size, stride, units = self.pick((4, 2), (5, 2), (3, 1), (2, 2), (3, 2)) + (self.pick(1, 3, 6, 8),)
        filters = self.variable(size, size, units, c, scale=0.1)
        y = tf.nn.conv2d_transpose(x, filters, tf.stack([tf.shape(x)[0], h * stride, w * stride, units]),
                                   [1, stride, stride, 1], 'SAME')
        y.set_shape([None, h * stride, w * stride, units])
        if self.chance(0.6):
            y = self.normalised(y)
        return self.activation(y)

    # Sequences.

    def sequence_network(self):
        tf = self.tf
        self.batch = self.pick(1, 2, 3, 5, 8)
        self.length, words, width = self.pick(3, 5, 8, 11), self.pick(11, 50), self.pick(4, 8, 16, 24)
        tokens = self.feed([self.length], lambda random, n: random.randint(words, size=[n, self.length]).astype(np.int32), 'int32')
        lengths = self.feed([], lambda random, n: random.randint(1, self.length + 1, size=[n]).astype(np.int32), 'int32')
        table = self.variable(words, width, scale=0.5)
        x = tf.nn.embedding_lookup(table, tokens)
        mask = tf.sequence_mask(lengths, self.length, tf.float32)
        for _ in range(self.random.randint(1, 4)):
            kind = self.pick('attention', 'attention', 'recurrent', 'unrolled', 'conv1d', 'dense', 'norm')
            self.kinds.append(kind)
            x = getattr(self, 'sequence_' + kind)(x, mask)
        kind = self.pick('mean', 'max', 'last', 'masked', 'flat')
        self.kinds.append(kind)
        if kind == 'mean':
            x = tf.reduce_mean(x, 1)
        elif kind == 'max':
            x = tf.reduce_max(x, 1)
        elif kind == 'last':
            x = x[:, -1]
        elif kind == 'masked':
            x = tf.reduce_sum(x * mask[:, :, None], 1) / tf.cast(lengths, tf.float32)[:, None]
        else:
            x = tf.reshape(x, [-1, self.length * int(x.shape[-1])])
        return self.dense(x, self.pick(2, 7, words))

    def flat(self, x, function):
        """`function` of [rows, width] for every place of a sequence."""
        y = function(self.tf.reshape(x, [-1, int(x.shape[-1])]))
        return self.tf.reshape(y, [-1, self.length, int(y.shape[-1])])

    def sequence_norm(self, x, _):
        scale, offset = self.variable(int(x.shape[-1]), scale=0.2, at=1.0), self.variable(int(x.shape[-1]), scale=0.2)
        mean, variance = self.tf.nn.moments(x, [-1], keep_dims=True)
        return self.tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-6)

    def sequence_dense(self, x, _):
        width = int(x.shape[-1])
        y = self.flat(x, lambda rows: self.dense(self.activation(self.dense(rows, 2 * width)), width))
        return x + y if self.chance(0.7) else y

    def sequence_attention(self, x, mask):
        tf = self.tf
        width = int(x.shape[-1])
        heads = 2 if width % 2 == 0 else 1

        def projected():
            y = self.flat(x, lambda rows: self.dense(rows, width))
            return tf.transpose(tf.reshape(y, [-1, self.length, heads, width // heads]), [0, 2, 1, 3])

        q, k, v = projected(), projected(), projected()
        scores = tf.matmul(q, k, transpose_b=True) / np.float32(np.sqrt(width // heads))
        if self.chance(0.6):
            scores += (1.0 - mask[:, None, None, :]) * -1e4
        y = tf.transpose(tf.matmul(tf.nn.softmax(scores), v), [0, 2, 1, 3])
        y = self.flat(tf.reshape(y, [-1, self.length, width]), lambda rows: self.dense(rows, width))
        return self.sequence_norm(x + y, mask) if self.chance(0.6) else x + y

    def cell(self, width, units):
        """A step of a recurrent network and its first state's parts."""
        tf = self.tf
        if self.chance(0.5):
            self.kinds.append('lstm')
            weights, bias = self.variable(width + units, 4 * units), self.variable(4 * units, scale=0.1)

            def lstm(x, state):
                i, j, f, o = tf.split(tf.nn.bias_add(tf.matmul(tf.concat([x, state[1]], 1), weights), bias), 4, 1)
                c = state[0] * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
                return c, tf.tanh(c) * tf.sigmoid(o)

            return lstm, 2
        self.kinds.append('gru')
        gates, bias = self.variable(width + units, 2 * units), self.variable(2 * units, scale=0.1, at=1.0)
        candidate = self.variable(width + units, units)

        def gru(x, state):
            h, = state
            r, u = tf.split(tf.sigmoid(tf.matmul(tf.concat([x, h], 1), gates) + bias), 2, 1)
            c = tf.tanh(tf.matmul(tf.concat([x, r * h], 1), candidate))
            return (u * h + (1 - u) * c,)

        return gru, 1

    def sequence_unrolled(self, x, mask):
        tf = self.tf
        units = self.pick(3, 8, 16)
        cell, parts = self.cell(int(x.shape[-1]), units)
        state = (tf.zeros(tf.stack([tf.shape(x)[0], units])),) * parts
        outputs = []
        masked = self.chance(0.5)
        for t, step in enumerate(tf.unstack(x, self.length, 1)):
            after = cell(step, state)
            if masked:
                now = mask[:, t:t + 1]
                after = tuple(now * a + (1 - now) * b for a, b in zip(after, state))
            state = after
            outputs.append(state[-1])
        y = tf.stack(outputs, 1)
        y.set_shape([None, self.length, units])
        return y

    def sequence_recurrent(self, x, mask):
        tf = self.tf
        units = self.pick(3, 8, 16)
        cell, parts = self.cell(int(x.shape[-1]), units)
        steps = tf.TensorArray(tf.float32, self.length).unstack(tf.transpose(x, [1, 0, 2]))
        kept = tf.TensorArray(tf.float32, self.length)
        width = int(x.shape[-1])

        def body(t, out, *state):
            step = steps.read(t)
            step.set_shape([None, width])
            state = cell(step, state)
            return (t + 1, out.write(t, state[-1])) + tuple(state)

        zero = tf.zeros(tf.stack([tf.shape(x)[0], units]))
        shapes = (tf.TensorShape([]), tf.TensorShape(None)) + (tf.TensorShape([None, units]),) * parts
        final = tf.while_loop(lambda t, *_: t < self.length, body, (0, kept) + (zero,) * parts, shape_invariants=shapes)
        y = tf.transpose(final[1].stack(), [1, 0, 2])
        y.set_shape([None, self.length, units])
        return y

    def sequence_conv1d(self, x, _):
        units, size = self.pick(4, 8, 16), self.pick(1, 2, 3)
        y = self.tf.nn.conv1d(x, self.variable(size, int(x.shape[-1]), units), 1, 'SAME')
        y = self.normalised(y) if self.chance(0.5) else y + self.variable(units, scale=0.1)
        return self.activation(y)

    # Vectors.

    def vector_network(self):
        tf = self.tf
        self.batch = self.pick(1, 2, 4, 7, 16, 32)
        width = self.pick(1, 3, 8, 20, 33)
        x = self.feed([width], lambda random, n, width=width: random.randn(n, width).astype(np.float32))
        for _ in range(self.random.randint(1, 6)):
            width = int(x.shape[-1])
            kind = self.pick('dense', 'dense', 'dense', 'norm', 'highway', 'mixture', 'cross', 'distance', 'noise', 'maxout')
            self.kinds.append(kind)
            if kind == 'dense':
                x = self.activation(self.dense(x, self.pick(1, 4, 16, 31, 64), bias=self.chance(0.8)))
            elif kind == 'norm':
                x = self.normalised(x)
            elif kind == 'highway':
                gate = tf.sigmoid(self.dense(x, width))
                x = gate * self.activation(self.dense(x, width)) + (1 - gate) * x
            elif kind == 'mixture':
                experts = tf.stack([self.dense(x, 8) for _ in range(3)], 1)
                weights = tf.nn.softmax(self.dense(x, 3))
                x = tf.reduce_sum(experts * weights[:, :, None], 1)
            elif kind == 'cross':
                x = x * tf.matmul(x, self.variable(width, 1)) + self.variable(width, scale=0.1) + x
            elif kind == 'distance':
                centres = self.variable(6, width, scale=1.0)
                x = tf.exp(-0.1 * tf.reduce_sum(tf.square(x[:, None, :] - centres[None]), -1))
            elif kind == 'noise':
                mean, logvar = self.dense(x, 6), self.dense(x, 6)
                noise = self.feed([6], lambda random, n: random.randn(n, 6).astype(np.float32))
                self.extra = 0.1 * tf.reduce_mean(tf.square(mean) + tf.exp(logvar) - logvar - 1.0)
                x = mean + tf.exp(0.5 * logvar) * noise
            else:
                x = tf.reduce_max(tf.reshape(self.dense(x, 12), [-1, 6, 2]), 2)
        return self.dense(x, self.pick(1, 3, 10))

    extra = None

    def loss_of(self, logits):
        tf = self.tf
        classes = int(logits.shape[-1])
        kind = self.pick('sparse', 'sparse', 'softmax', 'sigmoid', 'squares', 'huber', 'own')
        self.kinds.append(kind)
        if kind in ('sparse', 'own'):
            labels = self.feed([], lambda random, n: random.randint(classes, size=[n]).astype(np.int32), 'int32')
            if kind == 'sparse':
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            else:
                losses = -tf.reduce_sum(tf.one_hot(labels, classes) * tf.log(tf.nn.softmax(logits) + 1e-6), 1)
        else:
            wanted = self.feed([classes], lambda random, n: random.rand(n, classes).astype(np.float32))
            if kind == 'softmax':
                targets = wanted / tf.reduce_sum(wanted, 1, keepdims=True)
                losses = tf.nn.softmax_cross_entropy_with_logits(labels=targets, logits=logits)
            elif kind == 'sigmoid':
                losses = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=wanted, logits=logits), 1)
            elif kind == 'squares':
                losses = tf.squared_difference(logits, wanted)
            else:
                error = tf.abs(logits - wanted)
                losses = tf.where(error < 1.0, 0.5 * tf.square(error), error - 0.5)
        loss = tf.reduce_mean(losses)
        return loss if self.extra is None else loss + self.extra

    def optimizer(self):
        train = self.tf.train
        kind = self.pick('GradientDescent', 'Momentum', 'Nesterov', 'Adam', 'RMSProp', 'Adagrad', 'Adadelta')
        self.kinds.append(kind)
        if kind in ('Momentum', 'Nesterov'):
            return train.MomentumOptimizer(0.003, 0.9, use_nesterov=kind == 'Nesterov')
        if kind in ('Adam', 'RMSProp', 'Adadelta'):  # a gradient of zero but for rounding shall not be made large
            return getattr(train, kind + 'Optimizer')(0.003, epsilon=0.01)
        return getattr(train, kind + 'Optimizer')(0.003)
