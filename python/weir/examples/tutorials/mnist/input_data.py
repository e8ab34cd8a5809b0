"""The MNIST digits as TensorFlow's tutorials read them. Nothing is ever downloaded.

The files are taken from the folder that the program names, or else from the copy that comes with Weir.
"""

import collections
import gzip
import os
import sys

import numpy

from weir import errors

TRAIN_IMAGES = "train-images-idx3-ubyte.gz"
TRAIN_LABELS = "train-labels-idx1-ubyte.gz"
TEST_IMAGES = "t10k-images-idx3-ubyte.gz"
TEST_LABELS = "t10k-labels-idx1-ubyte.gz"

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
SOURCE_URL = DEFAULT_SOURCE_URL

Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])


def shipped_folder():
    """The folder of the copy that comes with Weir, or None: inside an installed package, or in the source tree."""
    package = os.path.dirname(os.path.abspath(__file__))
    for _ in range(3):
        package = os.path.dirname(package)
    for folder in (os.path.join(package, "data", "mnist"), os.path.join(package, "..", "..", "data", "mnist")):
        if os.path.isfile(os.path.join(folder, TRAIN_IMAGES)):
            return os.path.normpath(folder)
    return None


def _shipped_part(part):
    """(images [n, 28, 28], labels [n]) of "train" or "t10k", bytes, of the copy that comes with Weir."""

    def read(kind, magic):
        with open(os.path.join(shipped_folder(), f"{part}-{kind}-ubyte.gz"), "rb") as file:
            return _read_idx(file, magic, "data")

    return read("images-idx3", 2051), read("labels-idx1", 2049)


def maybe_download(filename, work_directory, source_url=None):
    """The path of a file: in `work_directory`, or else of the copy that comes with Weir. Downloads nothing.

    Raises tf.errors.NotFoundError, which says where was looked.
    """
    files = (TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS)
    if filename not in files:  # TensorFlow's other downloads use this function too
        path = os.path.join(os.fsdecode(work_directory), filename)
        if os.path.isfile(path):
            return path
        raise errors.NotFoundError(
            None,
            None,
            f"{filename} is not in {os.path.abspath(os.fsdecode(work_directory))!r}. Weir downloads nothing by itself: put "
            f"the file there{f'; it can be had from {source_url}' if source_url else ''}",
        )
    shipped = shipped_folder()
    folders = [os.fsdecode(work_directory)] + ([shipped] if shipped else [])
    for folder in folders:
        path = os.path.join(folder, filename)
        if os.path.isfile(path):
            return path
    raise errors.NotFoundError(
        None,
        None,
        f"{filename} is neither in {' nor in '.join(repr(os.path.abspath(folder)) for folder in folders)}.\n"
        f"The MNIST files are {TRAIN_IMAGES}, {TRAIN_LABELS}, {TEST_IMAGES} and {TEST_LABELS}; Weir downloads "
        f"nothing by itself. They can be had from {source_url or DEFAULT_SOURCE_URL}",
    )


def _read_idx(f, magic, what):
    """The array in a gzipped IDX file, which may be given by its name: big-endian magic number, sizes, bytes."""
    if isinstance(f, (str, bytes, os.PathLike)):
        with open(f, "rb") as opened:
            return _read_idx(opened, magic, what)
    name = getattr(f, "name", "the file")
    with gzip.GzipFile(fileobj=f) as file:
        data = file.read()
    dimensions = magic & 0xFF
    header = numpy.frombuffer(data[: 4 * (1 + dimensions)], ">u4").astype(numpy.int64)
    if len(header) < 1 + dimensions or header[0] != magic:
        raise ValueError(f"Invalid magic number {header[0] if len(header) else None} in MNIST {what} file: {name}")
    shape = tuple(header[1:])
    values = numpy.frombuffer(data, numpy.uint8, offset=4 * (1 + dimensions))
    if values.size != numpy.prod(shape):
        raise ValueError(f"MNIST {what} file {name} has {values.size} values, its header says {shape}")
    return values.reshape(shape).copy()


def extract_images(f):
    """[index, y, x, 1] of uint8 from an open gzipped file."""
    print("Extracting", getattr(f, "name", f))
    return _read_idx(f, 2051, "image")[..., numpy.newaxis]


def dense_to_one_hot(labels_dense, num_classes):
    """[index, class] of float64: one where the class is the label's."""
    labels_dense = numpy.asarray(labels_dense)
    one_hot = numpy.zeros((labels_dense.shape[0], num_classes))
    one_hot[numpy.arange(labels_dense.shape[0]), labels_dense.ravel()] = 1
    return one_hot


def extract_labels(f, one_hot=False, num_classes=10):
    """[index] of uint8 from an open gzipped file, or one-hot."""
    print("Extracting", getattr(f, "name", f))
    labels = _read_idx(f, 2049, "label")
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def _numpy_seed(seed):
    """What TensorFlow 1.15 seeds numpy with: the given seed, or else that of the default graph; None for neither."""
    if seed is not None:
        return seed % (2**31 - 1)
    graph = getattr(sys.modules["weir"], "get_default_graph", lambda: None)()
    return getattr(graph, "seed", None)


class DataSet:
    """Images and labels, handed out in batches; each epoch in a new order (numpy's global generator)."""

    def __init__(self, images, labels, fake_data=False, one_hot=False, dtype=numpy.float32, reshape=True, seed=None):
        seed = _numpy_seed(seed)
        if seed is not None:
            numpy.random.seed(seed)
        dtype = getattr(dtype, "as_numpy_dtype", dtype)
        if numpy.dtype(dtype) not in (numpy.uint8, numpy.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self.one_hot = one_hot
        self._fake_data = fake_data
        if fake_data:
            self._num_examples = 10000
        else:
            if images.shape[0] != labels.shape[0]:
                raise ValueError(f"images.shape: {images.shape} labels.shape: {labels.shape}")
            self._num_examples = images.shape[0]
            if reshape:  # [n, y, x, 1] to [n, y*x]
                if images.shape[3] != 1:
                    raise ValueError(f"images of one channel expected, got shape {images.shape}")
                images = images.reshape(images.shape[0], images.shape[1] * images.shape[2])
            if numpy.dtype(dtype) == numpy.float32:
                images = numpy.multiply(images.astype(numpy.float32), 1.0 / 255.0)
        self._images = images
        self._labels = labels
        self._epochs_completed = 0
        self._index_in_epoch = 0

    @property
    def images(self):
        return self._images

    @property
    def labels(self):
        return self._labels

    @property
    def num_examples(self):
        return self._num_examples

    @property
    def epochs_completed(self):
        return self._epochs_completed

    def next_batch(self, batch_size, fake_data=False, shuffle=True):
        """The next (images, labels); a batch that reaches over the end of an epoch takes its rest from the next one."""
        if fake_data or self._fake_data:
            label = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784 for _ in range(batch_size)], [label for _ in range(batch_size)]
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        if start + batch_size <= self._num_examples:
            self._index_in_epoch = start + batch_size
            return self._images[start : start + batch_size], self._labels[start : start + batch_size]
        self._epochs_completed += 1
        images, labels = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        self._index_in_epoch = batch_size - (self._num_examples - start)
        end = self._index_in_epoch
        return (
            numpy.concatenate((images, self._images[:end]), axis=0),
            numpy.concatenate((labels, self._labels[:end]), axis=0),
        )

    def _shuffle(self):
        order = numpy.arange(self._num_examples)
        numpy.random.shuffle(order)
        self._images = self._images[order]
        self._labels = self._labels[order]


def read_data_sets(
    train_dir,
    fake_data=False,
    one_hot=False,
    dtype=numpy.float32,
    reshape=True,
    validation_size=5000,
    seed=None,
    source_url=None,
):
    """Datasets(train, validation, test); the validation set is the first part of the training files."""
    if fake_data:
        return Datasets(*(DataSet([], [], True, one_hot, dtype, seed=seed) for _ in range(3)))

    def read(extract, name, **options):
        with open(maybe_download(name, train_dir, source_url), "rb") as file:
            return extract(file, **options)

    train_images = read(extract_images, TRAIN_IMAGES)
    train_labels = read(extract_labels, TRAIN_LABELS, one_hot=one_hot)
    test_images = read(extract_images, TEST_IMAGES)
    test_labels = read(extract_labels, TEST_LABELS, one_hot=one_hot)
    if not 0 <= validation_size <= len(train_images):
        raise ValueError(f"Validation size should be between 0 and {len(train_images)}. Received: {validation_size}.")
    options = {"dtype": dtype, "reshape": reshape, "seed": seed}
    return Datasets(
        train=DataSet(train_images[validation_size:], train_labels[validation_size:], **options),
        validation=DataSet(train_images[:validation_size], train_labels[:validation_size], **options),
        test=DataSet(test_images, test_labels, **options),
    )


def load_mnist(train_dir="MNIST-data"):
    return read_data_sets(train_dir)
