"""Inception networks as tables: what their modules are made of, and the scope of everything."""

from weir.contrib.framework.arg_scopes import arg_scope
from weir.contrib.layers import layers, normalization, regularizers
from weir.contrib.layers.initializers import variance_scaling_initializer
from weir.core.graph import GraphKeys
from weir.core.variable_scope import variable_scope
from weir.ops import array_ops, nn_ops
from weir.ops.init_ops import truncated_normal_initializer

_POOLS = {"max": ("MaxPool", layers.max_pool2d), "avg": ("AvgPool", layers.avg_pool2d)}


class _Step:
    """One row of a table: ``"64 0a 1x1"``, a convolution of 64 channels in the scope Conv2d_0a_1x1, or ``"max 1a 3x3"``.

    After that: ``s2`` a stride, ``valid`` or ``same`` the padding, ``n0.09`` the deviation of the initial weights, ``as=name``
    another scope, ``k3x3`` a kernel that is not that of the scope's name.
    """

    def __init__(self, text):
        self.kind, place, size, *options = text.split()
        self.kernel = [int(number) for number in size.split("x")]
        prefix = _POOLS[self.kind][0] if self.kind in _POOLS else "Conv2d"
        self.scope, self.arguments = f"{prefix}_{place}_{size}", {}
        for option in options:
            if option in ("valid", "same"):
                self.arguments["padding"] = option.upper()
            elif option.startswith("as="):
                self.scope = option[3:]
            elif option.startswith("k"):
                self.kernel = [int(number) for number in option[1:].split("x")]
            elif option.startswith("n"):
                self.arguments["weights_initializer"] = truncated_normal_initializer(0.0, float(option[1:]))
            else:
                self.arguments["stride"] = int(option[1:])

    def __call__(self, net, depth):
        if self.kind in _POOLS:
            return _POOLS[self.kind][1](net, self.kernel, scope=self.scope, **self.arguments)
        return layers.conv2d(net, depth(int(self.kind)), self.kernel, scope=self.scope, **self.arguments)


def _branch(net, steps, depth):
    for step in steps:
        if isinstance(step, tuple):  # side by side
            net = array_ops.concat([_Step(part)(net, depth) for part in step], 3)
        else:
            net = _Step(step)(net, depth)
    return net


def _module(net, name, branches, depth):
    with variable_scope(name):
        parts = []
        for i, steps in enumerate(branches):
            with variable_scope(f"Branch_{i}"):
                parts.append(_branch(net, steps, depth))
        return array_ops.concat(parts, 3)


def _run(net, table, depth, end_points, final_endpoint):
    """Whether ``final_endpoint`` came, and the tensor there."""
    for row in table:
        if isinstance(row, str):
            step = _Step(row)
            name, net = step.scope, step(net, depth)
        else:
            name, branches = row
            net = _module(net, name, branches, depth)
        end_points[name] = net
        if name == final_endpoint:
            return True, net
    return False, net


def _depth_function(depth_multiplier, min_depth):
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda d: max(int(d * depth_multiplier), min_depth)


def _small_kernel(tensor, kernel):
    """The kernel, or the image where that is smaller and known."""
    sizes = tensor.get_shape().as_list()[1:3]
    return list(kernel) if None in sizes else [min(size, k) for size, k in zip(sizes, kernel)]


def _arg_scope(weight_decay, normalizer_fn, normalizer_params):
    with arg_scope([layers.conv2d, layers.fully_connected],
                   weights_regularizer=regularizers.l2_regularizer(weight_decay)):
        with arg_scope([layers.conv2d], weights_initializer=variance_scaling_initializer(), activation_fn=nn_ops.relu,
                       normalizer_fn=normalizer_fn, normalizer_params=normalizer_params) as scope:
            return scope


def _batch_norm_scope(weight_decay, collection, decay=0.9997, epsilon=0.001, updates=GraphKeys.UPDATE_OPS, **more):
    kept = {"beta": None, "gamma": None, "moving_mean": [collection], "moving_variance": [collection]}
    return _arg_scope(weight_decay, normalization.batch_norm,
                      dict(decay=decay, epsilon=epsilon, updates_collections=updates, variables_collections=kept, **more))


def _logits(net, num_classes, scope, spatial_squeeze):
    logits = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope=scope)
    return array_ops.squeeze(logits, [1, 2], name="SpatialSqueeze") if spatial_squeeze else logits
