"""Which operations are compared with TensorFlow's, and with what: the rows of cases/ and the reasons for none.

ops.py runs them on Weir and on TensorFlow; tests/fuzz makes its wrong calls out of them.
"""
import re

from cases import (  # noqa: F401  (their rows)
    array, image, linalg, math, nn, quantized, random, signal, sparse, state, summary, text)
from cases.state import update
from cases.table import C, K, ROWS, V, Values  # noqa: F401

FLOW = 'whole graphs are exchanged by control_flow_graphs.py'
EXCLUDED = {
    'SelfAdjointEig': 'TensorFlow imports it only from graphs of version 10 and older',
    'BatchSelfAdjointEig': 'TensorFlow imports it only from graphs of version 10 and older',
    'SerializeSparse': 'strings that hold the same tensors in other bytes',
    'SerializeManySparse': 'strings that hold the same tensors in other bytes',
    'DeserializeSparse': 'what the operations above have written',
    'DeserializeManySparse': 'what the operations above have written',
    'StringFormat': 'a list of types; python/tests',
    'Placeholder': 'the input of every case',
    'Const': 'an input of most cases; all types in the exchange of graphs',
    'Variable': 'the former VariableV2',
    'VariableV2': 'the variable of every case of a state operation',
    'VarHandleOp': 'the variable of every case of a resource operation',
    'DestroyResourceOp': 'no value',
    'NoOp': 'no value',
    'Assert': 'no value',
    'Print': 'prints',
    'CheckNumerics': 'its value is its input',
    'Save': 'files',
    'SaveSlices': 'files',
    'SaveV2': 'files',
    'Restore': 'files',
    'RestoreSlice': 'files',
    'RestoreV2': 'files',
    'MergeV2Checkpoints': 'files',
    'ReadFile': 'files',
    'WriteFile': 'files',
    'FakeParam': 'no value',
    'If': FLOW,
    'StatelessIf': FLOW,
    'While': FLOW,
    'StatelessWhile': FLOW,
    'PyFunc': 'functions of Python',
    'PyFuncStateless': 'functions of Python',
    'MatchingFiles': 'files',
    'DecodeJpeg': 'files of pictures: python/tests/test_image.py has the pixels of TensorFlow',
    'DecodeAndCropJpeg': 'files of pictures: python/tests/test_image.py has the pixels of TensorFlow',
    'ExtractJpegShape': 'files of pictures: python/tests/test_image.py has the pixels of TensorFlow',
    'DecodePng': 'files of pictures: python/tests/test_image.py has the pixels of TensorFlow',
    'DecodeGif': 'files of pictures: python/tests/test_image.py has the pixels of TensorFlow',
    'DecodeBmp': 'files of pictures: python/tests/test_image.py has the pixels of TensorFlow',
    'EncodePng': 'files of pictures: python/tests/test_image.py has the pixels of TensorFlow',
    'RandomPoisson': 'TensorFlow imports it only from graphs of version 25 and older; RandomPoissonV2 is compared',
    'RandomCrop': 'TensorFlow imports it only from graphs of version 7 and older',
    'ImageProjectiveTransform': 'of tf.contrib, which is a library of its own',
    'ImageProjectiveTransformV2': 'of tf.contrib, which is a library of its own',
    'BatchNormWithGlobalNormalization': 'TensorFlow imports it only from graphs of version 8 and older',
    'BatchNormWithGlobalNormalizationGrad': 'TensorFlow imports it only from graphs of version 8 and older',
    'MaxPoolGradGradWithArgmax': 'TensorFlow has it on GPUs only',
    'MaxPool3DGrad': 'the gradient of MaxPool3D, which is compared',
    'MaxPool3DGradGrad': 'the gradient of the gradient of MaxPool3D',
    'TopK': 'TensorFlow imports it only from graphs of version 6 and older; TopKV2 is compared',
    'AudioSummary': 'TensorFlow imports it only from graphs of version 14 and older; AudioSummaryV2 is compared',
    'Timestamp': 'the time',
    'PrintV2': 'prints; in python/tests',
    'EagerPyFunc': "calls the program's function; in python/tests",
    'MergeSummary': 'joins the outputs of others; in the exchange of event files',
}

# Differences that are meant, or are TensorFlow's: (operation, type, part of the description, why).
ACCEPTED = [
    ('Sqrt|Rsqrt', 'float32', 'special values', 'of infinity: TensorFlow 1.15 gives NaN'),
    ('Atan2', '.*', 'shapes unknown: gradient', "TensorFlow 1.15 does not sum the gradient over broadcast dimensions"),
    ('Mean', 'int8', '3x4x5', 'TensorFlow adds up in the type itself, which overflows'),
    ('Mean', 'bfloat16|complex.*', '3x0',
     'of nothing: TensorFlow gives 0 in these types and NaN, as Weir, in the others'),
    ('DepthwiseConv2dNative', '.*', 'dilations',
     'TensorFlow 1.15 ignores the dilations here (its Python function does them)'),
    ('Multinomial', 'bfloat16', '', 'TensorFlow 1.15 gives other numbers at every run, whatever the seed'),
    ('MaxPoolGradGrad(V2)?', 'bfloat16', '', 'TensorFlow 1.15 gives zeros'),
    ('TruncateDiv', 'float32', 'special values', 'by infinity: TensorFlow 1.15 gives NaN'),
    ('UnsortedSegmentProd', 'complex.*', 'gradient', 'TensorFlow does not conjugate the product of the others'),
    ('SparseSegment(Mean|SqrtN).*', 'float.*', '[], []', 'of nothing: TensorFlow 1.15 leaves the gradient unset'),
    ('SparseTensorDenseMatMul', 'complex.*', 'adjoint_a', 'TensorFlow 1.15 does not conjugate the sparse matrix'),
    ('EuclideanNorm', 'u?int(8|16)', '', 'TensorFlow adds up in the type itself, which overflows'),
    ('MatrixDiag(Part)?V2', '.*', 'shapes unknown: gradient', 'TensorFlow 1.15 forgets k unless it is a constant'),
    ('FloorMod', 'float64', 'special values', '0 mod -inf: NaN, as TensorFlow has it for float32'),
]


def accepted(name, dtype, what):
    """Why a difference is accepted, or None."""
    for operation, types, part, why in ACCEPTED:
        if re.match('(%s)$' % operation, name) and re.match('(%s)$' % types, dtype) and part in what:
            return why
    return None


def find(name, input_names, attr_names):
    """The row of an operation, or why there is none."""
    if name.startswith('_'):
        return 'internal: made by the optimizer of graphs'
    if 'Table' in name or 'TensorsMap' in name:
        return 'a table is no value; src/ops/lookup and src/ops/sparse have tests of what is asked of them'
    if 'TensorList' in name:
        return 'a list is no value; loops and TensorArrays are compared in python/tests and control_flow_graphs.py'
    if 'TensorArray' in name or re.match('Stack(Push|Pop|Close)?(V2)?$', name):
        return 'it lives for one run; loops with arrays and stacks are compared in control_flow_graphs.py'
    if re.match('(Ref)?(Switch|Merge|Enter|Exit|NextIteration|Select)$|LoopCond|ControlTrigger', name):
        return 'a part of a conditional or loop; these are compared in control_flow_graphs.py'
    if re.match('.*Session(Handle|Tensor)|.*Mutex', name):
        return 'state of a session; in python/tests'
    if name in EXCLUDED:
        return EXCLUDED[name]
    if name in ROWS:
        return ROWS[name]
    if re.match('(Resource)?(Sparse)?Apply', name):
        return update(input_names, attr_names), ('float32', 'float64', 'float16', 'bfloat16', 'complex64')
    return None
