"""Compares summaries and event files with TensorFlow's and TensorBoard's (no dependencies: run this by hand, with
TensorFlow 2 through tensorflow_driver.py).

  event_exchange.py make FILE          writes tests/data/summaries-1.15.5.tsv; needs TensorFlow 1.15
  event_exchange.py check DIRECTORY    reads, with TensorFlow's iterator and with TensorBoard's own reader, the event file
                                       that Weir's test of the writer leaves in the system's temporary directory as
                                       weir_events
"""
import glob
import os
import sys

import numpy as np
import tensorflow as tf


def cases():
    """(name, how to make the summary): the same cases as in src/ops/summary/summary_ops_test.cc."""
    nan, inf = float('nan'), float('inf')
    wave = [((i * 7919) % 1000 - 500) / 37.0 for i in range(200)]
    mixed = [-3, -0.5, 0, -0.0, 1e-13, -1e-13, 1e-12, -1e-12, 0.1, 0.1, 1e19, 1e21, -1e25, 3.5]
    yield 'histogram_wave', lambda: tf.summary.histogram('tag', tf.constant(wave, tf.float64))
    yield 'histogram_float', lambda: tf.summary.histogram('tag', tf.constant(wave, tf.float32))
    yield 'histogram_mixed', lambda: tf.summary.histogram('tag', tf.constant(mixed, tf.float64))
    yield 'histogram_empty', lambda: tf.summary.histogram('tag', tf.constant([], tf.float32))
    yield 'histogram_int32', lambda: tf.summary.histogram('tag', tf.constant([1, 2, 3, 1000, -7]))
    yield 'scalar_half', lambda: tf.summary.scalar('tag', tf.constant(0.1, tf.float16))
    yield 'scalar_int64', lambda: tf.summary.scalar('tag', tf.constant(123456789, tf.int64))
    yield 'audio', lambda: tf.summary.audio('tag', [[[.5, -1], [1, .00002]], [[2, -2], [nan, 0]]], 10.)
    yield 'tensor', lambda: tf.summary.tensor_summary('tag', [[1, 2, 3]], summary_description='d', display_name='n')
    yield 'text', lambda: tf.summary.text('tag', tf.constant(['a', 'bc']))
    floats = np.array([[0, .5, 1, 2], [.25, nan, 1.999, 1e-3]]).reshape([1, 2, 4, 1])
    signed = np.array([[-1, 0, .5], [1, -3, 2], [inf, 0, 0], [.1, .2, .3]]).reshape([1, 2, 2, 3])
    yield 'image_float', lambda: tf.summary.image('tag', tf.constant(floats, tf.float32))
    yield 'image_double', lambda: tf.summary.image('tag', tf.constant(floats, tf.float64), max_outputs=1)
    yield 'image_half', lambda: tf.summary.image('tag', tf.constant(floats, tf.float16))
    yield 'image_signed', lambda: tf.summary.image('tag', tf.constant(signed, tf.float32))
    yield 'image_dark', lambda: tf.summary.image('tag', tf.constant(floats * 1e-7, tf.float32))
    bytes_ = np.arange(24).reshape([2, 3, 1, 4]) * 10
    yield 'image_uint8', lambda: tf.summary.image('tag', tf.constant(bytes_, tf.uint8))


def make(path):
    """Tab-separated: the case, the message in hexadecimal. Pictures stand as their pixels, not as PNG files."""
    with open(path, 'w') as out:
        for name, make_summary in cases():
            with tf.Graph().as_default(), tf.Session() as session:
                message = tf.Summary.FromString(session.run(make_summary()))
                for value in message.value:
                    if value.HasField('image'):
                        pixels = session.run(tf.image.decode_png(value.image.encoded_image_string))
                        value.image.encoded_image_string = pixels.tobytes()
            out.write('%s\t%s\n' % (name, ''.join('%02x' % b for b in bytearray(message.SerializeToString()))))


def check(directory):
    path, = glob.glob(os.path.join(directory, 'events.out.tfevents.*'))
    events = list(tf.train.summary_iterator(path))
    assert events[0].file_version == 'brain.Event:2', events[0]
    kinds = [event.WhichOneof('what') for event in events]
    assert kinds.count('summary') == 10 and 'graph_def' in kinds and 'session_log' in kinds, kinds
    graph = tf.GraphDef.FromString(next(event.graph_def for event in events if event.graph_def))
    tf.import_graph_def(graph, name='')

    from tensorboard.backend.event_processing import event_accumulator
    reader = event_accumulator.EventAccumulator(directory, size_guidance={
        'scalars': 0, 'histograms': 0, 'images': 0, 'tensors': 0})
    reader.Reload()
    tags = reader.Tags()
    print(tags)
    assert tags['graph']
    losses = [(event.step, event.value) for event in reader.Scalars('loss')]
    np.testing.assert_allclose(losses, [(step, 1 / (step + 1.0)) for step in range(10)], rtol=1e-6)
    histogram = reader.Histograms('weights')[-1].histogram_value
    assert histogram.num == 4 and histogram.min == -1 and histogram.max == 2, histogram
    picture = reader.Images('picture/image')[0]
    with tf.Session() as session:
        pixels = session.run(tf.image.decode_png(picture.encoded_image_string))
    assert pixels.reshape([-1]).tolist() == [0, 63, 127, 255], pixels
    assert reader.Tensors('note')[0].tensor_proto.string_val[0] == b'hello'
    print(path, 'agrees')


if __name__ == '__main__':
    {'make': make, 'check': check}[sys.argv[1]](sys.argv[2])
