"""What residual networks share: blocks of units, strides that become dilation."""

import collections

from weir.contrib.framework.arg_scopes import add_arg_scope, arg_scope
from weir.contrib.layers import layers, normalization, regularizers, utils
from weir.contrib.layers.initializers import variance_scaling_initializer
from weir.core.graph import GraphKeys
from weir.core.variable_scope import variable_scope
from weir.ops import array_ops, math_ops, nn_ops


class Block(collections.namedtuple("Block", ["scope", "unit_fn", "args"])):
    """A scope, the function of a unit, and the arguments of each unit."""


def _block(unit):
    """A function that makes the blocks of bottleneck units: the last unit of a block has its stride."""

    def made(scope, base_depth, num_units, stride):
        arguments = {"depth": base_depth * 4, "depth_bottleneck": base_depth, "stride": 1}
        return Block(scope, unit, [dict(arguments) for _ in range(num_units - 1)] + [dict(arguments, stride=stride)])

    return made


def subsample(inputs, factor, scope=None):
    return inputs if factor == 1 else layers.max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(inputs, num_outputs, kernel_size, stride, rate=1, scope=None):
    """A convolution whose padding does not depend on the size of the image, as that of SAME does with strides."""
    if stride == 1:
        return layers.conv2d(inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope)
    total = kernel_size + (kernel_size - 1) * (rate - 1) - 1
    before = total // 2
    inputs = array_ops.pad(inputs, [[0, 0], [before, total - before], [before, total - before], [0, 0]])
    return layers.conv2d(inputs, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope)


@add_arg_scope
def stack_blocks_dense(net, blocks, output_stride=None, outputs_collections=None):
    """The units of all blocks; once the image is ``output_stride`` times smaller, strides become dilation."""
    current, rate = 1, 1
    for block in blocks:
        with variable_scope(block.scope, "block", [net]) as sc:
            for i, unit in enumerate(block.args):
                if not isinstance(unit, dict):  # before TensorFlow 1.2
                    unit = dict(zip(("depth", "depth_bottleneck", "stride"), unit))
                if output_stride is not None and current > output_stride:
                    raise ValueError("The target output_stride cannot be reached.")
                with variable_scope(f"unit_{i + 1}", values=[net]):
                    if output_stride is not None and current == output_stride:
                        net = block.unit_fn(net, rate=rate, **dict(unit, stride=1))
                        rate *= unit.get("stride", 1)
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        current *= unit.get("stride", 1)
            net = utils.collect_named_outputs(outputs_collections, sc.name, net)
    if output_stride is not None and current != output_stride:
        raise ValueError("The target output_stride cannot be reached.")
    return net


def resnet_arg_scope(weight_decay=0.0001, batch_norm_decay=0.997, batch_norm_epsilon=1e-5, batch_norm_scale=True,
                     is_training=None):
    """``is_training`` was said here, and not to the networks, before TensorFlow 1.0."""
    norm = dict(decay=batch_norm_decay, epsilon=batch_norm_epsilon, scale=batch_norm_scale,
                updates_collections=GraphKeys.UPDATE_OPS)
    if is_training is not None:
        norm["is_training"] = is_training
    with arg_scope([layers.conv2d], weights_regularizer=regularizers.l2_regularizer(weight_decay),
                   weights_initializer=variance_scaling_initializer(), activation_fn=nn_ops.relu,
                   normalizer_fn=normalization.batch_norm, normalizer_params=norm):
        with arg_scope([normalization.batch_norm], **norm):
            with arg_scope([layers.max_pool2d], padding="SAME") as scope:
                return scope


def _of_today(is_training, global_pool, output_stride, include_root_block, reuse, scope):
    """The arguments of a network behind num_classes. Before TensorFlow 1.0 there was no ``is_training``, so that
    ``output_stride``, which is no truth value, stood where ``global_pool`` does now, and all others one place before."""
    if isinstance(global_pool, bool):
        return is_training, global_pool, output_stride, include_root_block, reuse, scope
    if isinstance(reuse, str):  # the scope: all are given by place
        scope, reuse = reuse, include_root_block
    include_root_block = output_stride if isinstance(output_stride, bool) else True
    return None, is_training, global_pool, include_root_block, reuse, scope


def _network(version, unit, inputs, blocks, num_classes, is_training, global_pool, output_stride, include_root_block,
             reuse, scope):
    """A residual network of version 1, or of version 2, which normalizes before each convolution instead of after."""
    is_training, global_pool, output_stride, include_root_block, reuse, scope = _of_today(
        is_training, global_pool, output_stride, include_root_block, reuse, scope)
    training = {} if is_training is None else {"is_training": is_training}  # else the scope around says it
    with variable_scope(scope, f"resnet_v{version}", [inputs], reuse=reuse) as sc:
        collection = sc.original_name_scope + "_end_points"
        with arg_scope([layers.conv2d, unit, stack_blocks_dense], outputs_collections=collection), \
                arg_scope([normalization.batch_norm], **training):
            net = inputs
            if include_root_block:
                if output_stride is not None:
                    if output_stride % 4 != 0:
                        raise ValueError("The output_stride needs to be a multiple of 4.")
                    output_stride /= 4
                plain = dict(activation_fn=None, normalizer_fn=None) if version == 2 else {}
                with arg_scope([layers.conv2d], **plain):
                    net = conv2d_same(net, 64, 7, stride=2, scope="conv1")
                net = layers.max_pool2d(net, [3, 3], stride=2, scope="pool1")
            net = stack_blocks_dense(net, blocks, output_stride)
            if version == 2:
                net = normalization.batch_norm(net, activation_fn=nn_ops.relu, scope="postnorm")
            if global_pool:
                net = math_ops.reduce_mean(net, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                net = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
            end_points = utils.convert_collection_to_dict(collection)
            if num_classes is not None:
                end_points["predictions"] = layers.softmax(net, scope="predictions")
            return net, end_points
