"""tf.contrib.learn.datasets.base: data sets from CSV files, the two small ones that TensorFlow came with, and downloads."""

import collections
import csv
import functools
import os
import random
import sys
import time
import urllib
import urllib.request

import numpy as np

from weir import errors, gfile
from weir.examples.tutorials.mnist.input_data import Datasets, maybe_download  # noqa: F401  they are here, too

Dataset = collections.namedtuple("Dataset", ["data", "target"])


def load_csv_with_header(filename, target_dtype, features_dtype, target_column=-1):
    """Features and targets of a file whose first line begins with the numbers of samples and features."""
    with gfile.GFile(filename) as file:
        rows = csv.reader(file)
        header = next(rows)
        data = np.zeros((int(header[0]), int(header[1])), dtype=features_dtype)
        target = np.zeros(len(data), dtype=target_dtype)
        for i, row in enumerate(rows):
            target[i] = np.asarray(row.pop(target_column)).astype(target_dtype)
            data[i] = np.asarray(row).astype(features_dtype)
    return Dataset(data=data, target=target)


def load_csv_without_header(filename, target_dtype, features_dtype, target_column=-1):
    """Features and targets of a file with nothing but samples."""
    with gfile.GFile(filename) as file:
        rows = [row for row in csv.reader(file)]
    target = np.array([row.pop(target_column) for row in rows]).astype(target_dtype)
    return Dataset(data=np.array(rows).astype(features_dtype), target=target)


def load_csv(filename, target_dtype, target_column=-1, has_header=True):
    """The same before TensorFlow 0.11: features are float64."""
    load = load_csv_with_header if has_header else load_csv_without_header
    return load(filename, target_dtype, np.float64, target_column)


def shrink_csv(filename, ratio):
    """Writes each ``ratio``-th row of ``name.csv`` into ``name_small.csv``."""
    with gfile.GFile(filename) as file, gfile.GFile(filename.replace(".", "_small."), "w") as small:
        writer = csv.writer(small)
        for i, row in enumerate(csv.reader(file)):
            if i % ratio == 0:
                writer.writerow(row)


def _data_file(name):
    """A data file: of the copy that comes with Weir, or of TensorFlow's source tree that the program lies in."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", name)
    if os.path.isfile(beside):
        return beside
    folder = os.path.abspath(sys.path[0] or ".")
    while True:
        path = os.path.join(folder, "tensorflow/contrib/learn/python/learn/datasets/data", name)
        if os.path.isfile(path):
            return path
        if folder == os.path.dirname(folder):
            raise errors.NotFoundError(None, None, f"{name} does not come with Weir: give its path, data_path=...")
        folder = os.path.dirname(folder)


def load_iris(data_path=None):
    """Fisher's 150 irises: four lengths and the species."""
    return load_csv_with_header(data_path or _data_file("iris.csv"), target_dtype=np.int64, features_dtype=np.float64)


def load_boston(data_path=None):
    """Prices of houses in Boston. The file does not come with Weir; it is in TensorFlow's source tree."""
    return load_csv_with_header(data_path or _data_file("boston_house_prices.csv"), target_dtype=np.float64,
                                features_dtype=np.float64)


def retry(initial_delay, max_delay, factor=2.0, jitter=0.25, is_retriable=None):
    """Calls a function again while it fails with what ``is_retriable``, after delays that grow by ``factor``."""
    if factor < 1:
        raise ValueError(f"factor must be >= 1; was {factor:f}")
    if jitter >= 1:
        raise ValueError(f"jitter must be < 1; was {jitter:f}")

    def wrap(fn):
        @functools.wraps(fn)
        def retrying(*args, **kwargs):
            delay = initial_delay
            while delay <= max_delay:
                try:
                    return fn(*args, **kwargs)
                except Exception as error:
                    if is_retriable is not None and not is_retriable(error):
                        raise
                    time.sleep(delay * random.uniform(1 - jitter, 1 + jitter))
                    delay *= factor
            return fn(*args, **kwargs)

        return retrying

    return wrap


def _timed_out(error):
    return isinstance(error, OSError) and error.errno == 110


@retry(initial_delay=1.0, max_delay=16.0, is_retriable=_timed_out)
def urlretrieve_with_retry(url, filename=None):
    return urllib.request.urlretrieve(url, filename)
