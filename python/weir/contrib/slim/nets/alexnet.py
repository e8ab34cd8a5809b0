"""The network alexnet_v2."""

from weir.contrib.framework.arg_scopes import arg_scope
from weir.contrib.layers import layers, regularizers, utils
from weir.contrib.slim.nets.vgg import _head
from weir.core.variable_scope import variable_scope
from weir.ops import array_ops, nn_ops
from weir.ops.init_ops import constant_initializer, truncated_normal_initializer, zeros_initializer


def alexnet_v2_arg_scope(weight_decay=0.0005):
    with arg_scope([layers.conv2d, layers.fully_connected], activation_fn=nn_ops.relu, biases_initializer=constant_initializer(0.1),
                   weights_regularizer=regularizers.l2_regularizer(weight_decay)):
        with arg_scope([layers.conv2d], padding="SAME"), arg_scope([layers.max_pool2d], padding="VALID") as scope:
            return scope


def alexnet_v2(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="alexnet_v2"):
    with variable_scope(scope, "alexnet_v2", [inputs]) as sc:
        collection = sc.original_name_scope + "_end_points"
        with arg_scope([layers.conv2d, layers.fully_connected, layers.max_pool2d], outputs_collections=[collection]):
            net = layers.conv2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = layers.max_pool2d(net, [3, 3], 2, scope="pool1")
            net = layers.conv2d(net, 192, [5, 5], scope="conv2")
            net = layers.max_pool2d(net, [3, 3], 2, scope="pool2")
            for number, channels in ((3, 384), (4, 384), (5, 256)):
                net = layers.conv2d(net, channels, [3, 3], scope=f"conv{number}")
            net = layers.max_pool2d(net, [3, 3], 2, scope="pool5")
            sizes = ((4096, 5), (4096, 1))
            with arg_scope([layers.conv2d], weights_initializer=truncated_normal_initializer(0.0, 0.005),
                           biases_initializer=constant_initializer(0.1)):
                net = _head(net, sizes, is_training, dropout_keep_prob)
                net = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                                    biases_initializer=zeros_initializer(), scope="fc8")
            end_points = utils.convert_collection_to_dict(collection)
            if spatial_squeeze:
                net = end_points[sc.name + "/fc8"] = array_ops.squeeze(net, [1, 2], name="fc8/squeezed")
            return net, end_points


alexnet_v2.default_image_size = 224
