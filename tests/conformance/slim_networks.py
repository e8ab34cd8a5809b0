"""The networks of tensorflow/models research/slim (or of tensorflow.contrib.slim.nets) from one checkpoint, on both.

    PYTHON slim_networks.py make NETS FOLDER [NAME...]       on TensorFlow 1.15.5: checkpoints and outputs
    weir run slim_networks.py compare NETS FOLDER [NAME...]  on Weir: the same outputs from these checkpoints, to 1e-4

NETS is a checkout's research/slim, which has the folder nets. Images are small; weights, moving averages and images are
random numbers with a seed, so that batch normalisation has something to do. Every end point is compared, relative to its
largest value. A checkpoint is removed when it has been compared.
"""

import glob
import os
import sys
import time

import numpy as np
import tensorflow as tf

slim = tf.contrib.slim
TOLERANCE = 1e-4


def _networks(nets):
    """name: (size of the images, function of them that gives the outputs)."""
    sys.path.insert(0, nets)
    from nets import inception, resnet_v1, resnet_v2, vgg
    from nets import mobilenet_v1
    from nets.mobilenet import mobilenet_v2

    def network(function, scope, **options):
        def build(images):
            with slim.arg_scope(scope):
                return function(images, num_classes=11, is_training=False, **options)

        return build

    made = {}
    for name in ("vgg_a", "vgg_16", "vgg_19"):
        made[name] = 64, network(getattr(vgg, name), vgg.vgg_arg_scope(), fc_conv_padding="SAME", spatial_squeeze=False)
    for name, size in (("inception_v1", 96), ("inception_v2", 96), ("inception_v3", 107), ("inception_v4", 107),
                       ("inception_resnet_v2", 107)):
        options = {"global_pool": True} if name in ("inception_v1", "inception_v2", "inception_v3") else {}
        made[name] = size, network(getattr(inception, name), getattr(inception, name + "_arg_scope")(), **options)
    for module, version in ((resnet_v1, "v1"), (resnet_v2, "v2")):
        for depth in (50, 101):
            name = "resnet_%s_%d" % (version, depth)
            made[name] = 65, network(getattr(module, name), resnet_v1.resnet_arg_scope())
    for name in ("mobilenet_v1", "mobilenet_v1_050"):
        made[name] = 96, network(getattr(mobilenet_v1, name), mobilenet_v1.mobilenet_v1_arg_scope(), global_pool=True)
    made["mobilenet_v2"] = 96, lambda images: mobilenet_v2.mobilenet(images, num_classes=11)
    made["mobilenet_v2_140"] = 96, lambda images: mobilenet_v2.mobilenet_v2_140(images, num_classes=11)
    return made


def _images(size):
    return np.random.RandomState(size).uniform(-1, 1, [2, size, size, 3]).astype("float32")


def _start(variable, random):
    """Values that keep signals of the same size from layer to layer."""
    shape, name = variable.shape.as_list(), variable.op.name
    if name.endswith("moving_variance"):
        return random.uniform(0.5, 1.5, shape)
    if name.endswith(("moving_mean", "biases", "beta")):
        return random.normal(0, 0.1, shape)
    if name.endswith("gamma"):
        return random.uniform(0.5, 1.5, shape)
    inputs = np.prod(shape[:-1]) if "depthwise_weights" not in name else np.prod(shape[:2])
    return random.normal(0, np.sqrt(2.0 / inputs), shape)


def _outputs(found):
    """(name, tensor) of the result and of all end points."""
    logits, end_points = found
    tensors = [("result", logits)] + sorted(end_points.items())
    return [(name, tensor) for name, tensor in tensors if isinstance(tensor, tf.Tensor)]


def make(nets, folder, wanted):
    for name, (size, build) in _networks(nets).items():
        if wanted and name not in wanted:
            continue
        with tf.Graph().as_default(), tf.Session() as session:
            images = tf.placeholder(tf.float32, [2, size, size, 3])
            outputs = _outputs(build(images))
            random = np.random.RandomState(7)
            for variable in tf.global_variables():
                variable.load(_start(variable, random).astype("float32"), session)
            tf.train.Saver().save(session, os.path.join(folder, name), write_meta_graph=False)
            values = session.run([tensor for _, tensor in outputs], {images: _images(size)})
            np.savez(os.path.join(folder, name + ".npz"), **{key: value for (key, _), value in zip(outputs, values)})
            print("%s: %d variables, %d end points" % (name, len(tf.global_variables()), len(outputs)), flush=True)


def compare(nets, folder, wanted):
    bad = 0
    for name, (size, build) in _networks(nets).items():
        expected_file = os.path.join(folder, name + ".npz")
        if wanted and name not in wanted or not os.path.exists(expected_file):
            continue
        expected = np.load(expected_file)
        with tf.Graph().as_default(), tf.Session() as session:
            begun = time.process_time()
            images = tf.placeholder(tf.float32, [2, size, size, 3])
            outputs = _outputs(build(images))
            built = time.process_time() - begun
            tf.train.Saver().restore(session, os.path.join(folder, name))
            values = session.run([tensor for _, tensor in outputs], {images: _images(size)})
            missing = set(expected.files) ^ {key for key, _ in outputs}
            worst, where = 0.0, "none"
            for (key, _), value in zip(outputs, values):
                if key in missing:
                    continue
                difference = np.abs(value - expected[key]).max() / max(np.abs(expected[key]).max(), 1e-6)
                if difference > worst or not np.isfinite(difference):
                    worst, where = float(difference), key
            well = not missing and worst <= TOLERANCE
            bad += not well
            print("%-20s %3d variables %3d end points  worst %.1e (%s)  built in %.1f s  %s"
                  % (name, len(tf.global_variables()), len(outputs), worst, where, built,
                     "well" if well else "DIFFERS %s" % sorted(missing)), flush=True)
        for file in glob.glob(os.path.join(folder, name + ".data*")) + glob.glob(os.path.join(folder, name + ".index")):
            os.remove(file)
    print("%d differ" % bad)
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in ("make", "compare"):
        sys.exit(__doc__)
    os.makedirs(sys.argv[3], exist_ok=True)
    sys.exit({"make": make, "compare": compare}[sys.argv[1]](sys.argv[2], sys.argv[3], sys.argv[4:]))
