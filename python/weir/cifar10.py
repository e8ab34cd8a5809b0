"""CIFAR-10: reading it, and the batches that its programs train and test with. TensorFlow has nothing like it.

    pictures = cifar10.read("data/cifar10", "train")      # Pictures: images uint8 [n, 32, 32, 3], labels int64 [n]
    for images, labels in cifar10.DistortedBatches(pictures, batch_size=128, seed=1):
        sess.run(train, feed_dict={x: images, y: labels})  # float32 [128, 24, 24, 3], cut, flipped, whitened

    test = cifar10.read("data/cifar10", "test")
    images, labels = cifar10.central_batch(test, 0, 500)   # of the pictures 0 to 499, for testing

Batches are made by threads of C++ ahead of time; the seed alone fixes them, and `first_batch` begins later in the same
sequence, for training that goes on.
"""

from weir._weir import DistortedBatches, Pictures, central_batch  # noqa: F401
from weir._weir import read_cifar10 as read  # noqa: F401
