import gzip
import struct

import numpy as np
import pytest

from weir import errors
from weir.examples.tutorials.mnist import input_data


def write_set(folder, train=60, test=20):
    """MNIST files whose images carry their own number."""
    for prefix, count in (("train", train), ("t10k", test)):
        images = np.zeros((count, 28, 28), np.uint8)
        images[:, 0, 0] = np.arange(count)
        with gzip.open(folder / f"{prefix}-images-idx3-ubyte.gz", "wb") as file:
            file.write(struct.pack(">4I", 2051, count, 28, 28) + images.tobytes())
        with gzip.open(folder / f"{prefix}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(struct.pack(">2I", 2049, count) + (np.arange(count) % 10).astype(np.uint8).tobytes())


@pytest.fixture
def folder(tmp_path):
    write_set(tmp_path)
    return str(tmp_path)


def test_sets_have_tensorflows_shapes(folder):
    data = input_data.read_data_sets(folder, one_hot=True, validation_size=10)
    assert (data.train.num_examples, data.validation.num_examples, data.test.num_examples) == (50, 10, 20)
    assert data.train.images.shape == (50, 784) and data.train.images.dtype == np.float32
    assert data.train.labels.shape == (50, 10) and data.train.labels.dtype == np.float64
    assert data.validation.images[9, 0] == np.float32(9) * np.float32(1 / 255)
    assert data.train.labels[0].argmax() == 0
    raw = input_data.read_data_sets(folder, dtype=np.uint8, reshape=False, validation_size=0)
    assert raw.train.images.shape == (60, 28, 28, 1) and raw.train.images.dtype == np.uint8
    assert raw.train.labels.dtype == np.uint8


def numbers(batch):
    return batch[0][:, 0].tolist()


def test_files_may_be_given_by_name_as_in_0_7(folder):
    assert input_data.extract_images(f"{folder}/t10k-images-idx3-ubyte.gz").shape == (20, 28, 28, 1)
    assert input_data.extract_labels(f"{folder}/t10k-labels-idx1-ubyte.gz")[:3].tolist() == [0, 1, 2]


def test_batches_are_those_of_tensorflow_1_15(folder):
    data = input_data.read_data_sets(folder, dtype=np.uint8, validation_size=0)
    np.random.seed(7)
    got = [numbers(data.train.next_batch(25)) for _ in range(4)]
    # The same calls of numpy's generator that TensorFlow makes: one shuffle at the start, one at the end of an epoch.
    np.random.seed(7)
    order = np.arange(60)
    np.random.shuffle(order)
    again = np.arange(60)
    np.random.shuffle(again)
    stream = order.tolist() + order[again].tolist()
    assert sum(got, []) == stream[:100]
    assert data.train.epochs_completed == 1


def test_batches_come_in_order_without_shuffling(folder):
    data = input_data.read_data_sets(folder, dtype=np.uint8, validation_size=0).train
    assert numbers(data.next_batch(50, shuffle=False)) == list(range(50))
    assert numbers(data.next_batch(20, shuffle=False)) == list(range(50, 60)) + list(range(10))


def test_a_seed_gives_the_same_batches(folder):
    first, second = (
        numbers(input_data.read_data_sets(folder, dtype=np.uint8, validation_size=0, seed=3).train.next_batch(20))
        for _ in range(2)
    )
    assert first == second != list(range(20))


def test_numpys_state_is_kept_without_a_seed(folder):
    np.random.seed(5)
    expected = np.random.rand()
    np.random.seed(5)
    input_data.read_data_sets(folder, validation_size=0)
    assert np.random.rand() == expected


def test_fake_data():
    images, labels = input_data.read_data_sets("none", fake_data=True, one_hot=True).train.next_batch(3)
    assert len(images) == 3 and len(images[0]) == 784 and labels[0] == [1] + [0] * 9


def test_missing_files_say_where_was_looked(tmp_path, monkeypatch):
    monkeypatch.setattr(input_data, "shipped_folder", lambda: "/shipped")
    with pytest.raises(errors.NotFoundError) as error:
        input_data.read_data_sets(str(tmp_path))
    for text in (str(tmp_path), "/shipped", "train-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz", "https://"):
        assert text in str(error.value)


def test_the_shipped_copy_serves_any_folder(tmp_path):
    if input_data.shipped_folder() is None:
        pytest.skip("no copy here")
    assert input_data.read_data_sets(str(tmp_path / "MNIST_data")).train.num_examples == 55000


def test_damaged_files_are_refused(tmp_path):
    write_set(tmp_path)
    with gzip.open(tmp_path / "train-labels-idx1-ubyte.gz", "wb") as file:
        file.write(struct.pack(">2I", 2051, 60))
    with pytest.raises(ValueError, match="magic number"):
        input_data.read_data_sets(str(tmp_path))
    with gzip.open(tmp_path / "train-labels-idx1-ubyte.gz", "wb") as file:
        file.write(struct.pack(">2I", 2049, 60) + b"123")
    with pytest.raises(ValueError, match="its header says"):
        input_data.read_data_sets(str(tmp_path))
    with pytest.raises(ValueError, match="Validation size"):
        write_set(tmp_path)
        input_data.read_data_sets(str(tmp_path), validation_size=61)
