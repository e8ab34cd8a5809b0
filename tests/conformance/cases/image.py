"""Rows of the table of operations: pictures."""
import numpy as np

from cases.table import C, K, row


def _boxes(v, *shape):
    return v.random.uniform(0, 1, shape).astype('float32')


def _resize(corners):

    def cases(v):
        for size in ([7, 3], [4, 10], [5, 6]):
            for attrs in ({}, {"align_corners": True}) + (({"half_pixel_centers": True},) if corners else ()):
                for channels in (1, 3, 4):
                    yield C(v(2, 5, 6, channels), K(size), **attrs)

    return cases


def _resize_grad(v):
    for attrs in ({}, {'align_corners': True}, {'half_pixel_centers': True}):
        yield C(v.random.uniform(-1, 1, (2, 7, 3, 3)).astype('float32'), v(2, 5, 6, 3), **attrs)


def _suppression(extra):

    def cases(v):
        yield C(v.of(_boxes(v, 20, 4)), v.of(v.random.permutation(20) / 20.0), K(8), *extra(v))
        yield C(v.of(_boxes(v, 3, 4)), v.of(v.random.permutation(3) / 20.0), K(8), *extra(v))

    return cases


def _threshold(v, value):
    return v.of(np.asarray(value))


row('ResizeBilinear ResizeNearestNeighbor ResizeBicubic', _resize(True))
row('ResizeArea', _resize(False))
row('ResizeBilinearGrad ResizeBicubicGrad', _resize_grad)
row('ResizeNearestNeighborGrad', lambda v: [C(v(2, 7, 3, 3), K([5, 6])), C(v(2, 7, 3, 3), K([5, 6]), align_corners=True)])
row(
    'ScaleAndTranslate', lambda v: [
        C(v(1, 5, 6, 3), K([7, 4]), K([1.5, 0.7], np.float32), K([0.5, -1], np.float32), kernel_type=kernel, antialias=a)
        for kernel in ('lanczos3', 'triangle', 'keyscubic') for a in (True, False)
    ])
row('ScaleAndTranslateGrad',
    lambda v: [C(v(1, 7, 4, 3), v(1, 5, 6, 3), K([1.5, 0.7], np.float32), K([0.5, -1], np.float32))])
row(
    'CropAndResize', lambda v: [
        C(v(2, 5, 6, 3), _boxes(v, 3, 4) * 1.4 - 0.2, K([0, 1, 1]), K(size), method=method)
        for size in ([3, 4], [1, 1]) for method in ('bilinear', 'nearest')
    ])
row(
    'CropAndResizeGradImage',
    lambda v: [C(v.random.uniform(-1, 1, (3, 2, 4, 2)).astype('float32'), _boxes(v, 3, 4), K([0, 1, 1]), K([2, 5, 6, 2]),
                 T=v.dtype)], ('float32', 'float64', 'float16'))
row('CropAndResizeGradBoxes',
    lambda v: [C(v.random.uniform(-1, 1, (3, 2, 4, 2)).astype('float32'), v(2, 5, 6, 2), _boxes(v, 3, 4), K([0, 1, 1]))])
row('ExtractGlimpse', lambda v: [C(v(2, 9, 8, 3), K([3, 4]), K([[0.1, -0.2], [0.3, 0.2]], np.float32))], ('float32',))
row(
    'ExtractImagePatches', lambda v: [
        C(v(2, 5, 6, 2), ksizes=[1, 3, 2, 1], strides=[1, 2, 1, 1], rates=[1, 1, 2, 1], padding=padding)
        for padding in ('SAME', 'VALID')
    ])
row('RGBToHSV HSVToRGB', lambda v: [C(v(3, 4, 3, low=0, high=1)), C(v(3, low=0, high=1))], ('float32', 'float64'))
row('AdjustHue AdjustSaturation AdjustContrastv2',
    lambda v: [C(v(2, 5, 4, 3, low=0, high=1), K(amount, np.float32)) for amount in (0.3, 1.0, 0.0)], ('float32',))
row('AdjustContrast', lambda v: [C(v(2, 5, 4, 3, low=0, high=9), K(2.0, np.float32), K(0, np.float32), K(7, np.float32))],
    ('uint8', 'int16', 'int32', 'float32', 'float64'))
TURNED = K([[0.9, -0.4, 1, 0.4, 0.9, -0.5, 0, 0], [1, 0, 0.3, 0, 1, 0, 0.05, 0.01]], np.float32)
row('ImageProjectiveTransform', lambda v: [
    C(v(2, 5, 6, 3), TURNED, interpolation=how) for how in ('NEAREST', 'BILINEAR')], ('float32', 'float64', 'int32', 'uint8'))
row('ImageProjectiveTransformV2', lambda v: [
    C(v(2, 5, 6, 3), TURNED, K([4, 7]), interpolation=how) for how in ('NEAREST', 'BILINEAR')],
    ('float32', 'float64', 'int32', 'uint8'))
row('BipartiteMatch', lambda v: [C(v(4, 6), K(rows, np.float32), top_k=k) for rows, k in ((-1, -1), (3, -1), (4, 2), (0, -1))],
    ('float32',))
row('RandomCrop', lambda v: [C(v(6, 7, 3), K([3, 4], np.int64), seed=3, seed2=4)], ('float32', 'uint8', 'int32'))
row('DrawBoundingBoxes', lambda v: [C(v(2, 8, 9, 3), _boxes(v, 2, 4, 4))], ('float32',))
row('DrawBoundingBoxesV2', lambda v: [C(v(2, 8, 9, 3), _boxes(v, 2, 4, 4), _boxes(v, 3, 4))], ('float32',))
row('NonMaxSuppression', _suppression(lambda v: ()), ('float32',))
row('NonMaxSuppressionV2', _suppression(lambda v: (_threshold(v, 0.4),)), ('float32',))
row('NonMaxSuppressionV3 NonMaxSuppressionV4', _suppression(lambda v: (_threshold(v, 0.4), _threshold(v, 0.2))),
    ('float32',))
row('NonMaxSuppressionV5',
    _suppression(lambda v: (_threshold(v, 0.4), _threshold(v, 0.2), _threshold(v, 0.3))), ('float32',))
row('NonMaxSuppressionWithOverlaps',
    lambda v: [C(np.maximum(_boxes(v, 9, 9), np.eye(9, dtype='float32')), _boxes(v, 9), K(5), K(0.6, np.float32),
                 K(0.1, np.float32))], ('float32',))
row('CombinedNonMaxSuppression',
    lambda v: [C(_boxes(v, 2, 9, 1, 4), _boxes(v, 2, 9, 3), K(3), K(7), K(0.5, np.float32), K(0.1, np.float32))],
    ('float32',))
row(
    'SampleDistortedBoundingBox', lambda v:
    [C(K([60, 80, 3], v.dtype), K(np.array([[[0.1, 0.2, 0.7, 0.9]]]), np.float32), seed=3, seed2=s) for s in (1, 2, 3)],
    ('int32', 'int64'))
row(
    'SampleDistortedBoundingBoxV2', lambda v: [
        C(K([60, 80, 3], v.dtype), K(np.array([[[0.1, 0.2, 0.7, 0.9]]]), np.float32), K(0.5, np.float32), seed=3, seed2=s)
        for s in (1, 2, 3)
    ], ('int32', 'int64'))
PICTURE = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3) * 2
row('EncodeJpeg', lambda v: [C(K(PICTURE, np.uint8), quality=q, progressive=p) for q in (30, 95) for p in (False, True)],
    ('uint8',))
row('EncodeJpegVariableQuality', lambda v: [C(K(PICTURE, np.uint8), K(70))], ('uint8',))

row('RandomGamma',
    lambda v: [C(K([5]), v.of([0.3, 1.0, 4.5]), seed=3, seed2=4, gradient=False), C(K([2, 2]), v.of(2.0), seed=1, seed2=2, gradient=False)],
    ('float32', 'float64', 'float16'))
row('RandomPoisson', lambda v: [C(K([5]), v.of([0.5, 3.0, 40.0]), seed=3, seed2=4)], ('float32', 'float64'))
row('RandomPoissonV2', lambda v: [C(K([5]), K([0.5, 3.0, 40.0], np.float32), dtype='float32', seed=3, seed2=4)], ('float32',))
