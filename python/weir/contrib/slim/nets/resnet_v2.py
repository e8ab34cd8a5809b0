"""Residual networks, version 2."""

from weir.contrib.framework.arg_scopes import add_arg_scope
from weir.contrib.layers import layers, normalization, utils
from weir.contrib.slim.nets import resnet_utils
from weir.core.variable_scope import variable_scope
from weir.ops import nn_ops

resnet_arg_scope = resnet_utils.resnet_arg_scope


@add_arg_scope
def bottleneck(inputs, depth, depth_bottleneck, stride, rate=1, outputs_collections=None, scope=None):
    with variable_scope(scope, "bottleneck_v2", [inputs]) as sc:
        preact = normalization.batch_norm(inputs, activation_fn=nn_ops.relu, scope="preact")
        if depth == utils.last_dimension(inputs.get_shape(), min_rank=4):
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = layers.conv2d(preact, depth, [1, 1], stride=stride, normalizer_fn=None, activation_fn=None,
                                     scope="shortcut")
        residual = layers.conv2d(preact, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = resnet_utils.conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = layers.conv2d(residual, depth, [1, 1], stride=1, normalizer_fn=None, activation_fn=None,
                                 scope="conv3")
        return utils.collect_named_outputs(outputs_collections, sc.name, shortcut + residual)


def resnet_v2(inputs, blocks, num_classes=None, is_training=True, global_pool=True, output_stride=None,
              include_root_block=True, reuse=None, scope=None):
    return resnet_utils._network(2, bottleneck, inputs, blocks, num_classes, is_training, global_pool, output_stride,
                                 include_root_block, reuse, scope)


resnet_v2.default_image_size = 224
resnet_v2_block = resnet_utils._block(bottleneck)


def _of_units(units, inputs, *arguments):
    """The network with these numbers of units in its four blocks."""
    blocks = [resnet_v2_block(f"block{i + 1}", base_depth=64 << i, num_units=count, stride=1 if i == 3 else 2)
              for i, count in enumerate(units)]
    *arguments, reuse, scope = arguments
    return resnet_v2(inputs, blocks, *arguments, include_root_block=True, reuse=reuse, scope=scope)


def resnet_v2_50(inputs, num_classes=None, is_training=True, global_pool=True, output_stride=None, reuse=None,
                 scope="resnet_v2_50"):
    return _of_units((3, 4, 6, 3), inputs, num_classes, is_training, global_pool, output_stride, reuse, scope)


def resnet_v2_101(inputs, num_classes=None, is_training=True, global_pool=True, output_stride=None, reuse=None,
                  scope="resnet_v2_101"):
    return _of_units((3, 4, 23, 3), inputs, num_classes, is_training, global_pool, output_stride, reuse, scope)


def resnet_v2_152(inputs, num_classes=None, is_training=True, global_pool=True, output_stride=None, reuse=None,
                  scope="resnet_v2_152"):
    return _of_units((3, 8, 36, 3), inputs, num_classes, is_training, global_pool, output_stride, reuse, scope)


def resnet_v2_200(inputs, num_classes=None, is_training=True, global_pool=True, output_stride=None, reuse=None,
                  scope="resnet_v2_200"):
    return _of_units((3, 24, 36, 3), inputs, num_classes, is_training, global_pool, output_stride, reuse, scope)
