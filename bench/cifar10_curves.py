#!/usr/bin/env python3
"""Trains the CIFAR-10 tutorial's network with direct and with Winograd's convolutions, and compares the loss curves.

Usage: cifar10_curves.py DATA_DIR [--steps 300] [--seeds 3]

DATA_DIR holds CIFAR-10: train.tfrecord with JPEG files, as the CIFAR-10 programs take it, or the original binary files
(data_batch_1.bin ...). A seed fixes the initial weights, the order of the images and how they are cropped, so the two
methods differ by rounding alone. The curves are means over windows of 30 steps.

Two trainings that differ by rounding alone drift apart, at a pace that training sets, not the size of the rounding. As a
control the direct method therefore runs once more with every initial weight changed by one part in ten million, the
distance of neighbouring floats. For each series the distance to the direct curve of the same seed is set against the
distances between the direct curves of different seeds, both as root mean squares over seeds and windows, since a single
window's spread of a few seeds may be near nothing by chance. The exit code is 0 when Winograd's distance is the smaller.
"""

import argparse
import itertools
import pathlib
import sys

import numpy as np

import weir as tf
from weir_steps import cifar10_loss

WINDOW = 30


def read_images(folder):
    """Images as [count, 32, 32, 3] of 0..255, and labels."""
    records = pathlib.Path(folder) / "train.tfrecord"
    if records.exists():
        return read_records(str(records))
    rows = np.concatenate([np.fromfile(path, np.uint8).reshape(-1, 3073)
                           for path in sorted(pathlib.Path(folder).glob("data_batch_*.bin"))])
    return rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), rows[:, 0].astype(np.int64)


def read_records(path):
    def decode(record):
        features = tf.parse_single_example(record, {"image/encoded": tf.FixedLenFeature([], tf.string),
                                                    "image/class/label": tf.FixedLenFeature([], tf.int64)})
        return tf.image.decode_jpeg(features["image/encoded"], channels=3), features["image/class/label"]

    with tf.Graph().as_default(), tf.Session() as sess:
        following = tf.data.TFRecordDataset(path).map(decode).batch(1000).make_one_shot_iterator().get_next()
        parts = []
        try:
            while True:
                parts.append(sess.run(following))
        except tf.errors.OutOfRangeError:
            return tuple(np.concatenate(part) for part in zip(*parts))


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


def curve(images, labels, seed, steps, direct, change=0.0):
    """Mean losses of the windows. `change` is the largest relative change of the initial weights."""
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        x, y, loss = cifar10_loss()
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        changed = [v.assign(v * tf.random_uniform(v.shape, 1 - change, 1 + change)) for v in tf.trainable_variables()]
        with tf.Session(direct_convolutions=direct) as sess:
            sess.run(tf.global_variables_initializer())
            if change:
                sess.run(changed)
            step = sess.make_callable([loss, train], feed_list=[x, y])
            data = batches(images, labels, seed)
            losses = [float(step(*next(data))[0]) for _ in range(steps)]
    return np.array(losses)[:steps // WINDOW * WINDOW].reshape(-1, WINDOW).mean(1)


def root_mean_square(values):
    return float(np.sqrt(np.mean(np.square(values))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data_dir")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    images, labels = read_images(args.data_dir)
    series = {"direct": dict(direct=True), "Winograd": dict(direct=False), "control": dict(direct=True, change=1e-7)}
    curves = {name: np.array([curve(images, labels, seed, args.steps, **how) for seed in range(1, args.seeds + 1)])
              for name, how in series.items()}
    direct = curves["direct"]
    print("| steps to | " + " | ".join(curves) + " | spread of direct | distance of Winograd | of control |")
    print("|---" * (len(curves) + 4) + "|")
    for i in range(direct.shape[1]):
        at = {name: c[:, i] for name, c in curves.items()}
        print(f"| {(i + 1) * WINDOW} | " + " | ".join(" ".join(f"{v:.4f}" for v in c) for c in at.values())
              + f" | {np.ptp(at['direct']):.4f} | "
              + " | ".join(f"{np.abs(at[name] - at['direct']).max():.4f}" for name in ("Winograd", "control")) + " |")
    between = root_mean_square([a - b for a, b in itertools.combinations(direct, 2)])
    apart = {name: root_mean_square(curves[name] - direct) for name in ("Winograd", "control")}
    print(f"root mean squares: direct curves of different seeds {between:.4f}, Winograd to direct {apart['Winograd']:.4f}, "
          f"control to direct {apart['control']:.4f}")
    return 0 if apart["Winograd"] <= between else 1


if __name__ == "__main__":
    sys.exit(main())
