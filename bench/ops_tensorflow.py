"""TensorFlow's side of bench/ops.py: answers rows of bench/ops.tsv with the best time of a short round, in seconds."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")

import ops_peer
import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(ops_peer.THREADS)
tf.config.threading.set_inter_op_parallelism_threads(ops_peer.THREADS)
raw = tf.raw_ops
LRN = dict(depth_radius=4, bias=1.0, alpha=0.001 / 9, beta=0.75)


def uniform(*shape):
    return tf.constant(ops_peer.uniform(*shape))


def indices(count, bound):
    return tf.constant(ops_peer.indices(count, bound))


def matmul(s):
    ta, tb = bool(s.get("ta")), bool(s.get("tb"))
    a = uniform(*((s["k"], s["m"]) if ta else (s["m"], s["k"])))
    b = uniform(*((s["n"], s["k"]) if tb else (s["k"], s["n"])))
    return lambda: raw.MatMul(a=a, b=b, transpose_a=ta, transpose_b=tb)


def _conv(s):
    return (uniform(s["batch"], s["size"], s["size"], s["in"]), uniform(s["filter"], s["filter"], s["in"], s["out"]),
            uniform(s["batch"], *[-(-s["size"] // s.get("stride", 1))] * 2, s["out"]),
            dict(strides=[1, s.get("stride", 1), s.get("stride", 1), 1], padding="SAME"))


def conv2d(s):
    x, f, _, attrs = _conv(s)
    return lambda: raw.Conv2D(input=x, filter=f, **attrs)


def conv2d_input(s):
    x, f, dy, attrs = _conv(s)
    shape = tf.shape(x)
    return lambda: raw.Conv2DBackpropInput(input_sizes=shape, filter=f, out_backprop=dy, **attrs)


def conv2d_filter(s):
    x, f, dy, attrs = _conv(s)
    shape = tf.shape(f)
    return lambda: raw.Conv2DBackpropFilter(input=x, filter_sizes=shape, out_backprop=dy, **attrs)


def _pool(s):
    window = dict(ksize=[1, s["window"], s["window"], 1], strides=[1, 2, 2, 1], padding="SAME")
    return uniform(s["batch"], s["size"], s["size"], s["channels"]), window


def max_pool(s):
    x, window = _pool(s)
    return lambda: raw.MaxPool(input=x, **window)


def max_pool_grad(s):
    x, window = _pool(s)
    y = raw.MaxPool(input=x, **window)
    dy = uniform(*y.shape)
    return lambda: raw.MaxPoolGrad(orig_input=x, orig_output=y, grad=dy, **window)


def _volume_pool(s):
    window = dict(ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="SAME")
    return uniform(s["batch"], s["size"], s["size"], s["size"], s["channels"]), window


def volume_pool(s):
    x, window = _volume_pool(s)
    return lambda: raw.MaxPool3D(input=x, **window)


def volume_pool_grad(s):
    x, window = _volume_pool(s)
    y = raw.MaxPool3D(input=x, **window)
    dy = uniform(*y.shape)
    return lambda: raw.MaxPool3DGrad(orig_input=x, orig_output=y, grad=dy, **window)


def _mirror_pad(s):
    by = [s["by"]] * 2
    return dict(input=uniform(s["batch"], s["size"], s["size"], s["channels"]), mode="REFLECT",
                paddings=tf.constant([[0, 0], by, by, [0, 0]]))


def mirror_pad(s):
    call = _mirror_pad(s)
    return lambda: raw.MirrorPad(**call)


def mirror_pad_grad(s):
    call = _mirror_pad(s)
    call["input"] = raw.MirrorPad(**call)
    return lambda: raw.MirrorPadGrad(**call)


def _groups(s):
    return uniform(s["batch"], s["size"], s["size"], s["groups"], s["channels"] // s["groups"])


def group_mean(s):
    x, axes = _groups(s), tf.constant([1, 2, 4])
    return lambda: raw.Mean(input=x, axis=axes, keep_dims=True)


def group_difference(s):
    x, means = _groups(s), uniform(s["batch"], 1, 1, s["groups"], 1)
    return lambda: raw.SquaredDifference(x=x, y=means)


def votes(s):
    x, w = uniform(s["batch"], s["in"], 1, s["width"]), uniform(s["in"], s["out"], s["width"])
    weights, axis = uniform(s["batch"], s["in"], s["out"], 1), tf.constant(1)
    return lambda: raw.Sum(input=raw.Mul(x=raw.Mul(x=x, y=w), y=weights), axis=axis)


def _depthwise(s):
    x = uniform(s["batch"], s["size"], s["size"], s["channels"])
    f = uniform(s["filter"], s["filter"], s["channels"], 1)
    attrs = dict(strides=[1, s["stride"], s["stride"], 1], padding="SAME")
    return x, f, attrs, raw.DepthwiseConv2dNative(input=x, filter=f, **attrs)


def depthwise(s):
    x, f, attrs, _ = _depthwise(s)
    return lambda: raw.DepthwiseConv2dNative(input=x, filter=f, **attrs)


def depthwise_input(s):
    x, f, attrs, y = _depthwise(s)
    shape, dy = tf.shape(x), uniform(*y.shape)
    return lambda: raw.DepthwiseConv2dNativeBackpropInput(input_sizes=shape, filter=f, out_backprop=dy, **attrs)


def depthwise_filter(s):
    x, f, attrs, y = _depthwise(s)
    shape, dy = tf.shape(f), uniform(*y.shape)
    return lambda: raw.DepthwiseConv2dNativeBackpropFilter(input=x, filter_sizes=shape, out_backprop=dy, **attrs)


def _layout(s):
    return "NCHW" if s.get("planes") else "NHWC"


def _batch_norm(s):
    x = uniform(s["batch"], *([s["channels"]] if s.get("planes") else []), s["size"], s["size"],
                *([] if s.get("planes") else [s["channels"]]))
    scale, offset, none = uniform(s["channels"]), uniform(s["channels"]), tf.zeros([0])

    def run():
        norm = raw.FusedBatchNormV3(x=x, scale=scale, offset=offset, mean=none, variance=none, epsilon=0.001,
                                    data_format=_layout(s))
        return norm, raw.Relu(features=norm.y)

    return x, scale, run


def batch_norm(s):
    return _batch_norm(s)[2]


def batch_norm_grad(s):
    x, scale, forward = _batch_norm(s)
    dy = uniform(*x.shape)

    def run():
        norm, y = forward()
        return raw.FusedBatchNormGradV3(
            y_backprop=raw.ReluGrad(gradients=dy, features=y), x=x, scale=scale, reserve_space_1=norm.reserve_space_1,
            reserve_space_2=norm.reserve_space_2, reserve_space_3=norm.reserve_space_3, epsilon=0.001,
            data_format=_layout(s))

    return run


def leaky_grad(s):
    x, dy = uniform(s["elements"]), uniform(s["elements"])

    @tf.function
    def run():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.maximum(x, x * 0.2)
        return tape.gradient(y, x, dy)

    return run


def select(s):
    a, b = uniform(s["elements"]), uniform(s["elements"])
    condition = tf.cast(indices(s["elements"], 2), tf.bool)
    return lambda: raw.Select(condition=condition, x=a, y=b)


def lrn(s):
    x = uniform(s["batch"], s["size"], s["size"], s["channels"])
    return lambda: raw.LRN(input=x, **LRN)


def lrn_grad(s):
    x = uniform(s["batch"], s["size"], s["size"], s["channels"])
    y, dy = raw.LRN(input=x, **LRN), uniform(*x.shape)
    return lambda: raw.LRNGrad(input_grads=dy, input_image=x, output_image=y, **LRN)


def _pictures(s):
    return uniform(s["batch"], s["size"], s["size"], s["channels"])


def resize_bilinear(s):
    x = _pictures(s)
    return lambda: raw.ResizeBilinear(images=x, size=[s["to"], s["to"]])


def resize_bicubic(s):
    x = _pictures(s)
    return lambda: raw.ResizeBicubic(images=x, size=[s["to"], s["to"]])


def adjust_contrast(s):
    x = _pictures(s)
    return lambda: raw.AdjustContrastv2(images=x, contrast_factor=1.5)


def adjust_saturation(s):
    x = uniform(s["batch"], s["size"], s["size"], 3)
    return lambda: raw.AdjustSaturation(images=x, scale=1.5)


def decode_jpeg(s):
    import numpy as np

    # bench_ops.cc makes the same picture.
    size, count = s["size"], 3 * s["size"] ** 2
    noise, word = np.empty(count, np.uint32), 1
    for i in range(count):
        word = (word * 1664525 + 1013904223) & 0xFFFFFFFF
        noise[i] = word >> 27
    at = np.arange(count) // 3
    pixels = ((at % size + at // size) * 200 // (2 * size) + noise).astype(np.uint8).reshape(size, size, 3)
    file = raw.EncodeJpeg(image=pixels)
    return lambda: raw.DecodeJpeg(contents=file, channels=3)


def cross_entropy(s):
    logits, labels = uniform(s["batch"], s["classes"]), indices(s["batch"], s["classes"])
    share = tf.fill([s["batch"], 1], 1.0 / s["batch"])

    def run():
        loss, gradient = raw.SparseSoftmaxCrossEntropyWithLogits(features=logits, labels=labels)
        return raw.Mean(input=loss, axis=0), gradient * share

    return run


def bias_grad(s):
    dy = uniform(s["rows"], s["columns"])
    return lambda: raw.BiasAddGrad(out_backprop=dy)


def dropout(s):
    x = uniform(s["elements"])
    return lambda: tf.nn.dropout(x, 0.5)


def adam(s):
    variables = [tf.Variable(uniform(s["elements"])), *(tf.Variable(tf.zeros([s["elements"]])) for _ in range(2))]
    (var, m, v), grad = (v.handle for v in variables), uniform(s["elements"])
    rates = {name: tf.constant(value) for name, value in
             dict(beta1_power=0.9, beta2_power=0.999, lr=1e-3, beta1=0.9, beta2=0.999, epsilon=1e-8).items()}
    return lambda _keep=variables: raw.ResourceApplyAdam(var=var, m=m, v=v, grad=grad, **rates)


def momentum(s):
    variables = [tf.Variable(uniform(s["elements"])) for _ in range(2)]
    (var, accum), grad = (v.handle for v in variables), uniform(s["elements"])
    lr, mu = tf.constant(1e-3), tf.constant(0.9)
    return lambda _keep=variables: raw.ResourceApplyMomentum(var=var, accum=accum, lr=lr, grad=grad, momentum=mu)


def gradient_descent(s):
    variable, grad, lr = tf.Variable(uniform(s["elements"])), uniform(s["elements"]), tf.constant(1e-3)
    return lambda: raw.ResourceApplyGradientDescent(var=variable.handle, alpha=lr, delta=grad)


def concat(s):
    a, b, axis = uniform(s["rows"], s["columns"]), uniform(s["rows"], s["columns"]), tf.constant(1)
    return lambda: raw.ConcatV2(values=[a, b], axis=axis)


def split(s):
    x, axis = uniform(s["rows"], s["columns"]), tf.constant(1)
    return lambda: raw.Split(axis=axis, value=x, num_split=2)


def gather(s):
    table, at, axis = uniform(s["rows"], s["columns"]), indices(s["count"], s["rows"]), tf.constant(0)
    return lambda: raw.GatherV2(params=table, indices=at, axis=axis)


def sparse_update(s):
    table, at = tf.Variable(uniform(s["rows"], s["columns"])), indices(s["count"], s["rows"])
    values, lr = uniform(s["count"], s["columns"]), tf.constant(1e-3)
    return lambda: raw.ResourceScatterSub(resource=table.handle, indices=at, updates=raw.Mul(x=values, y=lr))


def sparse_adagrad(s):
    table, sums = tf.Variable(uniform(s["rows"], s["columns"])), tf.Variable(tf.fill([s["rows"], s["columns"]], 0.1))
    at, values, lr = indices(s["count"], s["rows"]), uniform(s["count"], s["columns"]), tf.constant(1e-3)

    def call():
        distinct, places = raw.Unique(x=at)
        summed = raw.UnsortedSegmentSum(data=values, segment_ids=places, num_segments=tf.size(distinct))
        raw.ResourceSparseApplyAdagrad(var=table.handle, accum=sums.handle, lr=lr, grad=summed, indices=distinct)

    return call


def segment_mean(s):
    x, ids = uniform(s["rows"], s["columns"]), tf.sort(indices(s["rows"], s["segments"]))
    return lambda: raw.SegmentMean(data=x, segment_ids=ids)


if __name__ == "__main__":
    ops_peer.answer(globals())
