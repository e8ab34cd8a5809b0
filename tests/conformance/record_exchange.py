"""Exchanges record files with TensorFlow 1.15 (which is no dependency: run this by hand in an environment that has it).

  record_exchange.py make DIRECTORY    writes the files of tests/data/records
  record_exchange.py check DIRECTORY   reads the same files, as Weir's tests of records wrote them (they leave them in the
                                       system's temporary directory as weir_records), and compares
"""
import os
import sys

import tensorflow as tf

COMPRESSION = {
    'plain': tf.python_io.TFRecordCompressionType.NONE,
    'gzip': tf.python_io.TFRecordCompressionType.GZIP,
    'zlib': tf.python_io.TFRecordCompressionType.ZLIB,
}


def records():
    """The same records as in src/io/record_test.cc."""
    feature = tf.train.Feature
    yield tf.train.Example(features=tf.train.Features(feature={
        'label': feature(int64_list=tf.train.Int64List(value=[7, -1])),
        'weights': feature(float_list=tf.train.FloatList(value=[0.5, 1.5, -2.0])),
        'image': feature(bytes_list=tf.train.BytesList(value=[b'\x00\xff', b''])),
        'empty': feature(int64_list=tf.train.Int64List()),
        'nothing': feature(),
    })).SerializeToString()
    yield b''
    yield b'x' * 300


def main(command, directory):
    for name, compression in COMPRESSION.items():
        path = os.path.join(directory, name + '.tfrecord')
        options = tf.python_io.TFRecordOptions(compression)
        if command == 'make':
            with tf.python_io.TFRecordWriter(path, options) as writer:
                for record in records():
                    writer.write(record)
            continue
        found = list(tf.python_io.tf_record_iterator(path, options))
        expected = list(records())
        assert tf.train.Example.FromString(found[0]) == tf.train.Example.FromString(expected[0]), path
        assert found[1:] == expected[1:], path
        print(path, 'agrees')


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2])
