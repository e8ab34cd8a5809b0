"""InputSpec: what a layer asks of its inputs."""

from weir import nest
from weir.core import dtypes


class InputSpec:
    """Type, rank, sizes of some axes or the whole shape; what is None is not asked for."""

    def __init__(self, dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None):
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = shape
        self.ndim = ndim if shape is None else len(shape)
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        try:
            self.axes = {int(axis): axes[axis] for axis in axes or {}}
        except (ValueError, TypeError):
            raise TypeError("The keys in axes must be integers.") from None
        most = self.ndim or self.max_ndim
        if self.axes and most is not None and max(self.axes) > most - 1:
            raise ValueError(f"Axis {max(self.axes)} is greater than the maximum allowed value: {most - 1}")

    def __repr__(self):
        parts = [f"{name}={getattr(self, name)}" for name in ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
                 if getattr(self, name)]
        return f"InputSpec({', '.join(parts)})"

    def get_config(self):
        return dict(self.__dict__)

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def _check_inputs(input_spec, inputs, layer_name):
    """Raises ValueError, with TensorFlow's words, when the inputs are not what the specification asks for."""
    if not input_spec:
        return
    inputs, specs = nest.flatten(inputs), nest.flatten(input_spec)
    if len(inputs) != len(specs):
        raise ValueError(f"Layer {layer_name} expects {len(specs)} inputs, but it received {len(inputs)} input tensors. "
                         f"Inputs received: {inputs}")
    for index, (x, spec) in enumerate(zip(inputs, specs)):
        if spec is not None:
            _check(index, x, spec, layer_name)


def _check(index, x, spec, layer_name):
    refused = f"Input {index} of layer {layer_name} is incompatible with the layer: "
    ndim = x.shape.ndims
    if ndim is None:
        if any(asked is not None for asked in (spec.ndim, spec.min_ndim, spec.max_ndim)):
            raise ValueError(refused + "its rank is undefined, but the layer requires a defined rank.")
        sizes = None
    else:
        sizes = x.shape.as_list()
    if spec.ndim is not None and ndim != spec.ndim:
        raise ValueError(refused + f"expected ndim={spec.ndim}, found ndim={ndim}. Full shape received: {sizes}")
    if spec.max_ndim is not None and ndim > spec.max_ndim:
        raise ValueError(refused + f"expected max_ndim={spec.max_ndim}, found ndim={ndim}")
    if spec.min_ndim is not None and ndim < spec.min_ndim:
        raise ValueError(refused + f": expected min_ndim={spec.min_ndim}, found ndim={ndim}. "
                         f"Full shape received: {sizes}")
    if spec.dtype is not None and x.dtype.base_dtype.name != spec.dtype:
        raise ValueError(refused + f"expected dtype={spec.dtype}, found dtype={x.dtype!r}")
    if sizes is None:
        return
    for axis, value in spec.axes.items():
        value = getattr(value, "value", value)
        if value is not None and sizes[axis] not in (value, None):
            raise ValueError(refused + f"expected axis {axis} of input shape to have value {value} but received input "
                             f"with shape {sizes}")
    for asked, size in zip(spec.shape or (), sizes):
        if asked is not None and size is not None and asked != size:
            raise ValueError(f"Input {index} is incompatible with layer {layer_name}: expected shape={spec.shape}, "
                             f"found shape={sizes}")
