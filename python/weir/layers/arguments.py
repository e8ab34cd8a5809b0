"""What layers take as arguments: names of functions, numbers for each dimension."""

from weir import names


def _function(given, places, what):
    """A function that is given as itself, by name, or not at all."""
    if given is None or callable(given):
        return given
    if isinstance(given, str) and given in places:
        return names.at(places[given]) if places[given] else None
    raise ValueError(f"Unknown {what}: {given}")


_ACTIVATIONS = {"linear": None, "softmax": "weir.ops.nn_ops:softmax", "sigmoid": "weir.ops.math_ops:sigmoid",
                "tanh": "weir.ops.math_ops:tanh", "exponential": "weir.ops.math_ops:exp"}
_ACTIVATIONS.update((name, f"weir.ops.nn_ops:{name}") for name in ("relu", "relu6", "elu", "selu", "softplus", "softsign"))
_INITIALIZERS = {name: f"weir.ops.init_ops:{place}" for name, place in {
    "zeros": "Zeros", "ones": "Ones", "constant": "Constant", "random_uniform": "RandomUniform", "uniform": "RandomUniform",
    "random_normal": "RandomNormal", "normal": "RandomNormal", "truncated_normal": "TruncatedNormal",
    "identity": "Identity", "orthogonal": "Orthogonal", "glorot_uniform": "GlorotUniform",
    "glorot_normal": "GlorotNormal", "he_normal": "he_normal", "he_uniform": "he_uniform",
    "lecun_normal": "lecun_normal", "lecun_uniform": "lecun_uniform"}.items()}


def _activation(given):
    return _function(given, _ACTIVATIONS, "activation function")


def _initializer(given):
    if isinstance(given, str):
        return _function(given, _INITIALIZERS, "initializer")()
    return _function(given, {}, "initializer")


def _sizes(value, n, name):
    """A tuple of n integers, of one integer or n."""
    if isinstance(value, int):
        return (value,) * n
    try:
        sizes = tuple(value)
    except TypeError:
        raise ValueError(f"The `{name}` argument must be a tuple of {n} integers. Received: {value}") from None
    if len(sizes) != n:
        raise ValueError(f"The `{name}` argument must be a tuple of {n} integers. Received: {value}")
    for size in sizes:
        try:
            int(size)
        except (ValueError, TypeError):
            raise ValueError(f"The `{name}` argument must be a tuple of {n} integers. Received: {value} including "
                             f"element {size} of type {type(size)}") from None
    return tuple(int(size) for size in sizes)


def _padding(value):
    padding = value.lower()
    if padding not in ("valid", "same", "causal"):
        raise ValueError('The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for '
                         f"`Conv1D). Received: {padding}")
    return padding


def _data_format(value):
    data_format = "channels_last" if value is None else value.lower()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError('The `data_format` argument must be one of "channels_first", "channels_last". Received: '
                         f"{value}")
    return data_format


def _conv_length(length, size, padding, stride, dilation=1):
    """The length that a convolution or pool of a length gives."""
    if length is None:
        return None
    extent = size + (size - 1) * (dilation - 1)
    if padding == "valid":
        length = length - extent + 1
    return (length + stride - 1) // stride


def _deconv_length(length, size, padding, output_padding, stride, dilation=1):
    """The length that a transposed convolution gives."""
    if length is None:
        return None
    size += (size - 1) * (dilation - 1)
    if output_padding is None:
        return length * stride + (max(size - stride, 0) if padding == "valid" else 0)
    pad = size // 2 if padding == "same" else 0
    return (length - 1) * stride + size - 2 * pad + output_padding
