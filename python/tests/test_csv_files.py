"""tf.contrib.learn.datasets: CSV files, and calls that are tried again."""

import numpy as np
import pytest

import weir as tf
from weir.contrib.learn import csv_files

base = tf.contrib.learn.datasets.base


def test_the_iris_data_come_along():
    iris = tf.contrib.learn.datasets.load_iris()
    assert iris.data.shape == (150, 4) and iris.data[0].tolist() == [5.1, 3.5, 1.4, 0.2]
    assert np.bincount(iris.target).tolist() == [50, 50, 50]


def test_files_are_read_with_and_without_a_header(tmp_path):
    with_header, without = tmp_path / "a.csv", tmp_path / "b.csv"
    with_header.write_text("2,2,no,yes\n1,2.5,0\n3,4,1\n")
    without.write_text("0,1,2.5\n1,3,4\n")
    a = base.load_csv_with_header(filename=str(with_header), target_dtype=np.int32, features_dtype=np.float32)
    b = base.load_csv_without_header(str(without), np.int32, np.float32, target_column=0)
    assert a.data.tolist() == b.data.tolist() == [[1, 2.5], [3, 4]] and a.target.tolist() == b.target.tolist() == [0, 1]
    assert a.data.dtype == np.float32 and a.target.dtype == np.int32
    base.shrink_csv(str(with_header), 2)
    assert (tmp_path / "a_small.csv").read_text().split() == ["2,2,no,yes", "3,4,1"]


def test_a_data_set_that_does_not_come_along_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    with pytest.raises(tf.errors.NotFoundError, match="data_path"):
        base.load_boston()
    folder = tmp_path / "tensorflow/contrib/learn/python/learn/datasets/data"
    folder.mkdir(parents=True)
    (folder / "boston_house_prices.csv").write_text("1,2\nCRIM,ZN,MEDV\n".replace("CRIM,ZN,MEDV", "0.5,1,24"))
    assert base.load_boston().target.tolist() == [24.0]


def test_data_sets_are_loaded_by_name(tmp_path, monkeypatch):
    datasets = tf.contrib.learn.datasets
    assert datasets.load_dataset("iris").data.shape == datasets.DATASETS["iris"]().data.shape == (150, 4)
    with pytest.raises(ValueError, match="Name of dataset is not found: no"):
        datasets.load_dataset("no")
    made_up = datasets.load_dataset("dbpedia", test_with_fake_data=True)
    assert made_up.train.data.shape == (30, 2) and set(made_up.train.target) == set(range(1, 15))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tf.errors.NotFoundError, match="dbpedia_csv.tar.gz"):
        datasets.load_dataset("dbpedia")
    folder = tmp_path / "dbpedia_data/dbpedia_csv"
    folder.mkdir(parents=True)
    for part, count in (("train", 2001), ("test", 1)):
        (folder / f"{part}.csv").write_text("".join(f'{i % 14 + 1},"title {i}","text {i}"\n' for i in range(count)))
    small = datasets.load_dataset("dbpedia")
    assert small.train.target.tolist() == [1, 7, 13] and small.test.data.tolist() == [["title 0", "text 0"]]
    assert len(datasets.load_dataset("dbpedia", size="").train.data) == 2001


def test_only_what_may_pass_is_tried_again(monkeypatch):
    delays, calls = [], []
    monkeypatch.setattr(csv_files.time, "sleep", delays.append)

    @base.retry(initial_delay=1.0, max_delay=4.0, jitter=0.0, is_retriable=lambda error: isinstance(error, OSError))
    def fail(error):
        calls.append(error)
        raise error

    with pytest.raises(OSError):
        fail(OSError())
    assert delays == [1.0, 2.0, 4.0] and len(calls) == 4
    with pytest.raises(KeyError):
        fail(KeyError())
    assert len(calls) == 5
