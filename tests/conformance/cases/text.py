"""Rows of the table of operations: text."""
import numpy as np

from cases.table import ALL_TYPES, C, K, row


def text(*words):
    result = np.empty(len(words), object)
    result[:] = [w if isinstance(w, bytes) else w.encode() for w in words]
    return result


STRING = ('string',)
row('StringJoin', lambda v: [C([v(3, 2), v(3, 2)], separator='-'), C([v(3), v()]), C([v()])], STRING)
row(
    'AsString', lambda v: [C(v(3, 4)), C(v(3), width=8), C(v(3), width=8, fill='0')] +
    ([C(v(3), precision=2), C(v(3), scientific=True),
      C(v(3), shortest=True)] if v.is_float or v.is_complex else []), ALL_TYPES[:-1])
row(
    'StringToNumber', lambda v: [C(text('1', '-3', ' 7 ', '+12'), out_type=t) for t in ('int32', 'int64')] +
    [C(text('1', '-3.5e2', 'inf', '.5', ' 2.25 '), out_type=t) for t in ('float32', 'float64')], STRING)
row(
    'StringSplit', lambda v: [
        C(text('a b  c', '', 'd e'), K(b' ', object)),
        C(text('a b  c', 'd'), K(b' ', object), skip_empty=False),
        C(text('abc'), K(b'', object))
    ], STRING)
row(
    'StringSplitV2', lambda v: [
        C(text('a b  c', '', 'd e'), K(b' ', object)),
        C(text('a<>b<>c'), K(b'<>', object)),
        C(text(' a  b '), K(b'', object))
    ], STRING)
row('ReduceJoin',
    lambda v: [C(v(3, 4), K([1])),
               C(v(3, 4), K([0, 1]), separator='-'),
               C(v(3, 4), K([-2]), keep_dims=True)], STRING)
row(
    'Substr', lambda v: [
        C(text('hello', 'world'), K(1), K(3)),
        C(text('hello', 'world'), K([0, 2]), K([2, 9])),
        C(text('hello'), K(-3), K(2))
    ], STRING)
row(
    'DecodeRaw', lambda v: [
        C(text(b'\x01\x02\x03\x04\x05\x06\x07\x08', b'abcdefgh'), out_type=v.dtype),
        C(text(b'\x01\x02\x03\x04\x05\x06\x07\x08'), out_type=v.dtype, little_endian=False)
    ], ('uint8', 'int8', 'int16', 'int32', 'int64', 'uint16'))
row('EncodeBase64', lambda v: [C(text('hello', '', 'a')), C(text('hello', 'ab'), pad=True)], STRING)
row('DecodeBase64',
    lambda v: [C(text('aGVsbG8', '', 'YQ', 'aGk=', '__79', '-_-_')), C(text('YR')), C(text('a')), C(text('YQ=')), C(text('a+b/'))],
    STRING)
row('StringToHashBucketFast StringToHashBucket',
    lambda v: [C(text('hello', '', 'a', 'x' * 100), num_buckets=n) for n in (10, 1 << 40)], STRING)
row('StringToHashBucketStrong', lambda v: [C(text('hello', '', 'a', 'x' * 100), num_buckets=1000, key=[3, 4])], STRING)
row('StringLength', lambda v: [C(text('hello', '', b'\xc3\xa4'))], STRING)
row('StringLower StringUpper StringStrip', lambda v: [C(text(' Hello ', 'AbC\t', ''))], STRING)
row(
    'RegexReplace', lambda v: [
        C(text('hello', 'all'), K(b'l+', object), K(b'L', object)),
        C(text('a1b22'), K(b'([0-9]+)', object), K(b'<\\1>', object), replace_global=False)
    ], STRING)
row('StaticRegexReplace', lambda v: [C(text('hello', 'all'), pattern='l+', rewrite='L')], STRING)
row('RegexFullMatch', lambda v: [C(text('hello', 'all'), K(b'.*o', object))], STRING)
row('StaticRegexFullMatch', lambda v: [C(text('hello', 'all'), pattern='.*o')], STRING)
row(
    'EditDistance', lambda v: [
        C(K([[0, 0], [0, 1], [1, 0]], np.int64),
          v.of([1, 2, 3]),
          K([2, 2], np.int64),
          K([[0, 0], [0, 1], [1, 0]], np.int64),
          v.of([1, 3, 3]),
          K([2, 2], np.int64),
          normalize=n,
          gradient=False) for n in (True, False)
    ])
row('Fingerprint', lambda v: [C(text('hello', ''), K(b'farmhash64', object))], STRING)
row('UnsortedSegmentJoin', lambda v: [C(text('a', 'b', 'c'), K([1, 0, 1]), K(3), separator='-')], STRING)
row('UnicodeTranscode', lambda v: [C(text(b'h\xc3\xa4', b'\xff!'), input_encoding='UTF-8', output_encoding=to)
                                   for to in ('UTF-8', 'UTF-16-BE', 'UTF-32-BE')], STRING)
row('UnicodeDecode UnicodeDecodeWithOffsets', lambda v: [C(text(b'h\xc3\xa4', b'\xff!', ''), input_encoding='UTF-8')], STRING)
row('UnicodeEncode', lambda v: [C(K([104, 228, 33]), K([0, 2, 3], np.int64), output_encoding='UTF-8')], STRING)
row('StringNGrams', lambda v: [C(text('a', 'b', 'c', 'd'), K([0, 3, 4], np.int64), separator='|', ngram_widths=[2, 3],
                                 left_pad='L', right_pad='R', pad_width=width, preserve_short_sequences=short)
                               for width in (-1, 0, 1) for short in (True, False)], STRING)
row('UnicodeScript', lambda v: [C(K([65, 0x3b1, 0x4e00, 0x430, 48, -1, 1 << 30]))], STRING)
row('SdcaFprint', lambda v: [C(text('hello', '', 'feature'))], STRING)
row('Fact', lambda v: [C()], STRING)
