"""Input of the CIFAR-10 tutorial: pictures through queues, distorted for training.

Read are the binary files of the original archive (data_batch_1.bin ... data_batch_5.bin, test_batch.bin), or record files
of Examples with `image/encoded` (JPEG) and `image/class/label` (train.tfrecord, test.tfrecord) in the same folder or in the
one above it.
"""

import os
import sys

IMAGE_SIZE = 24  # of what the network sees; the pictures have 32 x 32

NUM_CLASSES = 10
NUM_EXAMPLES_PER_EPOCH_FOR_TRAIN = 50000
NUM_EXAMPLES_PER_EPOCH_FOR_EVAL = 10000

_SIZE, _CHANNELS = 32, 3
_THREADS = 16


def _tf():
    return sys.modules["weir"]


class CIFAR10Record:
    """A picture as tensors: height, width, depth, key, label [1] int32, uint8image [32, 32, 3]."""

    height = width = _SIZE
    depth = _CHANNELS
    key = label = uint8image = None


def read_cifar10(filename_queue):
    """The next picture of the binary files whose names are in the queue: a label byte, then red, green and blue planes."""
    tf = _tf()
    record = CIFAR10Record()
    pixels = record.height * record.width * record.depth
    record.key, value = tf.FixedLengthRecordReader(record_bytes=1 + pixels).read(filename_queue)
    numbers = tf.decode_raw(value, tf.uint8)
    record.label = tf.cast(tf.strided_slice(numbers, [0], [1]), tf.int32)
    planes = tf.reshape(tf.strided_slice(numbers, [1], [1 + pixels]), [record.depth, record.height, record.width])
    record.uint8image = tf.transpose(planes, [1, 2, 0])
    return record


def read_cifar10_records(filename_queue):
    """The same from record files."""
    tf = _tf()
    record = CIFAR10Record()
    record.key, value = tf.TFRecordReader().read(filename_queue)
    example = tf.parse_single_example(value, {"image/encoded": tf.FixedLenFeature([], tf.string),
                                              "image/class/label": tf.FixedLenFeature([1], tf.int64)})
    record.label = tf.cast(example["image/class/label"], tf.int32)
    picture = tf.image.decode_jpeg(example["image/encoded"], channels=record.depth, dct_method="INTEGER_ACCURATE")
    picture.set_shape([record.height, record.width, record.depth])
    record.uint8image = picture
    return record


def _files(data_dir, training):
    """(function that reads them, names) of the files in a folder."""
    tf = _tf()
    names = [f"data_batch_{i}.bin" for i in range(1, 6)] if training else ["test_batch.bin"]
    binary = [os.path.join(data_dir, name) for name in names]
    if all(tf.gfile.Exists(path) for path in binary):
        return read_cifar10, binary
    for folder in (data_dir, os.path.dirname(os.path.normpath(data_dir))):
        records = os.path.join(folder, "train.tfrecord" if training else "test.tfrecord")
        if tf.gfile.Exists(records):
            return read_cifar10_records, [records]
    missing = next(path for path in binary if not tf.gfile.Exists(path))
    raise ValueError(f"Failed to find file: {missing}. Put the files of cifar-10-binary.tar.gz into {data_dir}, or "
                     f"train.tfrecord and test.tfrecord.")


def _batches(image, label, least_ahead, batch_size, shuffle):
    """Batches [batch_size, height, width, 3] and labels [batch_size], with at least `least_ahead` pictures mixed."""
    tf = _tf()
    options = {"batch_size": batch_size, "num_threads": _THREADS, "capacity": least_ahead + 3 * batch_size}
    if shuffle:
        images, labels = tf.train.shuffle_batch([image, label], min_after_dequeue=least_ahead, **options)
    else:
        images, labels = tf.train.batch([image, label], **options)
    tf.summary.image("images", images)
    return images, tf.reshape(labels, [batch_size])


def distorted_inputs(data_dir, batch_size):
    """Batches for training: cut out anywhere, flipped every other time, brightness and contrast changed, whitened."""
    tf = _tf()
    read, files = _files(data_dir, training=True)
    with tf.name_scope("data_augmentation"):
        record = read(tf.train.string_input_producer(files))
        image = tf.random_crop(tf.cast(record.uint8image, tf.float32), [IMAGE_SIZE, IMAGE_SIZE, _CHANNELS])
        image = tf.image.random_flip_left_right(image)
        image = tf.image.random_brightness(image, max_delta=63)
        image = tf.image.random_contrast(image, lower=0.2, upper=1.8)
        image = tf.image.per_image_standardization(image)
        image.set_shape([IMAGE_SIZE, IMAGE_SIZE, _CHANNELS])
        record.label.set_shape([1])
    least_ahead = int(NUM_EXAMPLES_PER_EPOCH_FOR_TRAIN * 0.4)
    print(f"Filling queue with {least_ahead} CIFAR images before starting to train. This will take a few seconds.")
    return _batches(image, record.label, least_ahead, batch_size, shuffle=True)


def inputs(eval_data, data_dir, batch_size):
    """Batches for testing, of the test set if `eval_data` is true: the middle of the pictures, whitened."""
    tf = _tf()
    read, files = _files(data_dir, training=not eval_data)
    count = NUM_EXAMPLES_PER_EPOCH_FOR_EVAL if eval_data else NUM_EXAMPLES_PER_EPOCH_FOR_TRAIN
    with tf.name_scope("input"):
        record = read(tf.train.string_input_producer(files))
        image = tf.cast(record.uint8image, tf.float32)
        image = tf.image.resize_image_with_crop_or_pad(image, IMAGE_SIZE, IMAGE_SIZE)
        image = tf.image.per_image_standardization(image)
        image.set_shape([IMAGE_SIZE, IMAGE_SIZE, _CHANNELS])
        record.label.set_shape([1])
    return _batches(image, record.label, int(count * 0.4), batch_size, shuffle=False)
