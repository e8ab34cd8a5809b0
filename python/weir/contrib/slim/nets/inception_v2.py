"""Inception v2."""

from weir.contrib.framework.arg_scopes import arg_scope
from weir.contrib.layers import layers, normalization
from weir.contrib.slim.nets.inception_tables import _batch_norm_scope, _depth_function, _logits, _run, _small_kernel
from weir.core.variable_scope import variable_scope
from weir.ops.init_ops import truncated_normal_initializer


def _mixed(a, b1, b2, c1, c2, d, pool="avg"):
    return [[f"{a} 0a 1x1"], [f"{b1} 0a 1x1 n0.09", f"{b2} 0b 3x3"],
            [f"{c1} 0a 1x1 n0.09", f"{c2} 0b 3x3", f"{c2} 0c 3x3"], [f"{pool} 0a 3x3", f"{d} 0b 1x1 n0.1"]]


def _smaller(a1, a2, b1, b2):
    return [[f"{a1} 0a 1x1 n0.09", f"{a2} 1a 3x3 s2"], [f"{b1} 0a 1x1 n0.09", f"{b2} 0b 3x3", f"{b2} 1a 3x3 s2"],
            ["max 1a 3x3 s2"]]


_TABLE = ["max 2a 3x3 s2", "64 2b 1x1 n0.1", "192 2c 3x3", "max 3a 3x3 s2",
          ("Mixed_3b", _mixed(64, 64, 64, 64, 96, 32)), ("Mixed_3c", _mixed(64, 64, 96, 64, 96, 64)),
          ("Mixed_4a", _smaller(128, 160, 64, 96)), ("Mixed_4b", _mixed(224, 64, 96, 96, 128, 128)),
          ("Mixed_4c", _mixed(192, 96, 128, 96, 128, 128)), ("Mixed_4d", _mixed(160, 128, 160, 128, 160, 96)),
          ("Mixed_4e", _mixed(96, 128, 192, 160, 192, 96)), ("Mixed_5a", _smaller(128, 192, 192, 256)),
          ("Mixed_5b", _mixed(352, 192, 320, 160, 224, 128)), ("Mixed_5c", _mixed(352, 192, 320, 192, 224, 128, "max"))]


def inception_v2_base(inputs, final_endpoint="Mixed_5c", min_depth=16, depth_multiplier=1.0, scope=None):
    end_points, depth = {}, _depth_function(depth_multiplier, min_depth)
    with variable_scope(scope, "InceptionV2", [inputs]):
        with arg_scope([layers.conv2d, layers.max_pool2d, layers.avg_pool2d, layers.separable_conv2d], stride=1,
                       padding="SAME"):
            name = "Conv2d_1a_7x7"
            net = end_points[name] = layers.separable_conv2d(
                inputs, depth(64), [7, 7], depth_multiplier=min(int(depth(64) / 3), 8), stride=2,
                weights_initializer=truncated_normal_initializer(0.0, 1.0), scope=name)
            if name == final_endpoint:
                return net, end_points
            found, net = _run(net, _TABLE, depth, end_points, final_endpoint)
    if not found:
        raise ValueError(f"Unknown final endpoint {final_endpoint}")
    return net, end_points


def inception_v2(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.8, min_depth=16, depth_multiplier=1.0,
                 prediction_fn=layers.softmax, spatial_squeeze=True, reuse=None, scope="InceptionV2"):
    _depth_function(depth_multiplier, min_depth)
    with variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as scope:
        with arg_scope([normalization.batch_norm, layers.dropout], is_training=is_training):
            net, end_points = inception_v2_base(inputs, scope=scope, min_depth=min_depth,
                                                depth_multiplier=depth_multiplier)
            with variable_scope("Logits"):
                kernel = _small_kernel(net, [7, 7])
                net = layers.avg_pool2d(net, kernel, padding="VALID", scope="AvgPool_1a_{}x{}".format(*kernel))
                net = layers.dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")
                logits = _logits(net, num_classes, "Conv2d_1c_1x1", spatial_squeeze)
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v2.default_image_size = 224


def inception_v2_arg_scope(weight_decay=0.00004, batch_norm_var_collection="moving_vars"):
    return _batch_norm_scope(weight_decay, batch_norm_var_collection)
