"""Inception v3."""

from weir.contrib.framework.arg_scopes import arg_scope
from weir.contrib.layers import layers, normalization
from weir.contrib.slim.nets.inception_tables import _batch_norm_scope, _depth_function, _logits, _run, _small_kernel
from weir.core.graph import GraphKeys
from weir.core.variable_scope import variable_scope
from weir.ops import array_ops
from weir.ops.init_ops import truncated_normal_initializer

_STEM = ["32 1a 3x3 s2", "32 2a 3x3", "64 2b 3x3 same", "max 3a 3x3 s2", "80 3b 1x1", "192 4a 3x3", "max 5a 3x3 s2"]


def _square(pooled, second=("48 0a 1x1", "64 0b 5x5")):
    return [["64 0a 1x1"], list(second), ["64 0a 1x1", "96 0b 3x3", "96 0c 3x3"], ["avg 0a 3x3", f"{pooled} 0b 1x1"]]


def _lines(d):
    return [["192 0a 1x1"], [f"{d} 0a 1x1", f"{d} 0b 1x7", "192 0c 7x1"],
            [f"{d} 0a 1x1", f"{d} 0b 7x1", f"{d} 0c 1x7", f"{d} 0d 7x1", "192 0e 1x7"], ["avg 0a 3x3", "192 0b 1x1"]]


def _wide(second):
    return [["320 0a 1x1"], ["384 0a 1x1", ("384 0b 1x3", f"384 {second} 3x1")],
            ["448 0a 1x1", "384 0b 3x3", ("384 0c 1x3", "384 0d 3x1")], ["avg 0a 3x3", "192 0b 1x1"]]


_MODULES = [
    ("Mixed_5b", _square(32)), ("Mixed_5c", _square(64, ("48 0b 1x1", "64 0c 5x5 as=Conv_1_0c_5x5"))),
    ("Mixed_5d", _square(64)),
    ("Mixed_6a", [["384 1a 1x1 k3x3 s2 valid"], ["64 0a 1x1", "96 0b 3x3", "96 1a 1x1 k3x3 s2 valid"],
                  ["max 1a 3x3 s2 valid"]]),
    ("Mixed_6b", _lines(128)), ("Mixed_6c", _lines(160)), ("Mixed_6d", _lines(160)), ("Mixed_6e", _lines(192)),
    ("Mixed_7a", [["192 0a 1x1", "320 1a 3x3 s2 valid"],
                  ["192 0a 1x1", "192 0b 1x7", "192 0c 7x1", "192 1a 3x3 s2 valid"], ["max 1a 3x3 s2 valid"]]),
    ("Mixed_7b", _wide("0b")), ("Mixed_7c", _wide("0c"))]


def inception_v3_base(inputs, final_endpoint="Mixed_7c", min_depth=16, depth_multiplier=1.0, scope=None):
    end_points, depth = {}, _depth_function(depth_multiplier, min_depth)
    scoped = [layers.conv2d, layers.max_pool2d, layers.avg_pool2d]
    with variable_scope(scope, "InceptionV3", [inputs]):
        with arg_scope(scoped, stride=1, padding="VALID"):
            found, net = _run(inputs, _STEM, depth, end_points, final_endpoint)
        if not found:
            with arg_scope(scoped, stride=1, padding="SAME"):
                found, net = _run(net, _MODULES, depth, end_points, final_endpoint)
    if not found:
        raise ValueError(f"Unknown final endpoint {final_endpoint}")
    return net, end_points


def _auxiliary(net, num_classes, depth, spatial_squeeze):
    """Logits from the middle of the network, which help to train it."""
    with variable_scope("AuxLogits"):
        net = layers.avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
        net = layers.conv2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
        kernel = _small_kernel(net, [5, 5])
        net = layers.conv2d(net, depth(768), kernel, weights_initializer=truncated_normal_initializer(0.0, 0.01),
                            padding="VALID", scope="Conv2d_2a_{}x{}".format(*kernel))
        net = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                            weights_initializer=truncated_normal_initializer(0.0, 0.001), scope="Conv2d_2b_1x1")
        return array_ops.squeeze(net, [1, 2], name="SpatialSqueeze") if spatial_squeeze else net


def inception_v3(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.8, min_depth=16, depth_multiplier=1.0,
                 prediction_fn=layers.softmax, spatial_squeeze=True, reuse=None, scope="InceptionV3"):
    depth = _depth_function(depth_multiplier, min_depth)
    with variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as scope:
        with arg_scope([normalization.batch_norm, layers.dropout], is_training=is_training):
            net, end_points = inception_v3_base(inputs, scope=scope, min_depth=min_depth,
                                                depth_multiplier=depth_multiplier)
            with arg_scope([layers.conv2d, layers.max_pool2d, layers.avg_pool2d], stride=1, padding="SAME"):
                end_points["AuxLogits"] = _auxiliary(end_points["Mixed_6e"], num_classes, depth, spatial_squeeze)
            with variable_scope("Logits"):
                kernel = _small_kernel(net, [8, 8])
                net = layers.avg_pool2d(net, kernel, padding="VALID", scope="AvgPool_1a_{}x{}".format(*kernel))
                net = end_points["PreLogits"] = layers.dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")
                logits = _logits(net, num_classes, "Conv2d_1c_1x1", spatial_squeeze)
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v3.default_image_size = 299


def inception_v3_arg_scope(weight_decay=0.00004, batch_norm_var_collection="moving_vars", batch_norm_decay=0.9997,
                           batch_norm_epsilon=0.001, updates_collections=GraphKeys.UPDATE_OPS,
                           use_fused_batchnorm=True):
    return _batch_norm_scope(weight_decay, batch_norm_var_collection, batch_norm_decay, batch_norm_epsilon,
                             updates_collections, fused=use_fused_batchnorm)
