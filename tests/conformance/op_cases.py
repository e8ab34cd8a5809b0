"""Which operations are compared with TensorFlow's, and with what: the rows of cases/ and the reasons for none.

ops.py runs them on Weir and on TensorFlow; tests/fuzz makes its wrong calls out of them.
"""
import re

from cases import (  # noqa: F401  (their rows)
    array, image, linalg, math, nn, parsing, quantized, random, sequence, signal, sparse, state, summary, text)
from cases.state import update
from cases.table import C, K, Q, ROWS, V, Values  # noqa: F401

# Why an operation has neither a row nor a scene.
REASONS = [
    ('_.*', 'internal: made by the optimizer of graphs'),
    ('Horovod.*', "Horovod's, not TensorFlow's; python/tests and tests/collectives compare what it gives"),
    ('(Eager)?PyFunc(Stateless)?', "calls a function of the program's own process; in python/tests"),
    ('LMDB.*|ExperimentalLMDB.*', 'reads databases that neither side writes; in python/tests'),
    ('FixedLengthRecordReader', 'TensorFlow 1.15 asks it for an attribute that only FixedLengthRecordReaderV2 has'),
    ('MutableDenseHashTable', 'TensorFlow 1.15 asks it for an input that only MutableDenseHashTableV2 has'),
    ('Abort', 'ends the process'),
    ('MaxPoolGradGradWithArgmax', 'TensorFlow has it on GPUs only'),
    ('FakeParam', 'stands for a value that is never used'),
]

# Operations of a library that is loaded with a module.
CONTRIB = {'ImageProjectiveTransform': 'tensorflow.contrib.image', 'ImageProjectiveTransformV2': 'tensorflow.contrib.image',
           'BipartiteMatch': 'tensorflow.contrib.image', 'GatherTree': 'tensorflow.contrib.seq2seq'}

# Differences that are meant, or are TensorFlow's: (operation, type, part of the description, why).
ACCEPTED = [
    ('Sqrt|Rsqrt', 'float32', 'special values', 'of infinity: TensorFlow 1.15 gives NaN'),
    ('Atan2', '.*', 'shapes unknown: gradient', "TensorFlow 1.15 does not sum the gradient over broadcast dimensions"),
    ('Mean', 'int8', '3x4x5', 'TensorFlow adds up in the type itself, which overflows'),
    ('Mean', 'bfloat16|complex.*', '3x0',
     'of nothing: TensorFlow gives 0 in these types and NaN, as Weir, in the others'),
    ('DepthwiseConv2dNative', '.*', 'dilations',
     'TensorFlow 1.15 ignores the dilations here (its Python function does them)'),
    ('(Stateless)?Multinomial', 'bfloat16', '', 'TensorFlow 1.15 gives other numbers at every run, whatever the seed'),
    ('MaxPoolGradGrad(V2)?', 'bfloat16', '', 'TensorFlow 1.15 gives zeros'),
    ('TruncateDiv', 'float32', 'special values', 'by infinity: TensorFlow 1.15 gives NaN'),
    ('UnsortedSegmentProd', 'complex.*', 'gradient', 'TensorFlow does not conjugate the product of the others'),
    ('SparseSegment(Mean|SqrtN).*', 'float.*', '[], []', 'of nothing: TensorFlow 1.15 leaves the gradient unset'),
    ('SparseTensorDenseMatMul', 'complex.*', 'adjoint_a', 'TensorFlow 1.15 does not conjugate the sparse matrix'),
    ('EuclideanNorm', 'u?int(8|16)', '', 'TensorFlow adds up in the type itself, which overflows'),
    ('MatrixDiag(Part)?V2', '.*', 'shapes unknown: gradient', 'TensorFlow 1.15 forgets k unless it is a constant'),
    ('FloorMod', 'float64', 'special values', '0 mod -inf: NaN, as TensorFlow has it for float32'),
    ('DecodeJSONExample', '.*', '', 'the same message; TensorFlow does not pack its numbers'),
    ('DecodePaddedRaw', '.*', '', 'TensorFlow 1.15 puts the rows of types that are wider than a byte in wrong places'),
    ('CTCLoss|CTCBeamSearchDecoder', 'float64', '', 'TensorFlow adds up probabilities in float32'),
    ('BlockLSTMV2', 'float32', 'gradient', 'TensorFlow 1.15 asks BlockLSTMGrad, whose gates are in another order'),
    ('(LSTMBlockCell|BlockLSTM).*', 'float16', '', 'Weir computes these cells in float32 only'),
    ('ScatterNdNonAliasingAdd|ResourceScatterNd(Add|Sub)', 'bool', '', 'TensorFlow adds truths; Weir does not'),
    ('ImageProjectiveTransformV2', 'float64', 'gradient', 'TensorFlow inverts the transformation in float32'),
    ('QuantizeV2', '.*', 'T=qint32', 'TensorFlow wraps the upper end of 32 bits around to the lower'),
    ('QuantizedBiasAdd', '.*', '2x3x2x5', 'TensorFlow is off by up to four steps of its input'),
    ('QuantizedResizeBilinear', '.*', 'qint32', 'TensorFlow rounds weights, which shows in the eighth digit'),
    ('scene datasets.rebatched.*', '.*', '',
     'TensorFlow cuts a last, smaller batch into as many parts as the others; Weir into parts of their size'),
    ('SdcaOptimizer(V2)?', 'float32', 'poisson_loss', 'steps of 1e-9, which are rounding'),
    ('scene control.loop_of_a_reference', '', '',
     "Weir imports no loops of references, which none of TensorFlow's own functions makes"),
    ('scene control.switch_and_merge .*', '', 'outcome',
     'what only one side of a Switch computes and no Merge ends is computed on both sides in graphs that are imported'),
    ('scene tables.keys_removed', '', '', 'TensorFlow 1.15 ends the process'),
    ('scene files.checkpoints', '', 'step 18',
     'a slice outside of the tensor: InvalidArgumentError, for which TensorFlow has InternalError'),
]


def accepted(name, dtype, what):
    """Why a difference is accepted, or None."""
    for operation, types, part, why in ACCEPTED:
        if re.match('(%s)$' % operation, name) and re.match('(%s)$' % types, dtype) and part in what:
            return why
    return None


def find(name, input_names, attr_names):
    """The row of an operation, or why there is none: scenes may have it then."""
    if name in ROWS:
        return ROWS[name]
    if re.match('(Resource)?(Sparse)?Apply', name):
        return update(input_names, attr_names), ('float32', 'float64', 'float16', 'bfloat16', 'complex64')
    return next((why for pattern, why in REASONS if re.match('(%s)$' % pattern, name)), None)
