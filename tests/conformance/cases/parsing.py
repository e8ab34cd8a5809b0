"""Rows of the table of operations: examples, text, messages and sound that are taken apart."""
import struct
import zlib

import numpy as np

from cases.table import C, K, row
from cases.text import STRING, text


def varint(n):
    n &= (1 << 64) - 1
    result = b''
    while n > 127:
        result, n = result + struct.pack('B', n & 127 | 128), n >> 7
    return result + struct.pack('B', n)


def field(number, data):
    """A field of a message: its length and its bytes."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def feature(values):
    if not values:
        return b''
    if isinstance(values[0], bytes):
        return field(1, b''.join(field(1, value) for value in values))
    if isinstance(values[0], float):
        return field(2, field(1, struct.pack('<%df' % len(values), *values)))
    return field(3, field(1, b''.join(varint(value) for value in values)))


def features(named):
    return b''.join(field(1, field(1, name.encode()) + field(2, feature(values))) for name, values in sorted(named.items()))


def example(**named):
    """A tf.Example."""
    return field(1, features(named))


def sequence_example(context, **lists):
    steps = b''.join(field(1, field(1, name.encode()) + field(2, b''.join(field(1, feature(v)) for v in values)))
                     for name, values in sorted(lists.items()))
    return field(1, features(context)) + field(2, steps)


def names(*words):
    return K(text(*words), object)


def scalar(word):
    return K(np.array(word.encode(), object), object)


EXAMPLES = [example(a=[1.0, 2.0], b=[3, -4], s=[b'x', b'y']), example(a=[3.0, 4.0], b=[5]), example(a=[5.0, 6.0], s=[b'z'])]
NOTHING = K(np.zeros([0], np.float32), np.float32)
SPARSE = [scalar('b'), scalar('s')]

row('ParseExample', lambda v: [
    C(names(*EXAMPLES), names(), SPARSE, [scalar('a')], [NOTHING], sparse_types=['int64', 'string'], dense_shapes=[[2]]),
    C(names(*EXAMPLES), names('one', 'two', 'three'), [], [scalar('b'), scalar('c')],
      [K([[7], [8]], np.int64), K([0.5], np.float32)], sparse_types=[], dense_shapes=[[2], []], what='of another size'),
    C(names(*EXAMPLES), names(), [], [scalar('b'), scalar('c')], [K([-1], np.int64), K([0.5], np.float32)], sparse_types=[],
      dense_shapes=[[None], []]),
    C(names(*EXAMPLES), names(), [], [scalar('missing')], [NOTHING], sparse_types=[], dense_shapes=[[2]], what='missing'),
    C(names(), names(), SPARSE, [scalar('a')], [NOTHING], sparse_types=['int64', 'string'], dense_shapes=[[2]]),
], STRING)
row('ParseSingleExample', lambda v: [
    C(K(np.array(EXAMPLES[i], object), object), [NOTHING, K(b'd', object)], num_sparse=2, sparse_keys=['b', 's'],
      dense_keys=['a', 't'], sparse_types=['int64', 'string'], dense_shapes=[[2], []]) for i in range(3)], STRING)

STEPS = [sequence_example({'c': [1, 2], 'd': [0.5]}, f=[[1.0, 2.0], [3.0, 4.0]], g=[[1], [], [2, 3]]),
         sequence_example({'d': [1.5]}, f=[[5.0, 6.0]])]
CONTEXT = dict(context_sparse_types=['int64'], context_dense_shapes=[[]], feature_list_sparse_types=['int64'],
               feature_list_dense_types=['float32'], feature_list_dense_shapes=[[2]])
row('ParseSingleSequenceExample', lambda v: [
    C(K(np.array(steps, object), object), names('f'), [scalar('c')], [scalar('d')], [scalar('g')], [scalar('f')],
      [K(0.25, np.float32)], scalar('debug'), **CONTEXT) for steps in STEPS], STRING)
row('ParseSequenceExample', lambda v: [
    C(names(*STEPS), names('one', 'two'), [K(0.25, np.float32)], feature_list_dense_missing_assumed_empty=['f'],
      context_sparse_keys=['c'], context_dense_keys=['d'], feature_list_sparse_keys=['g'], feature_list_dense_keys=['f'],
      Ncontext_sparse=1, Ncontext_dense=1, Nfeature_list_sparse=1, Nfeature_list_dense=1, **CONTEXT)], STRING)

row('DecodeCSV', lambda v: [
    C(names('1,2.5,x', '-3,,"y, z"', ',4,'), [K([7], np.int32), K([0.5], np.float32), K([b'd'], object)]),
    C(names('1|2|3', '4|5|6'), [K(np.zeros([0]), np.int64), K(np.zeros([0]), np.float64)], field_delim='|', select_cols=[0, 2]),
    C(names('1,"2"', 'NA,3'), [K([9], np.int32), K([b''], object)], use_quote_delim=False, na_value='NA'),
    C(names('1,2,3'), [K([7], np.int32), K([7], np.int32)], what='too many'),
    C(names(',2'), [K(np.zeros([0]), np.int32), K([7], np.int32)], what='none where one must be'),
    C(names('x,2'), [K([7], np.int32), K([7], np.int32)], what='no number'),
], STRING)


def packed(data, bits):
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    return packer.compress(data) + packer.flush()


row('DecodeCompressed', lambda v: [
    C(names(packed(b'hello ' * 50, 15), packed(b'', 15)), compression_type='ZLIB'),
    C(names(packed(b'hello ' * 50, 31)), compression_type='GZIP'), C(names('as it is')),
    C(names('nonsense'), compression_type='ZLIB', what='nonsense')], STRING)
row('DecodeJSONExample', lambda v: [
    C(names('{"features": {"feature": {"a": {"int64List": {"value": ["1", "-2"]}}}}}', '{}')), C(names('{'), what='nonsense')],
    STRING)
row('DecodePaddedRaw', lambda v: [
    C(names(b'\x01\x02\x03\x04', b'\x05\x06', b''), K(4), out_type=v.dtype),
    C(names(b'\x01\x02\x03\x04\x05\x06\x07\x08\x09'), K(8), out_type=v.dtype, little_endian=False),
], ('uint8', 'int16', 'int32', 'int64', 'float32', 'float16'))
row('SerializeTensor', lambda v: [C(v(2, 3)), C(v()), C(v(0, 2))])
row('ParseTensor', lambda v: [
    C(names(b'\x08\x01\x12\x08\x12\x02\x08\x02\x12\x02\x08\x01' + b'\x22\x08' + struct.pack('<2f', 1.5, -2)).value.reshape(()),
      out_type='float32')], STRING)

# message Inner { int32 n = 1; }
# message Outer { float f = 1; repeated int64 i = 2; string s = 3; Inner inner = 4; bool b = 5; repeated double d = 6 [packed]; }
OPTIONAL, REPEATED = 1, 3


def _field(name, number, label, kind, type_name=b''):
    data = field(1, name) + varint(3 << 3) + varint(number) + varint(4 << 3) + varint(label) + varint(5 << 3) + varint(kind)
    return data + (field(6, type_name) if type_name else b'')


INNER = field(1, b'Inner') + field(2, _field(b'n', 1, OPTIONAL, 5))
OUTER = field(1, b'Outer') + b''.join(field(2, one) for one in (
    _field(b'f', 1, OPTIONAL, 2), _field(b'i', 2, REPEATED, 3), _field(b's', 3, OPTIONAL, 9),
    _field(b'inner', 4, OPTIONAL, 11, b'.case.Inner'), _field(b'b', 5, OPTIONAL, 8), _field(b'd', 6, REPEATED, 1)))
DESCRIPTORS = b'bytes://' + field(1, field(1, b'case.proto') + field(2, b'case') + field(4, INNER) + field(4, OUTER) +
                                  field(12, b'proto2'))
MESSAGES = [b'\x0d' + struct.pack('<f', 2.5) + b'\x10\x07\x10\x08' + field(3, b'text') + field(4, b'\x08\x05') + b'\x28\x01',
            b'', b'\x10' + varint(-3) + b'\x31' + struct.pack('<d', 0.5)]
PROTO = dict(message_type='case.Outer', descriptor_source=DESCRIPTORS)
row('DecodeProtoV2', lambda v: [
    C(names(*MESSAGES), field_names=['f', 'i', 's', 'b', 'd', 'inner'],
      output_types=['float32', 'int64', 'string', 'bool', 'float64', 'string'], **PROTO),
    C(names(*MESSAGES), field_names=['i'], output_types=['int64'], sanitize=True, **PROTO),
    C(names('f: 2 i: 3 i: 4'), field_names=['i', 'f'], output_types=['int64', 'float64'], message_format='text', **PROTO),
    C(names(*MESSAGES), field_names=['none'], output_types=['int64'], what='no such field', **PROTO),
    C(names(b'\xff'), field_names=['i'], output_types=['int64'], what='nonsense', **PROTO)], STRING)
row('EncodeProto', lambda v: [
    C(K([[1, 2, 1], [0, 1, 0]]), [K([[2.5], [0]], np.float32), K([[7, -8], [9, 0]], np.int64), K([[b'x'], [b'']], object)],
      field_names=['f', 'i', 's'], **PROTO),
    C(K([[2]]), [K([[2.5, 1]], np.float64)], field_names=['d'], **PROTO)], STRING)


def wav(channels, samples, bits=16):
    data = struct.pack('<%dh' % len(samples), *samples)
    form = struct.pack('<IHHIIHH', 16, 1, channels, 8000, 8000 * channels * 2, channels * 2, bits)
    body = b'WAVEfmt ' + form + b'data' + struct.pack('<I', len(data)) + data
    return K(np.array(b'RIFF' + struct.pack('<I', len(body)) + body, object), object)


row('DecodeWav', lambda v: [
    C(wav(1, [0, 100, -100, 32767, -32768])), C(wav(2, [1, 2, 3, 4, 5, 6])), C(wav(2, [1, 2, 3, 4]), desired_channels=1),
    C(wav(1, [1, 2, 3]), desired_samples=5), C(wav(1, [1, 2, 3]), desired_samples=2, desired_channels=2),
    C(wav(1, [1, 2, 3], 8), what='of bytes')], STRING)
