"""How many floating-point operations a node makes, by TensorFlow's rules: what they do not name counts nothing."""

import math


def _elements(shape):
    return math.prod(shape)


class _Node:
    """The shapes of an operation, where all are known."""

    def __init__(self, operation):
        self.operation, self.type = operation, operation.type

    def input(self, i):
        return self._known(self.operation.inputs[i])

    def output(self):
        return self._known(self.operation.outputs[0])

    @staticmethod
    def _known(tensor):
        shape = tensor.get_shape()
        if not shape.is_fully_defined():
            raise ValueError("a shape is not known")
        return shape.as_list()

    def attr(self, name):
        return self.operation.get_attr(name)

    def channels_last(self):
        layout = self.attr("data_format")
        if layout not in ("NHWC", b"NHWC", "NDHWC", b"NDHWC"):
            raise ValueError("Only NHWC format is supported in flops computations")


def _unary(count):
    return lambda node: _elements(node.input(0)) * count


def _binary(count):
    return lambda node: _elements(node.output()) * count


def _reduction(reduce_flops, finalize_flops):
    return lambda node: _elements(node.input(0)) * reduce_flops + _elements(node.output()) * (finalize_flops - reduce_flops)


def _matmul(node):
    a = node.input(0)
    inner = a[0] if node.attr("transpose_a") else a[-1]
    return _elements(node.output()) * inner * 2


def _batch_matmul(node):
    a = node.input(0)
    return _elements(node.output()) * (a[-2] if node.attr("adj_x") else a[-1]) * 2


def _convolution(node):
    return _elements(node.output()) * _elements(node.input(1)[:-1]) * 2


def _depthwise(node):
    height, width = node.input(1)[:2]
    return _elements(node.output()) * height * width * 2


def _pool(node):
    node.channels_last()
    return _elements(node.attr("ksize")) * _elements(node.output())


def _average_pool_gradient(node):
    node.channels_last()
    return _elements(node.attr("ksize")) * _elements(node.input(1)) * 2


def _max_pool_gradient(node):
    node.channels_last()
    return (_elements(node.attr("ksize")) + 1) * _elements(node.input(1))


def _image_gradient(node):
    node.channels_last()
    _, down, right, _ = node.attr("strides")
    out = node.output()
    return 2 * _elements(out) * _elements(node.input(1)) // (out[-1] * down * right)


def _filter_gradient(node):
    node.channels_last()
    _, down, right, _ = node.attr("strides")
    image = node.input(0)
    return 2 * _elements(image) * _elements(node.output()) // (image[-1] * down * right)


_RULES = {
    **{name: _unary(1) for name in ("Reciprocal", "Square", "Log", "Neg", "AssignSub", "AssignAdd")},
    "Rsqrt": _unary(2), "Softmax": _unary(5), "L2Loss": lambda node: _elements(node.input(0)) * 3 - 1,
    **{name: _binary(1) for name in ("Add", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow", "GreaterEqual", "Greater",
                                     "LessEqual", "Less", "Equal", "NotEqual", "BiasAdd")},
    "RsqrtGrad": _binary(4), "SquaredDifference": _binary(2),
    "Mean": _reduction(1, 1), "Sum": _reduction(1, 0), "ArgMax": _reduction(1, 0), "ArgMin": _reduction(1, 0),
    "BiasAddGrad": _reduction(1, 0), "MatMul": _matmul, "BatchMatMul": _batch_matmul, "Conv2D": _convolution,
    "Conv3D": _convolution, "DepthwiseConv2dNative": _depthwise, "AvgPool": _pool, "MaxPool": _pool,
    "AvgPoolGrad": _average_pool_gradient, "MaxPoolGrad": _max_pool_gradient, "Conv2DBackpropInput": _image_gradient,
    "Conv2DBackpropFilter": _filter_gradient,
    "Dilation2D": lambda node: _elements(node.output()) * _elements(node.input(1)[:2]) * 2,
    "AddN": lambda node: _elements(node.input(0)) * (len(node.operation.inputs) - 1),
}


def _of_rule(operation):
    """The number of an operation, None where TensorFlow has no rule; raises ValueError where shapes are not known."""
    rule = _RULES.get(operation.type)
    return None if rule is None else int(rule(_Node(operation)))


def _float_operations(operation):
    """The number of an operation; 0 where shapes are not known or TensorFlow has no rule."""
    try:
        return _of_rule(operation) or 0
    except ValueError:
        return 0
