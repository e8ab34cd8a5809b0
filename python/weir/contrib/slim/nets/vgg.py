"""VGG networks."""

from weir.contrib.framework.arg_scopes import arg_scope
from weir.contrib.layers import layers, regularizers, utils
from weir.core.variable_scope import variable_scope
from weir.ops import array_ops, nn_ops
from weir.ops.init_ops import zeros_initializer


def vgg_arg_scope(weight_decay=0.0005):
    with arg_scope([layers.conv2d, layers.fully_connected], activation_fn=nn_ops.relu,
                   weights_regularizer=regularizers.l2_regularizer(weight_decay),
                   biases_initializer=zeros_initializer()):
        with arg_scope([layers.conv2d], padding="SAME") as scope:
            return scope


def _head(net, sizes, is_training, keep_prob):
    """Fully connected layers as convolutions: those of ``sizes`` = ((channels, kernel), ...)."""
    for number, (channels, kernel) in enumerate(sizes, 6):
        padding = {"padding": "VALID"} if kernel > 1 else {}
        net = layers.conv2d(net, channels, [kernel, kernel], scope=f"fc{number}", **padding)
        net = layers.dropout(net, keep_prob, is_training=is_training, scope=f"dropout{number}")
    return net


def _network(units, inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope, name):
    with variable_scope(scope, name, [inputs]) as sc:
        collection = sc.original_name_scope + "_end_points"
        with arg_scope([layers.conv2d, layers.fully_connected, layers.max_pool2d], outputs_collections=collection):
            net = inputs
            for i, count in enumerate(units):
                net = layers.repeat(net, count, layers.conv2d, min(64 << i, 512), [3, 3], scope=f"conv{i + 1}")
                net = layers.max_pool2d(net, [2, 2], scope=f"pool{i + 1}")
            net = _head(net, ((4096, 7), (4096, 1)), is_training, dropout_keep_prob)
            net = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8")
            end_points = utils.convert_collection_to_dict(collection)
            if spatial_squeeze:
                net = end_points[sc.name + "/fc8"] = array_ops.squeeze(net, [1, 2], name="fc8/squeezed")
            return net, end_points


def vgg_a(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="vgg_a"):
    return _network((1, 1, 2, 2, 2), inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope,
                    "vgg_a")


def vgg_16(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="vgg_16"):
    return _network((2, 2, 3, 3, 3), inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope,
                    "vgg_16")


def vgg_19(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="vgg_19"):
    return _network((2, 2, 4, 4, 4), inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope,
                    "vgg_19")


vgg_a.default_image_size = vgg_16.default_image_size = vgg_19.default_image_size = 224
vgg_d, vgg_e = vgg_16, vgg_19
