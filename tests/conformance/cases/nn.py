"""Rows of the table of operations: networks: activations, convolutions, pools, normalisation, losses."""
import numpy as np

from cases.table import C, FLOATS, K, REAL, Values, row

row(
    'Softmax LogSoftmax', lambda v: [C(v(3, 4)), C(v(7)), C(v(2, 3, 5)), C(v(1, 1))] +
    ([C(v(2, 3, low=50, high=90), what='large logits')] if v.dtype in ('float32', 'float64') else []))


def probabilities(v, *shape):
    values = v.random.uniform(0.1, 1, shape)
    return v.of(values / values.sum(-1, keepdims=True))


row(
    'SoftmaxCrossEntropyWithLogits', lambda v: [
        C(v(3, 4), probabilities(v, 3, 4)),
        C(v(5, 2, low=-40, high=40), probabilities(v, 5, 2)),
        C(v(3, 4), probabilities(v, 1, 4), what='broadcast labels')
    ])
row('SparseSoftmaxCrossEntropyWithLogits',
    lambda v: [C(v(3, 4), K([3, 0, 1])), C(v(5, 2, low=-40, high=40), K([1, 0, 1, 1, 0]))])
row('BiasAdd BiasAddV1', lambda v: [C(v(3, 4), v(4)), C(v(2, 3, 2, 5), v(5)), C(v(2, 3, 4), v(4))])
row('BiasAddGrad', lambda v: [C(v(3, 4)), C(v(2, 3, 2, 5))])


def output_size(size, kernel, stride, padding, dilation=1):
    kernel = (kernel - 1) * dilation + 1
    return -(-size // stride) if padding == 'SAME' else -(-(size - kernel + 1) // stride)


CONVOLUTIONS = [((2, 6, 5, 3), (3, 3, 3, 4), 1, 'SAME', 1), ((2, 7, 6, 2), (2, 3, 2, 5), 2, 'VALID', 1),
                ((1, 5, 5, 1), (1, 1, 1, 2), 1, 'VALID', 1), ((1, 9, 8, 2), (3, 3, 2, 3), 1, 'SAME', 2),
                ((2, 5, 5, 2), (5, 5, 2, 16), 1, 'SAME', 1), ((1, 8, 8, 3), (4, 4, 3, 2), 3, 'SAME', 1)]


def convolution(v, make, depthwise=False):
    for image, kernel, stride, padding, dilation in CONVOLUTIONS:
        if depthwise:
            kernel = kernel[:3] + (2,)
        attrs = dict(strides=[1, stride, stride, 1], padding=padding)
        if dilation != 1:
            attrs['dilations'] = [1, dilation, dilation, 1]
        out = [output_size(image[1 + i], kernel[i], stride, padding, dilation) for i in (0, 1)]
        depth = kernel[2] * kernel[3] if depthwise else kernel[3]
        if make != 'forward' and dilation != 1:
            continue
        values, weights, gradient = v(*image), v(*kernel, low=-0.5, high=0.5), v(image[0], out[0], out[1], depth)
        if make == 'forward':
            yield C(values, weights, **attrs)
        elif make == 'input':
            yield C(K(image), weights, gradient, **attrs)
        else:
            yield C(values, K(kernel), gradient, **attrs)
    if make == 'forward' and not depthwise:
        yield C(v(1, 5, 6, 2),
                v(3, 3, 2, 2),
                strides=[1, 2, 1, 1],
                padding='EXPLICIT',
                explicit_paddings=[0, 0, 1, 0, 2, 1, 0, 0])


for kind, suffix in [('forward', ''), ('input', 'BackpropInput'), ('filter', 'BackpropFilter')]:
    row('Conv2D' + suffix, lambda v, kind=kind: convolution(v, kind))
    row('DepthwiseConv2dNative' + suffix, lambda v, kind=kind: convolution(v, kind, True))

POOLS = [((2, 6, 5, 3), 2, 2, 'SAME'), ((1, 7, 7, 2), 3, 2, 'VALID'), ((2, 4, 4, 1), 2, 1, 'SAME'),
         ((1, 5, 5, 4), 2, 3, 'SAME')]


def pool_attrs(size, stride, padding):
    return dict(ksize=[1, size, size, 1], strides=[1, stride, stride, 1], padding=padding)


def windows(size, kernel, stride, padding):
    """[(begin, end)] along one dimension."""
    count = output_size(size, kernel, stride, padding)
    before = max((count - 1) * stride + kernel - size, 0) // 2 if padding == 'SAME' else 0
    return [(max(i * stride - before, 0), min(i * stride - before + kernel, size)) for i in range(count)]


def max_pool(image, size, stride, padding):
    rows, columns = windows(image.shape[1], size, stride, padding), windows(image.shape[2], size, stride, padding)
    return np.stack([np.stack([image[:, a:b, c:d].max((1, 2)) for c, d in columns], 1) for a, b in rows], 1)


def max_pool_gradient(v, second):
    for shape, size, stride, padding in POOLS:
        image = v.distinct(*shape)
        out = max_pool(image, size, stride, padding)
        yield C(image, out, v(*shape) if second else v(*out.shape), **pool_attrs(size, stride, padding))


def average_pool_gradient(v):
    for shape, size, stride, padding in POOLS:
        out = [output_size(n, size, stride, padding) for n in shape[1:3]]
        yield C(K(shape), v(shape[0], out[0], out[1], shape[3]), **pool_attrs(size, stride, padding))


row('MaxPool AvgPool',
    lambda v: [C(v.distinct(*shape), **pool_attrs(*rest)) for shape, rest in ((p[0], p[1:]) for p in POOLS)])
row('MaxPoolWithArgmax',
    lambda v: [C(v.distinct(*shape), **pool_attrs(*rest)) for shape, rest in ((p[0], p[1:]) for p in POOLS)])
row('MaxPoolGrad', lambda v: max_pool_gradient(v, False))
row('MaxPoolGradGrad', lambda v: max_pool_gradient(v, True))
row('AvgPoolGrad', average_pool_gradient)


def fed_windows(case):
    """The case with its windows as inputs, as the V2 operations have them."""
    attrs = dict(case.attrs)
    sizes, strides = attrs.pop('ksize'), attrs.pop('strides')
    return C(*case.inputs, K(sizes), K(strides), **attrs)


row('MaxPoolV2', lambda v: [
    fed_windows(C(v.distinct(*shape), **pool_attrs(*rest))) for shape, rest in ((p[0], p[1:]) for p in POOLS)
])
row('MaxPoolGradV2', lambda v: [fed_windows(case) for case in max_pool_gradient(v, False)])
row('MaxPoolGradGradV2', lambda v: [fed_windows(case) for case in max_pool_gradient(v, True)])
row('MaxPoolGradWithArgmax', lambda v: [
    C(v(1, 3, 3, 1), v(1, 2, 2, 1), K(np.array([0, 1, 3, 5]).reshape(1, 2, 2, 1)), **pool_attrs(2, 1, 'VALID'))
])

VOLUMES = [((2, 4, 5, 3, 2), (2, 3, 2, 2, 3), (1, 1, 1), 'SAME'), ((1, 5, 4, 6, 3), (3, 2, 2, 3, 2), (2, 1, 2), 'VALID'),
           ((1, 3, 3, 3, 1), (1, 1, 1, 1, 4), (1, 1, 1), 'VALID'), ((2, 5, 3, 4, 2), (2, 2, 2, 2, 1), (2, 3, 1), 'SAME')]


def volume_cases(v, make):
    for image, kernel, stride, padding in VOLUMES:
        out = [output_size(image[1 + i], kernel[i], stride[i], padding) for i in range(3)]
        attrs = dict(strides=[1] + list(stride) + [1], padding=padding)
        values, weights = v(*image), v(*kernel, low=-0.5, high=0.5)
        gradient = v(image[0], out[0], out[1], out[2], kernel[4])
        if make == 'forward':
            yield C(values, weights, **attrs)
        elif make == 'input':
            yield C(K(image), weights, gradient, **attrs)
        elif make == 'filter':
            yield C(values, K(kernel), gradient, **attrs)
        elif make == 'arrays':
            yield C(values, weights, gradient, **attrs)
        elif make == 'pool':
            yield C(v.distinct(*image), ksize=[1] + list(kernel[:3]) + [1], **attrs)
        else:
            yield C(K(image), v(*([image[0]] + out + [image[4]])), ksize=[1] + list(kernel[:3]) + [1], **attrs)


row('Conv3D', lambda v: volume_cases(v, 'forward'))
row('Conv3DBackpropInputV2', lambda v: volume_cases(v, 'input'))
row('Conv3DBackpropFilterV2', lambda v: volume_cases(v, 'filter'))
row('Conv3DBackpropInput Conv3DBackpropFilter', lambda v: volume_cases(v, 'arrays'))
row('MaxPool3D AvgPool3D', lambda v: volume_cases(v, 'pool'))
row('AvgPool3DGrad', lambda v: volume_cases(v, 'pool gradient'))


def max_pool_volume_gradient(v, second):
    image = v.distinct(1, 4, 4, 6, 2)
    out = image.reshape(1, 2, 2, 2, 2, 3, 2, 2).max((2, 4, 6))
    yield C(image, out, v(*(image.shape if second else out.shape)), ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1],
            padding='VALID')


row('MaxPool3DGrad', lambda v: max_pool_volume_gradient(v, False), FLOATS)
row('MaxPool3DGradGrad', lambda v: max_pool_volume_gradient(v, True), FLOATS)
row('DataFormatDimMap', lambda v: [C(K([0, 1, 2, 3, -1, -2, -3, -4])), C(K([[1, 3], [-2, 0]]), dst_format='HWNC')])
row('DataFormatVecPermute', lambda v: [C(K([7, 4, 9, 3])), C(K([[7, 4], [9, 3], [4, 5], [5, 1]]), src_format='HWNC', dst_format='NHWC')])
row(
    'LRN', lambda v:
    [C(v(2, 3, 2, 7), depth_radius=2, bias=1.0, alpha=0.1, beta=0.75),
     C(v(1, 2, 2, 3)),
     C(v(1, 1, 1, 12), beta=1.0)])


def lrn_gradient(v):
    image = v(2, 3, 2, 7)
    squares = np.square(np.pad(image.astype(np.float64), [(0, 0)] * 3 + [(2, 2)], 'constant'))
    scale = 1.0 + 0.1 * sum(squares[..., i:i + 7] for i in range(5))
    attrs = dict(depth_radius=2, bias=1.0, alpha=0.1, beta=0.75)
    yield C(v(2, 3, 2, 7), image, v.of(image.astype(np.float64) * scale**-0.75), **attrs)


row('LRNGrad', lrn_gradient, FLOATS)


def batch_norm(v):
    scale = v.dtype if v.dtype == 'float32' else 'float32'
    s = Values(scale, 5)
    empty = s(0)
    yield C(v(4, 3, 2, 5), s(5, low=0.5, high=1.5), s(5), empty, empty)
    yield C(v(5, 2, 1, 3), s(3, low=0.5, high=1.5), s(3), empty, empty, epsilon=0.01)
    yield C(v(4, 3, 2, 5), s(5, low=0.5, high=1.5), s(5), s(5), s(5, low=0.5, high=2), is_training=False, compared=1)


def batch_norm_gradient(v, third):
    s = Values('float32', 5)
    x = v(4, 3, 2, 5)
    mean, variance = x.astype(np.float64).mean((0, 1, 2)), x.astype(np.float64).var((0, 1, 2))
    more = [s(0)] if third else []
    for training in (True, False):
        yield C(v(4, 3, 2, 5),
                x,
                s(5, low=0.5, high=1.5),
                s.of(mean),
                s.of(variance),
                *more,
                is_training=training,
                gradient=False,
                compared=3)


row('FusedBatchNorm', batch_norm, ('float32',))
row('FusedBatchNormV2 FusedBatchNormV3', batch_norm, FLOATS)
row('FusedBatchNormGrad', lambda v: batch_norm_gradient(v, False), ('float32',))
row('FusedBatchNormGradV2', lambda v: batch_norm_gradient(v, False), FLOATS)
row('FusedBatchNormGradV3', lambda v: batch_norm_gradient(v, True), FLOATS)

row('Dilation2D', lambda v: [
    C(v.distinct(2, 5, 6, 2), v(2, 3, 2), strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='VALID'),
    C(v.distinct(1, 7, 6, 1), v(3, 3, 1), strides=[1, 2, 2, 1], rates=[1, 2, 1, 1], padding='SAME'),
], ('float32', 'float64', 'int32'))
row('Dilation2DBackpropInput Dilation2DBackpropFilter', lambda v: [
    C(v.distinct(2, 5, 6, 2), v(2, 3, 2), v(2, 4, 4, 2), strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='VALID'),
], ('float32', 'float64', 'int32'))
RATIO = [1.0, 1.44, 1.73, 1.0]
row('FractionalAvgPool FractionalMaxPool', lambda v: [
    C(v.distinct(2, 9, 8, 2), pooling_ratio=RATIO, pseudo_random=pseudo, overlapping=overlapping, deterministic=True,
      seed=3, seed2=5) for pseudo in (False, True) for overlapping in (False, True)
], ('float32', 'float64', 'int32'))
row('FractionalMaxPoolGrad', lambda v: [
    C(image, np.stack([np.stack([image[:, a:b, c:d].max((1, 2)) for c, d in ((0, 2), (2, 4))], 1) for a, b in ((0, 2), (2, 5))], 1),
      v(1, 2, 2, 2), K([0, 2, 5], np.int64), K([0, 2, 4], np.int64), overlapping=False)
    for image in [v.distinct(1, 5, 4, 2)]], ('float32', 'float64', 'int32'))
row('FractionalAvgPoolGrad', lambda v: [
    C(K([1, 4, 5, 2], np.int64), v(1, 2, 3, 2), K([0, 2, 4], np.int64), K([0, 1, 3, 5], np.int64), overlapping=o)
    for o in (False, True)], ('float32', 'float64'))
row('FusedPadConv2D', lambda v: [
    C(v(1, 4, 5, 2), K([[0, 0], [1, 1], [2, 0], [0, 0]]), v(3, 2, 2, 3), mode=mode, strides=[1, s, s, 1], padding='VALID')
    for mode, s in (('REFLECT', 1), ('SYMMETRIC', 2))], ('float32', 'float64'))
row('FusedResizeAndPadConv2D', lambda v: [
    C(v(1, 4, 5, 2), K([6, 7]), K([[0, 0], [1, 1], [2, 0], [0, 0]]), v(3, 2, 2, 3), mode=mode, strides=[1, 1, 1, 1],
      padding='VALID', resize_align_corners=align) for mode, align in (('REFLECT', True), ('SYMMETRIC', False))],
    ('float32', 'float64'))
row('BatchNormWithGlobalNormalization', lambda v: [
    C(v(2, 3, 2, 5), v(5), v(5, low=0.5, high=2), v(5), v(5), variance_epsilon=0.01, scale_after_normalization=scale)
    for scale in (False, True)], REAL)
row('BatchNormWithGlobalNormalizationGrad', lambda v: [
    C(v(2, 3, 2, 5), v(5), v(5, low=0.5, high=2), v(5), v(2, 3, 2, 5), variance_epsilon=0.01, scale_after_normalization=scale,
      gradient=False) for scale in (False, True)], REAL)
