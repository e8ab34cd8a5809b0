"""Trains the CIFAR-10 tutorial's network with direct and with Winograd's convolutions, and compares the loss curves.

Usage: cifar10_curves.py DATA_DIR [--steps 300] [--seeds 3]

DATA_DIR holds CIFAR-10: train.tfrecord with JPEG files, as the CIFAR-10 programs take it (this one needs Pillow to read
them), or the original binary files (data_batch_1.bin ...). A seed fixes the initial weights, the order of the images
and how they are cropped, so the two methods differ by rounding alone. The curves are means over windows of 30 steps. The
exit code is 0 when Winograd's curve of each seed stays nearer to the direct one than the direct curves of different seeds are
to each other, in every window.
"""

import argparse
import pathlib
import sys

import numpy as np

import weir as tf

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
    import io

    from PIL import Image

    images, labels = [], []
    for record in tf.python_io.tf_record_iterator(path):
        feature = tf.train.Example.FromString(record).features.feature
        images.append(np.asarray(Image.open(io.BytesIO(feature["image/encoded"].bytes_list.value[0])).convert("RGB")))
        labels.append(feature["image/class/label"].int64_list.value[0])
    return np.stack(images), np.array(labels, np.int64)


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


def network(seed):
    """The tutorial's: two convolutions, two dense layers with decay, softmax; gradient descent."""
    tf.set_random_seed(seed)
    x, y = tf.placeholder(tf.float32, [128, 24, 24, 3]), tf.placeholder(tf.int64, [128])

    def weights(shape, stddev):
        return tf.Variable(tf.truncated_normal(shape, stddev=stddev))

    def convolve(value, size_in, bias):
        convolved = tf.nn.conv2d(value, weights([5, 5, size_in, 64], 0.05), [1, 1, 1, 1], "SAME")
        return tf.nn.relu(tf.nn.bias_add(convolved, tf.Variable(tf.fill([64], bias))))

    def pool(value):
        return tf.nn.max_pool(value, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")

    def normalize(value):
        return tf.nn.lrn(value, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75)

    hidden = normalize(pool(convolve(x, 3, 0.0)))
    hidden = tf.reshape(pool(normalize(convolve(hidden, 64, 0.1))), [128, -1])
    decay = []
    for size_in, size_out in ((2304, 384), (384, 192)):
        kernel = weights([size_in, size_out], 0.04)
        decay.append(0.004 * tf.nn.l2_loss(kernel))
        hidden = tf.nn.relu(tf.matmul(hidden, kernel) + tf.Variable(tf.fill([size_out], 0.1)))
    logits = tf.matmul(hidden, weights([192, 10], 1 / 192)) + tf.Variable(tf.zeros([10]))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)) + tf.add_n(decay)
    return x, y, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def curve(images, labels, seed, steps, direct):
    """Mean losses of the windows."""
    with tf.Graph().as_default():
        x, y, loss, train = network(seed)
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
