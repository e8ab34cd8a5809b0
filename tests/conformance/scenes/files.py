"""Scenes: readers, checkpoints and other files, pictures. Each side runs in a folder of its own with the same files."""
import os
import struct
import zlib

import numpy as np

from scenes.queues import words
from scenes.scene import scene


def make(tf, folder):
    """The files that scenes read, in folder/input."""
    place = os.path.join(folder, 'input')
    os.makedirs(place)

    def write(name, data):
        with open(os.path.join(place, name), 'wb') as f:
            f.write(data)

    write('lines.txt', b'one\ntwo\r\n\nfour')
    write('more.txt', b'five\nsix\n')
    write('words.tsv', b'one\t5\ntwo\t7\n')
    write('old.txt', b'a\nb\nc\n')
    write('new.txt', b'c\nx\na\n')
    write('numbers.csv', b'a,b\n1,2.5\n3,"4"\n,7\n')
    write('fixed.bin', b'HEaabbccF')
    write('floats.bin', np.arange(6, dtype=np.float32).tobytes())
    write('lines.gz', gzipped(b'one\ntwo\n'))
    write('unigrams.csv', b'a,3\nb,1\nc,2\nd,4\n')
    options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.ZLIB)
    for name, how in (('records', None), ('records.z', options)):
        with tf.python_io.TFRecordWriter(os.path.join(place, name), options=how) as writer:
            for text in (b'first', b'', b'third'):
                writer.write(text)


def gzipped(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


READERS = {
    'WholeFileReader': ({}, ['lines.txt', 'more.txt']),
    'TextLineReader': (dict(skip_header_lines=1), ['lines.txt', 'more.txt']),
    'FixedLengthRecordReader': (dict(header_bytes=2, record_bytes=2, footer_bytes=1), ['fixed.bin']),
    'IdentityReader': ({}, ['lines.txt', 'missing']),
    'TFRecordReader': ({}, ['records']),
}


@scene(*[(kind, version) for kind in sorted(READERS) for version in ('', 'V2')
         if (kind, version) != ('FixedLengthRecordReader', '')])
def reader(s, which):
    kind, version = which
    attrs, names = READERS[kind]
    handle = s(kind + version, **attrs)
    q = s('FIFOQueue' + version, component_types=['string'], shapes=[[]])

    def op(name, **inputs):
        return s('Reader%s%s' % (name, version), reader_handle=handle, **inputs)

    def work():
        s.run(s('QueueEnqueueMany' + version, handle=q, components=[s.fed(words(*['input/' + n for n in names]))]))

    def count():
        s.run(op('NumRecordsProduced'), op('NumWorkUnitsCompleted'))

    work()
    read = op('Read', queue_handle=q)
    s.run(read)
    count()
    state = op('SerializeState')
    if kind == 'IdentityReader':
        s.run(state, compared=False)
    else:
        s.run(state)  # most have none
    s.run(op('ReadUpTo', queue_handle=q, num_records=s.fed(10, 'int64')))
    count()
    if kind == 'IdentityReader':
        kept = s.tf.placeholder(s.tf.string, [])
        s.run(op('RestoreState', state=kept), carry={kept: state})
        count()
    s.run(op('RestoreState', state=s.fed(b'nonsense')))
    s.run(op('Reset'))
    count()
    work()
    s.run(s('QueueClose' + version, handle=q))
    s.run(op('ReadUpTo', queue_handle=q, num_records=s.fed(100, 'int64')))
    s.run(op('ReadUpTo', queue_handle=q, num_records=s.fed(100, 'int64')))
    s.run(read)
    s.run(read)


@scene('missing', 'lines.txt')
def reader_of_a_bad_file(s, name):
    q = s('FIFOQueueV2', component_types=['string'], shapes=[[]])
    s.run(s('QueueEnqueueV2', handle=q, components=[s.fed(b'input/' + name.encode())]))
    s.run(s('ReaderReadV2', reader_handle=s('TFRecordReaderV2'), queue_handle=q))


@scene()
def checkpoints(s):
    names, slices = s.fed(words('a', 'b')), s.fed(words('', '6 2 0,3:-'))
    a, b = s.fed([1.0, 2.0]), s.fed(np.arange(6).reshape(3, 2), 'int64')
    for save, path, more in (('Save', b'd/v1', {}), ('SaveSlices', b'd/slices', dict(shapes_and_slices=slices))):
        s.run(s('WriteFile', filename=s.fed(b'd/begin'), contents=s.fed(b'')))
        s.run(s(save, filename=s.fed(path), tensor_names=names, data=[a, b], **more))
        s.run(s('Restore', file_pattern=s.fed(path), tensor_name=s.fed(b'a'), dt='float32'))
        s.run(s('Restore', file_pattern=s.fed(path), tensor_name=s.fed(b'a'), dt='int64'))  # another type
        s.run(s('Restore', file_pattern=s.fed(path), tensor_name=s.fed(b'c'), dt='int64'))
    for part in (b'6 2 1,2:0,1', b'6 2 -:-'):
        s.run(s('RestoreSlice', file_pattern=s.fed(b'd/slices'), tensor_name=s.fed(b'b'), shape_and_slice=s.fed(part), dt='int64'))
    for prefix, at in ((b'd/one', b'6 2 0,3:-'), (b'd/two', b'6 2 3,3:-')):
        s.run(s('SaveV2', prefix=s.fed(prefix), tensor_names=s.fed(words('b')), shape_and_slices=s.fed(np.array([at], object)),
                tensors=[b]))
    s.run(s('MergeV2Checkpoints', checkpoint_prefixes=s.fed(words('d/one', 'd/two')), destination_prefix=s.fed(b'd/all')))
    for part in (b'6 2 2,2:-', b'', b'6 2 0,9:-'):
        s.run(s('RestoreV2', prefix=s.fed(b'd/all'), tensor_names=s.fed(words('b')),
                shape_and_slices=s.fed(np.array([part], object)), dtypes=['int64']))
    s.run(s('RestoreV2', prefix=s.fed(b'd/none'), tensor_names=s.fed(words('b')), shape_and_slices=s.fed(words('')), dtypes=['int64']))


@scene()
def rows_and_columns_of_a_checkpoint(s):
    s.run(s('SaveV2', prefix=s.fed(b'd/matrix'), tensor_names=s.fed(words('m')), shape_and_slices=s.fed(words('')),
            tensors=[s.fed(np.arange(12).reshape(4, 3) * 1.0)]))
    for limit in (-1, 2):
        s.run(s('LoadAndRemapMatrix', ckpt_path=s.fed(b'd/matrix'), old_tensor_name=s.fed(b'm'),
                row_remapping=s.fed([2, -1, 0], 'int64'), col_remapping=s.fed([1, -1], 'int64'),
                initializing_values=s.fed([100.0, 101.0, 102.0, 103.0]), num_rows=3, num_cols=2, max_rows_in_memory=limit))
    s.run(s('LoadAndRemapMatrix', ckpt_path=s.fed(b'd/matrix'), old_tensor_name=s.fed(b'm'),
            row_remapping=s.fed([2, 2], 'int64'), col_remapping=s.fed([], 'int64'),
            initializing_values=s.fed([], 'float32'), num_rows=2, num_cols=3))
    for size in (-1, 2):
        s.run(s('GenerateVocabRemapping', new_vocab_file=s.fed(b'input/new.txt'), old_vocab_file=s.fed(b'input/old.txt'),
                new_vocab_offset=0, num_new_vocab=3, old_vocab_size=size))


@scene()
def whole_files(s):
    s.run(s('ReadFile', filename=s.fed(b'input/more.txt')))
    s.run(s('ReadFile', filename=s.fed(b'input/none')))
    s.run(s('WriteFile', filename=s.fed(b'made/here/file'), contents=s.fed(b'contents')))
    s.run(s('ReadFile', filename=s.fed(b'made/here/file')))
    s.run(s('MatchingFiles', pattern=s.fed(words('input/*.txt', 'input/fix*', 'input/no*'))))
    s.run(s('ImmutableConst', dtype='float32', shape=[2, 3], memory_region_name='input/floats.bin'))
    s.run(s('ImmutableConst', dtype='float32', shape=[2, 4], memory_region_name='input/floats.bin'))
    s.run(s('ImmutableConst', dtype='float32', shape=[2], memory_region_name='input/none'))


@scene()
def record_input(s):
    records = s('RecordInput', file_pattern='input/records', batch_size=3, file_parallelism=1, file_buffer_size=3)
    # In any order.
    s.run(s('Sum', input=s('StringLength', input=records), reduction_indices=s.constant([0])))


def gif(width, height, colors):
    """A GIF of one frame, each pixel in a code of its own."""
    size = 2
    codes = [4]  # begin anew, before the codes grow longer
    for i, color in enumerate(colors):
        codes += [color] if i % 2 == 0 else [color, 4]
    codes.append(5)
    bits = ''.join(format(code, '03b')[::-1] for code in codes)
    bits += '0' * (-len(bits) % 8)
    data = bytes(int(bits[i:i + 8][::-1], 2) for i in range(0, len(bits), 8))
    palette = bytes([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255])
    return (b'GIF89a' + struct.pack('<HHBBB', width, height, 0x91, 0, 0) + palette + b',' +
            struct.pack('<HHHHB', 0, 0, width, height, 0) + bytes([size, len(data)]) + data + b'\0;')


def bmp(width, height, channels):
    row = bytes((7 * i) % 251 for i in range(width * channels))
    row += b'\0' * (-len(row) % 4)
    pixels = row * height
    header = struct.pack('<IiiHHIIiiII', 40, width, height, 1, 8 * channels, 0, len(pixels), 0, 0, 0, 0)
    return b'BM' + struct.pack('<IHHI', 54 + len(pixels), 0, 0, 54) + header + pixels


@scene(1, 3, 4)
def pictures(s, channels):
    random = np.random.RandomState(channels)
    smooth = (np.add.outer(np.arange(9) * 11, np.arange(7) * 9)[..., None] + 20 * np.arange(channels)).astype(np.uint8)
    for dtype in ('uint8', 'uint16'):
        image = s.fed(random.randint(0, 255 if dtype == 'uint8' else 65535, (5, 4, channels)), dtype)
        png = s('EncodePng', image=image)
        for wanted in (0, 1, 3, 4):
            s.run(s('DecodePng', contents=png, channels=wanted, dtype=dtype))
    if channels != 4:
        jpeg = s('EncodeJpeg', image=s.fed(smooth), quality=90)
        s.run(jpeg)
        for wanted in (0, 1, 3):
            s.run(s('DecodeJpeg', contents=jpeg, channels=wanted))
        for ratio in (2, 4):
            s.run(s('DecodeJpeg', contents=jpeg, ratio=ratio))
        for method in ('INTEGER_FAST', 'INTEGER_ACCURATE'):
            s.run(s('DecodeJpeg', contents=jpeg, dct_method=method, fancy_upscaling=False))
        s.run(s('DecodeAndCropJpeg', contents=jpeg, crop_window=s.fed([2, 1, 4, 5], 'int32')))
        s.run(s('DecodeAndCropJpeg', contents=jpeg, crop_window=s.fed([2, 1, 40, 5], 'int32')))
        s.run(s('ExtractJpegShape', contents=jpeg))
        s.run(s('DecodePng', contents=jpeg))
    s.run(s('DecodeBmp', contents=s.fed(bmp(5, 3, channels))))
    s.run(s('DecodeBmp', contents=s.fed(bmp(5, 3, channels)), channels=3))
    s.run(s('DecodeGif', contents=s.fed(gif(4, 2, [0, 1, 2, 3, 3, 2, 1, 0]))))
    for op in ('DecodePng', 'DecodeJpeg', 'DecodeGif', 'DecodeBmp', 'ExtractJpegShape'):
        s.run(s(op, contents=s.fed(b'nonsense')))


@scene()
def drawn_by_weights_of_a_file(s):
    s.run(s('FixedUnigramCandidateSampler', true_classes=s.fed([[1, 3]], 'int64'), num_true=2, num_sampled=3, unique=True,
            range_max=4, vocab_file='input/unigrams.csv', distortion=0.75, seed=3, seed2=4))
