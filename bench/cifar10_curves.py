"""Trains the CIFAR-10 tutorial's network with direct and with Winograd's convolutions, and compares the loss curves.

Usage: cifar10_curves.py DATA_DIR [--steps 300] [--seeds 3]

DATA_DIR holds CIFAR-10: train.tfrecord with JPEG files, as the CIFAR-10 programs take it, or the original binary files
(data_batch_1.bin ...). A seed fixes the initial weights, the order of the images and how they are cropped, so the two
methods differ by rounding alone. The curves are means over windows of 30 steps. The exit code is 0 when Winograd's curve
of each seed stays nearer to the direct one than the direct curves of different seeds are to each other, in every window.
"""

import argparse
import pathlib
import sys

import numpy as np

import weir as tf
from weir import cifar10
from weir_steps import cifar10_loss

WINDOW = 30


def read_images(folder):
    """Images as [count, 32, 32, 3] of 0..255, and labels."""
    if (pathlib.Path(folder) / "train.tfrecord").exists():
        pictures = cifar10.read(str(folder), "train")
        return np.asarray(pictures.images), np.asarray(pictures.labels)
    rows = np.concatenate([np.fromfile(path, np.uint8).reshape(-1, 3073)
                           for path in sorted(pathlib.Path(folder).glob("data_batch_*.bin"))])
    return rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), rows[:, 0].astype(np.int64)


def batches(images, labels, seed, size=128):
    """Random crops of 24 x 24, half of them mirrored, with mean 0 and deviation 1 each."""
    random = np.random.RandomState(seed)
    while True:
        at = random.randint(0, len(images), size)
        corners, flips = random.randint(0, 9, (size, 2)), random.randint(0, 2, size)
        batch = np.stack([images[i, y:y + 24, x:x + 24][:, ::-1 if flip else 1]
                          for i, (y, x), flip in zip(at, corners, flips)]).astype(np.float32)
        batch -= batch.mean((1, 2, 3), keepdims=True)
        yield batch / np.maximum(batch.std((1, 2, 3), keepdims=True), 24 ** -1.5), labels[at]


def curve(images, labels, seed, steps, direct):
    """Mean losses of the windows."""
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        x, y, loss = cifar10_loss()
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.Session(direct_convolutions=direct) as sess:
            sess.run(tf.global_variables_initializer())
            step = sess.make_callable([loss, train], feed_list=[x, y])
            data = batches(images, labels, seed)
            losses = [float(step(*next(data))[0]) for _ in range(steps)]
    return np.array(losses)[:steps // WINDOW * WINDOW].reshape(-1, WINDOW).mean(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data_dir")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    images, labels = read_images(args.data_dir)
    direct, winograd = (np.array([curve(images, labels, seed, args.steps, method) for seed in range(1, args.seeds + 1)])
                        for method in (True, False))
    spread = direct.max(0) - direct.min(0)
    distance = np.abs(winograd - direct).max(0)
    print("steps to  direct, by seed" + " " * (9 * args.seeds - 14) + "Winograd, by seed" + " " * (9 * args.seeds - 16)
          + "spread  largest distance")
    for i, row in enumerate(zip(direct.T, winograd.T)):
        print(f"{(i + 1) * WINDOW:8d}  " + "  ".join(" ".join(f"{v:8.4f}" for v in part) for part in row)
              + f"  {spread[i]:6.4f}  {distance[i]:.4f}")
    inside = bool((distance <= spread).all())
    print(f"Winograd's curves are {'within' if inside else 'NOT within'} the spread of the direct method's seeds; "
          f"largest share of it: {(distance / spread).max():.2f}")
    return 0 if inside else 1


if __name__ == "__main__":
    sys.exit(main())
