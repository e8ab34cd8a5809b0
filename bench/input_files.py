"""Rows of input.py on record files, parsing and pictures. One thread each, so that a row is what one core does."""

import atexit
import functools
import os
import shutil
import tempfile

import numpy as np

from input_timing import seconds_of


@functools.lru_cache(None)
def _folder():
    folder = tempfile.mkdtemp(prefix="input-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _one_core(tf):
    return tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1))


def _picture(size, seed):
    """Smooth colours with some noise: files as large as those of photographs."""
    random = np.random.RandomState(seed)
    coarse = random.randint(0, 256, [size // 8 + 1, size // 8 + 1, 3])
    smooth = np.kron(coarse, np.ones([8, 8, 1]))[:size, :size]
    return np.clip(smooth + random.randint(-12, 13, [size, size, 3]), 0, 255).astype(np.uint8)


def _jpegs(tf, size, count):
    with tf.Graph().as_default(), tf.Session() as sess:
        picture = tf.placeholder(tf.uint8, [size, size, 3])
        encoded = tf.image.encode_jpeg(picture, quality=90)
        return [sess.run(encoded, {picture: _picture(size, seed)}) for seed in range(count)]


def _write(path, records, tf):
    if not os.path.exists(path):
        with tf.python_io.TFRecordWriter(path) as writer:
            for record in records:
                writer.write(record)
    return path


def _example(tf, **features):
    def feature(value):
        if isinstance(value, bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
        if isinstance(value[0], int):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=value))
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))

    features = {name: feature(value) for name, value in features.items()}
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def records(tf):
    """A megabyte of a record file with records of 64 KB, checksums verified."""
    path = _write(os.path.join(_folder(), "large.tfrecord"), [os.urandom(1 << 16)] * 1024, tf)
    taken = tf.data.TFRecordDataset(path).repeat().batch(64).make_one_shot_iterator().get_next()
    with _one_core(tf) as sess:
        target = taken.op
        return seconds_of(lambda: sess.run(target), 32) / 4


def parse_example(tf):
    """An Example of a batch of 128: 32 floats, 8 whole numbers, a label and a name."""
    serialized = [_example(tf, floats=[float(i)] * 32, numbers=[i] * 8, label=[i], name=b"name of %d" % i) for i in range(128)]
    batch = tf.Variable(serialized, trainable=False)
    parsed = tf.parse_example(batch, {
        "floats": tf.FixedLenFeature([32], tf.float32), "numbers": tf.FixedLenFeature([8], tf.int64),
        "label": tf.FixedLenFeature([], tf.int64), "name": tf.FixedLenFeature([], tf.string)})
    with _one_core(tf) as sess:
        sess.run(tf.global_variables_initializer())
        target = parsed["floats"].op
        return seconds_of(lambda: sess.run(target), 200) / 128


def decode_csv(tf):
    """A line of a batch of 128: 16 numbers with fractions, 4 whole ones."""
    lines = [",".join(["%.4f" % (i * 1.37 + j) for j in range(16)] + [str(i * j) for j in range(4)]) for i in range(128)]
    batch = tf.Variable(lines, trainable=False)
    fields = tf.decode_csv(batch, [[0.0]] * 16 + [[0]] * 4)
    with _one_core(tf) as sess:
        sess.run(tf.global_variables_initializer())
        target = fields[0].op
        return seconds_of(lambda: sess.run(target), 200) / 128


def decode_jpeg(tf):
    """A picture of 256 x 256."""
    file = tf.Variable(_jpegs(tf, 256, 1)[0], trainable=False)
    picture = tf.image.decode_jpeg(file, channels=3)
    with _one_core(tf) as sess:
        sess.run(tf.global_variables_initializer())
        target = picture.op
        return seconds_of(lambda: sess.run(target), 100)


def resize_bilinear(tf):
    """A picture of 299 x 299 from one of 480 x 640, in a batch of 4."""
    pictures = tf.Variable(np.random.RandomState(1).rand(4, 480, 640, 3).astype(np.float32), trainable=False)
    resized = tf.image.resize_bilinear(pictures, [299, 299])
    with _one_core(tf) as sess:
        sess.run(tf.global_variables_initializer())
        target = resized.op
        return seconds_of(lambda: sess.run(target), 40) / 4


def _distorted(tf, file):
    """The input of the CIFAR-10 tutorial from a JPEG file."""
    picture = tf.cast(tf.image.decode_jpeg(file, channels=3), tf.float32)
    picture = tf.random_crop(picture, [24, 24, 3])
    picture = tf.image.random_flip_left_right(picture)
    picture = tf.image.random_brightness(picture, max_delta=63)
    picture = tf.image.random_contrast(picture, lower=0.2, upper=1.8)
    return tf.image.per_image_standardization(picture)


def _small_pictures(tf):
    path = os.path.join(_folder(), "small.tfrecord")
    if not os.path.exists(path):
        _write(path, [_example(tf, **{"image/encoded": file, "image/class/label": [i % 10]})
                      for i, file in enumerate(_jpegs(tf, 32, 512))], tf)
    return path


def _parsed(tf, record):
    features = tf.parse_single_example(record, {"image/encoded": tf.FixedLenFeature([], tf.string),
                                                "image/class/label": tf.FixedLenFeature([], tf.int64)})
    return _distorted(tf, features["image/encoded"]), features["image/class/label"]


def pictures_by_data(tf):
    """A picture of 32 x 32 read, parsed, decoded, distorted and batched by tf.data."""
    dataset = tf.data.TFRecordDataset(_small_pictures(tf)).repeat().map(lambda record: _parsed(tf, record)).batch(128)
    images, _ = dataset.make_one_shot_iterator().get_next()
    with _one_core(tf) as sess:
        target = images.op
        return seconds_of(lambda: sess.run(target), 30) / 128


def pictures_by_queues(tf):
    """The same by readers and queues, with one thread that fills the batches."""
    names = tf.train.string_input_producer([_small_pictures(tf)])
    _, record = tf.TFRecordReader().read(names)
    images, _ = tf.train.batch(_parsed(tf, record), 128, num_threads=1, capacity=256)
    with _one_core(tf) as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        target = images.op
        seconds = seconds_of(lambda: sess.run(target), 30) / 128
        coord.request_stop()
        coord.join(threads)
        return seconds


ROWS = {
    "records: 64 KB each": (records, "MB"),
    "parse_example: 42 values": (parse_example, "example"),
    "decode_csv: 20 fields": (decode_csv, "line"),
    "decode_jpeg: 256 x 256": (decode_jpeg, "picture"),
    "resize_bilinear: 480x640 to 299": (resize_bilinear, "picture"),
    "pictures of 32 x 32, tf.data": (pictures_by_data, "picture"),
    "pictures of 32 x 32, queues": (pictures_by_queues, "picture"),
}
