"""Inception v1 (GoogLeNet)."""

from weir.contrib.framework.arg_scopes import arg_scope
from weir.contrib.layers import layers, normalization
from weir.contrib.slim.nets.inception_tables import _arg_scope, _batch_norm_scope, _logits, _run
from weir.core.variable_scope import variable_scope
from weir.ops.init_ops import truncated_normal_initializer


def _mixed(a, b1, b2, c1, c2, d, second="0b"):
    return [[f"{a} 0a 1x1"], [f"{b1} 0a 1x1", f"{b2} 0b 3x3"], [f"{c1} 0a 1x1", f"{c2} {second} 3x3"],
            ["max 0a 3x3", f"{d} 0b 1x1"]]


_TABLE = ["64 1a 7x7 s2", "max 2a 3x3 s2", "64 2b 1x1", "192 2c 3x3", "max 3a 3x3 s2",
          ("Mixed_3b", _mixed(64, 96, 128, 16, 32, 32)), ("Mixed_3c", _mixed(128, 128, 192, 32, 96, 64)),
          "max 4a 3x3 s2",
          ("Mixed_4b", _mixed(192, 96, 208, 16, 48, 64)), ("Mixed_4c", _mixed(160, 112, 224, 24, 64, 64)),
          ("Mixed_4d", _mixed(128, 128, 256, 24, 64, 64)), ("Mixed_4e", _mixed(112, 144, 288, 32, 64, 64)),
          ("Mixed_4f", _mixed(256, 160, 320, 32, 128, 128)),
          "max 5a 2x2 s2",
          ("Mixed_5b", _mixed(256, 160, 320, 32, 128, 128, "0a")), ("Mixed_5c", _mixed(384, 192, 384, 48, 128, 128))]


def inception_v1_base(inputs, final_endpoint="Mixed_5c", scope="InceptionV1"):
    end_points = {}
    with variable_scope(scope, "InceptionV1", [inputs]):
        with arg_scope([layers.conv2d, layers.fully_connected],
                       weights_initializer=truncated_normal_initializer(0.0, 0.01)):
            with arg_scope([layers.conv2d, layers.max_pool2d], stride=1, padding="SAME"):
                found, net = _run(inputs, _TABLE, lambda d: d, end_points, final_endpoint)
    if not found:
        raise ValueError(f"Unknown final endpoint {final_endpoint}")
    return net, end_points


def inception_v1(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.8, prediction_fn=layers.softmax,
                 spatial_squeeze=True, reuse=None, scope="InceptionV1"):
    with variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as scope:
        with arg_scope([normalization.batch_norm, layers.dropout], is_training=is_training):
            net, end_points = inception_v1_base(inputs, scope=scope)
            with variable_scope("Logits"):
                net = layers.avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
                net = layers.dropout(net, dropout_keep_prob, scope="Dropout_0b")
                logits = end_points["Logits"] = _logits(net, num_classes, "Conv2d_0c_1x1", spatial_squeeze)
                end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v1.default_image_size = 224


def inception_v1_arg_scope(weight_decay=0.00004, use_batch_norm=True, batch_norm_var_collection="moving_vars"):
    if use_batch_norm:
        return _batch_norm_scope(weight_decay, batch_norm_var_collection)
    return _arg_scope(weight_decay, None, {})
