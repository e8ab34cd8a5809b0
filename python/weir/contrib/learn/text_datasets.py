"""tf.contrib.learn.datasets.text_datasets: what Wikipedia says of things of fourteen kinds (DBpedia)."""

import os
import tarfile

import numpy as np

from weir import errors
from weir.contrib.learn import csv_files

_KINDS = ("company", "school", "artist", "athlete", "politician", "vehicle", "building", "river", "village", "animal",
          "plant", "album", "film", "book")  # fmt: skip


def maybe_download_dbpedia(data_dir):
    """Unpacks dbpedia_csv.tar.gz of the folder, where that has not been done. Downloads nothing."""
    archive = os.path.join(data_dir, "dbpedia_csv.tar.gz")
    if all(os.path.isfile(_csv(data_dir, part)) for part in ("train", "test")):
        return
    if not os.path.isfile(archive):
        raise errors.NotFoundError(
            None, None, f"neither dbpedia_csv/train.csv and test.csv nor dbpedia_csv.tar.gz is in {os.path.abspath(data_dir)!r}. "
            "Weir downloads nothing by itself: put the file there")
    with tarfile.open(archive, "r:*") as file:
        file.extractall(data_dir, filter="data")


def load_dbpedia(size="small", test_with_fake_data=False):
    """Datasets of titles and texts, and the kind of each, from 1 on. `size` "small" is each thousandth of them."""
    if test_with_fake_data:
        return csv_files.Datasets(train=_made_up(30), validation=None, test=_made_up(20))
    folder = "dbpedia_data"
    maybe_download_dbpedia(folder)
    paths = [_csv(folder, part) for part in ("train", "test")]
    if size == "small":
        for path in paths:
            csv_files.shrink_csv(path, 1000)
        paths = [path.replace(".", "_small.") for path in paths]
    train, test = (csv_files.load_csv_without_header(path, np.int32, str, target_column=0) for path in paths)
    return csv_files.Datasets(train=train, validation=None, test=test)


def _csv(folder, part):
    return os.path.join(folder, "dbpedia_csv", f"{part}.csv")


def _made_up(count):
    kinds = [i % len(_KINDS) for i in range(count)]
    data = [[f"The {_KINDS[k]} {i}", f"The {_KINDS[k]} {i} is a {_KINDS[k]} that somebody has made up."] for i, k in enumerate(kinds)]
    return csv_files.Dataset(data=np.array(data), target=np.array(kinds, np.int32) + 1)
