"""tf.contrib.learn.datasets."""

from weir import names as _names
from weir.contrib.learn import csv_files as _files, text_datasets as _texts
from weir.examples.tutorials.mnist import input_data as _mnist

DATASETS = {
    "iris": _files.load_iris,
    "boston": _files.load_boston,
    "mnist": _mnist.load_mnist,
    "dbpedia": _texts.load_dbpedia,
}
SIZED_DATASETS = ["dbpedia"]


def load_dataset(name, size="small", test_with_fake_data=False):
    if name not in DATASETS:
        raise ValueError(f"Name of dataset is not found: {name}")
    return DATASETS[name](size, test_with_fake_data) if name in SIZED_DATASETS else DATASETS[name]()


__getattr__, __dir__ = _names.namespace(__name__)
